//! Reads the health of links: bit errors, modules, sensors, causes of errors. One device of each kind is asked first.
//! If it does not have something, wants a key or is silent, no other device of its kind is asked for that in the session.
//! A value that cannot be true, a wrong field or a busy device settles nothing but its own port.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::counter_sweep::CounterAgents;
use super::counters::{CountedPort, agents_of};
use super::discovery_state::{DiscoveredNode, node_id};
use super::kind_refusals::{DeviceKind, RefusalMemory};
use super::question::{Question, Reply};
use super::reader::{OpenPhase, PhaseLog, PortReader};
use super::wire_rotation::WireRotation;
use super::wire_topic::{
    WirePlace, WireQuestion, WireTopic, board_sensor_numbers, fan_numbers, has_value, of_kind, outcome,
    settles_kind, store, without_value,
};
use fabdeck_fabric::observe::{DeviceAnswer, FecMode, PortWire, WireHealth};
use fabdeck_fabric::{Fabric, Guid, LinkSpeed, NodeKind, PortNum};
use fabdeck_mad::access::{SourceError, WireReadOptions};
use fabdeck_mad::has_vendor_attributes;

/// The name of the phase.
pub const LINK_HEALTH: &str = "link health";

/// An unanswered question is sent once more at most: a device may count each one as a violation of its key.
const RETRIES: u32 = 1;
/// The time in which a rotation asks every port everything.
const ROTATION: Duration = Duration::from_secs(300);
/// Questions a port and sweep, at most: one in this many ports. Both rotations together ask 0.2.
const PORTS_PER_QUESTION: f64 = 5.5;

/// The time in which a rotation asks every port for the course of its link, and how many ports have a question of it in a
/// sweep.
const PAGE_ROTATION: Duration = Duration::from_secs(1200);
const PORTS_PER_PAGE_QUESTION: f64 = 55.0;

/// Useless answers in a row after which a port is not asked again: one can be a datagram that was lost.
const USELESS_ANSWERS: u8 = 2;

/// What a kind of device said to a topic when it was asked first.
type KindAnswer = DeviceAnswer<()>;

/// What a session knows about asking.
#[derive(Clone, Debug, Default)]
pub struct WireMemory {
    /// With the device that said it.
    kinds: BTreeMap<(DeviceKind, WireTopic), (KindAnswer, Guid)>,
    /// Places without a value that others of their kind have, and how often in a row.
    useless: BTreeMap<WirePlace, (KindAnswer, u8)>,
    /// When the values were read.
    read: BTreeMap<WirePlace, Duration>,
    last_turn: Duration,
    /// Where the rotation over the health of links and sensors is, and that over the course of links.
    rotations: [WireRotation; 2],
    /// What kinds of devices refused in earlier sessions.
    pub refusals: Option<RefusalMemory>,
}

/// What a reading is over.
#[derive(Clone, Copy)]
pub struct WireScope<'f> {
    pub fabric: &'f Fabric,
    pub nodes: &'f [DiscoveredNode],
    /// The capabilities of performance agents, as far as sweeps know them.
    pub agents: &'f CounterAgents,
}

impl WireScope<'_> {
    fn kind(&self, node: usize) -> DeviceKind {
        let facts = &self.fabric.node(node_id(node)).facts;
        (facts.vendor_id.unwrap_or(0), facts.device_id.unwrap_or(0))
    }

    /// Whether a question is about the temperature or the fans of a switch.
    fn is_switch_sensor(&self, question: WireQuestion) -> bool {
        let is_sensor = !matches!(question.topic, WireTopic::Firmware | WireTopic::System);
        is_sensor && self.fabric.node(node_id(question.node)).is_switch()
    }

    /// The cabled ports that have an agent with a LID.
    fn ports(&self) -> Vec<CountedPort> {
        let all = self.nodes.iter().enumerate();
        let of = |(at, node): (usize, &DiscoveredNode)| {
            let silent = node.memory.silent || node.memory.cut_off;
            let agents = agents_of(&mut PhaseLog::default(), self.fabric, at, node);
            agents.into_iter().flatten().filter(move |_| !silent)
        };
        let cabled = |port: &CountedPort| {
            let id = self.fabric.port_of(node_id(port.node), PortNum(port.number));
            id.is_some_and(|id| self.fabric.port(id).peer.is_some())
        };
        all.flat_map(of).filter(cabled).collect()
    }
}

impl WireMemory {
    fn answer(&self, kind: DeviceKind, topic: WireTopic) -> Option<&KindAnswer> {
        self.kinds.get(&(kind, topic)).map(|(answer, _)| answer)
    }

    fn is_open(&self, kind: DeviceKind, topic: WireTopic) -> bool {
        matches!(self.answer(kind, topic), Some(DeviceAnswer::Known(())))
    }

    /// Why a topic of class 0x0A cannot be asked at a device, if it cannot: each step of the ladder has to be known.
    fn class_refusal(&self, kind: DeviceKind, device: Guid) -> Option<KindAnswer> {
        if !has_vendor_attributes(kind.0) {
            return Some(DeviceAnswer::NotAsked);
        }
        let closed = |topic| match self.kinds.get(&(kind, topic)) {
            None => Some(DeviceAnswer::NotAsked),
            Some((DeviceAnswer::Known(()), _)) => None,
            Some((answer, first)) => Some(answer_at(*answer, *first, device)),
        };
        [WireTopic::Class, WireTopic::Registers].into_iter().find_map(closed)
    }

    /// Whether a question has no use any more: its kind does not have it, or its port does not answer it.
    fn is_settled(&self, scope: WireScope<'_>, question: WireQuestion) -> bool {
        self.refusal(scope, question).is_some()
    }

    /// The questions about a port, in their order.
    fn port_questions(
        &self,
        scope: WireScope<'_>,
        port: CountedPort,
        health: &WireHealth,
    ) -> Vec<WireQuestion> {
        let id = scope.fabric.port_of(node_id(port.node), PortNum(port.number));
        let speed = id.and_then(|id| scope.fabric.port(id).facts.speed);
        let node = &scope.nodes[port.node];
        let known = health.ports.get(&(node.guid, PortNum(port.number)));
        let mode = known.and_then(|known| known.fec.known());
        let layout = scope.agents.get(&port.lid).is_some_and(|agent| agent.has_rs_fec_layout());
        let reed_solomon = layout && mode.is_some_and(|mode: &FecMode| mode.is_reed_solomon());
        let kind = scope.kind(port.node);
        let wanted = |topic: &WireTopic| match topic {
            WireTopic::Fec => node.capabilities.is_some_and(|has| has.has_port_info_extended()),
            // Registers have the same and more, where they have a value.
            WireTopic::FecCounts => {
                let registers = match known.map(|known| &known.bit_errors) {
                    Some(DeviceAnswer::Known(_)) => true,
                    None | Some(DeviceAnswer::NotAsked) => self.is_open(kind, WireTopic::BitErrors),
                    Some(_) => false,
                };
                speed.is_some_and(|speed| speed >= LinkSpeed::Fdr) && !registers
            }
            // Without PLR nothing is sent again.
            WireTopic::Retransmission => mode.is_none_or(|mode: &FecMode| mode.has_retransmission()),
            _ => true,
        };
        let of = |topic| WireQuestion {
            topic,
            node: port.node,
            port: port.number,
            lid: port.lid,
            part: 0,
            reed_solomon,
        };
        let topics = WireTopic::OF_PORTS.into_iter().chain(WireTopic::OF_LINK_PAGES);
        topics.filter(wanted).map(of).collect()
    }

    /// All questions of a rotation that have a use.
    fn open_questions(
        &self,
        scope: WireScope<'_>,
        ports: &[CountedPort],
        health: &WireHealth,
    ) -> Vec<WireQuestion> {
        let mut all: Vec<WireQuestion> =
            ports.iter().flat_map(|port| self.port_questions(scope, *port, health)).collect();
        all.extend(self.device_questions(ports, scope.nodes, health));
        all.retain(|question| !self.is_settled(scope, *question));
        all
    }

    /// Of each topic that a kind was not asked for, the question to its first device. `fallback`: FEC counters too, for
    /// which the answers about bit errors have to be known.
    fn probes(&self, scope: WireScope<'_>, all: Vec<WireQuestion>, fallback: bool) -> Vec<WireQuestion> {
        let mut first = BTreeMap::new();
        for question in all {
            let kind = scope.kind(question.node);
            let known = self.answer(kind, question.topic).is_some();
            if !known && (fallback || question.topic != WireTopic::FecCounts) {
                first.entry((kind, question.topic)).or_insert(question);
            }
        }
        first.into_values().collect()
    }

    /// The questions about devices: one port of each has the agent.
    fn device_questions(
        &self,
        ports: &[CountedPort],
        nodes: &[DiscoveredNode],
        health: &WireHealth,
    ) -> Vec<WireQuestion> {
        let mut all = Vec::new();
        let mut seen = BTreeSet::new();
        for port in ports.iter().filter(|port| seen.insert(port.node)) {
            let of = |topic, part| WireQuestion {
                topic,
                node: port.node,
                port: 0,
                lid: port.lid,
                part,
                reed_solomon: false,
            };
            // An adapter has the sensor of its chip alone.
            let counts = |topic: &WireTopic| {
                *topic != WireTopic::SensorCount || nodes[port.node].kind == NodeKind::Switch
            };
            all.extend(WireTopic::OF_DEVICES.into_iter().filter(counts).map(|topic| of(topic, 0)));
            let device = health.devices.get(&nodes[port.node].guid);
            let fans = device.and_then(|device| device.fan_list.known()).copied().unwrap_or(0);
            all.extend(fan_numbers(fans).map(|fan| of(WireTopic::FanSpeed, fan)));
            let sensors = device.and_then(|device| device.sensor_count.known()).copied().unwrap_or(0);
            all.extend(board_sensor_numbers(sensors).map(|sensor| of(WireTopic::BoardSensor, sensor)));
        }
        all
    }
}

impl WireMemory {
    /// Stores what an answer says about further questions to its place.
    fn note_answer(&mut self, place: WirePlace, answer: &KindAnswer, reply: &Reply, now: Duration) {
        if answer.known().is_some() {
            self.read.insert(place, now);
            self.useless.remove(&place);
            return;
        }
        if matches!(reply, Reply::Refused(status) if status.is_busy()) {
            return;
        }
        let times = self.useless.get(&place).map_or(0, |(_, times)| *times).saturating_add(1);
        // A device that lacks the attribute is not asked a second time.
        let lacks = matches!(reply, Reply::Refused(status) if !status.is_invalid_field());
        self.useless.insert(place, (*answer, if lacks { USELESS_ANSWERS } else { times }));
    }

    /// Takes back values that are too old: nothing is known of what their ports do now.
    /// They hold for two rotations.
    fn expire(&mut self, health: &mut WireHealth, now: Duration, [holds, pages_hold]: [Duration; 2]) {
        let old = |place: &WirePlace, read: &Duration| {
            let is_page = WireTopic::OF_LINK_PAGES.contains(&place.topic);
            now.saturating_sub(*read) > if is_page { pages_hold } else { holds }
        };
        for place in self.read.extract_if(.., |place, read| old(place, read)).map(|(place, _)| place) {
            if has_value(health, place) {
                store(health, place, DeviceAnswer::Silent, now);
            }
        }
    }
}

/// What the first device of a kind said, as the answer of this device.
fn answer_at(answer: KindAnswer, first: Guid, device: Guid) -> KindAnswer {
    if first == device { answer } else { of_kind(answer, first) }
}

/// Reads everything that is wanted at once.
pub fn read_wire(
    reader: &mut PortReader<'_>,
    scope: WireScope<'_>,
    wanted: WireReadOptions,
    memory: &mut WireMemory,
    health: &mut WireHealth,
) -> Result<(), SourceError> {
    if reader.is_ibsim() {
        return Ok(());
    }
    let ports = scope.ports();
    ask_classes(reader, scope, &ports, memory)?;
    let just_asked = ask_kept_kinds(reader, scope, &ports, memory, health)?;
    if wanted.devices || wanted.switch_sensors {
        let of = |memory: &WireMemory, health: &WireHealth, parts: bool| -> Vec<WireQuestion> {
            let mut all = memory.device_questions(&ports, scope.nodes, health);
            all.retain(|question| question.topic.is_of_list() == parts);
            all.retain(|question| wanted.devices || scope.is_switch_sensor(*question));
            all.retain(|question| !just_asked.contains(&question.place(scope.nodes)));
            all
        };
        let questions = of(memory, health, false);
        ask(reader, scope, questions, memory, health)?;
        // The list of fans and the number of sensors say which there are.
        let parts = of(memory, health, true);
        ask(reader, scope, parts, memory, health)?;
    }
    if wanted.ports || wanted.link_pages {
        let of = |memory: &WireMemory, health: &WireHealth| -> Vec<WireQuestion> {
            let all = ports.iter().flat_map(|port| memory.port_questions(scope, *port, health));
            let is_page = |question: &WireQuestion| WireTopic::OF_LINK_PAGES.contains(&question.topic);
            all.filter(|question| if is_page(question) { wanted.link_pages } else { wanted.ports }).collect()
        };
        let mut first = of(memory, health);
        first.retain(|question| question.topic != WireTopic::FecCounts);
        ask(reader, scope, first, memory, health)?;
        let mut fec = of(memory, health);
        fec.retain(|question| question.topic == WireTopic::FecCounts);
        ask(reader, scope, fec, memory, health)?;
    }
    memory.keep_refusals(&mut reader.log);
    memory.note_silence(&mut reader.log);
    Ok(())
}

/// Whether nothing was answered to a topic of a port so far.
fn is_open(said: &PortWire, topic: WireTopic) -> bool {
    match topic {
        WireTopic::BitErrors => said.bit_errors.is_not_asked(),
        WireTopic::Module => said.module.is_not_asked(),
        WireTopic::ErrorCauses => said.errors.is_not_asked(),
        WireTopic::DiscardCauses => said.discards.is_not_asked(),
        WireTopic::Fec => said.fec.is_not_asked(),
        WireTopic::Congestion => said.congestion.is_not_asked(),
        WireTopic::LayerCounts => said.layer.is_not_asked(),
        WireTopic::Retransmission => said.retransmission.is_not_asked(),
        WireTopic::Troubleshooting => said.troubleshooting.is_not_asked(),
        WireTopic::LinkDown => said.link_down.is_not_asked(),
        _ => said.fec_counts.is_not_asked(),
    }
}

/// Asks what is due in a sweep: everything within five minutes, but no more than one question for five ports.
pub fn read_wire_turn(
    reader: &mut PortReader<'_>,
    scope: WireScope<'_>,
    memory: &mut WireMemory,
    health: &mut WireHealth,
) -> Result<(), SourceError> {
    if reader.is_ibsim() {
        return Ok(());
    }
    let ports = scope.ports();
    let elapsed = reader.now().saturating_sub(memory.last_turn);
    memory.last_turn = reader.now();
    ask_classes(reader, scope, &ports, memory)?;
    ask_kept_kinds(reader, scope, &ports, memory, health)?;
    for fallback in [false, true] {
        let probes = memory.probes(scope, memory.open_questions(scope, &ports, health), fallback);
        ask(reader, scope, probes, memory, health)?;
    }
    let all = memory.open_questions(scope, &ports, health);
    let is_page = |question: &WireQuestion| WireTopic::OF_LINK_PAGES.contains(&question.topic);
    let (pages, main): (Vec<_>, Vec<_>) = all.into_iter().partition(is_page);
    let bounds = [
        (ROTATION, ports.len() as f64 / PORTS_PER_QUESTION),
        (PAGE_ROTATION, ports.len() as f64 / PORTS_PER_PAGE_QUESTION),
    ];
    let [first, second] = &mut memory.rotations;
    let (mut due, rotation) = first.take_due(main, elapsed, bounds[0]);
    let (due_pages, page_rotation) = second.take_due(pages, elapsed, bounds[1]);
    due.extend(due_pages);
    let asked: BTreeSet<(usize, u8)> = due.iter().map(|question| (question.node, question.port)).collect();
    let mut found = WireHealth::default();
    std::mem::swap(&mut found, health);
    let read = ask(reader, scope, due, memory, &mut found);
    memory.expire(&mut found, reader.now(), [2 * rotation, 2 * page_rotation]);
    memory.fill_settled(scope, &ports, &asked, &mut found, reader.now());
    *health = found;
    memory.keep_refusals(&mut reader.log);
    memory.note_silence(&mut reader.log);
    read
}

/// Asks one device of each new kind for class 0x0A, and then whether it has registers.
fn ask_classes(
    reader: &mut PortReader<'_>,
    scope: WireScope<'_>,
    ports: &[CountedPort],
    memory: &mut WireMemory,
) -> Result<(), SourceError> {
    for topic in [WireTopic::Class, WireTopic::Registers] {
        let mut asked: BTreeMap<DeviceKind, WireQuestion> = BTreeMap::new();
        for port in ports {
            let kind = scope.kind(port.node);
            let open = topic == WireTopic::Class || memory.is_open(kind, WireTopic::Class);
            let (node, lid) = (port.node, port.lid);
            let question = WireQuestion { topic, node, port: 0, lid, part: 0, reed_solomon: false };
            if has_vendor_attributes(kind.0)
                && open
                && !memory.is_settled(scope, question)
                && memory.answer(kind, topic).is_none()
            {
                asked.entry(kind).or_insert(question);
            }
        }
        ask(reader, scope, asked.into_values().collect(), memory, &mut WireHealth::default())?;
    }
    Ok(())
}

/// Asks one device of each kind for its firmware, and takes over what devices of the kind with this firmware refused in
/// earlier sessions. Returns where it asked.
fn ask_kept_kinds(
    reader: &mut PortReader<'_>,
    scope: WireScope<'_>,
    ports: &[CountedPort],
    memory: &mut WireMemory,
    health: &mut WireHealth,
) -> Result<BTreeSet<WirePlace>, SourceError> {
    let Some(refusals) = &memory.refusals else { return Ok(BTreeSet::new()) };
    let mut asked: BTreeMap<DeviceKind, WireQuestion> = BTreeMap::new();
    for question in memory.device_questions(ports, scope.nodes, health) {
        let kind = scope.kind(question.node);
        let first = question.topic == WireTopic::Firmware && memory.is_open(kind, WireTopic::Registers);
        if first && refusals.wants_firmware(kind) && !memory.is_settled(scope, question) {
            asked.entry(kind).or_insert(question);
        }
    }
    ask(reader, scope, asked.values().copied().collect(), memory, health)?;
    let Some(refusals) = &mut memory.refusals else { return Ok(BTreeSet::new()) };
    for (kind, question) in &asked {
        refusals.set_firmware(*kind, question.place(scope.nodes).guid, health);
        for (topic, device) in refusals.refused_topics(*kind) {
            memory.kinds.entry((*kind, topic)).or_insert((DeviceAnswer::Absent, device));
        }
    }
    Ok(asked.values().map(|question| question.place(scope.nodes)).collect())
}

/// Asks these questions, of each topic one device of each kind first.
fn ask(
    reader: &mut PortReader<'_>,
    scope: WireScope<'_>,
    questions: Vec<WireQuestion>,
    memory: &mut WireMemory,
    health: &mut WireHealth,
) -> Result<(), SourceError> {
    let now = reader.now();
    let mut open = Vec::new();
    for question in questions {
        match memory.refusal(scope, question) {
            Some(answer) => store_missing(health, scope, question, answer, now),
            None => open.push(question),
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    let mut phase = reader.open_phase::<WireQuestion>(LINK_HEALTH);
    let retries = phase.exchange.retries().min(RETRIES);
    let mut waiting: BTreeMap<(DeviceKind, WireTopic), Vec<WireQuestion>> = BTreeMap::new();
    for question in open {
        let kind = scope.kind(question.node);
        match (memory.is_open(kind, question.topic), waiting.get_mut(&(kind, question.topic))) {
            (false, Some(rest)) => rest.push(question),
            (first_known, _) => {
                if !first_known {
                    waiting.insert((kind, question.topic), Vec::new());
                }
                send(&mut phase, scope, question, retries);
            }
        }
    }
    while let Some((question, reply)) = phase.next()? {
        let now = phase.exchange.now();
        let answer = outcome(question, &reply);
        let place = question.place(scope.nodes);
        let state = if answer.known().is_some() { DeviceAnswer::Known(()) } else { without_value(&answer) };
        memory.note_answer(place, &state, &reply, now);
        let key = (scope.kind(question.node), question.topic);
        if let Some(rest) = waiting.remove(&key) {
            let settles = settles_kind(&answer, &reply);
            // Without an answer of its own to the class, a kind is not asked further: another device is tried.
            if settles || state.known().is_some() || !question.topic.is_of_class() {
                let state = if settles { state } else { DeviceAnswer::Known(()) };
                memory.kinds.insert(key, (state, place.guid));
            }
            for question in rest {
                match memory.refusal(scope, question) {
                    Some(answer) => store_missing(health, scope, question, answer, now),
                    None => send(&mut phase, scope, question, retries),
                }
            }
        }
        store(health, place, answer, now);
    }
    phase.end();
    Ok(())
}

fn send(
    phase: &mut OpenPhase<'_, '_, WireQuestion>,
    scope: WireScope<'_>,
    question: WireQuestion,
    retries: u32,
) {
    let parcel = question.to_parcel(scope.nodes);
    phase.exchange.ask(Question { parcel, target: question.node as u32, retries, tag: question });
}

fn store_missing(
    health: &mut WireHealth,
    scope: WireScope<'_>,
    question: WireQuestion,
    answer: KindAnswer,
    now: Duration,
) {
    if !answer.is_not_asked() {
        store(health, question.place(scope.nodes), without_value(&answer), now);
    }
}

impl WireMemory {
    /// Leaves out ports and devices that have nothing at all: a fabric of devices without these attributes stays as it
    /// was. Those that have something get a word for everything that they do not have.
    fn fill_settled(
        &self,
        scope: WireScope<'_>,
        ports: &[CountedPort],
        asked: &BTreeSet<(usize, u8)>,
        health: &mut WireHealth,
        now: Duration,
    ) {
        health.ports.retain(|_, said| !said.has_nothing());
        health.devices.retain(|_, said| !said.has_nothing());
        for port in ports.iter().filter(|port| asked.contains(&(port.node, port.number))) {
            let at = (scope.nodes[port.node].guid, PortNum(port.number));
            if !health.ports.contains_key(&at) {
                continue;
            }
            for question in self.port_questions(scope, *port, health) {
                let open = health.ports.get(&at).is_none_or(|said| is_open(said, question.topic));
                if let Some(answer) = self.refusal(scope, question).filter(|_| open) {
                    store_missing(health, scope, question, answer, now);
                }
            }
        }
    }

    /// The answer without asking, where the kind or the device has settled it.
    fn refusal(&self, scope: WireScope<'_>, question: WireQuestion) -> Option<KindAnswer> {
        let kind = scope.kind(question.node);
        let place = question.place(scope.nodes);
        if question.topic.needs_registers()
            && let Some(refusal) = self.class_refusal(kind, place.guid)
        {
            return Some(refusal);
        }
        if let Some((answer, USELESS_ANSWERS..)) = self.useless.get(&place) {
            return Some(*answer);
        }
        let (answer, first) = self.kinds.get(&(kind, question.topic))?;
        answer.known().is_none().then(|| answer_at(*answer, *first, place.guid))
    }

    /// Stores for later sessions what kinds of devices refused.
    fn keep_refusals(&mut self, log: &mut PhaseLog) {
        let Some(refusals) = &mut self.refusals else { return };
        refusals.keep_refusals(self.kinds.iter());
        if let Some(problem) = refusals.take_problem() {
            log.note("FN-577", || problem);
        }
    }

    /// Notes the kinds of devices that did not answer.
    fn note_silence(&self, log: &mut PhaseLog) {
        for ((kind, topic), (answer, _)) in &self.kinds {
            if *answer == DeviceAnswer::Silent {
                log.note("FN-571", || {
                    format!(
                        "devices {:#06x} of vendor {:#08x} did not answer to {}: they are not asked again in this \
                         session",
                        kind.1,
                        kind.0,
                        topic.words()
                    )
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_mad::{Mad, MadStatus, VendorQuery};

    const KIND: DeviceKind = (0x2C9, 0xD2F2);
    const PLACE: WirePlace = WirePlace { guid: Guid(1), topic: WireTopic::Module, port: 3, part: 0 };

    fn refused(status: u16) -> Reply {
        Reply::Refused(MadStatus(status))
    }

    #[test]
    fn refusals_and_silence_settle_a_kind_and_nothing_else_does() {
        let absent = DeviceAnswer::Absent;
        for status in [0x0004, 0x0008, 0x000C, 0x0014] {
            assert!(settles_kind(&absent, &refused(status)), "{status:#x}");
        }
        for status in [0x0001, 0x001C, 0x000D, 0x0015] {
            assert!(!settles_kind(&absent, &refused(status)), "{status:#x}");
        }
        assert!(settles_kind(&DeviceAnswer::Silent, &Reply::Silence));
        let answer = Reply::Answer(VendorQuery::ClassPortInfo.to_mad());
        assert!(!settles_kind(&DeviceAnswer::Implausible, &answer));
        assert!(settles_kind(&DeviceAnswer::Guarded, &answer));
    }

    #[test]
    fn a_device_that_wants_a_key_stops_the_ladder_of_its_kind() {
        let question = WireQuestion {
            topic: WireTopic::Class,
            node: 0,
            port: 0,
            lid: fabdeck_fabric::Lid::new(1).unwrap(),
            part: 0,
            reed_solomon: false,
        };
        let mut mad: Mad = VendorQuery::ClassPortInfo.to_mad();
        mad.vendor_class_info_mut().class_version = 1;
        assert!(outcome(question, &Reply::Answer(mad.clone())).known().is_some());
        mad.vendor_class_info_mut().capability_mask = 0x0100.into();
        let answer = outcome(question, &Reply::Answer(mad));
        assert_eq!(answer.missing_word(), Some("guarded by a key"));
        let mut memory = WireMemory::default();
        assert_eq!(memory.class_refusal(KIND, Guid(1)), Some(DeviceAnswer::NotAsked), "no step was taken");
        memory.kinds.insert((KIND, WireTopic::Class), (without_value(&answer), Guid(1)));
        assert_eq!(memory.class_refusal(KIND, Guid(1)), Some(DeviceAnswer::Guarded));
        let other = memory.class_refusal(KIND, Guid(2)).unwrap();
        assert_eq!(other.missing_word(), Some("its kind is guarded by a key"));
    }

    #[test]
    fn one_lost_answer_does_not_settle_a_port_and_a_refusal_does() {
        let times = |memory: &WireMemory| memory.useless.get(&PLACE).map(|(_, times)| *times);
        let mut memory = WireMemory::default();
        memory.note_answer(PLACE, &DeviceAnswer::Silent, &Reply::Silence, Duration::ZERO);
        assert_eq!(times(&memory), Some(1));
        let answer = Reply::Answer(VendorQuery::ClassPortInfo.to_mad());
        memory.note_answer(PLACE, &DeviceAnswer::Known(()), &answer, Duration::ZERO);
        assert_eq!(times(&memory), None, "an answer makes up for it");
        memory.note_answer(PLACE, &DeviceAnswer::Silent, &refused(1), Duration::ZERO);
        assert_eq!(times(&memory), None, "a busy device is asked again");
        memory.note_answer(PLACE, &DeviceAnswer::Absent, &refused(0xC), Duration::ZERO);
        assert_eq!(times(&memory), Some(USELESS_ANSWERS));
    }

    #[test]
    fn old_values_are_taken_back() {
        let mut health = WireHealth::default();
        let at = (PLACE.guid, PortNum(PLACE.port));
        health.ports.entry(at).or_default().module = DeviceAnswer::Known(Default::default());
        let mut memory = WireMemory::default();
        memory.read.insert(PLACE, Duration::from_secs(100));
        memory.expire(&mut health, Duration::from_secs(700), [2 * ROTATION; 2]);
        assert!(health.ports[&at].module.known().is_some());
        memory.expire(&mut health, Duration::from_secs(701), [2 * ROTATION; 2]);
        assert_eq!(health.ports[&at].module.missing_word(), Some("did not answer"));
    }
}
