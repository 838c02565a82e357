//! The ranks of switches, for the tree and the map, and the racks of hosts.

use std::collections::{BTreeMap, BTreeSet};

use super::structure::MapStructure;
use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::{Faults, NodeId};
use fabdeck_routing::{Problem, heights};

/// Switches of one rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchRank {
    pub name: String,
    pub switches: Vec<NodeId>,
    /// Number of hosts attached to these switches.
    pub hosts: u64,
}

/// Hosts that are attached to the same switches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rack {
    /// The names of these switches.
    pub name: String,
    pub hosts: Vec<NodeId>,
}

/// The nodes in the order of the tree.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranks {
    pub tiers: Vec<SwitchRank>,
    pub racks: Vec<Rack>,
    /// All hosts, by name.
    pub hosts: Vec<NodeId>,
}

/// The nodes in the order of the tree, and the structure of the drawn map.
pub fn ranks(look: &Snapshot) -> (Ranks, MapStructure) {
    let (tiers, tree) = switch_ranks(look);
    let structure = MapStructure::new(look, &tiers, tree);
    (Ranks { tiers, racks: racks(look), hosts: sort_by_name(look, hosts(look)) }, structure)
}

fn hosts(look: &Snapshot) -> impl Iterator<Item = NodeId> {
    look.fabric().nodes().filter(|(_, node)| !node.is_switch()).map(|(id, _)| id)
}

fn sort_by_name(look: &Snapshot, nodes: impl IntoIterator<Item = NodeId>) -> Vec<NodeId> {
    let mut nodes: Vec<NodeId> = nodes.into_iter().collect();
    nodes.sort_by(|a, b| crate::catalogue::value::natural_order(look.name(*a), look.name(*b)));
    nodes
}

/// Groups hosts by their switches. No source states where a node is, but cables to hosts are short: hosts on
/// the same switches share a rack.
fn racks(look: &Snapshot) -> Vec<Rack> {
    let fabric = look.fabric();
    let mut by_switches: BTreeMap<BTreeSet<NodeId>, Vec<NodeId>> = BTreeMap::new();
    for host in hosts(look) {
        let peers = fabric.ports_of(host).filter_map(|(_, port)| Some(fabric.port(port.peer?).node));
        let switches: BTreeSet<NodeId> = peers.filter(|peer| fabric.node(*peer).is_switch()).collect();
        if !switches.is_empty() {
            by_switches.entry(switches).or_default().push(host);
        }
    }
    let rack = |(switches, hosts): (BTreeSet<NodeId>, Vec<NodeId>)| Rack {
        name: sort_by_name(look, switches)
            .into_iter()
            .map(|id| look.name(id))
            .collect::<Vec<_>>()
            .join(" + "),
        hosts: sort_by_name(look, hosts),
    };
    let mut racks: Vec<Rack> = by_switches.into_iter().map(rack).collect();
    racks.sort_by(|a, b| crate::catalogue::value::natural_order(&a.name, &b.name));
    racks
}

/// The ranks of switches, from the top to the bottom. A fabric that is no tree has two: switches without
/// hosts, and switches with hosts. Also returns whether the fabric is a tree.
fn switch_ranks(look: &Snapshot) -> (Vec<SwitchRank>, bool) {
    let faults = Faults::new();
    let problem = Problem::new(look.fabric(), &faults);
    let hosts = |switch: u32| problem.graph.terminals_of(switch).len() as u64;
    let heights = heights(&problem);
    let tree = heights.is_some();
    let heights = heights.unwrap_or_else(|| problem.switches().map(|at| u32::from(hosts(at) == 0)).collect());
    let top = heights.iter().copied().max().unwrap_or(0);
    let mut tiers = Vec::new();
    for height in (0..=top).rev() {
        let of_rank = problem.switches().filter(|at| heights[*at as usize] == height);
        let switches = sort_by_name(look, of_rank.map(NodeId));
        if switches.is_empty() {
            continue;
        }
        let count = switches.iter().map(|id| hosts(id.0)).sum();
        tiers.push(SwitchRank { name: rank_name(tree, height, top), switches, hosts: count });
    }
    (tiers, tree)
}

fn rank_name(tree: bool, height: u32, top: u32) -> String {
    match (tree, height) {
        (false, 0) if top == 0 => "switches".to_owned(),
        (false, 0) => "switches with hosts".to_owned(),
        (false, _) => "switches without hosts".to_owned(),
        (true, 0) => "leaves".to_owned(),
        (true, _) if height == top && top > 1 => "roots".to_owned(),
        (true, _) if top <= 2 => "spines".to_owned(),
        (true, _) => format!("rank {}", top - height),
    }
}
