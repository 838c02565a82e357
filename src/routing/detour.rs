//! Routes around closed ports that leave all other paths as they are: only entries of destinations whose paths cross a
//! closed port change, and of these only the entries of switches in front of it.
//!
//! For each such destination the switches whose paths still arrive are a tree. The others join it one after the other, the
//! one with the shortest path first, over the channel that the fewest LIDs use. So no path can run in a loop. Of a switch that
//! no terminal sends through, the entry stays: a spine behind a closed port would lead packets down and up again, and none
//! come. Whether the new paths close a credit loop is for the certificate to say.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::problem::Problem;
use fabdeck_fabric::{Lid, NO_PATH, NodeId, PortNum, Routes};

/// Ports of a switch, as a stride.
const PORTS: usize = 256;
const NO_SWITCH: u32 = u32::MAX;

/// Routes that lead around closed ports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Detour {
    /// The routes.
    pub routes: Routes,
    /// The LIDs to which paths of terminals crossed a closed port.
    pub lids: BTreeSet<Lid>,
    /// Number of entries that differ.
    pub entries: usize,
    /// The LIDs to which a switch with terminals has no other path.
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
pub fn route_around(problem: &Problem<'_>, in_force: &Routes, closed: &BTreeSet<(u32, PortNum)>) -> Detour {
    let mut channels = ChannelMap::new(problem, in_force);
    let mut lids = BTreeSet::new();
    for (switch, port) in closed {
        let row = in_force.row(*switch).iter().enumerate();
        let over = row.filter(|(_, entry)| **entry == port.value());
        lids.extend(over.filter_map(|(lid, _)| Lid::new(lid as u32)));
    }
    let owners = Owners::new(problem, in_force, &channels);
    let senders = senders(problem, in_force, &channels);
    let mut detour =
        Detour { routes: in_force.clone(), lids: BTreeSet::new(), entries: 0, stranded: BTreeSet::new() };
    for lid in lids {
        let ends = owners.ends_of(problem, in_force, &channels, closed, lid);
        let mut tree = DestinationTree { lid, ends: vec![PathEnd::Unknown; problem.graph.switch_count()] };
        ends.iter().for_each(|switch| tree.ends[*switch as usize] = PathEnd::Arrives(0));
        tree.follow_paths(problem, in_force, &channels, closed);
        let joined = tree.join_broken(problem, &mut channels, in_force);
        let kept = detour.entries;
        for switch in sent_through(problem, in_force, &joined, &senders, lid) {
            if let Some(port) = joined.get(&switch) {
                detour.routes.set(switch, lid, Some(*port));
                detour.entries += 1;
            }
        }
        let is_stranded = senders.iter().any(|switch| tree.ends[*switch as usize] == PathEnd::Broken);
        if is_stranded {
            detour.stranded.insert(lid);
        }
        if is_stranded || detour.entries > kept {
            detour.lids.insert(lid);
        }
    }
    detour
}

/// The switches with terminals, also with those whose cable is out: tables lead to such a terminal by a port without a channel.
fn senders(problem: &Problem<'_>, routes: &Routes, channels: &ChannelMap) -> Vec<u32> {
    let leads_out = |switch: u32, port: &u8| {
        *port != PortNum::MANAGEMENT.value()
            && *port != NO_PATH
            && channels.next[at(switch, PortNum(*port))] == NO_SWITCH
    };
    let sends = |switch: &u32| {
        let has_terminals = !problem.graph.terminals_of(*switch).is_empty();
        has_terminals || routes.row(*switch).iter().any(|port| leads_out(*switch, port))
    };
    problem.switches().filter(sends).collect()
}

/// The switches on the paths from terminals to a LID, with the joined entries in place of those in force.
fn sent_through(
    problem: &Problem<'_>,
    in_force: &Routes,
    joined: &BTreeMap<u32, PortNum>,
    senders: &[u32],
    lid: Lid,
) -> BTreeSet<u32> {
    let mut through = BTreeSet::new();
    for sender in senders {
        let mut switch = *sender;
        while through.insert(switch) {
            let port = joined.get(&switch).copied().or_else(|| in_force.get(switch, lid));
            let channels = &problem.graph.channels()[problem.graph.outgoing(switch)];
            let Some(next) = channels.iter().find(|channel| Some(channel.from_port) == port) else { break };
            switch = next.to;
        }
    }
    through
}

/// The owners of LIDs, and of each port whether owned LIDs leave by it.
struct Owners {
    by_lid: BTreeMap<Lid, (u32, PortNum)>,
    has_owned: Vec<bool>,
}

impl Owners {
    fn new(problem: &Problem<'_>, routes: &Routes, channels: &ChannelMap) -> Self {
        let mut by_lid = BTreeMap::new();
        for switch in problem.switches() {
            by_lid.extend(problem.destinations_behind(switch).iter().map(|to| (to.lid, (switch, to.port))));
        }
        let mut has_owned = vec![false; channels.next.len()];
        for (lid, switch) in
            by_lid.keys().flat_map(|lid| problem.switches().map(move |switch| (*lid, switch)))
        {
            if let Some(port) = routes.get(switch, lid) {
                has_owned[at(switch, port)] = true;
            }
        }
        Self { by_lid, has_owned }
    }

    /// The switches at which paths to a LID arrive. A LID without an owner is that of a host whose cable is out: its paths
    /// end at a port that leads to no switch, and that no owned LID uses.
    fn ends_of(
        &self,
        problem: &Problem<'_>,
        routes: &Routes,
        channels: &ChannelMap,
        closed: &BTreeSet<(u32, PortNum)>,
        lid: Lid,
    ) -> Vec<u32> {
        if let Some((owner, port)) = self.by_lid.get(&lid) {
            return (routes.get(*owner, lid) == Some(*port)).then_some(*owner).into_iter().collect();
        }
        let is_end = |switch: &u32| {
            routes.get(*switch, lid).is_some_and(|port| {
                let place = at(*switch, port);
                !closed.contains(&(*switch, port))
                    && channels.next[place] == NO_SWITCH
                    && !self.has_owned[place]
            })
        };
        problem.switches().filter(is_end).collect()
    }
}

/// The paths of all switches to one LID.
struct DestinationTree {
    lid: Lid,
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

    /// Finds other paths for switches whose paths came to a closed port: the port of each.
    fn join_broken(
        &mut self,
        problem: &Problem<'_>,
        channels: &mut ChannelMap,
        in_force: &Routes,
    ) -> BTreeMap<u32, PortNum> {
        let mut waiting = BinaryHeap::new();
        for switch in problem.switches() {
            if self.ends[switch as usize] == PathEnd::Broken
                && let Some(hops) = self.fewest_hops(problem, switch)
            {
                waiting.push(Reverse((hops, switch)));
            }
        }
        let mut joined = BTreeMap::new();
        while let Some(Reverse((hops, switch))) = waiting.pop() {
            if self.ends[switch as usize] != PathEnd::Broken {
                continue;
            }
            let outgoing = &problem.graph.channels()[problem.graph.outgoing(switch)];
            let fits = outgoing
                .iter()
                .filter(|channel| self.ends[channel.to as usize] == PathEnd::Arrives(hops - 1));
            let chosen =
                fits.min_by_key(|channel| (channels.load[at(switch, channel.from_port)], channel.from_port));
            let Some(chosen) = chosen.map(|channel| channel.from_port) else { continue };
            if let Some(old) = in_force.get(switch, self.lid) {
                channels.load[at(switch, old)] -= 1;
            }
            channels.load[at(switch, chosen)] += 1;
            joined.insert(switch, chosen);
            self.ends[switch as usize] = PathEnd::Arrives(hops);
            for channel in outgoing {
                if self.ends[channel.to as usize] == PathEnd::Broken {
                    waiting.push(Reverse((hops + 1, channel.to)));
                }
            }
        }
        joined
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
