//! Routes around closed ports that leave all other paths as they are: only entries of destinations whose paths cross a
//! closed port change, and of these only the entries of switches in front of it.
//!
//! For each such destination the switches whose paths still arrive are a tree. The others join it one after the other, the
//! one with the shortest path first, over the channel that the fewest LIDs use. So no path can run in a loop. Whether the
//! new paths close a credit loop is for the certificate to say.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::problem::Problem;
use fabdeck_fabric::{Lid, NodeId, PortNum, Routes};

/// Ports of a switch, as a stride.
const PORTS: usize = 256;
const NO_SWITCH: u32 = u32::MAX;

/// Routes that lead around closed ports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Detour {
    /// The routes.
    pub routes: Routes,
    /// The LIDs whose paths crossed a closed port.
    pub lids: BTreeSet<Lid>,
    /// Number of entries that differ.
    pub entries: usize,
    /// The LIDs to which some switch has no other path.
    pub stranded: BTreeSet<Lid>,
}

/// What becomes of packets that a switch sends to a destination.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathEnd {
    Unknown,
    /// They arrive after this number of hops between switches.
    Arrives(u32),
    /// They come to a closed port.
    Broken,
    /// They do not arrive whatever is closed.
    Lost,
}

/// The channels by switch and port.
struct ChannelMap {
    /// The switch at the other end.
    next: Vec<u32>,
    /// Number of LIDs that a switch sends over the port.
    load: Vec<u32>,
}

fn at(switch: u32, port: PortNum) -> usize {
    switch as usize * PORTS + usize::from(port.value())
}

impl ChannelMap {
    fn new(problem: &Problem<'_>, routes: &Routes) -> Self {
        let size = problem.graph.switch_count() * PORTS;
        let (mut next, mut load) = (vec![NO_SWITCH; size], vec![0; size]);
        for channel in problem.graph.channels() {
            next[at(channel.from, channel.from_port)] = channel.to;
        }
        for switch in problem.switches() {
            for port in routes.row(switch) {
                load[at(switch, PortNum(*port))] += 1;
            }
        }
        Self { next, load }
    }
}

/// Leads the paths in force around closed ports of switches: those of links that are marked as failed in the problem, or that
/// the fabric does not have now.
pub fn lead_around(problem: &Problem<'_>, in_force: &Routes, closed: &BTreeSet<(u32, PortNum)>) -> Detour {
    let mut channels = ChannelMap::new(problem, in_force);
    let mut lids = BTreeSet::new();
    for (switch, port) in closed {
        let row = in_force.row(*switch).iter().enumerate();
        let over = row.filter(|(_, entry)| **entry == port.value());
        lids.extend(over.filter_map(|(lid, _)| Lid::new(lid as u32)));
    }
    let mut owners = BTreeMap::new();
    for switch in problem.switches() {
        owners.extend(problem.destinations_behind(switch).iter().map(|to| (to.lid, (switch, to.port))));
    }
    let mut detour = Detour { routes: in_force.clone(), lids: BTreeSet::new(), entries: 0, stranded: BTreeSet::new() };
    for lid in lids {
        // No path leads to a LID without an owner.
        let Some((owner, port)) = owners.get(&lid).copied() else { continue };
        detour.lids.insert(lid);
        let mut tree = DestinationTree { lid, owner, port, ends: vec![PathEnd::Unknown; problem.graph.switch_count()] };
        tree.follow_paths(problem, in_force, &channels, closed);
        detour.entries += tree.join_broken(problem, &mut channels, &mut detour.routes);
        if tree.ends.contains(&PathEnd::Broken) {
            detour.stranded.insert(lid);
        }
    }
    detour
}

/// The paths of all switches to one LID.
struct DestinationTree {
    lid: Lid,
    owner: u32,
    /// The port of its owner.
    port: PortNum,
    ends: Vec<PathEnd>,
}

impl DestinationTree {
    /// Follows the paths in force of all switches.
    fn follow_paths(
        &mut self,
        problem: &Problem<'_>,
        routes: &Routes,
        channels: &ChannelMap,
        closed: &BTreeSet<(u32, PortNum)>,
    ) {
        let arrives = routes.get(self.owner, self.lid) == Some(self.port);
        self.ends[self.owner as usize] = if arrives { PathEnd::Arrives(0) } else { PathEnd::Lost };
        let mut way = Vec::new();
        for start in problem.switches() {
            let mut switch = start;
            let mut end = loop {
                match self.ends[switch as usize] {
                    PathEnd::Unknown => {}
                    known => break known,
                }
                // A switch that is met again on the same way is in a loop.
                self.ends[switch as usize] = PathEnd::Lost;
                way.push(switch);
                let Some(port) = routes.get(switch, self.lid) else { break PathEnd::Lost };
                if closed.contains(&(switch, port)) {
                    break PathEnd::Broken;
                }
                match channels.next[at(switch, port)] {
                    NO_SWITCH => break PathEnd::Lost,
                    next => switch = next,
                }
            };
            while let Some(switch) = way.pop() {
                if let PathEnd::Arrives(hops) = &mut end {
                    *hops += 1;
                }
                self.ends[switch as usize] = end;
            }
        }
    }

    /// Gives switches whose paths came to a closed port other paths; returns the number of changed entries.
    fn join_broken(&mut self, problem: &Problem<'_>, channels: &mut ChannelMap, routes: &mut Routes) -> usize {
        let mut waiting = BinaryHeap::new();
        for switch in problem.switches() {
            if self.ends[switch as usize] == PathEnd::Broken
                && let Some(hops) = self.fewest_hops(problem, switch)
            {
                waiting.push(Reverse((hops, switch)));
            }
        }
        let mut changed = 0;
        while let Some(Reverse((hops, switch))) = waiting.pop() {
            if self.ends[switch as usize] != PathEnd::Broken {
                continue;
            }
            let outgoing = &problem.graph.channels()[problem.graph.outgoing(switch)];
            let fits = outgoing.iter().filter(|channel| self.ends[channel.to as usize] == PathEnd::Arrives(hops - 1));
            let chosen = fits.min_by_key(|channel| (channels.load[at(switch, channel.from_port)], channel.from_port));
            let Some(chosen) = chosen.map(|channel| channel.from_port) else { continue };
            if let Some(old) = routes.get(switch, self.lid) {
                channels.load[at(switch, old)] -= 1;
            }
            channels.load[at(switch, chosen)] += 1;
            routes.set(switch, self.lid, Some(chosen));
            changed += 1;
            self.ends[switch as usize] = PathEnd::Arrives(hops);
            for channel in outgoing {
                if self.ends[channel.to as usize] == PathEnd::Broken {
                    waiting.push(Reverse((hops + 1, channel.to)));
                }
            }
        }
        changed
    }

    /// The hops of the shortest path over a neighbour whose path arrives.
    fn fewest_hops(&self, problem: &Problem<'_>, switch: u32) -> Option<u32> {
        let outgoing = &problem.graph.channels()[problem.graph.outgoing(switch)];
        let hops = |to: u32| match self.ends[to as usize] {
            PathEnd::Arrives(hops) => Some(hops + 1),
            _ => None,
        };
        outgoing.iter().filter_map(|channel| hops(channel.to)).min()
    }
}

impl Detour {
    /// The switches whose tables differ from those in force.
    pub fn changed_switches(&self, in_force: &Routes) -> Vec<NodeId> {
        let all = 0..self.routes.switch_count() as u32;
        all.filter(|switch| self.routes.row(*switch) != in_force.row(*switch)).map(NodeId).collect()
    }
}
