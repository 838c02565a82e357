//! The agents for the health of links: class 0x0A at each node, and the details of performance management.

use std::time::Duration;

use zerocopy::{FromZeros, IntoBytes};

use fabdeck_fabric::observe::{BoardSensor, Counter, TemperatureReading, TroubleshootingPage};
use fabdeck_mad::{
    ClassPortInfo, CounterGroup, DiagnosticPage, FanList, FanSpeed, GeneralInfo, LinkDownCauses, Mad, Method,
    PortCongestionMarks, PortExtendedSpeedsCounters, PortRcvErrorDetails, PortXmitDiscardDetails,
    REGISTER_BLOCK, Register, RegisterBytes, RegisterContent, RegisterQuery, SensorCount, VendorQuery,
    attribute,
};

use super::attribute_refusal::AttributeRefusal;
use super::device::{PortRef, SimulatedDevice};
use super::performance::wide_value;
use super::simulated_fabric::SimulatedFabric;
use super::wire_profile::WireProfile;
use super::wire_values::{
    bit_errors, fec_mode, firmware, layer_counts, link_down, module, retransmission, system, temperature,
};

/// Speeds of the fans of a switch, in revolutions a minute.
const FANS: [u16; 2] = [6400, 6350];
/// The sensors of a switch beside that of its chip, with their degrees below it.
const BOARD_SENSORS: [(&str, i16); 2] = [("ambient", 20), ("ports", 12)];
/// Ticks of waiting for which a packet is marked.
const MARKED_WAIT: u16 = 64;

impl SimulatedFabric {
    /// The answer of class 0x0A. `None`: the device stays silent.
    pub(super) fn answer_diagnostics(&mut self, at: PortRef, request: &Mad, now: Duration) -> Option<Mad> {
        let device = self.device(at.0);
        let method = request.method();
        if device.silent || method.is_response() || device.wire == WireProfile::Keyed {
            return None;
        }
        let mut answer = request.clone();
        let done = match (device.wire.has_diagnostics(), method) {
            (false, _) => Err(AttributeRefusal::UnsupportedClass),
            (true, Method::GET) => self.read_diagnostics(at, &mut answer, now),
            // A Set of AccessRegister writes a register. No simulated device takes one.
            (true, _) => Err(AttributeRefusal::UnsupportedMethod),
        };
        let header = answer.header_mut();
        header.method = Method::GET_RESPONSE.0;
        header.status = done.err().map_or(0, AttributeRefusal::status).into();
        Some(answer)
    }

    fn read_diagnostics(
        &mut self,
        at: PortRef,
        answer: &mut Mad,
        now: Duration,
    ) -> Result<(), AttributeRefusal> {
        let header = answer.header();
        let (what, modifier) = (header.attribute.get(), header.modifier.get());
        match what {
            attribute::CLASS_PORT_INFO => {
                let info = answer.vendor_class_info_mut();
                *info = ClassPortInfo::new_zeroed();
                (info.base_version, info.class_version) = (1, 1);
            }
            VendorQuery::GENERAL_INFO => {
                let supported = GeneralInfo::default().with(VendorQuery::ACCESS_REGISTER_BIT);
                *answer.vendor_capabilities_mut() = supported;
            }
            VendorQuery::ACCESS_REGISTER => {
                let register = Register::from_id(modifier).ok_or(AttributeRefusal::UnsupportedRegister)?;
                let block = answer.register_block();
                let bytes = answer.register_mut();
                if RegisterQuery::clears(register, bytes) {
                    self.cleared_by_get += 1;
                }
                let query = RegisterQuery::of_request(register, bytes, block)
                    .ok_or(AttributeRefusal::InvalidField)?;
                fill_register(self.device(at.0), query, bytes, now)?;
            }
            _ => return Err(AttributeRefusal::UnsupportedAttribute),
        }
        Ok(())
    }

    /// The optional attributes of performance management: causes of errors and discards, FEC.
    pub(super) fn get_port_details(
        &self,
        node: u32,
        attribute: u16,
        answer: &mut Mad,
        now: Duration,
    ) -> Result<(), AttributeRefusal> {
        let device = self.device(node);
        if !device.wire.has_details() {
            return Err(AttributeRefusal::UnsupportedAttribute);
        }
        let port = answer.performance_data::<PortRcvErrorDetails>().port_select;
        device.port(port).ok_or(AttributeRefusal::InvalidField)?;
        let counted = self.read_counters((node, port), port)?;
        let narrow = |counter: &Counter| wide_value(&counted, counter).min(u16::MAX.into()) as u16;
        let nonsense = device.wire == WireProfile::Nonsense;
        match attribute {
            PortRcvErrorDetails::ATTRIBUTE => {
                let details = answer.performance_data_mut::<PortRcvErrorDetails>();
                *details = PortRcvErrorDetails { port_select: port, ..PortRcvErrorDetails::default() };
                details.local_physical = narrow(&Counter::PortRcvErrors).into();
                details.dlid_mapping = narrow(&Counter::PortRcvSwitchRelayErrors).into();
                if nonsense {
                    details.port_select = port.wrapping_add(1);
                }
            }
            PortXmitDiscardDetails::ATTRIBUTE => {
                let details = answer.performance_data_mut::<PortXmitDiscardDetails>();
                *details = PortXmitDiscardDetails { port_select: port, ..PortXmitDiscardDetails::default() };
                details.head_of_queue = narrow(&Counter::PortXmitDiscards).into();
                if nonsense {
                    details.port_select = port.wrapping_add(1);
                }
            }
            PortExtendedSpeedsCounters::ATTRIBUTE => {
                let counters = answer.performance_data_mut::<PortExtendedSpeedsCounters>();
                *counters = extended_counters(device, port, now);
                if nonsense {
                    counters.as_mut_bytes().fill(0xFF);
                }
            }
            PortCongestionMarks::ATTRIBUTE => {
                let marks = answer.performance_data_mut::<PortCongestionMarks>();
                *marks = PortCongestionMarks { port_select: port, ..PortCongestionMarks::default() };
                marks.forward = u32::from(narrow(&Counter::PortXmitWait) / MARKED_WAIT).into();
                if nonsense {
                    marks.port_select = port.wrapping_add(1);
                }
            }
            _ => return Err(AttributeRefusal::UnsupportedAttribute),
        }
        Ok(())
    }
}

fn extended_counters(device: &SimulatedDevice, port: u8, now: Duration) -> PortExtendedSpeedsCounters {
    let mut counters =
        PortExtendedSpeedsCounters { port_select: port, ..PortExtendedSpeedsCounters::default() };
    let reed_solomon = device.port(port).is_some_and(|model| fec_mode(model.speed).is_reed_solomon());
    let Some(errors) = bit_errors(device, port, now) else { return counters };
    let count = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    for (field, errors) in counters.corrected_in_lane.iter_mut().zip(&errors.lane_errors) {
        *field = count(*errors).into();
    }
    let corrected = count(errors.lane_errors.iter().sum());
    match reed_solomon {
        true => counters.corrected_symbols = corrected.into(),
        false => counters.corrected_blocks = corrected.into(),
    }
    counters.uncorrected_blocks = count(errors.effective_errors).into();
    counters
}

fn board_sensor(device: &SimulatedDevice, place: u16) -> Option<BoardSensor> {
    let (name, below) = BOARD_SENSORS.get(usize::from(place)).filter(|_| device.is_switch())?;
    let chip = temperature(device);
    let reading = TemperatureReading { now: 364 - below * 8, highest: chip.highest, limit: Some(70 * 8) };
    Some(BoardSensor { name: Some((*name).to_owned()), reading })
}

/// Fills a register with its values; the input fields stay as they were asked.
fn fill_register(
    device: &SimulatedDevice,
    query: RegisterQuery,
    bytes: &mut RegisterBytes,
    now: Duration,
) -> Result<(), AttributeRefusal> {
    if device.wire == WireProfile::Nonsense {
        *bytes = RegisterBytes([0xFF; REGISTER_BLOCK]);
        return Ok(());
    }
    let absent = AttributeRefusal::UnsupportedRegister;
    let wrong = AttributeRefusal::InvalidField;
    match query {
        RegisterQuery::GeneralInfo => firmware(device, now).fill(bytes),
        RegisterQuery::Temperature { sensor: 0 } => temperature(device).fill(bytes),
        RegisterQuery::Temperature { sensor } => {
            board_sensor(device, sensor.saturating_sub(1)).ok_or(wrong)?.fill(bytes);
        }
        RegisterQuery::SensorCount => {
            let board = if device.is_switch() { BOARD_SENSORS.len() as u8 } else { 0 };
            SensorCount(1 + board).fill(bytes);
        }
        RegisterQuery::SystemInfo | RegisterQuery::Fans | RegisterQuery::FanSpeed { .. }
            if !device.is_switch() =>
        {
            return Err(absent);
        }
        RegisterQuery::SystemInfo => system(device).fill(bytes),
        RegisterQuery::Fans => FanList((1 << FANS.len()) - 1).fill(bytes),
        RegisterQuery::FanSpeed { tacho } => {
            let usual = *FANS.get(usize::from(tacho)).ok_or(wrong)?;
            let stands = device.wire == WireProfile::Hot && usize::from(tacho) == FANS.len() - 1;
            FanSpeed(if stands { 0 } else { usual }).fill(bytes);
        }
        RegisterQuery::Counters { port, group } => {
            let counts = bit_errors(device, port, now).ok_or(wrong)?;
            match group {
                CounterGroup::PhysicalStatistics => counts.fill(bytes),
                CounterGroup::PhysicalLayer => layer_counts(&counts).fill(bytes),
                CounterGroup::PhysicalLayerSecond => LinkDownCauses::default().fill(bytes),
                CounterGroup::Retransmission => retransmission(&counts).fill(bytes),
            }
        }
        RegisterQuery::Diagnostics { .. } if device.wire == WireProfile::NoModules => return Err(absent),
        RegisterQuery::Diagnostics { port, page } => {
            let module = module(device, port).ok_or(wrong)?;
            match page {
                DiagnosticPage::Module => module.fill(bytes),
                DiagnosticPage::Troubleshooting => TroubleshootingPage::default().fill(bytes),
                DiagnosticPage::LinkDown => link_down(device, port).fill(bytes),
            }
        }
    }
    Ok(())
}
