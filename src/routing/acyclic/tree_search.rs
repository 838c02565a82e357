//! The tree of one destination: Dijkstra's algorithm on the complete channel dependency graph (Algorithm 6.2), the
//! local backtracking into islands (6.2.6.2), and the shortcuts that follow from it (6.2.6.3).
//!
//! The dissertation marks a dependency used when it relaxes an edge, so that candidates which lose leave their marks.
//! Here a dependency is used when its switch is settled, and what a finished tree does not need is given back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::dependency_order::{AcyclicDependencies, DependencyState};
use crate::line_trees::flat_graph::{FlatGraph, NONE};

/// An offer is its cost and its channel in one number. 24 bits hold more channels than 49,151 switches of 254 ports
/// have. Costs above `MAX_COST` would compare as equal; no fabric of 49,151 LIDs reaches it.
const CHANNEL_BITS: u32 = 24;
const MAX_COST: u64 = u64::MAX >> CHANNEL_BITS;

/// One tree in the making. Buffers serve one tree after the other.
#[derive(Clone, Debug)]
pub(crate) struct TreeSearch {
    destination: u32,
    next: Vec<u32>,
    cost: Vec<u64>,
    /// What the cheapest offer costs that cannot be refused: dearer ones need not wait in line. Nothing is cheap enough
    /// for a switch that is done.
    sure: Vec<u64>,
    done: Vec<bool>,
    heap: BinaryHeap<Reverse<u64>>,
    children: Vec<u32>,
    /// Switches that are done, in the order in which they came; as long as everyone hangs on one that was there
    /// before, that is the order from the destination outwards.
    outwards: Vec<u32>,
    in_order: bool,
}

impl TreeSearch {
    pub fn new(net: &FlatGraph) -> Self {
        let count = net.switch_count();
        Self {
            destination: 0,
            next: vec![NONE; count],
            cost: vec![0; count],
            sure: vec![u64::MAX; count],
            done: vec![false; count],
            heap: BinaryHeap::new(),
            children: vec![0; count],
            outwards: Vec::with_capacity(count),
            in_order: true,
        }
    }

    pub fn begin(&mut self, destination: u32) {
        self.destination = destination;
        self.next.fill(NONE);
        self.done.fill(false);
        self.sure.fill(u64::MAX);
        self.done[destination as usize] = true;
        self.sure[destination as usize] = 0;
        self.cost[destination as usize] = 0;
        self.heap.clear();
        self.outwards.clear();
        self.outwards.push(destination);
        self.in_order = true;
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

    /// Hangs a switch that is not done on another one.
    pub fn attach(&mut self, net: &FlatGraph, switch: u32, channel: u32, cost: u64) {
        self.in_order &= self.done[net.to[channel as usize] as usize];
        self.outwards.push(switch);
        let at = switch as usize;
        (self.done[at], self.next[at], self.cost[at], self.sure[at]) = (true, channel, cost, 0);
    }

    /// Keeps the ways of a tree as far as it goes, from the destination outwards, and routes the rest of the part; false at an
    /// impasse that local backtracking does not solve.
    pub(crate) fn extend_tree(
        &mut self,
        net: &FlatGraph,
        used: &mut AcyclicDependencies,
        weights: &[u64],
        (destination, outwards, next): (u32, &[u32], &[u32]),
    ) -> bool {
        self.begin(destination);
        for switch in outwards {
            let channel = next[*switch as usize];
            let cost = self.cost[net.to[channel as usize] as usize] + weights[channel as usize];
            self.attach(net, *switch, channel, cost);
        }
        self.expand(net, used, weights, destination);
        outwards.iter().for_each(|switch| self.expand(net, used, weights, *switch));
        self.route_rest(net, used, weights, destination)
    }

    /// Routes everything of the destination's part; false at an impasse that local backtracking does not solve.
    pub fn route_all(
        &mut self,
        net: &FlatGraph,
        used: &mut AcyclicDependencies,
        weights: &[u64],
        destination: u32,
    ) -> bool {
        self.begin(destination);
        self.expand(net, used, weights, destination);
        self.route_rest(net, used, weights, destination)
    }

    fn route_rest(
        &mut self,
        net: &FlatGraph,
        used: &mut AcyclicDependencies,
        weights: &[u64],
        destination: u32,
    ) -> bool {
        let all = net.part_size[net.part[destination as usize] as usize] as usize;
        loop {
            self.settle_queue(net, used, weights);
            if self.outwards.len() == all {
                return true;
            }
            if !self.backtrack(net, used, weights) {
                return false;
            }
        }
    }

    /// Offers the neighbours of a settled switch a way through it.
    fn expand(&mut self, net: &FlatGraph, used: &AcyclicDependencies, weights: &[u64], switch: u32) {
        let (onward, beyond) = (self.next[switch as usize], self.cost[switch as usize]);
        for (channel, far) in net.incoming(switch) {
            let cost = beyond + weights[*channel as usize];
            let sure = &mut self.sure[*far as usize];
            if cost > *sure {
                continue;
            }
            let known = match onward {
                NONE => DependencyState::Used,
                onward => used.state(net, *channel, onward),
            };
            match known {
                DependencyState::Blocked => continue,
                DependencyState::Used => *sure = cost,
                DependencyState::Free => {}
            }
            self.heap.push(Reverse(cost.min(MAX_COST) << CHANNEL_BITS | u64::from(*channel)));
        }
    }

    fn settle_queue(&mut self, net: &FlatGraph, used: &mut AcyclicDependencies, weights: &[u64]) {
        while let Some(Reverse(offer)) = self.heap.pop() {
            let (cost, channel) = (offer >> CHANNEL_BITS, (offer & ((1 << CHANNEL_BITS) - 1)) as u32);
            let switch = net.from[channel as usize];
            if self.done[switch as usize] {
                continue;
            }
            let onward = self.next[net.to[channel as usize] as usize];
            if onward == NONE || used.try_use(net, channel, onward) {
                self.attach(net, switch, channel, cost);
                self.expand(net, used, weights, switch);
            }
        }
    }

    /// Algorithm 6.5: an island switch is hung on a neighbour whose own way is changed so that both may be.
    fn backtrack(&mut self, net: &FlatGraph, used: &mut AcyclicDependencies, weights: &[u64]) -> bool {
        let part = net.part[self.destination as usize];
        let undone = self.sure.iter_mut().zip(&self.done).filter(|(_, done)| !**done);
        undone.for_each(|(sure, _)| *sure = u64::MAX);
        for island in 0..net.switch_count() as u32 {
            if self.done[island as usize] || net.part[island as usize] != part {
                continue;
            }
            let mut ways = Vec::new();
            for channel in net.leaving(island) {
                let near = net.to[channel as usize];
                if self.done[near as usize] && net.reverse[channel as usize] != NONE {
                    let others = net.leaving(near).filter(|other| self.can_turn(net, near, *other));
                    let cost = |other: u32| {
                        let beyond = self.cost[net.to[other as usize] as usize];
                        beyond + weights[other as usize] + weights[channel as usize]
                    };
                    ways.extend(others.map(|other| (cost(other), channel, other)));
                }
            }
            ways.sort_unstable();
            for (cost, channel, other) in ways {
                let near = net.to[channel as usize];
                if self.reattach(net, used, other, Some(channel)) {
                    self.cost[near as usize] = cost - weights[channel as usize];
                    self.attach(net, island, channel, cost);
                    self.expand(net, used, weights, island);
                    self.expand(net, used, weights, near);
                    self.apply_shortcuts(net, used, weights, island);
                    return true;
                }
            }
        }
        false
    }

    fn can_turn(&self, net: &FlatGraph, switch: u32, other: u32) -> bool {
        switch != self.destination
            && other != self.next[switch as usize]
            && self.done[net.to[other as usize] as usize]
    }

    /// Gives the switch where `new_next` begins a new next hop, `new_next`. This takes the dependencies of `new_next` on the
    /// hop behind it, of each child on `new_next` (a child is a channel over which another switch's path comes in), and of
    /// `new_child` on `new_next` (the channel of a switch that is about to be added). If one of them may not be used, or the
    /// path behind `new_next` comes back to the switch, nothing changes and the result is false.
    fn reattach(
        &mut self,
        net: &FlatGraph,
        used: &mut AcyclicDependencies,
        new_next: u32,
        new_child: Option<u32>,
    ) -> bool {
        let switch = net.from[new_next as usize];
        let mut ahead = net.to[new_next as usize];
        let onward = self.next[ahead as usize];
        // The new path must not lead through the switch itself.
        while ahead != self.destination {
            if ahead == switch {
                return false;
            }
            ahead = net.to[self.next[ahead as usize] as usize];
        }
        let mark = used.checkpoint();
        let mut fits = onward == NONE || used.try_use(net, new_next, onward);
        fits = fits && new_child.is_none_or(|child| used.try_use(net, child, new_next));
        if fits {
            let mut children =
                net.incoming(switch).iter().filter(|(child, from)| self.next[*from as usize] == *child);
            fits = children.all(|(child, _)| used.try_use(net, *child, new_next));
        }
        if fits {
            self.next[switch as usize] = new_next;
            self.in_order = false;
        } else {
            used.roll_back(net, mark);
        }
        fits
    }

    /// Algorithm 6.6: neighbours of a former island go through it where that is nearer and their children may.
    fn apply_shortcuts(
        &mut self,
        net: &FlatGraph,
        used: &mut AcyclicDependencies,
        weights: &[u64],
        island: u32,
    ) {
        for channel in net.leaving(island) {
            let back = net.reverse[channel as usize];
            let near = net.to[channel as usize];
            if back == NONE || !self.done[near as usize] || near == self.destination {
                continue;
            }
            let cost = self.cost[island as usize] + weights[back as usize];
            if cost < self.cost[near as usize] && self.reattach(net, used, back, None) {
                self.cost[near as usize] = cost;
                self.expand(net, used, weights, near);
            }
        }
    }

    /// A finished tree made better: switches take a nearer way where the dependencies allow it.
    pub fn improve_tree(&mut self, net: &FlatGraph, used: &mut AcyclicDependencies, weights: &[u64]) -> bool {
        let mut better = false;
        self.recompute_costs(net, weights);
        for switch in self.outwards.clone() {
            let mut ways: Vec<(u64, u32)> = Vec::new();
            for other in net.leaving(switch).filter(|other| self.can_turn(net, switch, *other)) {
                let cost = self.cost[net.to[other as usize] as usize] + weights[other as usize];
                if cost < self.cost[switch as usize] {
                    ways.push((cost, other));
                }
            }
            ways.sort_unstable();
            for (cost, other) in ways {
                if self.reattach(net, used, other, None) {
                    self.cost[switch as usize] = cost;
                    better = true;
                    break;
                }
            }
        }
        better
    }

    /// Costs of a finished tree as it stands now.
    fn recompute_costs(&mut self, net: &FlatGraph, weights: &[u64]) {
        self.sort_by_depth(net);
        for switch in self.outwards.iter().map(|switch| *switch as usize) {
            if self.next[switch] != NONE {
                let channel = self.next[switch] as usize;
                self.cost[switch] = self.cost[net.to[channel] as usize] + weights[channel];
            }
        }
    }

    /// Everyone comes behind the one it goes through.
    fn sort_by_depth(&mut self, net: &FlatGraph) {
        if self.in_order {
            return;
        }
        let through = |next: &[u32], switch: u32| match next[switch as usize] {
            NONE => None,
            channel => Some(net.to[channel as usize] as usize),
        };
        for far in self.outwards.iter().filter_map(|switch| through(&self.next, *switch)) {
            self.children[far] += 1;
        }
        // From the leaves inwards, in place of the order in which they came.
        let mut inwards = std::mem::take(&mut self.outwards);
        inwards.retain(|switch| self.children[*switch as usize] == 0);
        let mut head = 0;
        while let Some(switch) = inwards.get(head).copied() {
            head += 1;
            if let Some(far) = through(&self.next, switch) {
                self.children[far] -= 1;
                if self.children[far] == 0 {
                    inwards.push(far as u32);
                }
            }
        }
        inwards.reverse();
        (self.outwards, self.in_order) = (inwards, true);
    }

    /// Calls `each` with the channels of the tree and their paths to one LID; `senders` has the paths of each switch.
    pub fn for_each_flow(&mut self, net: &FlatGraph, senders: &[u32], mut each: impl FnMut(u32, u32)) {
        self.sort_by_depth(net);
        // `children` is all zero between uses and serves for the sums.
        for switch in self.outwards.iter().rev().map(|switch| *switch as usize) {
            let flow = std::mem::take(&mut self.children[switch]) + senders[switch];
            let channel = self.next[switch];
            if channel != NONE {
                each(channel, flow);
                self.children[net.to[channel as usize] as usize] += flow;
            }
        }
    }
}

/// The dependencies of a tree.
pub(crate) fn dependencies_of<'t>(
    net: &'t FlatGraph,
    next: impl Fn(u32) -> u32 + Copy + 't,
) -> impl Iterator<Item = (u32, u32)> + 't {
    (0..net.switch_count() as u32).filter_map(move |switch| {
        let held = next(switch);
        let wanted = if held == NONE { NONE } else { next(net.to[held as usize]) };
        (wanted != NONE).then_some((held, wanted))
    })
}
