//! Reads a live fabric part by part over any port. Every MAD goes by directed route, so that it arrives whatever the
//! tables are. Parts of an adapter are read at the port that they belong to.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use super::adaptive::AdaptiveAnswers;
use super::exchange::{Exchange, ExchangeEvent};
use super::exchange_policy::ExchangePolicy;
use super::fdr10::KindsWithoutFdr10;
use super::get_request::directed_get;
use super::keys::Keys;
use super::levels::{level_in_record, path_query};
use super::live_source::{TRANSACTIONS_PER_READING, read_snapshot_from};
use super::notify::notify_hosts;
use super::question::{Question, Reply};
use super::reader::PortReader;
use super::registry;
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, Guid, Lid, NodeId, NodeKind, PhysicalState, PortNum, PortState, ServiceLevel};
use fabdeck_mad::access::{
    AddressedMad, AttributePart, DEFAULT_PREFIX, DeviceAttribute, DeviceId, DevicePort, MadPort,
    ReadObserver, ReadOptions, Registration, RegistrationLookup, SourceError, Surveyor, WriteError,
};
use fabdeck_mad::{PathNotice, PortInfo, SMP_DATA, Smp, SwitchInfo, attribute};
use rustc_hash::FxHashMap;

/// The longest wait in one call, so that the second process sees progress, however long an answer takes.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The route to a device.
#[derive(Clone, Debug)]
pub(crate) struct DeviceRoute {
    /// The egress ports of the route, from the local port on.
    pub route: Vec<u8>,
    /// The GUID that the key is filed under: that of a switch, or of an adapter's port.
    pub guid: Guid,
}

/// Reads switches and adapters over one port, which need not be able to write.
#[derive(Debug)]
pub struct LiveSurveyor<P> {
    pub(crate) name: String,
    pub(crate) port: P,
    policy: ExchangePolicy,
    keys: Keys,
    /// The last snapshot; below, the LID of its subnet manager, its prefix, and the routes to its switches and adapter
    /// ports.
    fabric: Fabric,
    manager: Option<Lid>,
    subnet_prefix: u64,
    ways: FxHashMap<DevicePort, DeviceRoute>,
    /// The answers of switches about adaptive routing.
    adaptive: AdaptiveAnswers,
    without_fdr10: KindsWithoutFdr10,
    transactions: u32,
}

impl<P: MadPort> LiveSurveyor<P> {
    /// The first transaction, apart from those of snapshots and Sets over the same port.
    const FIRST_TRANSACTION: u32 = 0x6000_0000;

    pub fn new(name: impl Into<String>, port: P, policy: ExchangePolicy, keys: Keys) -> Self {
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
            without_fdr10: KindsWithoutFdr10::default(),
            transactions: Self::FIRST_TRANSACTION,
        }
    }

    pub fn port(&self) -> &P {
        &self.port
    }

    /// Sends notices to hosts through the subnet manager of the last snapshot.
    pub(crate) fn notify(
        &mut self,
        notices: &[PathNotice],
        whom: &[Lid],
        patience: Duration,
    ) -> Result<Vec<Lid>, WriteError> {
        notify_hosts(&mut self.port, self.manager, self.policy, notices, whom, patience)
    }

    /// Registers a change with the subnet manager of the last snapshot.
    pub(crate) fn register(&mut self, registration: &Registration) -> Result<(), WriteError> {
        self.send_to_manager(|manager, gid| registry::registration_request(manager, gid, registration))
    }

    pub(crate) fn unregister(&mut self, registration: &Registration) -> Result<(), WriteError> {
        let of = |own| registration.port.unwrap_or(own);
        self.send_to_manager(|manager, gid| {
            registry::unregistration_request(manager, of(gid), &registration.change)
        })
    }

    fn send_to_manager(&mut self, parcel: impl Fn(Lid, [u8; 16]) -> AddressedMad) -> Result<(), WriteError> {
        let manager = self.manager.or(self.port.local_port().manager_lid);
        let (Some(manager), Some(gid)) =
            (manager, registry::port_gid(self.port.local_port(), self.subnet_prefix))
        else {
            return Err(WriteError::Refused(registry::NO_MANAGER.to_owned()));
        };
        let reply = self.ask_manager(parcel(manager, gid))?;
        registry::check_done(&reply)
    }

    fn ask_manager(&mut self, parcel: AddressedMad) -> Result<Reply, WriteError> {
        let question = Question { parcel, target: 0, retries: self.policy.retries, tag: 0 };
        let mut told = Reply::Silence;
        self.ask_all("registrations", vec![question], |_, reply| told = reply).map_err(WriteError::Gone)?;
        Ok(told)
    }

    pub(crate) fn device_route(&self, slot: &DeviceAttribute) -> Result<&DeviceRoute, WriteError> {
        self.ways.get(&slot.destination()).ok_or_else(|| self.unknown_device(slot))
    }

    fn question(&self, at: usize, slot: &DeviceAttribute) -> Option<Question<usize>> {
        let way = self.ways.get(&slot.destination())?;
        let (attribute, modifier) = attribute_of(slot);
        let parcel = directed_get(attribute, modifier, &way.route, self.keys.key_for(Some(way.guid)));
        // If two devices get the same number, they only share the limit per node.
        let guid = slot.at.guid().0;
        let target = (guid ^ guid >> 32) as u32;
        Some(Question { parcel, target, retries: self.policy.retries, tag: at })
    }

    fn unknown_device(&self, slot: &DeviceAttribute) -> WriteError {
        WriteError::Refused(format!(
            "FD-4511: {}: no path to {} is known; check that it is there",
            self.name,
            device_label(slot.destination())
        ))
    }

    /// The answer to a Get of the part's attribute.
    pub(crate) fn read_attribute(&mut self, slot: &DeviceAttribute) -> Result<Smp, WriteError> {
        let mut replies = self.ask(std::slice::from_ref(slot));
        replies.pop().unwrap_or_else(|| Err(self.unknown_device(slot)))
    }

    fn ask(&mut self, slots: &[DeviceAttribute]) -> Vec<Result<Smp, WriteError>> {
        let unknown = |slot: &DeviceAttribute| Err(self.unknown_device(slot));
        let mut answers: Vec<Result<Smp, WriteError>> = slots.iter().map(unknown).collect();
        let asked = slots.iter().enumerate().filter_map(|(at, slot)| self.question(at, slot));
        let questions: Vec<Question<usize>> = asked.collect();
        match self.ask_all("read back", questions, |at, reply| answers[at] = to_result(&slots[at], reply)) {
            Ok(()) => answers,
            Err(gone) => vec![Err(WriteError::Gone(gone)); slots.len()],
        }
    }

    /// Sends all queries. `take` gets each outcome with the tag of its query: a reply, or `Reply::Silence` after the last retry.
    /// An error says why the port is gone.
    fn ask_all(
        &mut self,
        phase: &'static str,
        questions: Vec<Question<usize>>,
        mut take: impl FnMut(usize, Reply),
    ) -> Result<(), String> {
        let mut exchange = Exchange::new(&mut self.port, self.policy, phase, self.transactions);
        exchange.feed(questions.len() as u64, questions.into_iter());
        let gone = loop {
            match exchange.next(MAX_WAIT) {
                Ok(ExchangeEvent::Settled) => break Ok(()),
                Ok(ExchangeEvent::TurnOver) => {}
                Ok(ExchangeEvent::Reply(at, reply)) => take(at, reply),
                Err(error) => break Err(error.to_string()),
            }
        };
        let (_, next) = exchange.end();
        self.transactions = next.max(Self::FIRST_TRANSACTION);
        gone
    }
}

impl<P: MadPort> Surveyor for LiveSurveyor<P> {
    fn read_fabric(
        &mut self,
        wanted: ReadOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<Observation, SourceError> {
        let reader = PortReader::new(&self.name, &mut self.port, self.policy, &self.keys, watch);
        let answers = (&mut self.adaptive, &mut self.without_fdr10);
        let look = read_snapshot_from(reader, self.transactions, wanted, answers)?;
        self.transactions =
            self.transactions.wrapping_add(TRANSACTIONS_PER_READING).max(Self::FIRST_TRANSACTION);
        let manager = look.subnet_manager.as_ref().and_then(|manager| look.fabric.port_by_guid(manager.guid));
        self.manager = manager.and_then(|port| look.fabric.address_of(port)).map(|(lid, _)| lid);
        let told = look.reading.as_ref().and_then(|reading| reading.subnet_prefix);
        self.subnet_prefix = told.unwrap_or(DEFAULT_PREFIX);
        self.fabric = look.fabric.clone();
        self.avoid_ports(&BTreeSet::new());
        Ok(look)
    }

    fn avoid_ports(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort> {
        let seat = self.port.local_port().guid;
        let number = self.port.local_port().number;
        self.ways = shortest_routes(&self.fabric, (seat, number), ports);
        let fabric = &self.fabric;
        let switches = fabric.switches().map(|(_, node)| (DeviceId::Switch(node.guid()), 0));
        let ends = fabric.ports().filter(|(_, port)| !fabric.node(port.node).is_switch());
        let ends = ends.map(|(_, port)| arrival_port(fabric, port.node, port.number));
        switches.chain(ends).filter(|at| !self.ways.contains_key(at)).collect()
    }

    fn read(&mut self, slots: &[DeviceAttribute]) -> Vec<Result<Vec<u8>, WriteError>> {
        let answers = self.ask(slots);
        answers
            .into_iter()
            .zip(slots)
            .map(|(answer, slot)| answer.map(|smp| extract_part(slot.part, &smp)))
            .collect()
    }

    fn read_registration(&mut self) -> RegistrationLookup {
        let Some(manager) = self.manager.or(self.port.local_port().manager_lid) else {
            return RegistrationLookup::NotKept(registry::NO_MANAGER.to_owned());
        };
        match self.ask_manager(registry::registration_query(manager)) {
            Ok(reply) => registry::read_registered(&reply),
            Err(error) => RegistrationLookup::NotKept(error.to_string()),
        }
    }

    fn read_levels(&mut self, pairs: &[(Lid, Lid)]) -> Vec<Option<ServiceLevel>> {
        let mut levels = vec![None; pairs.len()];
        let Some(manager) = self.manager else { return levels };
        let retries = self.policy.retries;
        let asked = pairs.iter().enumerate().map(|(tag, (from, to))| Question {
            parcel: path_query(manager, *from, *to),
            target: 0,
            retries,
            tag,
        });
        // A level without an answer stays unknown, whatever the reason.
        let _ = self.ask_all("path records", asked.collect(), |at, reply| {
            levels[at] = level_in_record(&reply, pairs[at].1);
        });
        levels
    }
}

/// The device and port that receive a MAD which arrives at a port.
fn arrival_port(fabric: &Fabric, node: NodeId, port: PortNum) -> DevicePort {
    let at = fabric.node(node);
    let device = DeviceId::from_node(at.facts.kind, at.guid());
    (device, if at.is_switch() { 0 } else { port.value() })
}

fn device_label((device, port): DevicePort) -> String {
    if port == 0 { device.to_string() } else { format!("port {port} of {device}") }
}

/// The attribute and the modifier of a part.
pub(crate) fn attribute_of(slot: &DeviceAttribute) -> (u16, u32) {
    match slot.part {
        // An adapter has one table for the port that receives the query.
        AttributePart::Lanes(_) if slot.at.kind() != NodeKind::Switch => (attribute::SL_TO_VL, 0),
        AttributePart::Arbitration([_, place]) if slot.at.kind() != NodeKind::Switch => {
            (attribute::VL_ARBITRATION, u32::from(place) << 16)
        }
        AttributePart::Block(block) => (attribute::LINEAR_FORWARDING, block.into()),
        AttributePart::LinearTop(()) => (attribute::SWITCH_INFO, 0),
        AttributePart::Lanes([from, to]) => (attribute::SL_TO_VL, u32::from(from) << 8 | u32::from(to)),
        AttributePart::Arbitration([port, place]) => {
            (attribute::VL_ARBITRATION, u32::from(place) << 16 | u32::from(port))
        }
        AttributePart::Port(port) => (attribute::PORT_INFO, port.into()),
    }
}

/// The bytes of a part within its attribute.
pub(crate) fn extract_part(part: AttributePart, smp: &Smp) -> Vec<u8> {
    match part {
        AttributePart::Block(_) | AttributePart::Lanes(_) | AttributePart::Arbitration(_) => {
            smp.data::<[u8; SMP_DATA]>()[..part.byte_count()].to_vec()
        }
        AttributePart::LinearTop(()) => smp.data::<SwitchInfo>().linear_top.get().to_be_bytes().to_vec(),
        AttributePart::Port(_) => {
            let disabled = smp.data::<PortInfo>().physical_state() == Some(PhysicalState::Disabled);
            vec![u8::from(!disabled)]
        }
    }
}

fn to_result(slot: &DeviceAttribute, reply: Reply) -> Result<Smp, WriteError> {
    match reply {
        Reply::Answer(mad) => Ok(Smp(mad)),
        Reply::Refused(status) => {
            Err(WriteError::Refused(format!("FD-4512: {slot} cannot be read: {status}")))
        }
        Reply::Silence => Err(WriteError::Silent(format!("FD-4513: {slot} cannot be read: no answer"))),
    }
}

/// The shortest routes from a port to all switches and adapter ports, over links that are up, without these ports.
fn shortest_routes(
    fabric: &Fabric,
    (seat, number): (Option<Guid>, PortNum),
    without: &BTreeSet<(Guid, u8)>,
) -> FxHashMap<DevicePort, DeviceRoute> {
    let own = seat.and_then(|guid| fabric.port_by_guid(guid)).map(|port| fabric.port(port).node);
    let Some(own) = own else { return FxHashMap::default() };
    let barred = |node: NodeId, port: PortNum| {
        fabric.node(node).is_switch() && without.contains(&(fabric.node(node).guid(), port.value()))
    };
    let key = |node: NodeId, port: PortNum| {
        let own = fabric.port_of(node, port).filter(|_| !fabric.node(node).is_switch());
        own.and_then(|port| fabric.port(port).facts.guid).unwrap_or(fabric.node(node).guid())
    };
    let way =
        |node, port, route| (arrival_port(fabric, node, port), DeviceRoute { route, guid: key(node, port) });
    let mut found: FxHashMap<DevicePort, DeviceRoute> = [way(own, number, Vec::new())].into_iter().collect();
    let mut queue = VecDeque::from([(own, Vec::new())]);
    while let Some((at, route)) = queue.pop_front() {
        // An adapter forwards nothing; the local adapter sends only from the local port.
        let is_switch = fabric.node(at).is_switch();
        for (_, port) in fabric.ports_of(at).filter(|(_, port)| is_switch || port.number == number) {
            let Some(peer) = port.peer.map(|peer| fabric.port(peer)) else { continue };
            let down = port.facts.state == Some(PortState::Down) || peer.facts.state == Some(PortState::Down);
            let off = barred(at, port.number) || barred(peer.node, peer.number);
            if down || off || found.contains_key(&arrival_port(fabric, peer.node, peer.number)) {
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
