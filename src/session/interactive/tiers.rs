//! Switches by rank, for the tree and the map.

use super::known::Tier;
use crate::fabric::{Faults, NodeId};
use crate::routing::{Problem, heights};
use crate::session::Look;

/// From the top to the bottom. A fabric that is no tree has two ranks: switches without hosts, and with.
pub fn tiers(look: &Look) -> Vec<Tier> {
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
        let mut switches: Vec<NodeId> = of_rank.map(NodeId).collect();
        switches.sort_by(|a, b| crate::session::natural_order(look.name(*a), look.name(*b)));
        if switches.is_empty() {
            continue;
        }
        let count = switches.iter().map(|id| hosts(id.0)).sum();
        tiers.push(Tier { name: name(tree, height, top), switches, hosts: count });
    }
    tiers
}

fn name(tree: bool, height: u32, top: u32) -> String {
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
