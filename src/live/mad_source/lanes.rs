//! Reads the SL2VL and arbitration tables of every port with a cable. A switch has an SL2VL table for each pair of
//! ports. A switch that can answer for all ingress ports at once is asked so.

use std::collections::{BTreeMap, BTreeSet};

use super::discovery_state::{DiscoveredNode, node_id};
use super::get_request::directed_get;
use super::question::{Question, Reply};
use super::reader::{OpenPhase, PortReader};
use super::tables::to_silence;
use fabdeck_fabric::{Arbitration, Fabric, NodeKind, PhysicalState, Port, PortNum, Sl2Vl, Tables, VlWeight};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{SlToVl, Smp, VlArbitrationBlock, attribute};

/// The bit of the attribute modifier for all ingress ports (optimized SL2VL).
const ALL_INPUTS: u32 = 0x2_0000;

/// A query for the lanes from one port to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LanePair {
    pub node: usize,
    /// The ingress port; `None` for all ingress ports at once.
    from: Option<u8>,
    to: u8,
    /// The answer for all ingress ports at once, which this query has to confirm.
    claimed: Option<Sl2Vl>,
}

impl LanePair {
    /// The ingress port; 0 for all of them at once.
    pub fn input_port(self) -> u8 {
        self.from.unwrap_or(0)
    }

    pub fn output_port(self) -> u8 {
        self.to
    }
}

/// Smallest number of queries that reading all SL2VL tables takes.
pub fn count_lane_questions(fabric: &Fabric, nodes: &[DiscoveredNode]) -> u64 {
    nodes.iter().enumerate().map(|(at, node)| pair_count(fabric, at, node) as u64).sum()
}

/// Reads all SL2VL tables.
pub fn read_lanes(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    nodes: &[DiscoveredNode],
    tables: &mut Tables,
) -> Result<(), SourceError> {
    let expected = count_lane_questions(fabric, nodes);
    let pairs = nodes.iter().enumerate().flat_map(|(at, node)| pairs_of(fabric, at, node));
    ask_lanes(reader, fabric, nodes, (expected, pairs), |node, (from, to), table| {
        tables.node_mut(node_id(node)).sl2vl.insert((PortNum(from), PortNum(to)), table);
    })
}

/// Reads the tables of some pairs of ports. `take` gets the node, the ingress and egress port, and the table.
pub fn ask_lanes(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    nodes: &[DiscoveredNode],
    (expected, pairs): (u64, impl Iterator<Item = LanePair>),
    mut take: impl FnMut(usize, (u8, u8), Sl2Vl),
) -> Result<(), SourceError> {
    let mut phase = reader.open_phase::<LanePair>("lanes");
    let retries = phase.exchange.retries();
    phase.exchange.feed(expected, pairs.map(move |pair| question(&nodes[pair.node], pair, retries)));
    while let Some((pair, reply)) = phase.next()? {
        let node = &nodes[pair.node];
        let ports = cabled_ports(fabric, pair.node);
        let one_by_one = |phase: &mut OpenPhase<'_, '_, LanePair>| {
            for from in inputs(&ports, pair.to) {
                phase.exchange.ask(question(
                    node,
                    LanePair { from: Some(from), claimed: None, ..pair },
                    retries,
                ));
            }
        };
        match (reply, pair.from) {
            (Reply::Answer(mad), Some(from)) => {
                let table = Smp(mad).data::<SlToVl>().table();
                match pair.claimed {
                    None => take(pair.node, (from, pair.to), table),
                    Some(claimed) if claimed == table => {
                        inputs(&ports, pair.to).for_each(|from| take(pair.node, (from, pair.to), table));
                    }
                    Some(_) => one_by_one(&mut phase),
                }
            }
            // If ingress ports differ, the device decides what this answer holds. So the last ingress port is asked by
            // itself.
            (Reply::Answer(mad), None) => {
                let claimed = Some(Smp(mad).data::<SlToVl>().table());
                let from = inputs(&ports, pair.to).last();
                phase.exchange.ask(question(node, LanePair { from, claimed, ..pair }, retries));
            }
            // The switch refuses for this port, because its ingress ports differ.
            (Reply::Refused(_), None) => one_by_one(&mut phase),
            (failed, from) => {
                let asked = match from.filter(|_| pair.claimed.is_none()) {
                    Some(from) => format!("SL2VL {from} to {}", pair.to),
                    None => format!("SL2VL to {}", pair.to),
                };
                phase.log.silent.push(to_silence(node, asked, &failed));
            }
        }
    }
    phase.end();
    Ok(())
}

/// The ports of a node with a link, even if the other end is unknown.
fn cabled_ports(fabric: &Fabric, at: usize) -> Vec<u8> {
    let linked =
        |port: &Port| port.peer.is_some() || port.facts.physical_state == Some(PhysicalState::LinkUp);
    let ports = fabric.ports_of(node_id(at)).filter(|(_, port)| linked(port));
    ports.map(|(_, port)| port.number.value()).filter(|number| *number > 0).collect()
}

/// Every ingress port of packets to `to`: the cabled ones, and the switch's own port 0.
fn inputs(ports: &[u8], to: u8) -> impl Iterator<Item = u8> {
    std::iter::once(0).chain(ports.iter().copied()).filter(move |from| *from != to)
}

/// The queries for one node.
pub fn pairs_of(fabric: &Fabric, at: usize, node: &DiscoveredNode) -> Vec<LanePair> {
    let ports = cabled_ports(fabric, at);
    let pair = |from, to| LanePair { node: at, from, to, claimed: None };
    let at_once = node.switch_info.is_some_and(|info| info.has_optimized_sl_to_vl());
    match (node.kind, at_once) {
        (NodeKind::Switch, false) => {
            ports.iter().flat_map(|to| inputs(&ports, *to).map(|from| pair(Some(from), *to))).collect()
        }
        (NodeKind::Switch, true) => ports.iter().map(|to| pair(None, *to)).collect(),
        _ => ports.iter().map(|to| pair(Some(0), *to)).collect(),
    }
}

/// The number of queries for one node.
pub fn pair_count(fabric: &Fabric, at: usize, node: &DiscoveredNode) -> usize {
    let ports = cabled_ports(fabric, at);
    let at_once = node.switch_info.is_some_and(|info| info.has_optimized_sl_to_vl());
    match (node.kind, at_once) {
        // Each port from all others and from port 0.
        (NodeKind::Switch, false) => ports.len() * ports.len(),
        _ => ports.len(),
    }
}

fn question(node: &DiscoveredNode, pair: LanePair, retries: u32) -> Question<LanePair> {
    let modifier = match (node.kind, pair.from) {
        (NodeKind::Switch, Some(from)) => u32::from(from) << 8 | u32::from(pair.to),
        (NodeKind::Switch, None) => ALL_INPUTS | u32::from(pair.to),
        // An adapter has one table for each port, which is asked at that port.
        _ => 0,
    };
    let parcel = directed_get(attribute::SL_TO_VL, modifier, node.route_to(pair.to), node.m_key.0);
    Question { parcel, target: pair.node as u32, retries, tag: pair }
}

/// One of the four blocks of a port's arbitration.
#[derive(Clone, Copy, Debug)]
struct ArbitrationBlock {
    node: usize,
    port: u8,
    /// Blocks 1 and 2 have the low priority table, 3 and 4 the high priority table.
    place: u8,
    entries: u8,
}

/// The blocks that a port has, by its PortInfo.
fn blocks_of(at: usize, node: &DiscoveredNode, port: u8) -> impl Iterator<Item = ArbitrationBlock> {
    const BLOCK_ENTRIES: u8 = 32;
    let (high, low) = node.arbitration.get(&port).copied().unwrap_or_default();
    let first = |entries: u8| entries.min(BLOCK_ENTRIES);
    let second = |entries: u8| entries.min(2 * BLOCK_ENTRIES).saturating_sub(BLOCK_ENTRIES);
    let sizes = [(1, first(low)), (2, second(low)), (3, first(high)), (4, second(high))];
    let held = sizes.into_iter().filter(|(_, entries)| *entries > 0);
    held.map(move |(place, entries)| ArbitrationBlock { node: at, port, place, entries })
}

/// The ports of a node with arbitration tables.
pub fn arbitrating_ports(fabric: &Fabric, at: usize, node: &DiscoveredNode) -> Vec<u8> {
    let has = |port: &u8| blocks_of(at, node, *port).next().is_some();
    cabled_ports(fabric, at).into_iter().filter(has).collect()
}

/// Reads all arbitration tables.
pub fn read_arbitration(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    nodes: &[DiscoveredNode],
    tables: &mut Tables,
) -> Result<(), SourceError> {
    let ports = |(at, node)| arbitrating_ports(fabric, at, node).into_iter().map(move |port| (at, port));
    let all: Vec<(usize, u8)> = nodes.iter().enumerate().flat_map(ports).collect();
    for ((node, port), table) in ask_arbitration(reader, nodes, &all)? {
        tables.node_mut(node_id(node)).arbitration.insert(PortNum(port), table);
    }
    Ok(())
}

/// Reads the arbitration tables of some ports. A port that did not answer for all its blocks is left out, since its
/// table would look like a shorter one.
pub fn ask_arbitration(
    reader: &mut PortReader<'_>,
    nodes: &[DiscoveredNode],
    ports: &[(usize, u8)],
) -> Result<BTreeMap<(usize, u8), Arbitration>, SourceError> {
    let mut phase = reader.open_phase::<ArbitrationBlock>("arbitration");
    let retries = phase.exchange.retries();
    let blocks: Vec<ArbitrationBlock> =
        ports.iter().flat_map(|(at, port)| blocks_of(*at, &nodes[*at], *port)).collect();
    let expected = blocks.len() as u64;
    let questions = blocks.into_iter().map(move |block| {
        let node = &nodes[block.node];
        let number = if node.kind == NodeKind::Switch { u32::from(block.port) } else { 0 };
        let modifier = u32::from(block.place) << 16 | number;
        let parcel =
            directed_get(attribute::VL_ARBITRATION, modifier, node.route_to(block.port), node.m_key.0);
        Question { parcel, target: block.node as u32, retries, tag: block }
    });
    phase.exchange.feed(expected, questions);
    let mut read: Vec<(ArbitrationBlock, Vec<VlWeight>)> = Vec::new();
    let mut incomplete = BTreeSet::new();
    while let Some((block, reply)) = phase.next()? {
        match reply {
            Reply::Answer(mad) => {
                read.push((block, Smp(mad).data::<VlArbitrationBlock>().weights(block.entries)));
            }
            failed => {
                let asked = format!("VLArbitration {} block {}", block.port, block.place);
                incomplete.insert((block.node, block.port));
                phase.log.silent.push(to_silence(&nodes[block.node], asked, &failed));
            }
        }
    }
    phase.end();
    read.retain(|(block, _)| !incomplete.contains(&(block.node, block.port)));
    // Blocks arrive in any order; the second block of a table goes after the first.
    read.sort_by_key(|(block, _)| (block.node, block.port, block.place));
    let mut all: BTreeMap<(usize, u8), Arbitration> = BTreeMap::new();
    for (block, weights) in read {
        let table = all.entry((block.node, block.port)).or_insert_with(|| {
            let limit = nodes[block.node].high_limit.get(&block.port).copied().unwrap_or(0);
            Arbitration { high_limit: limit, ..Arbitration::default() }
        });
        if block.place <= 2 { &mut table.low } else { &mut table.high }.extend(weights);
    }
    Ok(all)
}
