//! The questions about the health of links, and what their answers say.

use std::time::Duration;

use super::counters::counter_query;
use super::discovery_state::DiscoveredNode;
use super::get_request::directed_get;
use super::question::Reply;
use fabdeck_fabric::observe::{
    BitErrorCounts, BoardSensor, CongestionMarks, DeviceAnswer, DiscardCauses, FecCounts, FecMode,
    FirmwareReading, KindOutcome, LinkDownPage, ModuleReading, PhysicalLayerCounts, PortWire,
    ReceiveErrorCauses, RetransmissionCounts, SystemReading, TemperatureReading, TroubleshootingPage,
    WireHealth,
};
use fabdeck_fabric::{Guid, Lid, PortNum};
use fabdeck_mad::access::{AddressedMad, MadAddress};
use fabdeck_mad::{
    CounterGroup, DiagnosticPage, FanList, FanSpeed, Mad, MadStatus, PortCongestionMarks,
    PortExtendedSpeedsCounters, PortInfoExtended, PortRcvErrorDetails, PortXmitDiscardDetails,
    RegisterContent, RegisterQuery, SensorCount, Smp, VendorQuery,
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
    Congestion,
    LayerCounts,
    Retransmission,
    Troubleshooting,
    LinkDown,
    Temperature,
    FanList,
    FanSpeed,
    Firmware,
    System,
    /// The number of temperature sensors.
    SensorCount,
    BoardSensor,
}

impl WireTopic {
    /// The topics of a port.
    pub const OF_PORTS: [Self; 6] =
        [Self::BitErrors, Self::Module, Self::ErrorCauses, Self::DiscardCauses, Self::Fec, Self::FecCounts];
    /// The topics about the course of the link at a port. They are asked less often.
    pub const OF_LINK_PAGES: [Self; 5] =
        [Self::Congestion, Self::LayerCounts, Self::Retransmission, Self::Troubleshooting, Self::LinkDown];
    /// The topics of a device.
    pub const OF_DEVICES: [Self; 5] =
        [Self::SensorCount, Self::Temperature, Self::FanList, Self::Firmware, Self::System];

    /// The topics whose refusal is kept for later sessions: all but those by which a device is known.
    pub const KEPT: [Self; 17] = [
        Self::BitErrors,
        Self::Module,
        Self::ErrorCauses,
        Self::DiscardCauses,
        Self::Fec,
        Self::FecCounts,
        Self::Congestion,
        Self::LayerCounts,
        Self::Retransmission,
        Self::Troubleshooting,
        Self::LinkDown,
        Self::Temperature,
        Self::FanList,
        Self::FanSpeed,
        Self::System,
        Self::SensorCount,
        Self::BoardSensor,
    ];

    /// The word in files. It stays as it is when words of messages change.
    pub fn file_word(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Registers => "registers",
            Self::BitErrors => "bit-errors",
            Self::Module => "module",
            Self::ErrorCauses => "error-causes",
            Self::DiscardCauses => "discard-causes",
            Self::Fec => "fec",
            Self::FecCounts => "fec-counts",
            Self::Temperature => "temperature",
            Self::FanList => "fan-list",
            Self::FanSpeed => "fan-speed",
            Self::Firmware => "firmware",
            Self::System => "system",
            Self::Congestion => "congestion",
            Self::LayerCounts => "layer-counts",
            Self::Retransmission => "retransmission",
            Self::Troubleshooting => "troubleshooting",
            Self::LinkDown => "link-down",
            Self::SensorCount => "sensor-count",
            Self::BoardSensor => "board-sensor",
        }
    }

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
                | Self::Congestion
        )
    }

    /// Whether the question is about one of several that a device lists: a fan or a sensor of the board.
    pub fn is_of_list(self) -> bool {
        matches!(self, Self::FanSpeed | Self::BoardSensor)
    }

    /// Whether the question is about class 0x0A as a whole.
    pub fn is_of_class(self) -> bool {
        matches!(self, Self::Class | Self::Registers)
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
            Self::Congestion => "congestion marks",
            Self::LayerCounts => "FEC blocks",
            Self::Retransmission => "retransmission",
            Self::Troubleshooting => "what keeps links down",
            Self::LinkDown => "why links went down",
            Self::Temperature | Self::SensorCount | Self::BoardSensor => "temperatures",
            Self::FanList | Self::FanSpeed => "fans",
            Self::Firmware => "firmware",
            Self::System => "serial numbers",
        }
    }
}

/// The place of an answer: a topic of a port, or of a device, one of its fans or sensors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WirePlace {
    pub guid: Guid,
    pub topic: WireTopic,
    pub port: u8,
    pub part: u8,
}

/// A question to a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WireQuestion {
    pub topic: WireTopic,
    pub node: usize,
    /// 0 for questions about the device.
    pub port: u8,
    pub lid: Lid,
    /// The number of a fan or of a sensor of the board.
    pub part: u8,
    /// Whether FEC counters have the form for Reed-Solomon.
    pub reed_solomon: bool,
}

impl WireQuestion {
    /// Where its answer belongs.
    pub fn place(self, nodes: &[DiscoveredNode]) -> WirePlace {
        WirePlace { guid: nodes[self.node].guid, topic: self.topic, port: self.port, part: self.part }
    }

    fn vendor_query(self) -> Option<VendorQuery> {
        let register = match self.topic {
            WireTopic::Class => return Some(VendorQuery::ClassPortInfo),
            WireTopic::Registers => return Some(VendorQuery::GeneralInfo),
            WireTopic::BitErrors => {
                RegisterQuery::Counters { port: self.port, group: CounterGroup::PhysicalStatistics }
            }
            WireTopic::Module => RegisterQuery::Diagnostics { port: self.port, page: DiagnosticPage::Module },
            WireTopic::LayerCounts => {
                RegisterQuery::Counters { port: self.port, group: CounterGroup::PhysicalLayer }
            }
            WireTopic::Retransmission => {
                RegisterQuery::Counters { port: self.port, group: CounterGroup::Retransmission }
            }
            WireTopic::Troubleshooting => {
                RegisterQuery::Diagnostics { port: self.port, page: DiagnosticPage::Troubleshooting }
            }
            WireTopic::LinkDown => {
                RegisterQuery::Diagnostics { port: self.port, page: DiagnosticPage::LinkDown }
            }
            WireTopic::Temperature => RegisterQuery::Temperature { sensor: 0 },
            WireTopic::SensorCount => RegisterQuery::SensorCount,
            WireTopic::BoardSensor => RegisterQuery::Temperature { sensor: self.part.into() },
            WireTopic::FanList => RegisterQuery::Fans,
            WireTopic::FanSpeed => RegisterQuery::FanSpeed { tacho: self.part },
            WireTopic::Firmware => RegisterQuery::GeneralInfo,
            WireTopic::System => RegisterQuery::SystemInfo,
            WireTopic::ErrorCauses
            | WireTopic::DiscardCauses
            | WireTopic::Fec
            | WireTopic::FecCounts
            | WireTopic::Congestion => return None,
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
            WireTopic::Congestion => PortCongestionMarks::ATTRIBUTE,
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
            WireTopic::Class if mad.vendor_class_info().wants_vendor_key() => WireValue::Guarded,
            WireTopic::Class => WireValue::Supported(mad.vendor_class_info().class_version > 0),
            WireTopic::Registers => {
                WireValue::Supported(mad.vendor_capabilities().has(VendorQuery::ACCESS_REGISTER_BIT))
            }
            WireTopic::BitErrors => WireValue::BitErrors(self.register(mad)?),
            WireTopic::Module => WireValue::Module(Box::new(self.register(mad)?)),
            WireTopic::LayerCounts => WireValue::LayerCounts(self.register(mad)?),
            WireTopic::Retransmission => WireValue::Retransmission(self.register(mad)?),
            WireTopic::Troubleshooting => WireValue::Troubleshooting(self.register(mad)?),
            WireTopic::LinkDown => WireValue::LinkDown(self.register(mad)?),
            WireTopic::Temperature => WireValue::Temperature(self.register(mad)?),
            WireTopic::SensorCount => WireValue::SensorCount(self.register::<SensorCount>(mad)?.0),
            WireTopic::BoardSensor => WireValue::BoardSensor(self.register(mad)?),
            WireTopic::Congestion => {
                let marks = mad.performance_data::<PortCongestionMarks>();
                let read = CongestionMarks { forward: marks.forward.get(), backward: marks.backward.get() };
                (marks.port_select == self.port).then_some(WireValue::Congestion(read))?
            }
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
    /// The device has the class, and answers only with a key.
    Guarded,
    Supported(bool),
    BitErrors(BitErrorCounts),
    Module(Box<ModuleReading>),
    Errors(ReceiveErrorCauses),
    Discards(DiscardCauses),
    Fec(FecMode),
    FecCounts(FecCounts),
    Congestion(CongestionMarks),
    LayerCounts(PhysicalLayerCounts),
    Retransmission(RetransmissionCounts),
    Troubleshooting(TroubleshootingPage),
    LinkDown(LinkDownPage),
    SensorCount(u8),
    BoardSensor(BoardSensor),
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
            Some(WireValue::Guarded) => DeviceAnswer::Guarded,
            Some(value) => DeviceAnswer::Known(value),
            None => DeviceAnswer::Implausible,
        },
        Reply::Refused(status)
            if is_unsupported(*status) || !status.is_busy() && status.is_invalid_field() =>
        {
            DeviceAnswer::Absent
        }
        Reply::Refused(_) | Reply::Silence => DeviceAnswer::Silent,
    }
}

/// The numbers of the fans in a list.
pub fn fan_numbers(list: u16) -> impl Iterator<Item = u8> {
    (0..10).filter(move |fan| list >> fan & 1 == 1)
}

/// The numbers of the sensors of the board, by the number of all sensors; number 0 is the chip.
pub fn board_sensor_numbers(count: u8) -> impl Iterator<Item = u8> {
    /// From here on sensors are those of modules.
    const MODULES_FROM: u8 = 64;
    1..count.min(MODULES_FROM)
}

/// Whether an outcome is one of the whole kind of a device: it lacks the attribute, wants a key or is silent. A value
/// that cannot be true, a field that is not valid, and a busy device say nothing about other ports.
pub fn settles_kind(answer: &DeviceAnswer<WireValue>, reply: &Reply) -> bool {
    match reply {
        Reply::Answer(_) => matches!(answer, DeviceAnswer::Absent | DeviceAnswer::Guarded),
        Reply::Refused(status) => is_unsupported(*status),
        Reply::Silence => true,
    }
}

fn is_unsupported(status: MadStatus) -> bool {
    !status.is_busy() && (status.is_unsupported() || status.is_unsupported_register())
}

/// The same word for another type: an answer without a value.
pub fn without_value<S, T>(answer: &DeviceAnswer<S>) -> DeviceAnswer<T> {
    match answer {
        DeviceAnswer::NotAsked | DeviceAnswer::Known(_) => DeviceAnswer::NotAsked,
        DeviceAnswer::Absent => DeviceAnswer::Absent,
        DeviceAnswer::Silent => DeviceAnswer::Silent,
        DeviceAnswer::Implausible => DeviceAnswer::Implausible,
        DeviceAnswer::Guarded => DeviceAnswer::Guarded,
        DeviceAnswer::OfKind(outcome, device) => DeviceAnswer::OfKind(*outcome, *device),
    }
}

/// What one device said, as the answer of another device of its kind, which is not asked.
pub fn of_kind(answer: DeviceAnswer<()>, device: Guid) -> DeviceAnswer<()> {
    match answer {
        DeviceAnswer::Absent => DeviceAnswer::OfKind(KindOutcome::Refused, device),
        DeviceAnswer::Silent => DeviceAnswer::OfKind(KindOutcome::Silent, device),
        DeviceAnswer::Guarded => DeviceAnswer::OfKind(KindOutcome::Guarded, device),
        other => other,
    }
}

/// Whether there is a value at a place.
pub fn has_value(health: &WireHealth, place: WirePlace) -> bool {
    let port = health.ports.get(&(place.guid, PortNum(place.port)));
    let device = health.devices.get(&place.guid);
    let known = match place.topic {
        WireTopic::Class | WireTopic::Registers => None,
        WireTopic::BitErrors => port.map(|said| said.bit_errors.known().is_some()),
        WireTopic::Module => port.map(|said| said.module.known().is_some()),
        WireTopic::ErrorCauses => port.map(|said| said.errors.known().is_some()),
        WireTopic::DiscardCauses => port.map(|said| said.discards.known().is_some()),
        WireTopic::Fec => port.map(|said| said.fec.known().is_some()),
        WireTopic::FecCounts => port.map(|said| said.fec_counts.known().is_some()),
        WireTopic::Congestion => port.map(|said| said.congestion.known().is_some()),
        WireTopic::LayerCounts => port.map(|said| said.layer.known().is_some()),
        WireTopic::Retransmission => port.map(|said| said.retransmission.known().is_some()),
        WireTopic::Troubleshooting => port.map(|said| said.troubleshooting.known().is_some()),
        WireTopic::LinkDown => port.map(|said| said.link_down.known().is_some()),
        WireTopic::SensorCount => device.map(|said| said.sensor_count.known().is_some()),
        WireTopic::BoardSensor => device.map(|said| said.board.contains_key(&place.part.into())),
        WireTopic::Temperature => device.map(|said| said.temperature.known().is_some()),
        WireTopic::FanList => device.map(|said| said.fan_list.known().is_some()),
        WireTopic::FanSpeed => {
            device.and_then(|said| said.fans.get(&place.part)).map(|fan| fan.known().is_some())
        }
        WireTopic::Firmware => device.map(|said| said.firmware.known().is_some()),
        WireTopic::System => device.map(|said| said.system.known().is_some()),
    };
    known == Some(true)
}

/// Stores an outcome in a field: its value, or the word for why there is none.
macro_rules! set {
    ($answer:expr, $field:expr, $variant:ident) => {{
        $field = match $answer {
            DeviceAnswer::Known(WireValue::$variant(value)) => DeviceAnswer::Known(value),
            other => without_value(&other),
        };
    }};
}

fn store_of_port(port: &mut PortWire, topic: WireTopic, answer: DeviceAnswer<WireValue>, now: Duration) {
    let before = port.at;
    if !matches!(answer, DeviceAnswer::NotAsked | DeviceAnswer::Silent | DeviceAnswer::OfKind(..)) {
        port.at = now;
    }
    match topic {
        WireTopic::BitErrors => {
            let old = std::mem::take(&mut port.bit_errors);
            set!(answer, port.bit_errors, BitErrors);
            port.earlier_bits = match (old, port.bit_errors.known()) {
                (DeviceAnswer::Known(old), Some(new)) if new.continues(&old) => Some(old),
                _ => None,
            };
        }
        WireTopic::FecCounts => {
            let old = std::mem::take(&mut port.fec_counts);
            set!(answer, port.fec_counts, FecCounts);
            let old = old.known().map(|old| (port.fec_counts_at.unwrap_or(before), *old));
            port.earlier_fec = old.filter(|_| port.fec_counts.known().is_some());
            port.fec_counts_at = Some(now);
        }
        WireTopic::ErrorCauses => set!(answer, port.errors, Errors),
        WireTopic::DiscardCauses => set!(answer, port.discards, Discards),
        WireTopic::Fec => set!(answer, port.fec, Fec),
        WireTopic::Congestion => set!(answer, port.congestion, Congestion),
        WireTopic::LayerCounts => set!(answer, port.layer, LayerCounts),
        WireTopic::Retransmission => set!(answer, port.retransmission, Retransmission),
        WireTopic::Troubleshooting => set!(answer, port.troubleshooting, Troubleshooting),
        WireTopic::LinkDown => set!(answer, port.link_down, LinkDown),
        _ => {
            port.module = match answer {
                DeviceAnswer::Known(WireValue::Module(value)) => DeviceAnswer::Known(*value),
                other => without_value(&other),
            };
        }
    }
}

/// Stores an outcome.
pub fn store(health: &mut WireHealth, place: WirePlace, answer: DeviceAnswer<WireValue>, now: Duration) {
    let guid = place.guid;
    // Captures hold microseconds.
    let now = Duration::from_micros(now.as_micros() as u64);
    if WireTopic::OF_PORTS.contains(&place.topic) || WireTopic::OF_LINK_PAGES.contains(&place.topic) {
        return store_of_port(
            health.ports.entry((guid, PortNum(place.port))).or_default(),
            place.topic,
            answer,
            now,
        );
    }
    if matches!(place.topic, WireTopic::Class | WireTopic::Registers) {
        return;
    }
    let device = health.devices.entry(guid).or_default();
    match place.topic {
        WireTopic::Temperature => set!(answer, device.temperature, Temperature),
        WireTopic::Firmware => set!(answer, device.firmware, Firmware),
        WireTopic::System => set!(answer, device.system, System),
        WireTopic::SensorCount => set!(answer, device.sensor_count, SensorCount),
        WireTopic::BoardSensor => match answer {
            DeviceAnswer::Known(WireValue::BoardSensor(sensor)) => {
                device.board.insert(place.part.into(), sensor);
            }
            // A value that is gone is not shown any more.
            _ => drop(device.board.remove(&place.part.into())),
        },
        WireTopic::FanList => {
            set!(answer, device.fan_list, FanList);
            // A fan whose speed was not asked so far is there.
            let list = device.fan_list.known().copied().unwrap_or(0);
            for fan in fan_numbers(list) {
                device.fans.entry(fan).or_default();
            }
        }
        _ => {
            let speed = device.fans.entry(place.part).or_default();
            set!(answer, *speed, FanSpeed);
        }
    }
}
