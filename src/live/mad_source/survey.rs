//! Reads a live fabric part by part over any port. Every MAD goes by directed route, so that it arrives whatever the
//! tables are. Parts of an adapter are read at the port that they belong to.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use super::adaptive::AdaptiveAnswers;
use super::discovery::directed;
use super::exchange::Exchange;
use super::keys::Keys;
use super::levels::{level_told, path_between};
use super::look::{OF_A_LOOK, look_from};
use super::notify::notify;
use super::policy::Policy;
use super::question::{Question, Reply};
use super::reader::Reader;
use super::registry;
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, Guid, Lid, NodeId, NodeKind, PhysicalState, PortNum, PortState, ServiceLevel};
use fabdeck_mad::access::{
    DEFAULT_PREFIX, Device, DevicePort, MadPort, Parcel, Part, Registered, Registration, Slot, SourceError,
    Surveyor, Wanted, Watch, WriteError,
};
use fabdeck_mad::{PortInfo, Repath, SMP_DATA, Smp, SwitchInfo, attribute};
use rustc_hash::FxHashMap;

/// The longest wait in one call, so that the second process sees progress, however long an answer takes.
const TURN: Duration = Duration::from_secs(1);

/// The route to a device.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// The egress ports of the route, from the local port on.
    pub route: Vec<u8>,
    /// The GUID that the key is filed under: that of a switch, or of an adapter's port.
    pub guid: Guid,
}

/// Reads switches and adapters over one port, which need not be able to write.
#[derive(Debug)]
pub struct LiveSurveyor<P> {
    pub(super) name: String,
    pub(super) port: P,
    policy: Policy,
    keys: Keys,
    /// The last snapshot; below, the LID of its subnet manager, its prefix, and the routes to its switches and adapter
    /// ports.
    fabric: Fabric,
    manager: Option<Lid>,
    subnet_prefix: u64,
    ways: FxHashMap<DevicePort, Way>,
    /// The answers of switches about adaptive routing.
    adaptive: AdaptiveAnswers,
    transactions: u32,
}

impl<P: MadPort> LiveSurveyor<P> {
    /// The first transaction, apart from those of snapshots and Sets over the same port.
    const FIRST_TRANSACTION: u32 = 0x6000_0000;

    pub fn new(name: impl Into<String>, port: P, policy: Policy, keys: Keys) -> Self {
        Self {
            name: name.into(),
            port,
            policy,
            keys,
            fabric: Fabric::default(),
            manager: None,
            subnet_prefix: DEFAULT_PREFIX,
            ways: FxHashMap::default(),
            adaptive: AdaptiveAnswers::default(),
            transactions: Self::FIRST_TRANSACTION,
        }
    }

    pub fn port(&self) -> &P {
        &self.port
    }

    /// Sends notices to hosts through the subnet manager of the last snapshot.
    pub(super) fn notify(
        &mut self,
        notices: &[Repath],
        whom: &[Lid],
        patience: Duration,
    ) -> Result<Vec<Lid>, WriteError> {
        notify(&mut self.port, (self.manager, self.policy), notices, whom, patience)
    }

    /// Registers a change with the subnet manager of the last snapshot.
    pub(super) fn register(&mut self, registration: &Registration) -> Result<(), WriteError> {
        self.tell_manager(|manager, gid| registry::registers(manager, gid, registration))
    }

    pub(super) fn unregister(&mut self, registration: &Registration) -> Result<(), WriteError> {
        let of = |own| registration.port.unwrap_or(own);
        self.tell_manager(|manager, gid| registry::unregisters(manager, of(gid), &registration.change))
    }

    fn tell_manager(&mut self, parcel: impl Fn(Lid, [u8; 16]) -> Parcel) -> Result<(), WriteError> {
        let manager = self.manager.or(self.port.local().manager_lid);
        let (Some(manager), Some(gid)) = (manager, registry::gid(self.port.local(), self.subnet_prefix))
        else {
            return Err(WriteError::Refused(registry::NO_MANAGER.to_owned()));
        };
        let reply = self.ask_manager(parcel(manager, gid))?;
        registry::is_done(&reply)
    }

    fn ask_manager(&mut self, parcel: Parcel) -> Result<Reply, WriteError> {
        let question = Question { parcel, target: 0, retries: self.policy.retries, tag: 0 };
        let mut told = Reply::Silence;
        self.settle("registrations", vec![question], |_, reply| told = reply).map_err(WriteError::Gone)?;
        Ok(told)
    }

    pub(super) fn way(&self, slot: &Slot) -> Result<&Way, WriteError> {
        self.ways.get(&slot.arrival()).ok_or_else(|| self.unknown(slot))
    }

    fn question(&self, at: usize, slot: &Slot) -> Option<Question<usize>> {
        let way = self.ways.get(&slot.arrival())?;
        let (attribute, modifier) = wire(slot);
        let parcel = directed(attribute, modifier, &way.route, self.keys.of(Some(way.guid)));
        // If two devices get the same number, they only share the limit per node.
        let guid = slot.at.guid().0;
        let target = (guid ^ guid >> 32) as u32;
        Some(Question { parcel, target, retries: self.policy.retries, tag: at })
    }

    fn unknown(&self, slot: &Slot) -> WriteError {
        WriteError::Refused(format!(
            "FD-4511: {}: no way to {} is known; look whether it is there",
            self.name,
            called(slot.arrival())
        ))
    }

    /// The answer to a Get of the part's attribute.
    pub(super) fn raw(&mut self, slot: &Slot) -> Result<Smp, WriteError> {
        let mut replies = self.ask(std::slice::from_ref(slot));
        replies.pop().unwrap_or_else(|| Err(self.unknown(slot)))
    }

    fn ask(&mut self, slots: &[Slot]) -> Vec<Result<Smp, WriteError>> {
        let unknown = |slot: &Slot| Err(self.unknown(slot));
        let mut answers: Vec<Result<Smp, WriteError>> = slots.iter().map(unknown).collect();
        let asked = slots.iter().enumerate().filter_map(|(at, slot)| self.question(at, slot));
        let questions: Vec<Question<usize>> = asked.collect();
        match self.settle("read back", questions, |at, reply| answers[at] = told(&slots[at], reply)) {
            Ok(()) => answers,
            Err(gone) => vec![Err(WriteError::Gone(gone)); slots.len()],
        }
    }

    /// Sends all queries, and passes each reply on as it comes.
    fn settle(
        &mut self,
        phase: &'static str,
        questions: Vec<Question<usize>>,
        mut take: impl FnMut(usize, Reply),
    ) -> Result<(), String> {
        let mut exchange = Exchange::new(&mut self.port, self.policy, phase, self.transactions);
        exchange.feed(questions.len() as u64, questions.into_iter());
        let gone = loop {
            match exchange.next(TURN) {
                Ok(None) => break Ok(()),
                Ok(Some(None)) => {}
                Ok(Some(Some((at, reply)))) => take(at, reply),
                Err(error) => break Err(error.to_string()),
            }
        };
        let (_, next) = exchange.end();
        self.transactions = next.max(Self::FIRST_TRANSACTION);
        gone
    }
}

impl<P: MadPort> Surveyor for LiveSurveyor<P> {
    fn look(&mut self, wanted: Wanted, watch: &mut dyn Watch) -> Result<Observation, SourceError> {
        let reader = Reader::new(&self.name, &mut self.port, self.policy, &self.keys, watch);
        let look = look_from(reader, self.transactions, wanted, &mut self.adaptive)?;
        self.transactions = self.transactions.wrapping_add(OF_A_LOOK).max(Self::FIRST_TRANSACTION);
        let manager = look.subnet_manager.as_ref().and_then(|manager| look.fabric.port_by_guid(manager.guid));
        self.manager = manager.and_then(|port| look.fabric.address_of(port)).map(|(lid, _)| lid);
        let told = look.reading.as_ref().and_then(|reading| reading.subnet_prefix);
        self.subnet_prefix = told.unwrap_or(DEFAULT_PREFIX);
        self.fabric = look.fabric.clone();
        self.keep_off(&BTreeSet::new());
        Ok(look)
    }

    fn keep_off(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort> {
        let seat = self.port.local().guid;
        let number = self.port.local().number;
        self.ways = ways(&self.fabric, (seat, number), ports);
        let fabric = &self.fabric;
        let switches = fabric.switches().map(|(_, node)| (Device::Switch(node.guid()), 0));
        let ends = fabric.ports().filter(|(_, port)| !fabric.node(port.node).is_switch());
        let ends = ends.map(|(_, port)| arrival(fabric, port.node, port.number));
        switches.chain(ends).filter(|at| !self.ways.contains_key(at)).collect()
    }

    fn read(&mut self, slots: &[Slot]) -> Vec<Result<Vec<u8>, WriteError>> {
        let answers = self.ask(slots);
        answers
            .into_iter()
            .zip(slots)
            .map(|(answer, slot)| answer.map(|smp| part_of(slot.part, &smp)))
            .collect()
    }

    fn registered(&mut self) -> Registered {
        let Some(manager) = self.manager.or(self.port.local().manager_lid) else {
            return Registered::NotKept(registry::NO_MANAGER.to_owned());
        };
        match self.ask_manager(registry::asks(manager)) {
            Ok(reply) => registry::told(&reply),
            Err(error) => Registered::NotKept(error.to_string()),
        }
    }

    fn levels(&mut self, pairs: &[(Lid, Lid)]) -> Vec<Option<ServiceLevel>> {
        let mut levels = vec![None; pairs.len()];
        let Some(manager) = self.manager else { return levels };
        let retries = self.policy.retries;
        let asked = pairs.iter().enumerate().map(|(tag, (from, to))| Question {
            parcel: path_between(manager, *from, *to),
            target: 0,
            retries,
            tag,
        });
        // A level without an answer stays unknown, whatever the reason.
        let _ = self.settle("path records", asked.collect(), |at, reply| {
            levels[at] = level_told(&reply, pairs[at].1);
        });
        levels
    }
}

/// The device and port that receive a MAD which arrives at a port.
fn arrival(fabric: &Fabric, node: NodeId, port: PortNum) -> DevicePort {
    let at = fabric.node(node);
    let device = Device::of(at.facts.kind, at.guid());
    (device, if at.is_switch() { 0 } else { port.value() })
}

fn called((device, port): DevicePort) -> String {
    if port == 0 { device.to_string() } else { format!("port {port} of {device}") }
}

/// The attribute and the modifier of a part.
pub(super) fn wire(slot: &Slot) -> (u16, u32) {
    match slot.part {
        // An adapter has one table for the port that receives the query.
        Part::Lanes(_) if slot.at.kind() != NodeKind::Switch => (attribute::SL_TO_VL, 0),
        Part::Arbitration([_, place]) if slot.at.kind() != NodeKind::Switch => {
            (attribute::VL_ARBITRATION, u32::from(place) << 16)
        }
        Part::Block(block) => (attribute::LINEAR_FORWARDING, block.into()),
        Part::LinearTop(()) => (attribute::SWITCH_INFO, 0),
        Part::Lanes([from, to]) => (attribute::SL_TO_VL, u32::from(from) << 8 | u32::from(to)),
        Part::Arbitration([port, place]) => {
            (attribute::VL_ARBITRATION, u32::from(place) << 16 | u32::from(port))
        }
        Part::Port(port) => (attribute::PORT_INFO, port.into()),
    }
}

/// The bytes of a part within its attribute.
pub(super) fn part_of(part: Part, smp: &Smp) -> Vec<u8> {
    match part {
        Part::Block(_) | Part::Lanes(_) | Part::Arbitration(_) => {
            smp.data::<[u8; SMP_DATA]>()[..part.length()].to_vec()
        }
        Part::LinearTop(()) => smp.data::<SwitchInfo>().linear_top.get().to_be_bytes().to_vec(),
        Part::Port(_) => {
            let disabled = smp.data::<PortInfo>().physical_state() == Some(PhysicalState::Disabled);
            vec![u8::from(!disabled)]
        }
    }
}

fn told(slot: &Slot, reply: Reply) -> Result<Smp, WriteError> {
    match reply {
        Reply::Answer(mad) => Ok(Smp(mad)),
        Reply::Refused(status) => {
            Err(WriteError::Refused(format!("FD-4512: {slot} cannot be read: {status}")))
        }
        Reply::Silence => Err(WriteError::Silent(format!("FD-4513: {slot} cannot be read: no answer"))),
    }
}

/// The shortest routes from a port to all switches and adapter ports, over links that are up, without these ports.
fn ways(
    fabric: &Fabric,
    (seat, number): (Option<Guid>, PortNum),
    without: &BTreeSet<(Guid, u8)>,
) -> FxHashMap<DevicePort, Way> {
    let own = seat.and_then(|guid| fabric.port_by_guid(guid)).map(|port| fabric.port(port).node);
    let Some(own) = own else { return FxHashMap::default() };
    let barred = |node: NodeId, port: PortNum| {
        fabric.node(node).is_switch() && without.contains(&(fabric.node(node).guid(), port.value()))
    };
    let key = |node: NodeId, port: PortNum| {
        let own = fabric.port_of(node, port).filter(|_| !fabric.node(node).is_switch());
        own.and_then(|port| fabric.port(port).facts.guid).unwrap_or(fabric.node(node).guid())
    };
    let way = |node, port, route| (arrival(fabric, node, port), Way { route, guid: key(node, port) });
    let mut found: FxHashMap<DevicePort, Way> = [way(own, number, Vec::new())].into_iter().collect();
    let mut queue = VecDeque::from([(own, Vec::new())]);
    while let Some((at, route)) = queue.pop_front() {
        // An adapter forwards nothing; the local adapter sends only from the local port.
        let is_switch = fabric.node(at).is_switch();
        for (_, port) in fabric.ports_of(at).filter(|(_, port)| is_switch || port.number == number) {
            let Some(peer) = port.peer.map(|peer| fabric.port(peer)) else { continue };
            let down = port.facts.state == Some(PortState::Down) || peer.facts.state == Some(PortState::Down);
            let off = barred(at, port.number) || barred(peer.node, peer.number);
            if down || off || found.contains_key(&arrival(fabric, peer.node, peer.number)) {
                continue;
            }
            let route: Vec<u8> = route.iter().copied().chain([port.number.value()]).collect();
            found.extend([way(peer.node, peer.number, route.clone())]);
            if fabric.node(peer.node).is_switch() {
                queue.push_back((peer.node, route));
            }
        }
    }
    found
}
