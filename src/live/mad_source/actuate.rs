//! Writes to a live fabric over a port with the right to write.

use std::collections::BTreeSet;
use std::time::Duration;

use super::keys::Keys;
use super::policy::Policy;
use super::set::{Done, SetError, Setter, Target};
use super::survey::{LiveSurveyor, part_of, wire};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Guid, Lid, PhysicalState, ServiceLevel};
use fabdeck_mad::access::{
    Actuator, DevicePort, Part, Registered, Registration, Slot, SourceError, Surveyor, Wanted, Watch,
    WriteError, WritePort,
};
use fabdeck_mad::{PortInfo, Repath, SMP_DATA, Smp, SwitchInfo};

/// Reads and writes switches and adapters over one port.
#[derive(Debug)]
pub struct LiveActuator {
    surveyor: LiveSurveyor<WritePort>,
    setter: Setter,
}

impl LiveActuator {
    pub fn new(name: impl Into<String>, port: WritePort, policy: Policy, keys: Keys) -> Self {
        let setter = Setter::new(policy, keys.clone());
        Self { surveyor: LiveSurveyor::new(name, port, policy, keys), setter }
    }

    /// The traffic of the port.
    pub fn traffic(&self) -> &fabdeck_mad::access::Traffic {
        self.surveyor.port.traffic()
    }

    /// The data of the attribute for a Set of this part.
    fn filled(&mut self, slot: &Slot, bytes: &[u8]) -> Result<[u8; SMP_DATA], WriteError> {
        let mut filled = Smp::default();
        match slot.part {
            Part::Block(_) | Part::Lanes(_) | Part::Arbitration(_) => {
                filled.data_mut::<[u8; SMP_DATA]>()[..bytes.len()].copy_from_slice(bytes);
            }
            // The other fields of the attribute keep their values.
            Part::LinearTop(()) => {
                let mut info = *self.surveyor.raw(slot)?.data::<SwitchInfo>();
                info.linear_top = u16::from_be_bytes([bytes[0], bytes[1]]).into();
                // Writing a one to this bit (PortStateChange) clears it, which is up to the subnet manager.
                info.life_state &= !0x04;
                *filled.data_mut() = info;
            }
            Part::Port(_) => {
                let state = if bytes[0] == 0 { PhysicalState::Disabled } else { PhysicalState::Polling };
                let info = self.surveyor.raw(slot)?.data::<PortInfo>().with_physical_state(state);
                *filled.data_mut() = info;
            }
        }
        Ok(*filled.data())
    }
}

impl Surveyor for LiveActuator {
    fn look(&mut self, wanted: Wanted, watch: &mut dyn Watch) -> Result<Observation, SourceError> {
        self.surveyor.look(wanted, watch)
    }

    fn keep_off(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort> {
        self.surveyor.keep_off(ports)
    }

    fn read(&mut self, slots: &[Slot]) -> Vec<Result<Vec<u8>, WriteError>> {
        self.surveyor.read(slots)
    }

    fn levels(&mut self, pairs: &[(Lid, Lid)]) -> Vec<Option<ServiceLevel>> {
        self.surveyor.levels(pairs)
    }

    fn registered(&mut self) -> Registered {
        self.surveyor.registered()
    }
}

impl Actuator for LiveActuator {
    fn write(&mut self, slot: &Slot, bytes: &[u8]) -> Result<(), WriteError> {
        assert_eq!(bytes.len(), slot.part.length(), "a plan is checked for this when it is read");
        let way = self.surveyor.way(slot)?.clone();
        let target = Target { route: way.route, guid: Some(way.guid) };
        let data = self.filled(slot, bytes)?;
        let (attribute, modifier) = wire(slot);
        let done = self.setter.set(&mut self.surveyor.port, &target, attribute, modifier, &data);
        compare_answer(slot, bytes, &done.map_err(failed)?)
    }

    fn notify(
        &mut self,
        notices: &[Repath],
        whom: &[Lid],
        patience: Duration,
    ) -> Result<Vec<Lid>, WriteError> {
        self.surveyor.notify(notices, whom, patience)
    }

    fn register(&mut self, registration: &Registration) -> Result<(), WriteError> {
        self.surveyor.register(registration)
    }

    fn unregister(&mut self, registration: &Registration) -> Result<(), WriteError> {
        self.surveyor.unregister(registration)
    }
}

/// Compares the answer to a Set with what was sent. The answer holds what the device stores from now on; OpenSM takes
/// its tables from it too. Only the bytes of the part count, since the device controls the rest of the attribute. A
/// port's state follows from the link, later than the answer.
fn compare_answer(slot: &Slot, sent: &[u8], done: &Done) -> Result<(), WriteError> {
    let holds = part_of(slot.part, &done.answer);
    if matches!(slot.part, Part::Port(_)) || holds == sent {
        return Ok(());
    }
    let differs = sent.iter().zip(&holds).filter(|(sent, holds)| sent != holds).count();
    let first = sent.iter().zip(&holds).position(|(sent, holds)| sent != holds).unwrap_or(0);
    let what = format!(
        "FD-4505: {slot}: the answer to the Set holds other bytes than were sent ({differs} of {}; byte {first} is {}, sent was \
         {}): the device altered them, nobody else wrote there",
        sent.len(),
        holds[first],
        sent[first]
    );
    Err(WriteError::Altered { what, holds })
}

fn failed(error: SetError) -> WriteError {
    let words = error.to_string();
    match error {
        SetError::Silent { .. } | SetError::KeySuspected { .. } => WriteError::Silent(words),
        SetError::Refused { .. } | SetError::TooFar { .. } => WriteError::Refused(words),
        SetError::Port(_) => WriteError::Gone(words),
    }
}
