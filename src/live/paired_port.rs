//! The port of an adapter with planes: subnet management goes through one device (SMI), all other classes through
//! another (GSI). On planes a subnet management packet is valid by directed route only.

use std::collections::VecDeque;
use std::time::Duration;

use fabdeck_mad::Class;
use fabdeck_mad::access::{AddressedMad, Clock, LocalPort, MadPort, PortError, PortEvent};

/// How long one side is listened to while both owe answers.
const TURN: Duration = Duration::from_millis(1);

/// One of the two devices, and the number of requests that it has not answered.
#[derive(Debug)]
struct Side<P> {
    port: P,
    owed: usize,
}

impl<P: MadPort> Side<P> {
    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        self.port.send(parcel, patience)?;
        self.owed += usize::from(!parcel.mad.method().is_response());
        Ok(())
    }

    /// Waits by the device's own clock.
    fn receive_within(&mut self, wait: Duration) -> Result<Option<PortEvent>, PortError> {
        let received = self.port.receive(self.port.now() + wait)?;
        let settles = match &received {
            Some(PortEvent::Mad(parcel)) => parcel.mad.method().is_response(),
            Some(PortEvent::Unanswered(_)) => true,
            None => false,
        };
        self.owed = self.owed.saturating_sub(settles.into());
        Ok(received)
    }
}

/// A port made of the two devices.
#[derive(Debug)]
pub struct PairedPort<S, G> {
    local: LocalPort,
    smi: Side<S>,
    gsi: Side<G>,
    /// Requests that no plane would answer.
    invalid: VecDeque<u32>,
    smi_first: bool,
}

impl<S: MadPort, G: MadPort> PairedPort<S, G> {
    /// `smi` has the number that directed routes start with; LIDs and the subnet manager are those of `gsi`.
    pub fn new(smi: S, gsi: G) -> Self {
        let (plane, main) = (smi.local_port(), gsi.local_port());
        let local = LocalPort {
            name: format!("{} through {}", main.name, plane.name),
            number: plane.number,
            guid: main.guid.or(plane.guid),
            lid: main.lid.or(plane.lid),
            manager_lid: main.manager_lid.or(plane.manager_lid),
            simulated: plane.simulated,
        };
        let (smi, gsi) = (Side { port: smi, owed: 0 }, Side { port: gsi, owed: 0 });
        Self { local, smi, gsi, invalid: VecDeque::new(), smi_first: true }
    }

    /// What arrived at either device, or arrives within the time at a device that can have something.
    fn receive_within(&mut self, wait: Duration) -> Result<Option<PortEvent>, PortError> {
        self.smi_first = !self.smi_first;
        let sides = if self.smi_first { [true, false] } else { [false, true] };
        for smi in sides {
            let found = if smi {
                self.smi.receive_within(Duration::ZERO)?
            } else {
                self.gsi.receive_within(Duration::ZERO)?
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        match (self.smi.owed > 0, self.gsi.owed > 0) {
            (true, false) => self.smi.receive_within(wait),
            // Reports of the subnet manager come without a request.
            (false, _) => self.gsi.receive_within(wait),
            (true, true) if self.smi_first => self.smi.receive_within(wait.min(TURN)),
            (true, true) => self.gsi.receive_within(wait.min(TURN)),
        }
    }
}

impl<S: MadPort, G: MadPort> Clock for PairedPort<S, G> {
    fn now(&self) -> Duration {
        self.smi.port.now()
    }

    fn is_virtual(&self) -> bool {
        self.smi.port.is_virtual()
    }
}

impl<S: MadPort, G: MadPort> MadPort for PairedPort<S, G> {
    fn local_port(&self) -> &LocalPort {
        &self.local
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        match parcel.mad.class() {
            Class::SUBNET_LID => {
                self.invalid.push_back(parcel.mad.header().transaction.get() as u32);
                Ok(())
            }
            Class::SUBNET_DIRECTED => self.smi.send(parcel, patience),
            _ => self.gsi.send(parcel, patience),
        }
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        if let Some(transaction) = self.invalid.pop_front() {
            return Ok(Some(PortEvent::Unanswered(transaction)));
        }
        loop {
            let left = until.saturating_sub(self.now());
            let received = self.receive_within(left)?;
            if received.is_some() || self.now() >= until {
                return Ok(received);
            }
        }
    }

    fn accept_reports(&mut self) -> Result<(), PortError> {
        self.gsi.port.accept_reports()
    }

    fn accept_requests(&mut self) -> Result<(), PortError> {
        self.gsi.port.accept_requests()
    }
}
