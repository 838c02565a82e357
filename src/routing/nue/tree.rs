//! The tree of one destination: Dijkstra's algorithm on the complete channel dependency graph (Algorithm 6.2), the
//! local backtracking into islands (6.2.6.2), and the shortcuts that follow from it (6.2.6.3).
//!
//! The dissertation marks a dependency used when it relaxes an edge, so that candidates which lose leave their marks.
//! Here a dependency is used when its switch is settled, and what a finished tree does not need is given back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::net::{NONE, Net};
use super::order::{Dependencies, Known};

/// What the search goes by.
#[derive(Debug)]
pub(super) struct Weights {
    pub channel: Vec<u64>,
    /// What a dependency costs that is not in use yet.
    pub unpaid: u64,
}

/// One tree in the making. Buffers serve one tree after the other.
#[derive(Debug)]
pub(super) struct Search {
    destination: u32,
    next: Vec<u32>,
    cost: Vec<u64>,
    /// What the cheapest offer costs that cannot be refused: dearer ones need not wait in line.
    sure: Vec<u64>,
    done: Vec<bool>,
    settled: u32,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    children: Vec<u32>,
    leaves: Vec<u32>,
}

impl Search {
    pub fn new(net: &Net) -> Self {
        let count = net.switches();
        Self {
            destination: 0,
            next: vec![NONE; count],
            cost: vec![0; count],
            sure: vec![u64::MAX; count],
            done: vec![false; count],
            settled: 0,
            heap: BinaryHeap::new(),
            children: vec![0; count],
            leaves: Vec::new(),
        }
    }

    pub fn begin(&mut self, destination: u32) {
        self.destination = destination;
        self.next.fill(NONE);
        self.done.fill(false);
        self.sure.fill(u64::MAX);
        self.done[destination as usize] = true;
        self.cost[destination as usize] = 0;
        self.settled = 1;
        self.heap.clear();
    }

    pub fn is_done(&self, switch: u32) -> bool {
        self.done[switch as usize]
    }

    pub fn cost(&self, switch: u32) -> u64 {
        self.cost[switch as usize]
    }

    pub fn next(&self, switch: u32) -> u32 {
        self.next[switch as usize]
    }

    pub fn hang(&mut self, switch: u32, channel: u32, cost: u64) {
        self.settled += u32::from(!self.done[switch as usize]);
        self.done[switch as usize] = true;
        self.next[switch as usize] = channel;
        self.cost[switch as usize] = cost;
    }

    /// Routes everything of the destination's part; false at an impasse that local backtracking does not solve.
    pub fn run(&mut self, net: &Net, used: &mut Dependencies, weights: &Weights, destination: u32) -> bool {
        self.begin(destination);
        let all = net.part_size[net.part[destination as usize] as usize];
        self.expand(net, used, weights, destination);
        loop {
            self.drain(net, used, weights);
            if self.settled == all {
                return true;
            }
            if !self.backtrack(net, used, weights) {
                return false;
            }
        }
    }

    /// Offers the neighbours of a settled switch a way through it.
    fn expand(&mut self, net: &Net, used: &Dependencies, weights: &Weights, switch: u32) {
        let onward = self.next[switch as usize];
        for channel in net.arriving(switch) {
            let far = net.from[channel as usize] as usize;
            let mut cost = self.cost[switch as usize] + weights.channel[channel as usize];
            if self.done[far] || cost > self.sure[far] {
                continue;
            }
            let known = match onward {
                NONE => Known::Used,
                onward => used.known(net.dependency(channel, onward)),
            };
            match known {
                Known::Blocked => continue,
                Known::Used => self.sure[far] = cost,
                Known::Free => cost += weights.unpaid,
            }
            self.heap.push(Reverse((cost, channel)));
        }
    }

    fn drain(&mut self, net: &Net, used: &mut Dependencies, weights: &Weights) {
        while let Some(Reverse((cost, channel))) = self.heap.pop() {
            let switch = net.from[channel as usize];
            if self.done[switch as usize] {
                continue;
            }
            let onward = self.next[net.to[channel as usize] as usize];
            if onward == NONE || used.try_use(net, channel, onward) {
                self.hang(switch, channel, cost);
                self.expand(net, used, weights, switch);
            }
        }
    }

    /// Algorithm 6.5: an island switch is hung on a neighbour whose own way is changed so that both may be.
    fn backtrack(&mut self, net: &Net, used: &mut Dependencies, weights: &Weights) -> bool {
        let part = net.part[self.destination as usize];
        self.sure.fill(u64::MAX);
        for island in 0..net.switches() as u32 {
            if self.done[island as usize] || net.part[island as usize] != part {
                continue;
            }
            let mut ways = Vec::new();
            for channel in net.leaving(island) {
                let near = net.to[channel as usize];
                if self.done[near as usize] && net.reverse[channel as usize] != NONE {
                    let others = net.leaving(near).filter(|other| self.may_turn(net, near, *other));
                    let cost = |other: u32| {
                        let beyond = self.cost[net.to[other as usize] as usize];
                        beyond + weights.channel[other as usize] + weights.channel[channel as usize]
                    };
                    ways.extend(others.map(|other| (cost(other), channel, other)));
                }
            }
            ways.sort_unstable();
            for (cost, channel, other) in ways {
                let near = net.to[channel as usize];
                if self.rehang(net, used, other, Some(channel)) {
                    self.cost[near as usize] = cost - weights.channel[channel as usize];
                    self.hang(island, channel, cost);
                    self.expand(net, used, weights, island);
                    self.expand(net, used, weights, near);
                    self.shortcuts(net, used, weights, island);
                    return true;
                }
            }
        }
        false
    }

    fn may_turn(&self, net: &Net, switch: u32, other: u32) -> bool {
        switch != self.destination
            && other != self.next[switch as usize]
            && self.done[net.to[other as usize] as usize]
    }

    /// Lets the switch that `other` leaves take it, with all its children and perhaps one more, if all dependencies
    /// that come of it may be used.
    fn rehang(&mut self, net: &Net, used: &mut Dependencies, other: u32, more: Option<u32>) -> bool {
        let switch = net.from[other as usize];
        let mut at = net.to[other as usize];
        let onward = self.next[at as usize];
        while at != self.destination {
            if at == switch {
                return false;
            }
            at = net.to[self.next[at as usize] as usize];
        }
        let mark = used.mark();
        let mut fits = onward == NONE || used.try_use(net, other, onward);
        fits = fits && more.is_none_or(|more| used.try_use(net, more, other));
        if fits {
            let children =
                net.arriving(switch).filter(|child| self.next[net.from[*child as usize] as usize] == *child);
            for child in children {
                if !used.try_use(net, child, other) {
                    fits = false;
                    break;
                }
            }
        }
        if fits {
            self.next[switch as usize] = other;
        } else {
            used.take_back(net, mark);
        }
        fits
    }

    /// Algorithm 6.6: neighbours of a former island go through it where that is nearer and their children may.
    fn shortcuts(&mut self, net: &Net, used: &mut Dependencies, weights: &Weights, island: u32) {
        for channel in net.leaving(island) {
            let back = net.reverse[channel as usize];
            let near = net.to[channel as usize];
            if back == NONE || !self.done[near as usize] || near == self.destination {
                continue;
            }
            let cost = self.cost[island as usize] + weights.channel[back as usize];
            if cost < self.cost[near as usize] && self.rehang(net, used, back, None) {
                self.cost[near as usize] = cost;
                self.expand(net, used, weights, near);
            }
        }
    }

    /// A finished tree made better: switches take a nearer way where the dependencies allow it.
    pub fn improve(&mut self, net: &Net, used: &mut Dependencies, weights: &Weights) -> bool {
        let mut better = false;
        self.recount(net, weights);
        let order: Vec<u32> = self.leaves.iter().rev().copied().collect();
        for switch in order {
            let mut ways: Vec<(u64, u32)> = Vec::new();
            for other in net.leaving(switch).filter(|other| self.may_turn(net, switch, *other)) {
                let cost = self.cost[net.to[other as usize] as usize] + weights.channel[other as usize];
                if cost < self.cost[switch as usize] {
                    ways.push((cost, other));
                }
            }
            ways.sort_unstable();
            for (cost, other) in ways {
                if self.rehang(net, used, other, None) {
                    self.cost[switch as usize] = cost;
                    better = true;
                    break;
                }
            }
        }
        better
    }

    /// Costs of a finished tree as it stands now.
    fn recount(&mut self, net: &Net, weights: &Weights) {
        self.order_leaves(net);
        for at in (0..self.leaves.len()).rev() {
            let switch = self.leaves[at] as usize;
            let channel = self.next[switch];
            if channel != NONE {
                let far = net.to[channel as usize] as usize;
                self.cost[switch] = self.cost[far] + weights.channel[channel as usize];
            }
        }
    }

    /// Puts the switches of the tree in an order in which everyone comes before the one it goes through.
    fn order_leaves(&mut self, net: &Net) {
        self.children.fill(0);
        for channel in self.next.iter().filter(|channel| **channel != NONE) {
            self.children[net.to[*channel as usize] as usize] += 1;
        }
        self.leaves.clear();
        let ends = 0..net.switches() as u32;
        self.leaves.extend(ends.filter(|at| self.done[*at as usize] && self.children[*at as usize] == 0));
        let mut head = 0;
        while let Some(switch) = self.leaves.get(head).copied() {
            head += 1;
            let channel = self.next[switch as usize];
            if channel == NONE {
                continue;
            }
            let far = net.to[channel as usize];
            self.children[far as usize] -= 1;
            if self.children[far as usize] == 0 {
                self.leaves.push(far);
            }
        }
    }

    /// Paths of the tree over each channel, for one LID: `(channel, paths)`.
    pub fn flows(&mut self, net: &Net, mut each: impl FnMut(u32, u32)) {
        self.order_leaves(net);
        // `children` is all zero by now and serves for the sums.
        for at in 0..self.leaves.len() {
            let switch = self.leaves[at] as usize;
            let flow = std::mem::take(&mut self.children[switch]) + net.senders[switch];
            let channel = self.next[switch];
            if channel != NONE {
                each(channel, flow);
                self.children[net.to[channel as usize] as usize] += flow;
            }
        }
    }
}

/// The dependencies of a tree.
pub(super) fn dependencies_of<'t>(
    net: &'t Net,
    next: impl Fn(u32) -> u32 + Copy + 't,
) -> impl Iterator<Item = (u32, u32)> + 't {
    (0..net.switches() as u32).filter_map(move |switch| {
        let held = next(switch);
        let wanted = if held == NONE { NONE } else { next(net.to[held as usize]) };
        (wanted != NONE).then_some((held, wanted))
    })
}
