//! A source that may be lost for a while. The first reading opens it, and a reading after a failed one opens it again.

use std::collections::BTreeSet;
use std::time::Duration;

use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Guid, Lid, ServiceLevel};
use fabdeck_mad::Repath;
use fabdeck_mad::access::{
    Actuator, DevicePort, Registered, Registration, Slot, SourceError, Surveyor, Wanted, Watch, WriteError,
};

/// Opens the source, or returns why it cannot be opened.
type Open<'a> = dyn FnMut() -> Result<Box<dyn Actuator>, String> + 'a;

#[allow(missing_debug_implementations, reason = "nothing of it can be shown")]
pub struct Reopened<'a> {
    open: Box<Open<'a>>,
    at: Option<Box<dyn Actuator>>,
}

impl<'a> Reopened<'a> {
    pub fn new(open: impl FnMut() -> Result<Box<dyn Actuator>, String> + 'a) -> Self {
        Self { open: Box::new(open), at: None }
    }

    fn opened(&mut self) -> Result<&mut Box<dyn Actuator>, SourceError> {
        let at = match self.at.take() {
            Some(at) => at,
            None => (self.open)().map_err(|what| SourceError::Unreachable {
                code: "FD-5656",
                what: format!("the way to the fabric cannot be opened: {what}"),
                hint: "see that its adapter works, or its simulator".into(),
            })?,
        };
        Ok(self.at.insert(at))
    }
}

/// The error of requests between the loss of the source and the next reading.
fn gone() -> WriteError {
    WriteError::Gone("FD-5657: the way to the fabric is gone".to_owned())
}

impl Surveyor for Reopened<'_> {
    fn look(&mut self, wanted: Wanted, watch: &mut dyn Watch) -> Result<Observation, SourceError> {
        let looked = self.opened()?.look(wanted, watch);
        if looked.is_err() {
            self.at = None;
        }
        looked
    }

    fn keep_off(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort> {
        self.at.as_mut().map_or_else(Vec::new, |at| at.keep_off(ports))
    }

    fn read(&mut self, slots: &[Slot]) -> Vec<Result<Vec<u8>, WriteError>> {
        let none = || slots.iter().map(|_| Err(gone())).collect();
        self.at.as_mut().map_or_else(none, |at| at.read(slots))
    }

    fn levels(&mut self, pairs: &[(Lid, Lid)]) -> Vec<Option<ServiceLevel>> {
        self.at.as_mut().map_or_else(|| vec![None; pairs.len()], |at| at.levels(pairs))
    }

    fn registered(&mut self) -> Registered {
        let away = || Registered::NotKept("the way to the fabric is gone".to_owned());
        self.at.as_mut().map_or_else(away, |at| at.registered())
    }
}

impl Actuator for Reopened<'_> {
    fn write(&mut self, slot: &Slot, bytes: &[u8]) -> Result<(), WriteError> {
        self.at.as_mut().ok_or_else(gone)?.write(slot, bytes)
    }

    fn notify(
        &mut self,
        notices: &[Repath],
        whom: &[Lid],
        patience: Duration,
    ) -> Result<Vec<Lid>, WriteError> {
        self.at.as_mut().ok_or_else(gone)?.notify(notices, whom, patience)
    }

    fn register(&mut self, registration: &Registration) -> Result<(), WriteError> {
        self.at.as_mut().ok_or_else(gone)?.register(registration)
    }

    fn unregister(&mut self, registration: &Registration) -> Result<(), WriteError> {
        self.at.as_mut().ok_or_else(gone)?.unregister(registration)
    }
}
