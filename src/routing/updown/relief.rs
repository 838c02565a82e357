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
use super::order::{NONE, Order};
use crate::fabric::Routes;
use crate::routing::engine::{Pulse, Refusal, Request};
use crate::routing::problem::{Destination, Problem};
use crate::routing::ranks;

/// Switches that may be looked at, over all destinations and moves: for each entry of the tables, and in all.
const LOOKS_BY_ENTRY: usize = 32;
const MOST_LOOKS: usize = 1 << 25;

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
    if !request.compute_nodes.is_empty() || !request.io_nodes.is_empty() || entries > MOST_LOOKS {
        return Ok(());
    }
    let hosts = ranks::hosts(problem, request);
    let all: Vec<u32> =
        problem.switches().map(|switch| problem.graph.terminals_of(switch).len() as u32).collect();
    let channel = channels_by_port(problem);
    let of_hosts = Senders { count: &hosts, bound: bound(problem, &hosts) };
    let of_all = Senders { count: &all, bound: bound(problem, &all) };
    let load = loads(problem, routes, &channel, of_hosts.count);
    if load.iter().all(|load| *load <= of_hosts.bound) {
        return Ok(());
    }
    let load = if hosts == all { load } else { loads(problem, routes, &channel, of_all.count) };
    let looks = MOST_LOOKS.min(entries * LOOKS_BY_ENTRY);
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

fn loads(problem: &Problem<'_>, routes: &Routes, channel: &[u32], senders: &[u32]) -> Vec<u64> {
    let empty = || (Tree::new(problem.graph.switch_count()), vec![0u64; problem.graph.channels().len()]);
    let groups = problem.switches().into_par_iter().filter(|switch| senders[*switch as usize] > 0);
    let counted = groups.fold(empty, |(mut tree, mut load), switch| {
        for end in adapters(problem, switch) {
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
}

impl Tree {
    fn new(switches: usize) -> Self {
        Self {
            next: vec![NONE; switches],
            flow: vec![0; switches],
            order: Vec::with_capacity(switches),
            reached: vec![false; switches],
            path: Vec::new(),
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
        while step > 0 && most > self.senders.bound && self.looks > 0 {
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

    /// Of the hops that switches before a channel could take instead, the one whose way stays the least busy.
    fn best(&mut self, channel: u32, root: u32, goal: u64) -> Option<Move> {
        let channels = self.problem.graph.channels();
        let target = self.order.attach[root as usize];
        let mut best: Option<Move> = None;
        // Whether a switch sends over the channel: known of all that stand before it in the order of the tree.
        let mut over = std::mem::take(&mut self.tree.reached);
        over.fill(false);
        for at in 1..self.tree.order.len() {
            let switch = self.tree.order[at];
            let taken = self.tree.next[switch as usize];
            let crosses = taken == channel || over[channels[taken as usize].to as usize];
            over[switch as usize] = crosses;
            let paths = self.tree.flow[switch as usize];
            if !crosses || paths == 0 {
                continue;
            }
            let mut ways = std::mem::take(&mut self.ways);
            self.lengths.ways(self.order, switch, target, &mut ways);
            for way in &ways {
                let hop = self.order.hops(switch)[usize::from(*way)];
                if hop.channel == taken || over[hop.to as usize] || !self.reaches(hop.to, root) {
                    continue;
                }
                let most = self.most_along(switch, hop.channel, u64::from(paths));
                let better = |least: &Move| (most, least.paths) < (least.most, paths);
                if most <= goal && best.as_ref().is_none_or(better) {
                    best = Some(Move { switch, channel: hop.channel, most, paths });
                }
            }
            self.ways = ways;
        }
        self.tree.reached = over;
        best
    }

    fn reaches(&self, switch: u32, root: u32) -> bool {
        switch == root || self.tree.next[switch as usize] != NONE
    }

    /// Paths on the busiest channel of another way of a switch, once its paths go there.
    fn most_along(&self, switch: u32, first: u32, paths: u64) -> u64 {
        let channels = self.problem.graph.channels();
        let (mut most, mut channel) = (0, first);
        while channel != NONE {
            // What both ways share is as busy as it was.
            let shared = self.on_way(switch, channel);
            if shared {
                break;
            }
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
