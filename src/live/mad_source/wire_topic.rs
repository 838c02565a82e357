//! The questions about the health of links, and what their answers say.

use std::time::Duration;

use super::counters::counter_query;
use super::discovery_state::DiscoveredNode;
use super::get_request::directed_get;
use super::question::Reply;
use fabdeck_fabric::observe::{
    BitErrorCounts, DeviceAnswer, DiscardCauses, FecCounts, FecMode, FirmwareReading, ModuleReading,
    ReceiveErrorCauses, SystemReading, TemperatureReading, WireHealth,
};
use fabdeck_fabric::{Lid, PortNum};
use fabdeck_mad::access::{AddressedMad, MadAddress};
use fabdeck_mad::{
    CounterGroup, DiagnosticPage, FanList, FanSpeed, Mad, PortExtendedSpeedsCounters, PortInfoExtended,
    PortRcvErrorDetails, PortXmitDiscardDetails, RegisterContent, RegisterQuery, Smp, VendorQuery,
};

/// The subject of a question. The order is that of a rotation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WireTopic {
    /// Whether the device has class 0x0A.
    Class,
    /// Whether the class has AccessRegister.
    Registers,
    BitErrors,
    Module,
    ErrorCauses,
    DiscardCauses,
    Fec,
    FecCounts,
    Temperature,
    FanList,
    FanSpeed,
    Firmware,
    System,
}

impl WireTopic {
    /// The topics of a port.
    pub const OF_PORTS: [Self; 6] =
        [Self::BitErrors, Self::Module, Self::ErrorCauses, Self::DiscardCauses, Self::Fec, Self::FecCounts];
    /// The topics of a device.
    pub const OF_DEVICES: [Self; 4] = [Self::Temperature, Self::FanList, Self::Firmware, Self::System];

    /// Whether the question goes to class 0x0A.
    pub fn needs_registers(self) -> bool {
        !matches!(
            self,
            Self::Class
                | Self::Registers
                | Self::ErrorCauses
                | Self::DiscardCauses
                | Self::Fec
                | Self::FecCounts
        )
    }

    /// The words in messages.
    pub fn words(self) -> &'static str {
        match self {
            Self::Class => "class 0x0A",
            Self::Registers => "GeneralInfo of class 0x0A",
            Self::BitErrors => "bit errors",
            Self::Module => "modules",
            Self::ErrorCauses => "causes of receive errors",
            Self::DiscardCauses => "causes of discards",
            Self::Fec => "FEC modes",
            Self::FecCounts => "FEC counters",
            Self::Temperature => "temperatures",
            Self::FanList | Self::FanSpeed => "fans",
            Self::Firmware => "firmware",
            Self::System => "serial numbers",
        }
    }
}

/// A question to a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WireQuestion {
    pub topic: WireTopic,
    pub node: usize,
    /// 0 for questions about the device.
    pub port: u8,
    pub lid: Lid,
    /// The number of a fan.
    pub part: u8,
    /// Whether FEC counters have the form for Reed-Solomon.
    pub reed_solomon: bool,
}

impl WireQuestion {
    fn vendor_query(self) -> Option<VendorQuery> {
        let register = match self.topic {
            WireTopic::Class => return Some(VendorQuery::ClassPortInfo),
            WireTopic::Registers => return Some(VendorQuery::GeneralInfo),
            WireTopic::BitErrors => {
                RegisterQuery::Counters { port: self.port, group: CounterGroup::PhysicalStatistics }
            }
            WireTopic::Module => RegisterQuery::Diagnostics { port: self.port, page: DiagnosticPage::Module },
            WireTopic::Temperature => RegisterQuery::Temperature { sensor: 0 },
            WireTopic::FanList => RegisterQuery::Fans,
            WireTopic::FanSpeed => RegisterQuery::FanSpeed { tacho: self.part },
            WireTopic::Firmware => RegisterQuery::GeneralInfo,
            WireTopic::System => RegisterQuery::SystemInfo,
            WireTopic::ErrorCauses | WireTopic::DiscardCauses | WireTopic::Fec | WireTopic::FecCounts => {
                return None;
            }
        };
        Some(VendorQuery::Register(register))
    }

    pub fn to_parcel(self, nodes: &[DiscoveredNode]) -> AddressedMad {
        if let Some(query) = self.vendor_query() {
            let mad = query.to_mad();
            return AddressedMad { address: MadAddress::for_class(self.lid, mad.class()), mad };
        }
        let attribute = match self.topic {
            WireTopic::ErrorCauses => PortRcvErrorDetails::ATTRIBUTE,
            WireTopic::DiscardCauses => PortXmitDiscardDetails::ATTRIBUTE,
            WireTopic::FecCounts => PortExtendedSpeedsCounters::ATTRIBUTE,
            _ => {
                let node = &nodes[self.node];
                let route = node.route_to(self.port);
                return directed_get(PortInfoExtended::ATTRIBUTE, self.port.into(), route, node.m_key.0);
            }
        };
        counter_query(self.lid, attribute, self.port)
    }

    /// The register in an answer; `None` where it is for another question, or cannot be true.
    fn register<T: RegisterContent>(self, mad: &Mad) -> Option<T> {
        let VendorQuery::Register(query) = self.vendor_query()? else { return None };
        query.matches(mad.register()).then(|| T::read(mad.register())).flatten()
    }

    /// What an answer says.
    pub fn read(self, mad: &Mad) -> Option<WireValue> {
        Some(match self.topic {
            WireTopic::Class => WireValue::Supported(mad.vendor_class_info().class_version > 0),
            WireTopic::Registers => {
                WireValue::Supported(mad.vendor_capabilities().has(VendorQuery::ACCESS_REGISTER_BIT))
            }
            WireTopic::BitErrors => WireValue::BitErrors(self.register(mad)?),
            WireTopic::Module => WireValue::Module(Box::new(self.register(mad)?)),
            WireTopic::Temperature => WireValue::Temperature(self.register(mad)?),
            WireTopic::FanList => WireValue::FanList(self.register::<FanList>(mad)?.0),
            WireTopic::FanSpeed => WireValue::FanSpeed(self.register::<FanSpeed>(mad)?.0),
            WireTopic::Firmware => WireValue::Firmware(self.register(mad)?),
            WireTopic::System => WireValue::System(self.register(mad)?),
            WireTopic::ErrorCauses => {
                let details = mad.performance_data::<PortRcvErrorDetails>();
                (details.port_select == self.port).then(|| WireValue::Errors(receive_causes(details)))?
            }
            WireTopic::DiscardCauses => {
                let details = mad.performance_data::<PortXmitDiscardDetails>();
                (details.port_select == self.port).then(|| WireValue::Discards(discard_causes(details)))?
            }
            WireTopic::FecCounts => {
                let counters = mad.performance_data::<PortExtendedSpeedsCounters>();
                let counts = fec_counts(counters, self.reed_solomon);
                (counters.port_select == self.port).then_some(WireValue::FecCounts(counts))?
            }
            WireTopic::Fec => {
                let info = *Smp(mad.clone()).data::<PortInfoExtended>();
                WireValue::Fec(info.fec_mode()?)
            }
        })
    }
}

/// The content of an answer.
#[derive(Clone, PartialEq, Debug)]
pub enum WireValue {
    Supported(bool),
    BitErrors(BitErrorCounts),
    Module(Box<ModuleReading>),
    Errors(ReceiveErrorCauses),
    Discards(DiscardCauses),
    Fec(FecMode),
    FecCounts(FecCounts),
    Temperature(TemperatureReading),
    FanList(u16),
    FanSpeed(u16),
    Firmware(FirmwareReading),
    System(SystemReading),
}

fn receive_causes(details: &PortRcvErrorDetails) -> ReceiveErrorCauses {
    ReceiveErrorCauses {
        local_physical: details.local_physical.get(),
        malformed: details.malformed.get(),
        buffer_overrun: details.buffer_overrun.get(),
        dlid_mapping: details.dlid_mapping.get(),
        vl_mapping: details.vl_mapping.get(),
        looping: details.looping.get(),
    }
}

fn discard_causes(details: &PortXmitDiscardDetails) -> DiscardCauses {
    DiscardCauses {
        port_inactive: details.port_inactive.get(),
        neighbor_mtu: details.neighbor_mtu.get(),
        switch_lifetime: details.switch_lifetime.get(),
        head_of_queue: details.head_of_queue.get(),
    }
}

fn fec_counts(counters: &PortExtendedSpeedsCounters, reed_solomon: bool) -> FecCounts {
    FecCounts {
        corrected_blocks: counters.corrected_blocks.get(),
        uncorrected_blocks: counters.uncorrected_blocks.get(),
        corrected_symbols: reed_solomon.then(|| counters.corrected_symbols.get()),
        sync_header_errors: counters.sync_header_errors.get(),
    }
}

/// The outcome of a question.
pub fn outcome(question: WireQuestion, reply: &Reply) -> DeviceAnswer<WireValue> {
    match reply {
        Reply::Answer(mad) => match question.read(mad) {
            Some(WireValue::Supported(false)) => DeviceAnswer::Absent,
            Some(value) => DeviceAnswer::Known(value),
            None => DeviceAnswer::Implausible,
        },
        Reply::Refused(status)
            if status.is_unsupported() || status.is_unsupported_register() || status.is_invalid_field() =>
        {
            DeviceAnswer::Absent
        }
        Reply::Refused(_) | Reply::Silence => DeviceAnswer::Silent,
    }
}

/// The same word for another type: an answer without a value.
pub fn without_value<T>(answer: &DeviceAnswer<WireValue>) -> DeviceAnswer<T> {
    match answer {
        DeviceAnswer::NotAsked | DeviceAnswer::Known(_) => DeviceAnswer::NotAsked,
        DeviceAnswer::Absent => DeviceAnswer::Absent,
        DeviceAnswer::Silent => DeviceAnswer::Silent,
        DeviceAnswer::Implausible => DeviceAnswer::Implausible,
    }
}

/// Stores an outcome.
pub fn store(
    health: &mut WireHealth,
    nodes: &[DiscoveredNode],
    question: WireQuestion,
    answer: DeviceAnswer<WireValue>,
    now: Duration,
) {
    let guid = nodes[question.node].guid;
    // Captures hold microseconds.
    let now = Duration::from_micros(now.as_micros() as u64);
    macro_rules! set {
        ($field:expr, $variant:ident) => {{
            $field = match answer {
                DeviceAnswer::Known(WireValue::$variant(value)) => DeviceAnswer::Known(value),
                other => without_value(&other),
            };
        }};
    }
    if WireTopic::OF_PORTS.contains(&question.topic) {
        let port = health.ports.entry((guid, PortNum(question.port))).or_default();
        let before = port.at;
        port.at = now;
        match question.topic {
            WireTopic::BitErrors => {
                let old = std::mem::take(&mut port.bit_errors);
                set!(port.bit_errors, BitErrors);
                port.earlier_bits = match (old, port.bit_errors.known()) {
                    (DeviceAnswer::Known(old), Some(new)) if new.continues(&old) => Some(old),
                    _ => None,
                };
            }
            WireTopic::FecCounts => {
                let old = std::mem::take(&mut port.fec_counts);
                set!(port.fec_counts, FecCounts);
                let old = old.known().map(|old| (port.fec_counts_at.unwrap_or(before), *old));
                port.earlier_fec = old.filter(|_| port.fec_counts.known().is_some());
                port.fec_counts_at = Some(now);
            }
            WireTopic::ErrorCauses => set!(port.errors, Errors),
            WireTopic::DiscardCauses => set!(port.discards, Discards),
            WireTopic::Fec => set!(port.fec, Fec),
            _ => {
                port.module = match answer {
                    DeviceAnswer::Known(WireValue::Module(value)) => DeviceAnswer::Known(*value),
                    other => without_value(&other),
                };
            }
        }
        return;
    }
    if matches!(question.topic, WireTopic::Class | WireTopic::Registers) {
        return;
    }
    let device = health.devices.entry(guid).or_default();
    match question.topic {
        WireTopic::Temperature => set!(device.temperature, Temperature),
        WireTopic::Firmware => set!(device.firmware, Firmware),
        WireTopic::System => set!(device.system, System),
        WireTopic::FanList => set!(device.fan_list, FanList),
        _ => {
            let speed = device.fans.entry(question.part).or_default();
            set!(*speed, FanSpeed);
        }
    }
}
