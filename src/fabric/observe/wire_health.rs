//! What devices state about the health of their links, modules and sensors. Values are those of the device, in its
//! units, with the word for each value that is missing.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::bit_error_rate::BitErrorRate;
use super::link_pages::{
    CongestionMarks, LinkDownPage, PhysicalLayerCounts, RetransmissionCounts, TroubleshootingPage,
};
use super::node_statements::NodeStatements;
use crate::{Guid, PortNum};

/// The outcome of a question to a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceAnswer<T> {
    /// The question was not sent so far.
    #[default]
    NotAsked,
    /// The device does not have the value: it refused the question.
    Absent,
    /// The device did not answer.
    Silent,
    /// The answer contradicts the question or itself.
    Implausible,
    /// The device answers such questions only with a key, and was not asked.
    Guarded,
    /// The device was not asked, because this other device of the same kind settled it.
    OfKind(KindOutcome, Guid),
    /// The answer.
    Known(T),
}

/// What one device of a kind said for all of its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KindOutcome {
    /// It refused the question.
    Refused,
    /// It did not answer.
    Silent,
    /// It answers only with a key.
    Guarded,
}

impl<T> DeviceAnswer<T> {
    /// The value.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            _ => None,
        }
    }

    /// Whether the device does not have the value.
    pub fn is_refused(&self) -> bool {
        matches!(self, Self::Absent | Self::OfKind(KindOutcome::Refused, _))
    }

    /// The word for a missing value. Neither of them means that something is switched off.
    pub fn missing_word(&self) -> Option<&'static str> {
        match self {
            Self::NotAsked => Some("not asked"),
            Self::Absent => Some("absent"),
            Self::Silent => Some("did not answer"),
            Self::Implausible => Some("not understood"),
            Self::Guarded => Some("guarded by a key"),
            Self::OfKind(KindOutcome::Refused, _) => Some("absent in its kind"),
            Self::OfKind(KindOutcome::Silent, _) => Some("its kind did not answer"),
            Self::OfKind(KindOutcome::Guarded, _) => Some("its kind is guarded by a key"),
            Self::Known(_) => None,
        }
    }

    /// The reason for a missing value in a sentence, with the device that settled it by its name.
    pub fn missing_text(&self, name: impl FnOnce(Guid) -> String) -> Option<String> {
        Some(match self {
            Self::OfKind(KindOutcome::Refused, device) => {
                format!("absent: {} of the same kind refused", name(*device))
            }
            Self::OfKind(KindOutcome::Silent, device) => {
                format!("not asked: {} of the same kind did not answer", name(*device))
            }
            Self::OfKind(KindOutcome::Guarded, device) => {
                format!("not asked: {} of the same kind is guarded by a key", name(*device))
            }
            other => other.missing_word()?.to_owned(),
        })
    }

    /// Whether the question was not sent, or the device does not have the value.
    pub fn has_nothing(&self) -> bool {
        matches!(self, Self::NotAsked | Self::Absent | Self::OfKind(KindOutcome::Refused, _))
    }

    /// The same with other GUIDs.
    pub fn map_device(&mut self, guid: impl Fn(Guid) -> Guid) {
        if let Self::OfKind(_, device) = self {
            *device = guid(*device);
        }
    }

    /// Whether the question was never sent.
    pub fn is_not_asked(&self) -> bool {
        matches!(self, Self::NotAsked)
    }
}

/// The forward error correction of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FecMode {
    /// The link runs without FEC.
    Off,
    /// Firecode.
    Firecode,
    /// Reed-Solomon.
    Rs,
    /// Reed-Solomon with low latency.
    LowLatencyRs,
    /// Reed-Solomon (544).
    Rs544,
    /// The vendor's stronger Reed-Solomon.
    VendorStrongRs,
    /// The vendor's Reed-Solomon with low latency.
    VendorLowLatencyRs,
    /// The vendor's adaptive Reed-Solomon.
    VendorAdaptiveRs,
    /// The vendor's COD-FEC.
    VendorCod,
    /// The vendor's FEC with zero latency.
    VendorZeroLatency,
    /// Reed-Solomon (544) with retransmission in the physical layer.
    Rs544Plr,
    /// Low latency (271) with retransmission in the physical layer.
    LowLatency271Plr,
}

impl FecMode {
    /// All modes.
    pub const ALL: &'static [Self] = &[
        Self::Off,
        Self::Firecode,
        Self::Rs,
        Self::LowLatencyRs,
        Self::Rs544,
        Self::VendorStrongRs,
        Self::VendorLowLatencyRs,
        Self::VendorAdaptiveRs,
        Self::VendorCod,
        Self::VendorZeroLatency,
        Self::Rs544Plr,
        Self::LowLatency271Plr,
    ];

    /// The code in PortInfoExtended. Registers of the same devices use other codes.
    pub fn code(self) -> u16 {
        match self {
            Self::Off => 0,
            Self::Firecode => 1,
            Self::Rs => 2,
            Self::LowLatencyRs => 3,
            Self::Rs544 => 4,
            Self::VendorStrongRs => 8,
            Self::VendorLowLatencyRs => 9,
            Self::VendorAdaptiveRs => 10,
            Self::VendorCod => 11,
            Self::VendorZeroLatency => 12,
            Self::Rs544Plr => 13,
            Self::LowLatency271Plr => 14,
        }
    }

    /// The mode with a code of PortInfoExtended.
    pub fn from_code(code: u16) -> Option<Self> {
        Self::ALL.iter().copied().find(|mode| mode.code() == code)
    }

    /// The name on screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Firecode => "FC",
            Self::Rs => "RS",
            Self::LowLatencyRs => "LL-RS",
            Self::Rs544 => "RS(544)",
            Self::VendorStrongRs => "MLNX strong RS",
            Self::VendorLowLatencyRs => "MLNX LL-RS",
            Self::VendorAdaptiveRs => "MLNX adaptive RS",
            Self::VendorCod => "MLNX COD",
            Self::VendorZeroLatency => "MLNX ZL",
            Self::Rs544Plr => "RS(544)+PLR",
            Self::LowLatency271Plr => "LL(271)+PLR",
        }
    }

    /// Whether FEC counts symbols (Reed-Solomon), not only blocks.
    pub fn is_reed_solomon(self) -> bool {
        !matches!(self, Self::Off | Self::Firecode | Self::VendorCod | Self::VendorZeroLatency)
    }

    /// Whether the physical layer sends lost blocks again.
    pub fn has_retransmission(self) -> bool {
        matches!(self, Self::Rs544Plr | Self::LowLatency271Plr)
    }
}

/// Causes of receive errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ReceiveErrorCauses {
    /// Errors of the local physical layer.
    pub local_physical: u16,
    /// Packets that are not built as they have to be.
    pub malformed: u16,
    /// Packets without room in the buffer.
    pub buffer_overrun: u16,
    /// Packets whose LID has no entry in the forwarding table.
    pub dlid_mapping: u16,
    /// Packets whose lane has no mapping.
    pub vl_mapping: u16,
    /// Packets that would leave through the port that they came in by.
    pub looping: u16,
}

impl ReceiveErrorCauses {
    /// The causes with a count, in words: `3 local physical, 1 looping`.
    pub fn text(&self) -> String {
        count_text(&[
            (self.local_physical, "local physical"),
            (self.malformed, "malformed"),
            (self.buffer_overrun, "buffer overrun"),
            (self.dlid_mapping, "no entry for the LID"),
            (self.vl_mapping, "no lane"),
            (self.looping, "looping"),
        ])
    }
}

impl DiscardCauses {
    /// The causes with a count, in words.
    pub fn text(&self) -> String {
        count_text(&[
            (self.port_inactive, "port inactive"),
            (self.neighbor_mtu, "longer than the neighbour takes"),
            (self.switch_lifetime, "too long in the switch"),
            (self.head_of_queue, "too long at the head of the queue"),
        ])
    }
}

fn count_text(counts: &[(u16, &str)]) -> String {
    let some = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = some.map(|(count, cause)| format!("{count} {cause}")).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

/// Causes of transmit discards.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DiscardCauses {
    /// The port was not active.
    pub port_inactive: u16,
    /// The packet was longer than the neighbour takes.
    pub neighbor_mtu: u16,
    /// The packet was in the switch for too long.
    pub switch_lifetime: u16,
    /// The packet was at the head of its queue for too long.
    pub head_of_queue: u16,
}

/// The counts of FEC, by subnet management's own counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FecCounts {
    /// Blocks that FEC corrected.
    pub corrected_blocks: u32,
    /// Blocks that FEC could not correct.
    pub uncorrected_blocks: u32,
    /// Symbols that FEC corrected; only with Reed-Solomon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected_symbols: Option<u32>,
    /// Errors in the headers that lanes synchronize by.
    pub sync_header_errors: u16,
}

/// Counts of bit errors since they were cleared, and the rates that the device makes of them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BitErrorCounts {
    /// Milliseconds since the counts were cleared.
    pub since_ms: u64,
    /// Received bits.
    pub bits: u64,
    /// Errors after FEC and retransmission.
    pub symbol_errors: u64,
    /// Bits that FEC corrected.
    pub corrected_bits: u64,
    /// Errors before FEC, by lane.
    pub lane_errors: Vec<u64>,
    /// Errors after FEC.
    pub effective_errors: u64,
    /// The rate before FEC; `None` where the device states none.
    pub raw: Option<BitErrorRate>,
    /// The rate after FEC.
    pub effective: Option<BitErrorRate>,
    /// The rate after FEC and retransmission.
    pub symbol: Option<BitErrorRate>,
}

impl BitErrorCounts {
    /// Whether these counts go on from earlier ones, so that their difference is a growth: nothing was cleared between.
    pub fn continues(&self, earlier: &Self) -> bool {
        self.since_ms > earlier.since_ms
            && self.bits > earlier.bits
            && self.symbol_errors >= earlier.symbol_errors
            && self.effective_errors >= earlier.effective_errors
            && self.lane_sum() >= earlier.lane_sum()
    }

    /// The errors of all lanes.
    pub fn lane_sum(&self) -> u64 {
        self.lane_errors.iter().fold(0, |sum, errors| sum.saturating_add(*errors))
    }
}

/// The limits of a quantity, by the module itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AlarmLimits<T> {
    /// Above this is an alarm.
    pub high: T,
    /// Below this is an alarm.
    pub low: T,
}

/// The kind of a cable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CableKind {
    /// Electrical, with electronics in its ends.
    Active,
    /// Optical.
    Optical,
    /// Electrical without electronics.
    Copper,
    /// No cable is plugged in.
    Unplugged,
    /// The optics are part of the switch.
    CoPackaged,
}

impl CableKind {
    /// The name on screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Optical => "optical",
            Self::Copper => "copper",
            Self::Unplugged => "unplugged",
            Self::CoPackaged => "co-packaged",
        }
    }
}

/// A cable or transceiver, by its own memory.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ModuleReading {
    /// The kind of the cable.
    pub kind: Option<CableKind>,
    /// The name of the maker.
    pub vendor: Option<String>,
    /// The part number.
    pub part: Option<String>,
    /// The revision.
    pub revision: Option<String>,
    /// The serial number.
    pub serial: Option<String>,
    /// Length in tenths of a metre.
    pub length_dm: Option<u32>,
    /// Temperature in 1/256 °C.
    pub temperature: Option<i16>,
    /// Supply voltage in 100 uV.
    pub voltage: Option<u16>,
    /// Received power by lane in uW.
    pub rx_power: Vec<u16>,
    /// Sent power by lane in uW.
    pub tx_power: Vec<u16>,
    /// Laser current by lane in 2 uA.
    pub bias: Vec<u32>,
    /// The module's alarm limits, in the units above.
    pub temperature_limits: Option<AlarmLimits<i16>>,
    /// Limits of the voltage.
    pub voltage_limits: Option<AlarmLimits<u16>>,
    /// Limits of the received power.
    pub rx_limits: Option<AlarmLimits<u16>>,
    /// Limits of the sent power.
    pub tx_limits: Option<AlarmLimits<u16>>,
    /// Wavelength in nm.
    pub wavelength_nm: Option<u16>,
    /// Whether the module reports a fault.
    pub faulty: bool,
}

impl ModuleReading {
    /// The temperature in °C.
    pub fn celsius(&self) -> Option<f64> {
        self.temperature.map(|value| f64::from(value) / 256.0)
    }

    /// The voltage in V.
    pub fn volts(&self) -> Option<f64> {
        self.voltage.map(|value| f64::from(value) / 10_000.0)
    }
}

/// What one port said.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PortWire {
    /// The time of the last answer, by the clock of the source.
    pub at: Duration,
    /// Causes of receive errors.
    pub errors: DeviceAnswer<ReceiveErrorCauses>,
    /// Causes of discards.
    pub discards: DeviceAnswer<DiscardCauses>,
    /// The FEC mode in use.
    pub fec: DeviceAnswer<FecMode>,
    /// The counts of FEC.
    pub fec_counts: DeviceAnswer<FecCounts>,
    /// When the counts of FEC were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fec_counts_at: Option<Duration>,
    /// The counts of FEC before these, and when they were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier_fec: Option<(Duration, FecCounts)>,
    /// Counts of bit errors.
    pub bit_errors: DeviceAnswer<BitErrorCounts>,
    /// The counts of bit errors before these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier_bits: Option<BitErrorCounts>,
    /// The module.
    pub module: DeviceAnswer<ModuleReading>,
    /// Packets that were marked for congestion.
    #[serde(skip_serializing_if = "DeviceAnswer::is_not_asked")]
    pub congestion: DeviceAnswer<CongestionMarks>,
    /// FEC blocks and recoveries.
    #[serde(skip_serializing_if = "DeviceAnswer::is_not_asked")]
    pub layer: DeviceAnswer<PhysicalLayerCounts>,
    /// Retransmission in the physical layer.
    #[serde(skip_serializing_if = "DeviceAnswer::is_not_asked")]
    pub retransmission: DeviceAnswer<RetransmissionCounts>,
    /// What keeps the link down.
    #[serde(skip_serializing_if = "DeviceAnswer::is_not_asked")]
    pub troubleshooting: DeviceAnswer<TroubleshootingPage>,
    /// The last time that the link went down.
    #[serde(skip_serializing_if = "DeviceAnswer::is_not_asked")]
    pub link_down: DeviceAnswer<LinkDownPage>,
}

impl PortWire {
    /// Whether the device has none of this, or was asked for none.
    pub fn has_nothing(&self) -> bool {
        self.errors.has_nothing()
            && self.discards.has_nothing()
            && self.fec.has_nothing()
            && self.fec_counts.has_nothing()
            && self.bit_errors.has_nothing()
            && self.module.has_nothing()
            && self.congestion.has_nothing()
            && self.layer.has_nothing()
            && self.retransmission.has_nothing()
            && self.troubleshooting.has_nothing()
            && self.link_down.has_nothing()
    }
}

impl PortWire {
    /// The same with other GUIDs.
    pub fn map_devices(&mut self, guid: impl Fn(Guid) -> Guid) {
        self.errors.map_device(&guid);
        self.discards.map_device(&guid);
        self.fec.map_device(&guid);
        self.fec_counts.map_device(&guid);
        self.bit_errors.map_device(&guid);
        self.module.map_device(&guid);
        self.congestion.map_device(&guid);
        self.layer.map_device(&guid);
        self.retransmission.map_device(&guid);
        self.troubleshooting.map_device(&guid);
        self.link_down.map_device(&guid);
    }
}

impl DeviceSensors {
    /// The same with other GUIDs.
    pub fn map_devices(&mut self, guid: impl Fn(Guid) -> Guid) {
        self.temperature.map_device(&guid);
        self.fan_list.map_device(&guid);
        self.firmware.map_device(&guid);
        self.system.map_device(&guid);
        self.power_supplies.map_device(&guid);
        self.sensor_count.map_device(&guid);
        self.fans.values_mut().for_each(|fan| fan.map_device(&guid));
    }

    /// Whether the device has none of this, or was asked for none.
    pub fn has_nothing(&self) -> bool {
        self.temperature.has_nothing()
            && self.fan_list.has_nothing()
            && self.firmware.has_nothing()
            && self.system.has_nothing()
            && self.power_supplies.has_nothing()
            && self.board.is_empty()
    }
}

/// What one device said about itself.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceSensors {
    /// Temperature of the ASIC.
    pub temperature: DeviceAnswer<TemperatureReading>,
    /// Fan speeds in revolutions a minute, by number.
    pub fans: BTreeMap<u8, DeviceAnswer<u16>>,
    /// Which fans are there: `Absent` where the device has none to state.
    pub fan_list: DeviceAnswer<u16>,
    /// Firmware and uptime.
    pub firmware: DeviceAnswer<FirmwareReading>,
    /// Serial and part number of the system.
    pub system: DeviceAnswer<SystemReading>,
    /// The limits of fan speeds, by the number of the fan.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fan_limits: BTreeMap<u8, AlarmLimits<u16>>,
    /// What is wrong with the fans as a whole, in the words of the device.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fan_faults: Vec<String>,
    /// The number of temperature sensors, that of the ASIC included.
    #[serde(skip_serializing_if = "DeviceAnswer::is_not_asked")]
    pub sensor_count: DeviceAnswer<u8>,
    /// Temperature sensors beside that of the ASIC, by number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub board: BTreeMap<u16, BoardSensor>,
    /// The power supplies, by number.
    #[serde(skip_serializing_if = "DeviceAnswer::is_not_asked")]
    pub power_supplies: DeviceAnswer<BTreeMap<u8, PowerSupplyReading>>,
}

/// A temperature sensor of a device.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BoardSensor {
    /// The device's name for it.
    pub name: Option<String>,
    /// The temperature.
    pub reading: TemperatureReading,
}

/// The state of a power supply.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PowerSupplyReading {
    /// Whether it is plugged in; `None` where the device does not state it.
    pub present: Option<bool>,
    /// The states that are not OK, with their names: `DC power ERROR`.
    pub faults: Vec<String>,
    /// Power in W.
    pub watts: Option<u32>,
    /// The serial number.
    pub serial: Option<String>,
}

/// A temperature in 1/8 °C.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TemperatureReading {
    /// Now.
    pub now: i16,
    /// The highest since it was reset.
    pub highest: Option<i16>,
    /// The device's own limit; `None` where it states none.
    pub limit: Option<i16>,
}

impl TemperatureReading {
    /// The temperature in °C.
    pub fn celsius(self) -> f64 {
        f64::from(self.now) / 8.0
    }

    /// The device's own limit in °C.
    pub fn limit_celsius(self) -> Option<f64> {
        self.limit.map(|limit| f64::from(limit) / 8.0)
    }
}

/// The firmware of a device.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FirmwareReading {
    /// `31.2012.4036`.
    pub version: String,
    /// The identifier of the board's parameters.
    pub psid: Option<String>,
    /// Seconds since the device started.
    pub uptime_s: u32,
}

/// The system that a device is in.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SystemReading {
    /// The serial number.
    pub serial: Option<String>,
    /// The part number.
    pub part: Option<String>,
    /// The name of the product.
    pub product: Option<String>,
}

/// The answers of all devices.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WireHealth {
    /// By node and port.
    pub ports: BTreeMap<(Guid, PortNum), PortWire>,
    /// By node.
    pub devices: BTreeMap<Guid, DeviceSensors>,
    /// What a file states about aggregation nodes and routers.
    pub stated: BTreeMap<Guid, NodeStatements>,
}

impl WireHealth {
    /// Whether nothing was asked.
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty() && self.devices.is_empty() && self.stated.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_was_never_asked_names_the_device_that_settled_it() {
        let name = |guid: Guid| format!("sw{}", guid.0);
        let of_kind = |outcome| DeviceAnswer::<u16>::OfKind(outcome, Guid(7));
        for (answer, text) in [
            (of_kind(KindOutcome::Refused), "absent: sw7 of the same kind refused"),
            (of_kind(KindOutcome::Silent), "not asked: sw7 of the same kind did not answer"),
            (of_kind(KindOutcome::Guarded), "not asked: sw7 of the same kind is guarded by a key"),
            (DeviceAnswer::Absent, "absent"),
            (DeviceAnswer::Silent, "did not answer"),
        ] {
            assert_eq!(answer.missing_text(name).as_deref(), Some(text));
            let stored = serde_json::to_string(&answer).unwrap();
            assert_eq!(serde_json::from_str::<DeviceAnswer<u16>>(&stored).unwrap(), answer);
        }
        let mut other = of_kind(KindOutcome::Silent);
        other.map_device(|guid| Guid(guid.0 + 1));
        assert_eq!(other, DeviceAnswer::OfKind(KindOutcome::Silent, Guid(8)));
    }
}
