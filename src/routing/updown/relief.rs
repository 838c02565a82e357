//! Takes paths off the busiest channels once the rows are filled.
//!
//! Main paths are shared out by destinations, which is even on a whole tree. Where leaves have other numbers of hosts,
//! cables or ways up, channels with equally many destinations carry other numbers of paths. So paths are counted, and
//! as long as some channel carries more than `goal`, a switch whose paths to a destination cross it takes another hop
//! to there: one that begins a shortest path of the order too, so that all that the order promises holds, and on whose
//! way no channel comes to carry more than `goal`. The goal falls step by step; a step that fails is halved. Whatever
//! is moved, the busiest channel carries less than before.
//!
//! A whole tree needs no moves: some switch has no more channels than its hosts' paths fill as they are.

use rayon::prelude::*;

use super::lengths::Lengths;
use super::order::{Hop, NONE, Order};
use crate::fabric::{NodeId, Routes};
use crate::routing::engine::{Pulse, Refusal, Request};
use crate::routing::problem::{Destination, Problem};
use crate::routing::ranks::{self, Computing};

/// Switches and hops that may be looked at: for each entry of the tables, but so many in any case.
const LOOKS_BY_ENTRY: usize = 1;
const LEAST_LOOKS: usize = 1 << 20;

/// Tables with more entries stay as they are.
const MOST_ENTRIES: usize = 1 << 26;

/// A step below this part of what the busiest channel carries is not worth the search.
const LEAST_STEP: u64 = 64;

const PORTS: usize = 256;

pub(super) fn relieve(
    problem: &Problem<'_>,
    order: &Order,
    lengths: &Lengths,
    (request, pulse): (&Request, &dyn Pulse),
    routes: &mut Routes,
) -> Result<(), Refusal> {
    // Who serves never moves the paths of those that compute.
    let entries = problem.graph.switch_count() * problem.graph.terminals().len();
    if !request.compute_nodes.is_empty() || !request.io_nodes.is_empty() || entries > MOST_ENTRIES {
        return Ok(());
    }
    let hosts = ranks::hosts(problem, request);
    let all: Vec<u32> =
        problem.switches().map(|switch| problem.graph.terminals_of(switch).len() as u32).collect();
    let channel = channels_by_port(problem);
    let of_hosts = Senders { count: &hosts, bound: bound(problem, &hosts) };
    let of_all = Senders { count: &all, bound: bound(problem, &all) };
    let computing = Computing::new(problem.fabric, request);
    let computes = |switch: u32, end: &Destination| {
        let port = problem.fabric.port_of(NodeId(switch), end.port);
        port.and_then(|port| problem.fabric.peer(port)).is_some_and(|adapter| computing.is(adapter))
    };
    let load = loads(problem, routes, &channel, of_hosts.count, &computes);
    if load.iter().all(|load| *load <= of_hosts.bound) {
        return Ok(());
    }
    let load = if hosts == all { load } else { loads(problem, routes, &channel, of_all.count, &|_, _| true) };
    let looks = LEAST_LOOKS.max(entries * LOOKS_BY_ENTRY);
    let tree = Tree::new(problem.graph.switch_count());
    Relief { problem, order, lengths, senders: of_all, channel, load, routes, tree, looks, ways: Vec::new() }
        .run(pulse)
}

/// Who sends, and the paths that some channel carries however they are routed.
#[derive(Clone, Copy)]
struct Senders<'a> {
    count: &'a [u32],
    bound: u64,
}

/// Of each port of each switch, its channel.
fn channels_by_port(problem: &Problem<'_>) -> Vec<u32> {
    let mut by_port = vec![NONE; problem.graph.switch_count() * PORTS];
    for (id, channel) in (0..).zip(problem.graph.channels()) {
        by_port[channel.from as usize * PORTS + usize::from(channel.from_port.value())] = id;
    }
    by_port
}

/// The paths that must leave some switch, shared out over all of its channels.
fn bound(problem: &Problem<'_>, senders: &[u32]) -> u64 {
    let graph = &problem.graph;
    let (part, parts) = graph.parts();
    let mut in_part = vec![0u64; parts as usize];
    for switch in problem.switches().filter(|switch| graph.alive(*switch)) {
        in_part[part[switch as usize] as usize] += u64::from(senders[switch as usize]);
    }
    let leaving = |switch: u32| {
        let own = u64::from(senders[switch as usize]);
        let others = in_part[part[switch as usize] as usize] - own;
        (own * others).div_ceil(graph.leaving(switch).len().max(1) as u64)
    };
    problem.switches().filter(|switch| graph.alive(*switch)).map(leaving).max().unwrap_or(0)
}

/// The adapters behind a switch that paths lead to.
fn adapters<'p>(problem: &'p Problem<'_>, switch: u32) -> impl Iterator<Item = &'p Destination> {
    problem.behind(switch).iter().filter(|end| !end.is_switch())
}

/// The paths over each channel, to the adapters that are wanted.
fn loads(
    problem: &Problem<'_>,
    routes: &Routes,
    channel: &[u32],
    senders: &[u32],
    wanted: &(dyn Fn(u32, &Destination) -> bool + Sync),
) -> Vec<u64> {
    let empty = || (Tree::new(problem.graph.switch_count()), vec![0u64; problem.graph.channels().len()]);
    let groups = problem.switches().into_par_iter().filter(|switch| senders[*switch as usize] > 0);
    let counted = groups.fold(empty, |(mut tree, mut load), switch| {
        for end in adapters(problem, switch).filter(|end| wanted(switch, end)) {
            tree.read(problem, routes, channel, (switch, end), senders);
            for at in tree.order.iter().filter(|at| tree.next[**at as usize] != NONE) {
                load[tree.next[*at as usize] as usize] += u64::from(tree.flow[*at as usize]);
            }
        }
        (tree, load)
    });
    counted.map(|(_, load)| load).reduce(
        || vec![0; problem.graph.channels().len()],
        |mut one, other| {
            one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
            one
        },
    )
}

/// The paths to one destination.
struct Tree {
    /// Of each switch the channel that it takes, and the paths that come by.
    next: Vec<u32>,
    flow: Vec<u32>,
    /// Switches that reach the destination, each before those that send over it.
    order: Vec<u32>,
    reached: Vec<bool>,
    path: Vec<u32>,
    /// What the busiest channel between a switch and the destination carries.
    most: Vec<u64>,
}

impl Tree {
    fn new(switches: usize) -> Self {
        Self {
            next: vec![NONE; switches],
            flow: vec![0; switches],
            order: Vec::with_capacity(switches),
            reached: vec![false; switches],
            path: Vec::new(),
            most: vec![0; switches],
        }
    }

    fn read(
        &mut self,
        problem: &Problem<'_>,
        routes: &Routes,
        channel: &[u32],
        (root, end): (u32, &Destination),
        senders: &[u32],
    ) {
        let channels = problem.graph.channels();
        self.order.clear();
        self.reached.fill(false);
        self.reached[root as usize] = true;
        self.next[root as usize] = NONE;
        self.order.push(root);
        for start in problem.switches().filter(|switch| *switch != root) {
            let port = routes.get(start, end.lid);
            let taken = port.map_or(NONE, |port| channel[start as usize * PORTS + usize::from(port.value())]);
            self.next[start as usize] = taken;
        }
        for start in problem.switches() {
            let mut at = start;
            // Paths of an order have no loops, so this ends.
            while !self.reached[at as usize] && self.next[at as usize] != NONE {
                self.path.push(at);
                at = channels[self.next[at as usize] as usize].to;
            }
            let arrives = self.reached[at as usize];
            while let Some(switch) = self.path.pop() {
                if arrives {
                    self.reached[switch as usize] = true;
                    self.order.push(switch);
                } else {
                    self.next[switch as usize] = NONE;
                }
            }
        }
        self.order.iter().for_each(|at| self.flow[*at as usize] = senders[*at as usize]);
        for at in self.order.iter().skip(1).rev() {
            let behind = channels[self.next[*at as usize] as usize].to;
            self.flow[behind as usize] += self.flow[*at as usize];
        }
    }
}

/// Another hop for the paths of a switch to a destination.
#[derive(Clone, Copy)]
struct Move {
    switch: u32,
    channel: u32,
    /// Paths on the busiest channel of the new way.
    most: u64,
    paths: u32,
}

struct Relief<'a> {
    problem: &'a Problem<'a>,
    order: &'a Order,
    lengths: &'a Lengths,
    senders: Senders<'a>,
    channel: Vec<u32>,
    load: Vec<u64>,
    routes: &'a mut Routes,
    tree: Tree,
    looks: usize,
    ways: Vec<u8>,
}

impl Relief<'_> {
    fn run(mut self, pulse: &dyn Pulse) -> Result<(), Refusal> {
        let busiest = |load: &[u64]| load.iter().copied().max().unwrap_or(0);
        let mut most = busiest(&self.load);
        let mut step = most.saturating_sub(self.senders.bound).div_ceil(4);
        while step > most / LEAST_STEP && most > self.senders.bound && self.looks > 0 {
            if pulse.cancelled() {
                return Err(Refusal::Cancelled);
            }
            let goal = most - step.min(most - self.senders.bound);
            let mut over: Vec<u32> = (0..self.load.len() as u32).collect();
            over.retain(|channel| self.load[*channel as usize] > goal);
            over.sort_unstable_by_key(|channel| (std::cmp::Reverse(self.load[*channel as usize]), *channel));
            let done = over.iter().all(|channel| self.relieve(*channel, goal));
            most = busiest(&self.load);
            if !done {
                step /= 2;
            }
        }
        Ok(())
    }

    /// Moves paths off a channel until it carries no more than `goal`; whether that was possible.
    fn relieve(&mut self, channel: u32, goal: u64) -> bool {
        let from = self.problem.graph.channels()[channel as usize].from;
        for root in self.problem.switches() {
            let problem = self.problem;
            for end in adapters(problem, root).filter(|_| root != from) {
                let Some(port) = self.routes.get(from, end.lid) else { continue };
                if self.channel[from as usize * PORTS + usize::from(port.value())] != channel {
                    continue;
                }
                while self.load[channel as usize] > goal && self.looks > 0 {
                    self.looks = self.looks.saturating_sub(problem.graph.switch_count());
                    self.tree.read(problem, self.routes, &self.channel, (root, end), self.senders.count);
                    let Some(found) = self.best(channel, root, goal) else { break };
                    self.take(found, end);
                }
                if self.load[channel as usize] <= goal {
                    return true;
                }
            }
        }
        false
    }

    /// Of the first switch before a channel that has other hops with room, seen from the destination, the hop whose way
    /// stays the least busy: nearest to the destination most paths move at once.
    fn best(&mut self, channel: u32, root: u32, goal: u64) -> Option<Move> {
        let channels = self.problem.graph.channels();
        let target = self.order.attach[root as usize];
        self.tree.most[root as usize] = 0;
        let mut ways = std::mem::take(&mut self.ways);
        // Whether a switch sends over the channel: known of all that stand before it in the order of the tree.
        let mut over = std::mem::take(&mut self.tree.reached);
        over.fill(false);
        let mut best: Option<Move> = None;
        for at in 1..self.tree.order.len() {
            let switch = self.tree.order[at];
            let taken = self.tree.next[switch as usize];
            let behind = channels[taken as usize].to as usize;
            self.tree.most[switch as usize] = self.tree.most[behind].max(self.load[taken as usize]);
            over[switch as usize] = taken == channel || over[behind];
        }
        for at in 1..self.tree.order.len() {
            let switch = self.tree.order[at];
            let paths = self.tree.flow[switch as usize];
            if !over[switch as usize] || paths == 0 {
                continue;
            }
            self.lengths.ways(self.order, switch, target, &mut ways);
            self.looks = self.looks.saturating_sub(ways.len());
            for way in &ways {
                let hop = self.order.hops(switch)[usize::from(*way)];
                let room = self.load[hop.channel as usize] + u64::from(paths) <= goal;
                if !room || over[hop.to as usize] || !self.reaches(hop.to, root) {
                    continue;
                }
                let most = self.most_along(switch, hop, u64::from(paths), goal);
                if most <= goal && best.is_none_or(|least| most < least.most) {
                    best = Some(Move { switch, channel: hop.channel, most, paths });
                }
            }
            if best.is_some() {
                break;
            }
        }
        (self.ways, self.tree.reached) = (ways, over);
        best
    }

    fn reaches(&self, switch: u32, root: u32) -> bool {
        switch == root || self.tree.next[switch as usize] != NONE
    }

    /// Paths on the busiest channel of another way of a switch, once its paths go there.
    fn most_along(&mut self, switch: u32, first: Hop, paths: u64, goal: u64) -> u64 {
        let behind = self.tree.most[first.to as usize].max(self.load[first.channel as usize]) + paths;
        if behind <= goal {
            return behind;
        }
        self.looks = self.looks.saturating_sub(4);
        let channels = self.problem.graph.channels();
        let (mut most, mut channel) = (0, first.channel);
        // What both ways share is as busy as it was.
        while channel != NONE && most <= goal && !self.on_way(switch, channel) {
            most = most.max(self.load[channel as usize] + paths);
            channel = self.tree.next[channels[channel as usize].to as usize];
        }
        most
    }

    /// Whether a switch takes a channel now, itself or behind.
    fn on_way(&self, switch: u32, wanted: u32) -> bool {
        let channels = self.problem.graph.channels();
        let mut channel = self.tree.next[switch as usize];
        while channel != NONE && channel != wanted {
            channel = self.tree.next[channels[channel as usize].to as usize];
        }
        channel == wanted
    }

    fn take(&mut self, found: Move, end: &Destination) {
        let channels = self.problem.graph.channels();
        let paths = u64::from(found.paths);
        let mut old = self.tree.next[found.switch as usize];
        while old != NONE {
            self.load[old as usize] -= paths;
            old = self.tree.next[channels[old as usize].to as usize];
        }
        let mut new = found.channel;
        while new != NONE {
            self.load[new as usize] += paths;
            new = self.tree.next[channels[new as usize].to as usize];
        }
        self.routes.set(found.switch, end.lid, Some(channels[found.channel as usize].from_port));
    }
}
