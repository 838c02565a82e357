//! Reads the parts of tables that are due in a sweep, besides forwarding blocks, which come with the states.

use std::collections::{BTreeMap, BTreeSet};

use super::discovery_state::{DiscoveredNode, Groups};
use super::lanes::{LanePair, ask_arbitration, ask_lanes};
use super::read_list::ReadItem;
use super::reader::PortReader;
use super::tables::{ask_groups, position_count, take_groups};
use fabdeck_fabric::{Arbitration, BLOCK_LIDS, Fabric, Sl2Vl};
use fabdeck_mad::access::SourceError;

/// Parts of tables that a sweep read, each with its node.
#[derive(Clone, Debug, Default)]
pub struct TableReadings {
    pub blocks: Vec<(usize, u16, [u8; BLOCK_LIDS as usize])>,
    /// All groups of a block that have ports.
    pub groups: Vec<(usize, u16, Groups)>,
    /// Lanes by ingress and egress port.
    pub lanes: Vec<(usize, (u8, u8), Sl2Vl)>,
    pub weights: Vec<(usize, u8, Arbitration)>,
    /// Nodes whose tables were read before their turn.
    pub fresh: BTreeSet<usize>,
}

impl TableReadings {
    /// The nodes with parts that were read.
    pub fn node_set(&self) -> BTreeSet<usize> {
        let forwarding = self.blocks.iter().map(|(at, ..)| at).chain(self.groups.iter().map(|(at, ..)| at));
        let lanes = self.lanes.iter().map(|(at, ..)| at).chain(self.weights.iter().map(|(at, ..)| at));
        forwarding.chain(lanes).copied().collect()
    }
}

/// Reads the due items that are groups, lanes or arbitration.
pub fn read_due_tables(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    nodes: &[DiscoveredNode],
    due: &[ReadItem],
    read: &mut TableReadings,
) -> Result<(), SourceError> {
    let blocks = due.iter().filter_map(|item| match item {
        ReadItem::Groups(at, block) => Some((*at, *block)),
        _ => None,
    });
    let blocks: Vec<(usize, u16)> = blocks.collect();
    if !blocks.is_empty() {
        read.groups = read_groups(reader, nodes, &blocks)?;
    }
    let ports = due.iter().filter_map(|item| match item {
        ReadItem::Arbitration(at, port) => Some((*at, *port)),
        _ => None,
    });
    let ports: Vec<(usize, u8)> = ports.collect();
    if !ports.is_empty() {
        let tables = ask_arbitration(reader, nodes, &ports)?.into_iter();
        read.weights = tables.map(|((at, port), table)| (at, port, table)).collect();
    }
    let pairs = due.iter().filter_map(|item| match item {
        ReadItem::Lanes(pair) => Some(*pair),
        _ => None,
    });
    let pairs: Vec<LanePair> = pairs.collect();
    if !pairs.is_empty() {
        let lanes = &mut read.lanes;
        ask_lanes(reader, fabric, nodes, (pairs.len() as u64, pairs.into_iter()), |at, ports, table| {
            lanes.push((at, ports, table));
        })?;
    }
    // Answers arrive in any order; sorting makes the events independent of it.
    read.lanes.sort_unstable_by_key(|(at, ports, _)| (*at, *ports));
    Ok(())
}

/// Reads blocks of groups. A block with a missing position is left out.
fn read_groups(
    reader: &mut PortReader<'_>,
    nodes: &[DiscoveredNode],
    blocks: &[(usize, u16)],
) -> Result<Vec<(usize, u16, Groups)>, SourceError> {
    let expected = blocks.iter().map(|(at, _)| u64::from(position_count(&nodes[*at]))).sum();
    let places = blocks.iter().flat_map(|(at, block)| {
        (0..position_count(&nodes[*at])).map(move |position| (*at, *block, position))
    });
    let empty = |(at, block): &(usize, u16)| ((*at, *block), Some(BTreeMap::new()));
    let mut read: BTreeMap<(usize, u16), Option<Groups>> = blocks.iter().map(empty).collect();
    ask_groups(reader, nodes, (expected, places), |(at, block, position), data| {
        let Some(whole) = read.get_mut(&(at, block)) else { return };
        match (data, whole.as_mut()) {
            (Some(data), Some(groups)) => take_groups(groups, (block, position), &nodes[at], data),
            _ => *whole = None,
        }
    })?;
    Ok(read.into_iter().filter_map(|((at, block), groups)| Some((at, block, groups?))).collect())
}
