//! What arbitrary datagrams and arbitrary answers must not do: break a decoder, the simulator or a look.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fabdeck_fabric::counters::{WireThresholds, find_sensor_faults, judge_port};
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::{
    BitErrorCounts, BoardSensor, DeviceAnswer, FirmwareReading, LinkDownPage, ModuleReading,
    PhysicalLayerCounts, PortHierarchies, PortHierarchy, RetransmissionCounts, SystemReading,
    TemperatureReading, TroubleshootingPage, device_labels,
};
use fabdeck_fabric::{Fabric, LinkSpeed, LinkWidth, PortNum, Tables};
use fabdeck_live::{ExchangePolicy, Keys, LiveSource, PlaneSource, PlaneSources, read_snapshot};
use fabdeck_mad::access::{
    AddressedMad, Clock, LocalPort, MadAddress, MadPort, NoObserver, PortError, PortEvent, ReadOptions,
    ReadPort, Source, WireReadOptions,
};
use fabdeck_mad::{
    AdaptiveGroupBlock, AdaptiveLftBlock, AdaptiveLftEntry, AdaptiveRoutingInfo, Class, ClassPortInfo,
    CounterBlock, ExtendedNodeInfo, ExtendedPortInfo, FanList, FanSpeed, GeneralInfo, HierarchyInfo,
    InformInfo, LftBlock, LinkDownCauses, MAD_SIZE, Mad, McMemberRecord, Method, MftBlock, NodeDescription,
    NodeInfo, NodeRecord, Notice, PKeyBlock, PathRecord, PortCongestionMarks, PortCounters,
    PortCountersExtended, PortExtendedSpeedsCounters, PortInfo, PortInfoExtended, PortLevelTables,
    PortRcvErrorDetails, PortSamplesControl, PortStateTable, PortXmitDiscardDetails, PrivateTableInfo,
    RecordTransfer, Register, RegisterBytes, RegisterContent, RegisterQuery, SensorCount, SlToVl, SmInfo,
    Smp, SwitchInfo, VendorQuery, VlArbitrationBlock,
};
use fabdeck_simulator::{ClientId, LabelProfile, LineFaults, SimulatedFabric, Simulator, WireProfile};

use super::judge::sound;
use super::lines::{cabling_plans, job_lists, lines};
use super::sent::{packed, transcripts};

/// What a target does with its bytes.
pub type Run = fn(&[u8]);

/// The targets besides the formats.
pub const TARGETS: &[(&str, Run)] = &[
    ("mad", mad),
    ("requests", requests),
    ("answers", answers),
    ("wire-answers", wire_answers),
    ("fdcap-lines", lines),
    ("jobs", job_lists),
    ("cabling", cabling_plans),
    ("packed", packed),
    ("transcripts", transcripts),
];

fn fabric() -> &'static Fabric {
    static FABRIC: OnceLock<Fabric> = OnceLock::new();
    FABRIC.get_or_init(|| generate(&"kary,k=2,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric)
}

fn simulator() -> (Simulator, ClientId) {
    let mut world = SimulatedFabric::new(fabric(), &Tables::default()).unwrap();
    for (id, _) in fabric().nodes() {
        world.set_wire(id, WireProfile::Full);
        world.set_labels(id, LabelProfile::Full);
    }
    let mut simulator = Simulator::new(world, LineFaults::default(), 1);
    simulator.enable_log();
    let seat = simulator.attach(None).unwrap();
    (simulator, seat)
}

/// Datagrams of 256 bytes through every decoder.
pub fn mad(data: &[u8]) {
    for chunk in data.chunks(MAD_SIZE).take(8) {
        let mut mad = Mad::default();
        mad.0[..chunk.len()].copy_from_slice(chunk);
        decode(&mad);
    }
}

/// Datagrams to a simulated fabric, as what they are and as each class.
pub fn requests(data: &[u8]) {
    let (mut simulator, seat) = simulator();
    let mut now = Duration::ZERO;
    for chunk in data.chunks(MAD_SIZE).take(8) {
        let mut mad = Mad::default();
        mad.0[..chunk.len()].copy_from_slice(chunk);
        let class = mad.class();
        for class in [
            class,
            Class::SUBNET_DIRECTED,
            Class::SUBNET_LID,
            Class::PERFORMANCE,
            Class::SUBNET_ADMINISTRATION,
            Class::VENDOR_DIAGNOSTICS,
        ] {
            mad.header_mut().class = class.0;
            // LIDs of the fabric are small; a byte that nothing else reads chooses one.
            for lid in [u16::from(mad.0[17] % 16), mad.header().reserved.get(), 0xFFFF] {
                let address = MadAddress { lid, queue_pair: 1, service_level: 0 };
                simulator.send(seat, now, &AddressedMad { mad: mad.clone(), address });
            }
        }
        now += Duration::from_secs(1);
        let mut answers = 0;
        while let Some((_, to, parcel)) = simulator.deliver(now) {
            answers += 1;
            assert!(to == seat && parcel.mad.method().is_response());
        }
        assert!(answers <= 18, "more answers than questions");
    }
    assert!(simulator.log().text().lines().count() <= 8 * 18 * 3);
}

/// Every view of a datagram, and everything that a view can say.
fn decode(mad: &Mad) {
    let smp = Smp(mad.clone());
    print_value(&(&mad, mad.status().to_string(), &smp, smp.route(), smp.hop_pointer(), smp.return_path()));
    let mut transfer = RecordTransfer::default();
    let steps = [transfer.take(mad), transfer.take(mad)];
    print_value(&(steps, transfer.records::<McMemberRecord>(), mad.is_transfer_control()));
    print_value(&smp.data::<PKeyBlock>().keys().map(|key| (key, key.to_string())).collect::<Vec<_>>());
    let info = smp.data::<NodeInfo>();
    print_value(&(info, info.kind(), info.guid(), info.vendor(), smp.data::<NodeDescription>().as_text()));
    let info = smp.data::<SwitchInfo>();
    print_value(&(
        info,
        info.has_optimized_sl_to_vl(),
        info.has_enhanced_port0(),
        info.has_port_state_change(),
    ));
    let info = smp.data::<PortInfo>();
    print_value(&(
        info,
        info.lid(),
        info.lmc(),
        info.protect_bits(),
        info.physical_state(),
        info.width_best(),
    ));
    print_value(&(
        info.speed(None),
        info.speed_best(Some(info.capabilities())),
        info.operational_lanes(),
        info.lanes_supported(),
        smp.data::<SmInfo>(),
    ));
    let table = smp.data::<SlToVl>();
    // Only what a table can say survives.
    assert_eq!(SlToVl::from_table(table.table()).table(), table.table());
    print_value(&(smp.data::<LftBlock>(), smp.data::<VlArbitrationBlock>().weights(mad.0[0])));
    let general = smp.data::<GeneralInfo>();
    let said: Vec<usize> = (0..160).filter(|bit| general.has(*bit)).collect();
    let again = said.iter().fold(GeneralInfo::default(), |info, bit| info.with(*bit));
    assert_eq!(again, *general);
    print_value(&(
        general.has_adaptive_routing(),
        smp.data::<AdaptiveRoutingInfo>(),
        smp.data::<AdaptiveRoutingInfo>().is_on(),
    ));
    adaptive(&smp);
    let block = smp.data::<MftBlock>();
    for at in 0..40 {
        print_value(&block.ports(at, mad.0[1] % 16).collect::<Vec<_>>());
    }
    print_value(&(mad.record::<Notice>(), mad.record::<PathRecord>(), mad.record::<InformInfo>()));
    print_value(&(
        mad.record::<NodeRecord>().lid,
        mad.administration_header(),
        mad.record::<ClassPortInfo>(),
    ));
    let narrow = mad.performance_data::<PortCounters>();
    let wide = mad.performance_data::<PortCountersExtended>();
    print_value(&(narrow.values(), wide.values(), mad.performance_data::<PortSamplesControl>()));
    refill(*narrow);
    refill(*wide);
    decode_link_health(mad);
}

/// Every register of class 0x0A. What is read and written again is read as the same.
fn decode_link_health(mad: &Mad) {
    fn again<T: RegisterContent + Debug>(register: &RegisterBytes) {
        let Some(read) = T::read(register) else { return };
        let mut filled = RegisterBytes::default();
        read.fill(&mut filled);
        print_value(&(read, T::read(&filled)));
    }
    let register = mad.register();
    again::<BitErrorCounts>(register);
    again::<ModuleReading>(register);
    again::<TemperatureReading>(register);
    again::<FirmwareReading>(register);
    again::<SystemReading>(register);
    again::<PhysicalLayerCounts>(register);
    again::<RetransmissionCounts>(register);
    again::<LinkDownCauses>(register);
    again::<TroubleshootingPage>(register);
    again::<LinkDownPage>(register);
    again::<BoardSensor>(register);
    again::<FanList>(register);
    again::<FanSpeed>(register);
    again::<SensorCount>(register);
    for known in Register::ALL {
        let query = RegisterQuery::of_request(known, register, mad.register_block());
        let asked = query.map(|query| VendorQuery::Register(query).to_mad());
        assert!(asked.is_none_or(|asked| !RegisterQuery::clears(known, asked.register())));
    }
    print_value(&(
        mad.performance_data::<PortRcvErrorDetails>(),
        mad.performance_data::<PortXmitDiscardDetails>(),
        mad.performance_data::<PortCongestionMarks>(),
    ));
    print_value(&mad.performance_data::<PortExtendedSpeedsCounters>());
    let smp = Smp(mad.clone());
    print_value(&(smp.data::<PortInfoExtended>().fec_mode(), smp.data::<ExtendedPortInfo>()));
    let states = smp.data::<PortStateTable>();
    print_value(&(0..=PortNum::MAX).map(|port| states.state(port)).collect::<Vec<_>>());
    let hierarchy = smp.data::<HierarchyInfo>().hierarchy();
    assert_eq!(HierarchyInfo::new(&hierarchy).hierarchy(), hierarchy);
    labels(hierarchy);
}

/// The labels that follow from an answer about each port of a fabric.
fn labels(hierarchy: PortHierarchy) {
    let mut stated = PortHierarchies::default();
    for (_, port) in fabric().ports() {
        let at = (fabric().node(port.node).guid(), port.number);
        stated.ports.insert(at, DeviceAnswer::Known(hierarchy));
    }
    let (labels, doubted) = device_labels(fabric(), &stated);
    assert!(labels.ports.keys().all(|(node, _)| !doubted.contains(node)));
}

/// Blocks of adaptive tables: what is read of them is what they hold.
fn adaptive(smp: &Smp) {
    let info = smp.data::<AdaptiveRoutingInfo>();
    let again = AdaptiveRoutingInfo::from_settings(&info.settings(), info.group_capacity());
    assert_eq!((again.settings(), again.group_capacity()), (info.settings(), info.group_capacity()));
    for held in smp.data::<AdaptiveLftBlock>().entries {
        let (entry, table) = held.decode();
        assert_eq!(AdaptiveLftEntry::encode(entry, table).decode(), (entry, table));
    }
    let groups = smp.data::<AdaptiveGroupBlock>();
    let mut again = AdaptiveGroupBlock { masks: [[0; 32]; AdaptiveGroupBlock::ENTRIES] };
    (0..AdaptiveGroupBlock::ENTRIES).for_each(|entry| again.set_ports(entry, groups.ports(entry)));
    assert_eq!(again, *groups);
    print_value(&(
        smp.data::<PrivateTableInfo>().tables_in_force(),
        smp.data::<ExtendedNodeInfo>(),
        smp.data::<PortLevelTables>(),
    ));
}

/// Printing is slow, so one value in 64 is printed.
fn print_value(said: &impl Debug) {
    static TURN: AtomicU32 = AtomicU32::new(0);
    let said = std::hint::black_box(said);
    if TURN.fetch_add(1, Ordering::Relaxed).is_multiple_of(64) {
        std::hint::black_box(format!("{said:?}"));
    }
}

/// Counters put back where they were read are the same counters.
fn refill<T: CounterBlock + Copy>(block: T) {
    let mut again = block;
    for (counter, value) in block.values() {
        assert!(again.put(&counter, value), "{counter} has no field");
    }
    assert_eq!(again.values(), block.values());
}

/// Answers that a real fabric might give until the bytes say otherwise.
struct HostilePort {
    bytes: Vec<u8>,
    /// The first byte decides: answers made of nothing but the bytes, over and over, or good ones that are altered.
    made_up: bool,
    at: usize,
    /// Made-up answers end some time, for the bytes do not.
    left: usize,
    simulator: Simulator,
    seat: ClientId,
    local: LocalPort,
    now: Duration,
    arrivals: VecDeque<PortEvent>,
}

impl HostilePort {
    const MADE_UP_MOST: usize = 600;

    fn new(data: &[u8]) -> Self {
        let (simulator, seat) = simulator();
        let (first, bytes) = data.split_first().map_or((0, data), |(first, rest)| (*first, rest));
        let local = LocalPort { number: PortNum(1), ..simulator.local_port(seat) };
        let (now, arrivals) = (Duration::ZERO, VecDeque::new());
        let made_up = first & 1 != 0 && !bytes.is_empty();
        let bytes = bytes.to_vec();
        Self { bytes, made_up, at: 0, left: Self::MADE_UP_MOST, simulator, seat, local, now, arrivals }
    }

    fn byte(&mut self) -> Option<u8> {
        let at = if self.made_up { self.at % self.bytes.len() } else { self.at };
        self.at += 1;
        self.bytes.get(at).copied()
    }

    /// The answer of a fabric; empty where no node answers.
    fn has_valid_header(&mut self, parcel: &AddressedMad) -> Mad {
        self.simulator.send(self.seat, self.now, parcel);
        let answer =
            self.simulator.deliver(self.now + Duration::from_millis(1)).map(|(_, _, parcel)| parcel.mad);
        answer.unwrap_or_else(|| {
            let mut mad = parcel.mad.clone();
            mad.header_mut().method = Method::GET_RESPONSE.0;
            mad
        })
    }

    fn answer(&mut self, parcel: &AddressedMad) -> Option<PortEvent> {
        let mut mad = self.has_valid_header(parcel);
        if self.made_up {
            self.left = self.left.checked_sub(1)?;
        }
        let what = self.byte().unwrap_or(0);
        match what {
            0xF0..=0xF7 => return None,
            0xF8..=0xFB => return Some(PortEvent::Unanswered(mad.header().transaction.get() as u32)),
            0xFC..=0xFF => mad.header_mut().status = u16::from(self.byte()?).into(),
            // Some bytes of the attribute, from some place on.
            0x80..=0xEF | 1..=0x3F => {
                let start = 64 + usize::from(what & 0x3F);
                let count = if self.made_up { 64 } else { usize::from(self.byte()? % 16) };
                for at in start..(start + count).min(MAD_SIZE) {
                    mad.0[at] = self.byte()?;
                }
            }
            0 | 0x40..=0x7F => {}
        }
        Some(PortEvent::Mad(AddressedMad { mad, address: parcel.address }))
    }
}

impl Clock for HostilePort {
    fn now(&self) -> Duration {
        self.now
    }
}

impl MadPort for HostilePort {
    fn local_port(&self) -> &LocalPort {
        &self.local
    }

    fn send(&mut self, parcel: &AddressedMad, _: Duration) -> Result<(), PortError> {
        let answer = self.answer(parcel);
        self.arrivals.extend(answer);
        Ok(())
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        if self.arrivals.is_empty() {
            self.now = self.now.max(until);
        }
        Ok(self.arrivals.pop_front())
    }
}

/// A look at a fabric that lies ends, and what it brings is sound.
pub fn answers(data: &[u8]) {
    let mut port = HostilePort::new(data);
    let policy = ExchangePolicy { retries: 1, nodes: 8, ..ExchangePolicy::default() };
    let wanted = ReadOptions::EVERYTHING;
    let Ok(seen) = read_snapshot("fuzz", &mut port, policy, &Keys::default(), wanted, &mut NoObserver) else {
        return;
    };
    sound(&seen.fabric);
    assert!(seen.fabric.nodes().len() <= policy.nodes);
    let nodes = seen.fabric.nodes().len();
    assert!(seen.tables.nodes.keys().all(|id| id.index() < nodes), "a table of nobody");
    let silent = seen.reading.as_ref().is_some_and(|reading| !reading.silent.is_empty());
    assert!(!silent || seen.is_partial(), "silence that is not told");
}

/// The health of links and a second plane of a fabric that lies: a reading ends, and a verdict needs no sense in it.
pub fn wire_answers(data: &[u8]) {
    let (first, second) = data.split_at(data.len() / 2);
    let policy = ExchangePolicy { retries: 1, nodes: 8, ..ExchangePolicy::default() };
    let plane = PlaneSource { plane: 2, port: Ok(ReadPort::new(HostilePort::new(second))) };
    let planes = PlaneSources { main: 1, others: vec![plane] };
    let port = ReadPort::new(HostilePort::new(first));
    let mut source = LiveSource::new("fuzz", port, policy, Keys::default()).with_planes(planes);
    let Ok(mut look) = source.observe(ReadOptions::default(), &mut NoObserver) else { return };
    let wanted = WireReadOptions { devices: true, switch_sensors: false, ports: true, link_pages: true };
    // A port that fails ends the reading; what came before that is kept.
    let _ = source.read_wire(&mut look, wanted, &mut NoObserver);
    sound(&look.fabric);
    let limits = WireThresholds::default();
    for said in look.wire.ports.values() {
        print_value(&judge_port(said, (Some(LinkSpeed::Ndr), Some(LinkWidth::X4)), &limits));
    }
    for said in look.wire.devices.values() {
        print_value(&find_sensor_faults(said, &limits));
    }
    for (_, port) in look.fabric.ports() {
        let node = look.fabric.node(port.node).guid();
        assert!(look.hierarchies.planes_of(node, port.number).is_none_or(|(_, planes)| planes <= 8));
    }
}
