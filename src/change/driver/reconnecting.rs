//! A source that may be lost for a while. The first reading opens it, and a reading after a failed one opens it again.

use std::collections::BTreeSet;
use std::time::Duration;

use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Guid, Lid, ServiceLevel};
use fabdeck_mad::PathNotice;
use fabdeck_mad::access::{
    Actuator, DeviceAttribute, DevicePort, ReadObserver, ReadOptions, Registration, RegistrationLookup,
    SourceError, Surveyor, WriteError,
};

/// Opens the source, or returns why it cannot be opened.
type OpenActuator<'a> = dyn FnMut() -> Result<Box<dyn Actuator>, String> + 'a;

#[allow(missing_debug_implementations, reason = "nothing of it can be shown")]
pub struct Reconnecting<'a> {
    open: Box<OpenActuator<'a>>,
    at: Option<Box<dyn Actuator>>,
}

impl<'a> Reconnecting<'a> {
    pub fn new(open: impl FnMut() -> Result<Box<dyn Actuator>, String> + 'a) -> Self {
        Self { open: Box::new(open), at: None }
    }

    fn ensure_open(&mut self) -> Result<&mut Box<dyn Actuator>, SourceError> {
        let at = match self.at.take() {
            Some(at) => at,
            None => (self.open)().map_err(|what| SourceError::Unreachable {
                code: "FD-5656",
                what: format!("the connection to the fabric cannot be opened: {what}"),
                hint: "check that the adapter or the simulator works".into(),
            })?,
        };
        Ok(self.at.insert(at))
    }
}

/// The error of requests between the loss of the source and the next reading.
fn gone_error() -> WriteError {
    WriteError::Gone("FD-5657: the connection to the fabric is lost".to_owned())
}

impl Surveyor for Reconnecting<'_> {
    fn read_fabric(
        &mut self,
        wanted: ReadOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<Observation, SourceError> {
        let looked = self.ensure_open()?.read_fabric(wanted, watch);
        if looked.is_err() {
            self.at = None;
        }
        looked
    }

    fn avoid_ports(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort> {
        self.at.as_mut().map_or_else(Vec::new, |at| at.avoid_ports(ports))
    }

    fn read(&mut self, slots: &[DeviceAttribute]) -> Vec<Result<Vec<u8>, WriteError>> {
        let none = || slots.iter().map(|_| Err(gone_error())).collect();
        self.at.as_mut().map_or_else(none, |at| at.read(slots))
    }

    fn read_levels(&mut self, pairs: &[(Lid, Lid)]) -> Vec<Option<ServiceLevel>> {
        self.at.as_mut().map_or_else(|| vec![None; pairs.len()], |at| at.read_levels(pairs))
    }

    fn read_registration(&mut self) -> RegistrationLookup {
        let away = || RegistrationLookup::NotKept("the connection to the fabric is lost".to_owned());
        self.at.as_mut().map_or_else(away, |at| at.read_registration())
    }
}

impl Actuator for Reconnecting<'_> {
    fn write(&mut self, slot: &DeviceAttribute, bytes: &[u8]) -> Result<(), WriteError> {
        self.at.as_mut().ok_or_else(gone_error)?.write(slot, bytes)
    }

    fn notify(
        &mut self,
        notices: &[PathNotice],
        whom: &[Lid],
        patience: Duration,
    ) -> Result<Vec<Lid>, WriteError> {
        self.at.as_mut().ok_or_else(gone_error)?.notify(notices, whom, patience)
    }

    fn register(&mut self, registration: &Registration) -> Result<(), WriteError> {
        self.at.as_mut().ok_or_else(gone_error)?.register(registration)
    }

    fn unregister(&mut self, registration: &Registration) -> Result<(), WriteError> {
        self.at.as_mut().ok_or_else(gone_error)?.unregister(registration)
    }
}
