//! Changing a live fabric over a port that writes: every datagram by directed route, so that it arrives whatever the
//! tables say.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::discovery::directed;
use super::exchange::{Exchange, Question, Reply};
use super::keys::Keys;
use super::look::{OF_A_LOOK, look_from};
use super::policy::Policy;
use super::reader::Reader;
use super::set::{SetError, Setter, Target};
use crate::access::{
    Actuator, MadPort, Part, Slot, SourceError, Surveyor, Wanted, Watch, WriteError, WritePort,
};
use crate::fabric::{Fabric, Guid, NodeId, NodeKind, PhysicalState, PortNum, PortState};
use crate::mad::{PortInfo, SMP_DATA, Smp, SwitchInfo, attribute};
use crate::observe::Observation;
use rustc_hash::FxHashMap;

/// The ports to leave by, from the port that is written through to a switch.
type Way = Vec<u8>;

/// Reads and writes switches over one port.
#[derive(Debug)]
pub struct LiveActuator {
    name: String,
    port: WritePort,
    policy: Policy,
    keys: Keys,
    setter: Setter,
    /// As the last look found it, and the way to each switch.
    fabric: Fabric,
    ways: FxHashMap<Guid, Way>,
    transactions: u32,
}

impl LiveActuator {
    /// Its transactions are told from those of looks and of Sets over the same port.
    const FIRST_TRANSACTION: u32 = 0x6000_0000;

    pub fn new(name: impl Into<String>, port: WritePort, policy: Policy, keys: Keys) -> Self {
        let setter = Setter::new(policy, keys.clone());
        Self {
            name: name.into(),
            port,
            policy,
            keys,
            setter,
            fabric: Fabric::default(),
            ways: FxHashMap::default(),
            transactions: Self::FIRST_TRANSACTION,
        }
    }

    /// What went through its port.
    pub fn traffic(&self) -> &crate::access::Traffic {
        self.port.traffic()
    }

    fn question(&self, at: usize, slot: &Slot) -> Option<Question<usize>> {
        let way = self.ways.get(&slot.switch)?;
        let (attribute, modifier) = wire(slot.part);
        let parcel = directed(attribute, modifier, way, self.keys.of(Some(slot.switch)));
        // Two switches may share a number: then they share the room for questions under way, and nothing else.
        let target = (slot.switch.0 ^ slot.switch.0 >> 32) as u32;
        Some(Question { parcel, target, retries: self.policy.retries, tag: at })
    }

    fn unknown(&self, slot: &Slot) -> WriteError {
        WriteError::Refused(format!(
            "FD-4511: {}: no way to switch {} is known; look whether it is there",
            self.name, slot.switch
        ))
    }

    /// The attribute as a Set of this part has to hold it.
    fn filled(&mut self, slot: &Slot, bytes: &[u8]) -> Result<[u8; SMP_DATA], WriteError> {
        let mut filled = Smp::default();
        match slot.part {
            Part::Block(_) | Part::Lanes(_) | Part::Arbitration(_) => {
                filled.data_mut::<[u8; SMP_DATA]>()[..bytes.len()].copy_from_slice(bytes);
            }
            // What shares the attribute with them is set to what it is.
            Part::LinearTop(()) => {
                let mut info = *self.raw(slot)?.data::<SwitchInfo>();
                info.linear_top = u16::from_be_bytes([bytes[0], bytes[1]]).into();
                // Who writes a one into this bit clears it, and that is the subnet manager's.
                info.life_state &= !0x04;
                *filled.data_mut() = info;
            }
            Part::Port(_) => {
                let state = if bytes[0] == 0 { PhysicalState::Disabled } else { PhysicalState::Polling };
                let info = self.raw(slot)?.data::<PortInfo>().with_physical_state(state);
                *filled.data_mut() = info;
            }
        }
        Ok(*filled.data())
    }

    /// The answer to a Get of the attribute that a part is in.
    fn raw(&mut self, slot: &Slot) -> Result<Smp, WriteError> {
        let mut replies = self.ask(std::slice::from_ref(slot));
        replies.pop().unwrap_or_else(|| Err(self.unknown(slot)))
    }

    fn ask(&mut self, slots: &[Slot]) -> Vec<Result<Smp, WriteError>> {
        let unknown = |slot: &Slot| Err(self.unknown(slot));
        let mut answers: Vec<Result<Smp, WriteError>> = slots.iter().map(unknown).collect();
        let asked = slots.iter().enumerate().filter_map(|(at, slot)| self.question(at, slot));
        let questions: Vec<Question<usize>> = asked.collect();
        let mut exchange = Exchange::new(&mut self.port, self.policy, "read back", self.transactions);
        exchange.feed(questions.len() as u64, questions.into_iter());
        let gone = loop {
            match exchange.next(self.policy.timeout) {
                Ok(None) => break None,
                Ok(Some(None)) => {}
                Ok(Some(Some((at, reply)))) => answers[at] = told(&slots[at], reply),
                Err(error) => break Some(WriteError::Gone(error.to_string())),
            }
        };
        let (_, next) = exchange.end();
        self.transactions = next.max(Self::FIRST_TRANSACTION);
        match gone {
            None => answers,
            Some(gone) => vec![Err(gone); slots.len()],
        }
    }
}

impl Surveyor for LiveActuator {
    fn look(&mut self, wanted: Wanted, watch: &mut dyn Watch) -> Result<Observation, SourceError> {
        let reader = Reader::new(&self.name, &mut self.port, self.policy, &self.keys, watch);
        let look = look_from(reader, self.transactions, wanted)?;
        self.transactions = self.transactions.wrapping_add(OF_A_LOOK).max(Self::FIRST_TRANSACTION);
        self.fabric = look.fabric.clone();
        self.keep_off(&BTreeSet::new());
        Ok(look)
    }

    fn keep_off(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<Guid> {
        let seat = self.port.local().guid;
        let number = self.port.local().number;
        self.ways = ways(&self.fabric, (seat, number), ports);
        let switches = self.fabric.switches().map(|(_, node)| node.guid());
        switches.filter(|guid| !self.ways.contains_key(guid)).collect()
    }

    fn read(&mut self, slots: &[Slot]) -> Vec<Result<Vec<u8>, WriteError>> {
        let answers = self.ask(slots);
        answers
            .into_iter()
            .zip(slots)
            .map(|(answer, slot)| answer.map(|smp| part_of(slot.part, &smp)))
            .collect()
    }
}

impl Actuator for LiveActuator {
    fn write(&mut self, slot: &Slot, bytes: &[u8]) -> Result<(), WriteError> {
        assert_eq!(bytes.len(), slot.part.length(), "a plan is checked for this when it is read");
        let Some(way) = self.ways.get(&slot.switch) else { return Err(self.unknown(slot)) };
        let target = Target { route: way.clone(), guid: Some(slot.switch) };
        let data = self.filled(slot, bytes)?;
        let (attribute, modifier) = wire(slot.part);
        self.setter.set(&mut self.port, &target, attribute, modifier, &data).map(drop).map_err(failed)
    }
}

/// Attribute and modifier of a part.
fn wire(part: Part) -> (u16, u32) {
    match part {
        Part::Block(block) => (attribute::LINEAR_FORWARDING, block.into()),
        Part::LinearTop(()) => (attribute::SWITCH_INFO, 0),
        Part::Lanes([from, to]) => (attribute::SL_TO_VL, u32::from(from) << 8 | u32::from(to)),
        Part::Arbitration([port, place]) => {
            (attribute::VL_ARBITRATION, u32::from(place) << 16 | u32::from(port))
        }
        Part::Port(port) => (attribute::PORT_INFO, port.into()),
    }
}

/// The bytes of a part in the attribute that it is in.
fn part_of(part: Part, smp: &Smp) -> Vec<u8> {
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

fn failed(error: SetError) -> WriteError {
    let words = error.to_string();
    match error {
        SetError::Silent { .. } | SetError::KeySuspected { .. } => WriteError::Silent(words),
        SetError::Refused { .. } | SetError::TooFar { .. } => WriteError::Refused(words),
        SetError::Port(_) => WriteError::Gone(words),
    }
}

/// The shortest ways from a port to all switches, over links that are up and not over these ports.
fn ways(
    fabric: &Fabric,
    (seat, number): (Option<Guid>, PortNum),
    without: &BTreeSet<(Guid, u8)>,
) -> FxHashMap<Guid, Way> {
    let own = seat.and_then(|guid| fabric.port_by_guid(guid)).map(|port| fabric.port(port).node);
    let Some(own) = own else { return FxHashMap::default() };
    let barred = |node: NodeId, port: PortNum| without.contains(&(fabric.node(node).guid(), port.value()));
    let mut found: BTreeMap<NodeId, Way> = BTreeMap::from([(own, Vec::new())]);
    let mut queue = VecDeque::from([own]);
    while let Some(at) = queue.pop_front() {
        let way = found[&at].clone();
        // Nothing passes through an adapter, and it is left by the port that is written through.
        let is_switch = fabric.node(at).is_switch();
        for (_, port) in fabric.ports_of(at).filter(|(_, port)| is_switch || port.number == number) {
            let Some(peer) = port.peer.map(|peer| fabric.port(peer)) else { continue };
            let down = port.facts.state == Some(PortState::Down) || peer.facts.state == Some(PortState::Down);
            let off = barred(at, port.number) || barred(peer.node, peer.number);
            if down || off || found.contains_key(&peer.node) {
                continue;
            }
            found.insert(peer.node, way.iter().copied().chain([port.number.value()]).collect());
            if fabric.node(peer.node).is_switch() {
                queue.push_back(peer.node);
            }
        }
    }
    let switches = found.into_iter().filter(|(id, _)| fabric.node(*id).facts.kind == NodeKind::Switch);
    switches.map(|(id, way)| (fabric.node(id).guid(), way)).collect()
}
