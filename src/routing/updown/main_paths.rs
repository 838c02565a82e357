//! The main path of each destination: the one way down from the top that carries its traffic.
//!
//! Zahavi's assignment (dissertation, algorithms 3.2 and 3.3): destinations take their turns, hosts before anything
//! else; each climbs from its switch by the channel that the fewest before it come down on; the engine says which one
//! of equals. On a k-ary n-tree the first of them is D-Mod-K, and shift permutations meet nowhere.

use super::tie_break::{TieBreak, TieBreaks};
use super::updown_order::{NONE, UpDownOrder};
use crate::engine::Request;
use crate::problem::{Destination, Problem};
use crate::ranks::ComputeAdapters;
use fabdeck_fabric::{NodeId, PortNum};

/// Groups of destinations that come one after the other.
const TURN_GROUPS: u8 = 4;

/// Destinations of one switch that follow one another.
#[derive(Clone, Copy, Debug)]
pub(super) struct DestinationGroup {
    pub switch: u32,
    /// Among the sequence of `MainPaths`.
    pub first: u32,
    pub end: u32,
    pub tie_break: TieBreak,
}

#[derive(Debug)]
pub(super) struct MainPaths {
    pub groups: Vec<DestinationGroup>,
    pub sequence: Vec<Destination>,
    rungs: usize,
    /// The switches above, and the port of each that leads a step down.
    switches: Vec<u32>,
    ports: Vec<u8>,
}

impl MainPaths {
    pub fn new(problem: &Problem<'_>, order: &UpDownOrder, ties: TieBreaks, request: &Request) -> Self {
        let (groups, sequence) = group_by_turn(problem, ties, request);
        let rungs = if order.graded { max_steps_up(order) } else { 0 };
        let mut ladders = Self {
            switches: vec![NONE; sequence.len() * rungs],
            ports: vec![0; sequence.len() * rungs],
            groups,
            sequence,
            rungs,
        };
        ladders.assign_paths(problem, order);
        ladders
    }

    fn assign_paths(&mut self, problem: &Problem<'_>, order: &UpDownOrder) {
        let mut coming_down = vec![0u32; problem.graph.channels().len()];
        for group in &self.groups {
            for turn in group.first as usize..group.end as usize {
                let mut at = order.attach[group.switch as usize];
                for rung in 0..self.rungs {
                    let ways =
                        order.up_hops(at).iter().map(|hop| &problem.graph.channels()[hop.channel as usize]);
                    let least = group.tie_break.min_by_key(ways, |way| coming_down[way.reverse.index()]);
                    let Some(least) = least else { break };
                    coming_down[least.reverse.index()] += 1;
                    self.switches[turn * self.rungs + rung] = least.to;
                    self.ports[turn * self.rungs + rung] = least.to_port.value();
                    at = least.to;
                }
            }
        }
    }

    /// The switches of a destination's main path, its own left out, from the bottom.
    pub fn path_switches(&self, turn: usize) -> &[u32] {
        &self.switches[turn * self.rungs..(turn + 1) * self.rungs]
    }

    /// The port that leads down its main path, if the switch `steps` above is on it.
    pub fn port_down(&self, turn: usize, switch: u32, steps: u16) -> Option<u8> {
        let at = usize::from(steps).checked_sub(1).filter(|at| *at < self.rungs)?;
        let at = turn * self.rungs + at;
        (self.switches[at] == switch).then(|| self.ports[at])
    }
}

fn max_steps_up(order: &UpDownOrder) -> usize {
    let mut steps = vec![0; order.inner.len()];
    for switch in order.bottom_up.iter().rev() {
        let above = order.up_hops(*switch).iter().map(|hop| steps[hop.to as usize] + 1);
        steps[*switch as usize] = above.max().unwrap_or(0);
    }
    steps.into_iter().max().unwrap_or(0)
}

/// Compute nodes first, I/O nodes next, other adapters after them, switches last: what comes later never moves what
/// came before.
fn group_by_turn(
    problem: &Problem<'_>,
    ties: TieBreaks,
    request: &Request,
) -> (Vec<DestinationGroup>, Vec<Destination>) {
    let computing = ComputeAdapters::new(problem.fabric, request);
    let turn = |switch: u32, destination: &Destination| {
        let fabric = problem.fabric;
        let own = fabric.port_of(NodeId(switch), destination.port);
        match own.and_then(|port| fabric.peer(port)) {
            _ if destination.is_switch() => TURN_GROUPS - 1,
            Some(port) if computing.is_compute(port) => 0,
            Some(port) if computing.is_io(port) => 1,
            _ => 2,
        }
    };
    let mut groups = Vec::new();
    let mut sequence = Vec::with_capacity(problem.destinations().len());
    let turns: Vec<Vec<(Destination, u8)>> = problem
        .switches()
        .map(|switch| {
            problem.destinations_behind(switch).iter().map(|end| (*end, turn(switch, end))).collect()
        })
        .collect();
    for round in 0..TURN_GROUPS {
        let tie_break = if round == TURN_GROUPS - 1 { ties.switches } else { ties.adapters };
        for switch in problem.switches() {
            let first = sequence.len() as u32;
            let mut ends: Vec<Destination> = turns[switch as usize]
                .iter()
                .filter(|(_, turn)| *turn == round)
                .map(|(end, _)| *end)
                .collect();
            ends.sort_unstable_by_key(|end: &Destination| -> (PortNum, _) { (end.port, end.lid) });
            sequence.extend(ends);
            if sequence.len() as u32 > first {
                groups.push(DestinationGroup { switch, first, end: sequence.len() as u32, tie_break });
            }
        }
    }
    (groups, sequence)
}
