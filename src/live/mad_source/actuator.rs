//! Writes to a live fabric over a port with the right to write.

use std::collections::BTreeSet;
use std::time::Duration;

use super::exchange_policy::ExchangePolicy;
use super::keys::Keys;
use super::setter::{SetAnswer, SetError, SetTarget, Setter};
use super::surveyor::{LiveSurveyor, attribute_of, extract_part};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Guid, Lid, PhysicalState, ServiceLevel};
use fabdeck_mad::access::{
    Actuator, AttributePart, DeviceAttribute, DevicePort, ReadObserver, ReadOptions, Registration,
    RegistrationLookup, SourceError, Surveyor, WriteError, WritePort,
};
use fabdeck_mad::{PathNotice, PortInfo, SMP_DATA, Smp, SwitchInfo};

/// Reads and writes switches and adapters over one port.
#[derive(Debug)]
pub struct LiveActuator {
    surveyor: LiveSurveyor<WritePort>,
    setter: Setter,
}

impl LiveActuator {
    pub fn new(name: impl Into<String>, port: WritePort, policy: ExchangePolicy, keys: Keys) -> Self {
        let setter = Setter::new(policy, keys.clone());
        Self { surveyor: LiveSurveyor::new(name, port, policy, keys), setter }
    }

    /// The traffic of the port.
    pub fn traffic(&self) -> &fabdeck_mad::access::MadTraffic {
        self.surveyor.port.traffic()
    }

    /// The data of the attribute for a Set of this part.
    fn filled_attribute(
        &mut self,
        slot: &DeviceAttribute,
        bytes: &[u8],
    ) -> Result<[u8; SMP_DATA], WriteError> {
        let mut filled = Smp::default();
        match slot.part {
            AttributePart::Block(_) | AttributePart::Lanes(_) | AttributePart::Arbitration(_) => {
                filled.data_mut::<[u8; SMP_DATA]>()[..bytes.len()].copy_from_slice(bytes);
            }
            // The other fields of the attribute keep their values.
            AttributePart::LinearTop(()) => {
                let mut info = *self.surveyor.read_attribute(slot)?.data::<SwitchInfo>();
                info.linear_top = u16::from_be_bytes([bytes[0], bytes[1]]).into();
                // Writing a one to this bit (PortStateChange) clears it, which is up to the subnet manager.
                info.life_state &= !0x04;
                *filled.data_mut() = info;
            }
            AttributePart::Port(_) => {
                let state = if bytes[0] == 0 { PhysicalState::Disabled } else { PhysicalState::Polling };
                let info = self.surveyor.read_attribute(slot)?.data::<PortInfo>().with_physical_state(state);
                *filled.data_mut() = info;
            }
        }
        Ok(*filled.data())
    }
}

impl Surveyor for LiveActuator {
    fn read_fabric(
        &mut self,
        wanted: ReadOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<Observation, SourceError> {
        self.surveyor.read_fabric(wanted, watch)
    }

    fn avoid_ports(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort> {
        self.surveyor.avoid_ports(ports)
    }

    fn read(&mut self, slots: &[DeviceAttribute]) -> Vec<Result<Vec<u8>, WriteError>> {
        self.surveyor.read(slots)
    }

    fn read_levels(&mut self, pairs: &[(Lid, Lid)]) -> Vec<Option<ServiceLevel>> {
        self.surveyor.read_levels(pairs)
    }

    fn read_registration(&mut self) -> RegistrationLookup {
        self.surveyor.read_registration()
    }
}

impl Actuator for LiveActuator {
    fn write(&mut self, slot: &DeviceAttribute, bytes: &[u8]) -> Result<(), WriteError> {
        assert_eq!(bytes.len(), slot.part.byte_count(), "a plan is checked for this when it is read");
        let way = self.surveyor.device_route(slot)?.clone();
        let target = SetTarget { route: way.route, guid: Some(way.guid) };
        let data = self.filled_attribute(slot, bytes)?;
        let (attribute, modifier) = attribute_of(slot);
        let done = self.setter.set_attribute(&mut self.surveyor.port, &target, attribute, modifier, &data);
        compare_answer(slot, bytes, &done.map_err(to_write_error)?)
    }

    fn notify(
        &mut self,
        notices: &[PathNotice],
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
fn compare_answer(slot: &DeviceAttribute, sent: &[u8], done: &SetAnswer) -> Result<(), WriteError> {
    let holds = extract_part(slot.part, &done.answer);
    if matches!(slot.part, AttributePart::Port(_)) || holds == sent {
        return Ok(());
    }
    let differs = sent.iter().zip(&holds).filter(|(sent, holds)| sent != holds).count();
    let first = sent.iter().zip(&holds).position(|(sent, holds)| sent != holds).unwrap_or(0);
    let what = format!(
        "FD-4505: {slot}: the answer to the Set has other bytes than were sent ({differs} of {}; byte {first} is {}, \
         sent was {}): the device altered them, no other tool wrote there",
        sent.len(),
        holds[first],
        sent[first]
    );
    Err(WriteError::Altered { what, holds })
}

fn to_write_error(error: SetError) -> WriteError {
    let words = error.to_string();
    match error {
        SetError::Silent { .. } | SetError::KeySuspected { .. } => WriteError::Silent(words),
        SetError::Refused { .. } | SetError::TooFar { .. } => WriteError::Refused(words),
        SetError::Port(_) => WriteError::Gone(words),
    }
}
