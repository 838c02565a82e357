//! Adaptive routing of packets: which port of its set a packet leaves a switch by.
//!
//! | entry | choice |
//! |---|---|
//! | Free, Bounded | a port of the set with the least waiting before it, drawn among equals |
//! | Static | the static port; the group serves where that is down (fast recovery) |
//! | HBF, or a level with hash forwarding | by a hash of source and destination |
//!
//! A packet that asks for a port keeps it, although others of its set may become free: the worst that the certificate
//! allows.

use std::collections::BTreeMap;

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::channel_graph::ChannelGraph;
use super::network::TrafficRun;
use super::packets::NONE;
use fabdeck_fabric::{
    EntryState, Fabric, Lid, NodeTables, OutputSet, PortId, PortNum, PortSet, ServiceLevel, Tables,
};

/// The sets of ports of the switches that route adaptively.
#[derive(Debug, Default)]
pub(crate) struct OutputChoices {
    /// By switch: its forwarding tables, where they leave a choice.
    nodes: Vec<Option<NodeTables>>,
    dice: Option<Xoshiro256PlusPlus>,
    /// The port of a set that the packets of a flow take at a switch, by flow, switch and ingress port.
    steered: BTreeMap<(u32, u32, u8), u8>,
}

/// The outputs of a packet, and how it picks one.
struct PacketOutputs {
    set: OutputSet,
    state: EntryState,
    by_hash: bool,
}

/// What a switch makes of a packet.
pub(crate) enum ChosenOutput {
    /// The linear table decides.
    Linear,
    /// No port.
    Absent,
    Port(u8),
}

impl OutputChoices {
    pub fn new(fabric: &Fabric, tables: &Tables, seed: u64) -> Self {
        let of = |node| {
            let held: &NodeTables = tables.nodes.get(&node)?;
            held.adaptive.as_ref()?.tables_in_force()?;
            let (lft, adaptive) = (held.lft.clone(), held.adaptive.clone());
            Some(NodeTables { lft, adaptive, ..NodeTables::default() })
        };
        let nodes: Vec<Option<NodeTables>> = fabric.switches().map(|(node, _)| of(node)).collect();
        if nodes.iter().all(Option::is_none) {
            return Self::default();
        }
        let dice = Some(Xoshiro256PlusPlus::seed_from_u64(seed));
        Self { nodes, dice, steered: BTreeMap::new() }
    }

    /// Whether some switch routes adaptively.
    pub fn is_adaptive(&self) -> bool {
        self.dice.is_some()
    }

    fn outputs(&self, switch: u32, entry: u8, lid: Lid, level: ServiceLevel) -> Option<PacketOutputs> {
        let node = self.nodes.get(switch as usize)?.as_ref()?;
        let (settings, tables) = node.adaptive.as_ref()?.tables_in_force()?;
        let set = node.outputs(PortNum(entry), level, lid).unwrap_or_default();
        let by_hash = settings.weighted_hash
            || settings.hash_forwarding && settings.hash_levels >> level.value() & 1 == 1;
        let held = tables.entry(PortNum(entry), level, lid);
        let adapts = settings.adaptive && settings.levels >> level.value() & 1 == 1;
        // Without adaptive routing for the level the group only stands in for the static port.
        let state = match held.state {
            EntryState::Free | EntryState::Bounded if !adapts => EntryState::Static,
            state => state,
        };
        Some(PacketOutputs { set, state, by_hash: by_hash || state == EntryState::Hash })
    }
}

impl TrafficRun {
    /// Lets the packets of a listed flow leave a switch by one port of their set, where they came in by a port. A port
    /// outside of the set has no effect.
    pub fn steer_flow(&mut self, flow: usize, (switch, ingress): (u32, PortNum), port: PortNum) {
        self.choices.steered.insert((flow as u32, switch, ingress.value()), port.value());
    }

    /// The port by which an adaptive switch sends a packet on.
    pub(crate) fn choose_output(&mut self, (switch, entry): (u32, u8), packet: u32) -> ChosenOutput {
        if !self.choices.is_adaptive() {
            return ChosenOutput::Linear;
        }
        let held = *self.packets.get(packet);
        let level = ServiceLevel::new(held.level.into()).unwrap_or_default();
        let outputs =
            Lid::new(held.lid.into()).and_then(|lid| self.choices.outputs(switch, entry, lid, level));
        let Some(outputs) = outputs else { return ChosenOutput::Linear };
        if outputs.set.ports.is_empty() {
            return ChosenOutput::Absent;
        }
        let origin = *self.packets.origin(packet);
        let steered = self.choices.steered.get(&(origin.flow, switch, entry)).copied();
        if let Some(port) = steered.filter(|port| outputs.set.ports.has(PortNum(*port))) {
            return ChosenOutput::Port(port);
        }
        let up: PortSet =
            outputs.set.ports.iter().filter(|port| is_up(&self.graph, switch, port.value())).collect();
        let fixed = outputs.set.fixed.filter(|port| up.has(*port));
        let port = match (outputs.state, fixed) {
            _ if up.is_empty() => outputs.set.fixed.or_else(|| outputs.set.ports.iter().next()),
            _ if outputs.by_hash => {
                let at = hash(self.graph.ends[origin.source as usize].port, held.lid) % u64::from(up.count());
                up.iter().nth(at as usize)
            }
            (EntryState::Static, Some(fixed)) => Some(fixed),
            _ => self.least_waiting((switch, entry), up, held.level),
        };
        port.map_or(ChosenOutput::Absent, |port| ChosenOutput::Port(port.value()))
    }

    /// The port with the least waiting before it; drawn among equals.
    fn least_waiting(&mut self, (switch, entry): (u32, u8), ports: PortSet, level: u8) -> Option<PortNum> {
        let waiting = |port: PortNum| {
            let channel = self.graph.exit_channel(switch, port.value());
            let lane = self.lane_map.lane(switch, entry, port.value(), level);
            if channel == NONE || lane >= self.lanes {
                return u32::MAX;
            }
            let queue = &self.queues[self.queue(channel, lane) as usize];
            let channel = &self.graph.channels[channel as usize];
            let asked = u32::from(channel.asked >> lane & 1) + u32::from(channel.packet != NONE);
            self.credits.saturating_sub(queue.room) + asked
        };
        let least = ports.iter().map(waiting).min()?;
        let best: PortSet = ports.iter().filter(|port| waiting(*port) == least).collect();
        let drawn = self.choices.dice.as_mut().map_or(0, |dice| dice.next_u32() % best.count().max(1));
        best.iter().nth(drawn as usize)
    }
}

fn is_up(graph: &ChannelGraph, switch: u32, port: u8) -> bool {
    let channel = graph.exit_channel(switch, port);
    channel != NONE && !graph.channels[channel as usize].down
}

/// A hash of a flow that spreads neighbouring values (SplitMix64).
fn hash(source: PortId, lid: u16) -> u64 {
    let mixed = (u64::from(source.0) << 16 | u64::from(lid)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed ^ mixed >> 27) >> 8
}
