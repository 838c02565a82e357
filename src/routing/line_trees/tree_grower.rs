//! One tree in a line, grown from its destination.
//!
//! Switches behind the destination's place have no step away from the front. Switches before it get the cost of such a
//! step from the switches behind them. Then every switch, from the front on, takes the cheaper step: away from the front,
//! or towards it as the switches before it have chosen. A switch that is entered from the front may only continue away from
//! it.

use super::flat_graph::{FlatGraph, NONE};
use super::switch_order::SwitchOrder;
use super::weighted_load::WeightedLoad;

const NO_WAY: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub(crate) struct TreeGrower {
    /// The channel that each switch takes.
    pub next: Vec<u32>,
    cost: Vec<u64>,
    /// The best way on away from the front.
    on: Vec<u32>,
    on_cost: Vec<u64>,
    must_go_on: Vec<bool>,
    /// Switches that have a way, each behind the one that it goes to; the destination first.
    pub outwards: Vec<u32>,
    hops: Vec<u32>,
    first_of_hops: Vec<u32>,
    flow: Vec<u64>,
}

impl TreeGrower {
    pub fn new(net: &FlatGraph) -> Self {
        let count = net.switch_count();
        Self {
            next: vec![NONE; count],
            cost: vec![NO_WAY; count],
            on: vec![NONE; count],
            on_cost: vec![NO_WAY; count],
            must_go_on: vec![false; count],
            outwards: Vec::with_capacity(count),
            hops: vec![NONE; count],
            first_of_hops: Vec::new(),
            flow: vec![0; count],
        }
    }

    /// By what channels weigh. Where `one_by_one` every switch that comes in puts its paths on them at once, so that
    /// those after it hear of them; otherwise all go by what weighs least, as on a main path of a tree, and load nothing.
    pub fn grow_tree(
        &mut self,
        net: &FlatGraph,
        line: &SwitchOrder,
        load: &mut WeightedLoad,
        (senders, loaded): (&[u32], u64),
        destination: u32,
        one_by_one: bool,
    ) {
        let hop = load.hop;
        self.next.fill(NONE);
        self.cost.fill(NO_WAY);
        self.on_cost.fill(NO_WAY);
        self.on.fill(NONE);
        self.must_go_on.fill(false);
        let start = line.place[destination as usize];
        if start == NONE {
            return;
        }
        (self.on_cost[destination as usize], self.cost[destination as usize]) = (0, 0);
        for switch in line.switches[..start as usize].iter().rev() {
            let at = *switch as usize;
            let mut best = (NO_WAY, NONE);
            for channel in net.leaving(*switch) {
                let to = net.to[channel as usize] as usize;
                if self.on_cost[to] != NO_WAY && line.place[to] > line.place[at] {
                    best = best.min((self.on_cost[to] + load.weight[channel as usize] + hop, channel));
                }
            }
            (self.on_cost[at], self.on[at]) = best;
        }
        for switch in line.switches.iter().filter(|switch| **switch != destination) {
            let at = *switch as usize;
            let mut best = (NO_WAY, NONE);
            if !self.must_go_on[at] {
                for channel in net.leaving(*switch) {
                    let to = net.to[channel as usize] as usize;
                    if self.cost[to] != NO_WAY && line.place[to] < line.place[at] {
                        let known = || self.cost[to] + load.weight[channel as usize] + hop;
                        let cost = if one_by_one { self.path_weight(net, load, channel) } else { known() };
                        best = best.min((cost, channel));
                    }
                }
            }
            if self.on_cost[at] != NO_WAY && self.on_cost[at] <= best.0 {
                best = (self.on_cost[at], self.on[at]);
                self.must_go_on[net.to[best.1 as usize] as usize] = true;
            }
            (self.cost[at], self.next[at]) = best;
            let paths = u64::from(senders[at]) * loaded;
            if one_by_one && paths > 0 {
                let mut channel = best.1;
                while channel != NONE {
                    load.change_load(channel, paths, true);
                    channel = self.next_hop(net.to[channel as usize]);
                }
            }
        }
    }

    /// Where a switch goes on: as it has chosen, else on away from the front.
    fn next_hop(&self, switch: u32) -> u32 {
        match self.next[switch as usize] {
            NONE => self.on[switch as usize],
            next => next,
        }
    }

    /// What a way weighs now that begins with a channel.
    fn path_weight(&self, net: &FlatGraph, load: &WeightedLoad, mut channel: u32) -> u64 {
        let mut cost = 0;
        while channel != NONE {
            cost += load.weight[channel as usize] + load.hop;
            channel = self.next_hop(net.to[channel as usize]);
        }
        cost
    }

    /// Puts a tree that was grown before in the place of the one that is.
    pub fn adopt_tree(&mut self, net: &FlatGraph, row: &[u8], destination: u32) {
        for (switch, place) in (0..).zip(row) {
            self.next[switch as usize] =
                if *place == u8::MAX { NONE } else { net.channel_at(switch, *place) };
        }
        self.sort_by_depth(net, destination);
    }

    pub fn sort_by_depth(&mut self, net: &FlatGraph, destination: u32) {
        self.hops.fill(NONE);
        self.hops[destination as usize] = 0;
        self.outwards.clear();
        let mut most = 0;
        for switch in 0..net.switch_count() as u32 {
            let (mut at, mut steps) = (switch, 0);
            while self.hops[at as usize] == NONE && self.next[at as usize] != NONE {
                at = net.to[self.next[at as usize] as usize];
                steps += 1;
            }
            let end = self.hops[at as usize];
            if end == NONE {
                continue;
            }
            most = most.max(end + steps);
            let mut at = switch;
            while self.hops[at as usize] == NONE {
                self.hops[at as usize] = end + steps;
                steps -= 1;
                at = net.to[self.next[at as usize] as usize];
            }
        }
        self.first_of_hops.clear();
        self.first_of_hops.resize(most as usize + 2, 0);
        for hops in self.hops.iter().filter(|hops| **hops != NONE) {
            self.first_of_hops[*hops as usize + 1] += 1;
        }
        for hops in 1..self.first_of_hops.len() {
            self.first_of_hops[hops] += self.first_of_hops[hops - 1];
        }
        let all = self.first_of_hops.last().map_or(0, |all| *all as usize);
        self.outwards.resize(all, NONE);
        for (switch, hops) in (0..).zip(&self.hops).filter(|(_, hops)| **hops != NONE) {
            let place = &mut self.first_of_hops[*hops as usize];
            self.outwards[*place as usize] = switch;
            *place += 1;
        }
    }

    /// Calls `each` with the channels of the tree and their paths; `senders` has the paths of each switch.
    pub fn for_each_flow(&mut self, net: &FlatGraph, senders: &[u32], mut each: impl FnMut(u32, u64)) {
        for switch in self.outwards.iter().skip(1).rev().map(|switch| *switch as usize) {
            let flow = std::mem::take(&mut self.flow[switch]) + u64::from(senders[switch]);
            if flow > 0 {
                each(self.next[switch], flow);
                self.flow[net.to[self.next[switch] as usize] as usize] += flow;
            }
        }
        if let Some(destination) = self.outwards.first() {
            self.flow[*destination as usize] = 0;
        }
    }
}
