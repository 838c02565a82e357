//! The order of channels that keeps paths free of deadlock.
//!
//! Switches have heights. A channel leads up, down, or across between equals. Paths go up, across once at most, then
//! down; that alone has no cycle of dependencies, but leaves pairs without a path: two spines, adapters on them.
//!
//! A *root* per connected part serves those (sFtree paper, section 4). The switches above it, itself included, are the
//! *inner* ones: the paper's subtree. Between inner switches the order is reversed, down before up:
//!
//! ```text
//! class  0 graft to the rest      only from a grafted switch
//!        1 up, from outside
//!        2 across, from outside   never two in a row
//!        3 down between inner switches
//!        4 up between inner switches
//!        5 across, from an inner switch   never two in a row
//!        6 down, to the outside
//!        7 graft to its switch
//! ```
//!
//! Every path takes channels of rising classes, and within a class heights only rise or only fall, so there is no
//! cycle, and U-turns happen among inner switches alone. The paper's turns are the case in which an inner switch is
//! never reached from another one by going up and down; where rack switches stand under several chips of a director
//! it can be, and the paper's own rule would allow a cycle there.
//!
//! A switch that has no way up to an inner one is *grafted*: one cable to a neighbour is set aside for traffic that
//! begins or ends at it (the paper's sibling case is one of these), and is no longer used by paths that pass.

use std::ops::Range;

use fabdeck_fabric::{ChannelId, SwitchGraph};

pub(in super::super) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
enum HopDirection {
    Up,
    Across,
    Down,
}

/// A channel as its first switch sees it.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct OrderHop {
    pub to: u32,
    pub channel: u32,
    pub port: u8,
}

#[derive(Clone, Debug)]
pub(in super::super) struct UpDownOrder {
    hops: Vec<OrderHop>,
    /// Where the hops of a switch begin: those up, then across, then down, by port each; four bounds for each switch.
    bounds: Vec<[u32; 4]>,
    /// Live switches, each before those above it.
    pub bottom_up: Vec<u32>,
    pub inner: Vec<bool>,
    pub has_inner: bool,
    /// Inner switches that stand over one inner switch at the most, and beside none. What comes up to such a switch from
    /// that one is not for below it, so any way down may be taken.
    pub one_below: Vec<bool>,
    /// The channel by which a grafted switch is reached.
    graft: Vec<u32>,
    /// The switch that is not grafted through which it is reached; itself when it is not.
    pub attach: Vec<u32>,
    pub part: Vec<u32>,
    /// Every channel up or down leads to the next height, so that ways down to a switch have one length.
    pub graded: bool,
}

impl UpDownOrder {
    /// `total`: equals in height are ordered too, the lower GUID above, and nothing leads across.
    pub fn new(graph: &SwitchGraph, height: &[u32], total: bool) -> Self {
        let count = graph.switch_count();
        let above = |a: u32, b: u32| {
            let (high, low) = (height[a as usize], height[b as usize]);
            high > low || (total && high == low && a < b)
        };
        let mut bottom_up: Vec<u32> = (0..count as u32).filter(|switch| graph.is_alive(*switch)).collect();
        bottom_up.sort_by_key(|switch| (height[*switch as usize], std::cmp::Reverse(*switch)));
        let mut hops = Vec::with_capacity(graph.channels().len());
        let mut bounds = Vec::with_capacity(count);
        for from in 0..count as u32 {
            let mut bound = [hops.len() as u32; 4];
            for (place, way) in
                [HopDirection::Up, HopDirection::Across, HopDirection::Down].into_iter().enumerate()
            {
                for id in graph.outgoing(from) {
                    let channel = &graph.channels()[id];
                    let leads = match (above(channel.to, from), above(from, channel.to)) {
                        (true, _) => HopDirection::Up,
                        (_, true) => HopDirection::Down,
                        _ => HopDirection::Across,
                    };
                    if leads == way {
                        let port = channel.from_port.value();
                        hops.push(OrderHop { to: channel.to, channel: id as u32, port });
                    }
                }
                bound[place + 1] = hops.len() as u32;
            }
            bounds.push(bound);
        }
        let graded = graph.channels().iter().all(|channel| {
            let apart = height[channel.from as usize].abs_diff(height[channel.to as usize]);
            apart == 1 || (apart == 0 && !total)
        });
        Self {
            hops,
            bounds,
            bottom_up,
            inner: vec![false; count],
            has_inner: false,
            one_below: vec![false; count],
            graft: vec![NONE; count],
            attach: (0..count as u32).collect(),
            part: graph.components().0,
            graded,
        }
    }

    fn range(&self, switch: u32, from: usize, to: usize) -> Range<usize> {
        let bounds = &self.bounds[switch as usize];
        bounds[from] as usize..bounds[to] as usize
    }

    pub fn hops(&self, switch: u32) -> &[OrderHop] {
        &self.hops[self.range(switch, 0, 3)]
    }

    pub fn up_hops(&self, switch: u32) -> &[OrderHop] {
        &self.hops[self.range(switch, 0, 1)]
    }

    pub fn across_hops(&self, switch: u32) -> &[OrderHop] {
        &self.hops[self.range(switch, 1, 2)]
    }

    pub fn down_hops(&self, switch: u32) -> &[OrderHop] {
        &self.hops[self.range(switch, 2, 3)]
    }

    /// The channel by which a switch is grafted.
    pub fn graft_channel(&self, switch: u32) -> Option<ChannelId> {
        Some(self.graft[switch as usize]).filter(|channel| *channel != NONE).map(ChannelId)
    }

    pub fn grafted_switches(&self) -> impl Iterator<Item = u32> {
        (0..self.graft.len() as u32).filter(|switch| self.graft[*switch as usize] != NONE)
    }

    /// Every switch above, itself first.
    pub fn switches_above(&self, switch: u32) -> Vec<u32> {
        let mut seen = vec![false; self.inner.len()];
        seen[switch as usize] = true;
        let mut found = vec![switch];
        let mut next = 0;
        while let Some(at) = found.get(next).copied() {
            next += 1;
            for hop in self.up_hops(at) {
                if !std::mem::replace(&mut seen[hop.to as usize], true) {
                    found.push(hop.to);
                }
            }
        }
        found
    }

    /// The switches with nothing above, part by part.
    pub fn tops(&self) -> Vec<Vec<u32>> {
        let parts = self.bottom_up.iter().map(|switch| self.part[*switch as usize] as usize + 1).max();
        let mut tops = vec![Vec::new(); parts.unwrap_or(0)];
        for switch in self.bottom_up.iter().filter(|switch| self.up_hops(**switch).is_empty()) {
            tops[self.part[*switch as usize] as usize].push(*switch);
        }
        tops
    }

    /// Makes everything reach everything: reverses the order above each root, grafts what is left.
    pub fn connect_all(&mut self, graph: &SwitchGraph, roots: &[u32]) {
        self.has_inner = true;
        for root in roots {
            self.switches_above(*root).into_iter().for_each(|switch| self.inner[switch as usize] = true);
        }
        let mut served = self.inner.clone();
        for at in 0..self.bottom_up.len() {
            let switch = self.bottom_up[self.bottom_up.len() - 1 - at];
            let reached = self.up_hops(switch).iter().any(|hop| served[hop.to as usize]);
            served[switch as usize] |= reached;
        }
        self.graft_rest(graph, served);
        self.reserve_grafts(graph);
        let inner = |hop: &&OrderHop| self.inner[hop.to as usize];
        let one_below = |switch: u32| {
            let mut below = self.down_hops(switch).iter().filter(inner).map(|hop| hop.to);
            let first = below.next();
            below.all(|to| Some(to) == first) && !self.across_hops(switch).iter().any(|hop| inner(&hop))
        };
        self.one_below = (0..self.inner.len() as u32).map(one_below).collect();
    }

    /// Grafts every switch that no path serves. Each round grafts the switches beside served ones: each to the served neighbour
    /// with the fewest grafts, of equals to the lowest one. The next round counts them as served.
    fn graft_rest(&mut self, graph: &SwitchGraph, mut served: Vec<bool>) {
        let mut graft_counts = vec![0u32; served.len()];
        let mut rest: Vec<u32> = self.bottom_up.iter().copied().filter(|at| !served[*at as usize]).collect();
        rest.sort_unstable();
        while !rest.is_empty() {
            let mut grafted_now = Vec::new();
            for switch in &rest {
                let ways = graph.outgoing(*switch).filter(|id| served[graph.channels()[*id].to as usize]);
                let to = |id: usize| graph.channels()[id].to;
                if let Some(id) = ways.min_by_key(|id| (graft_counts[to(*id) as usize], to(*id))) {
                    graft_counts[to(id) as usize] += 1;
                    self.graft[*switch as usize] = id as u32;
                    self.attach[*switch as usize] = self.attach[to(id) as usize];
                    grafted_now.push(*switch);
                }
            }
            if grafted_now.is_empty() {
                break;
            }
            grafted_now.iter().for_each(|switch| served[*switch as usize] = true);
            rest.retain(|switch| !served[*switch as usize]);
        }
    }

    fn reserve_grafts(&mut self, graph: &SwitchGraph) {
        let mut aside = vec![false; graph.channels().len()];
        for channel in self.graft.iter().filter(|channel| **channel != NONE) {
            aside[*channel as usize] = true;
            aside[graph.channel(ChannelId(*channel)).reverse.index()] = true;
        }
        let (hops, bounds) = (std::mem::take(&mut self.hops), std::mem::take(&mut self.bounds));
        for bound in bounds {
            let mut new = [self.hops.len() as u32; 4];
            for way in 0..3 {
                let kept = &hops[bound[way] as usize..bound[way + 1] as usize];
                self.hops.extend(kept.iter().filter(|hop| !aside[hop.channel as usize]));
                new[way + 1] = self.hops.len() as u32;
            }
            self.bounds.push(new);
        }
    }

    /// The port by which a switch on the graft of another leads on to it.
    pub fn graft_port(&self, graph: &SwitchGraph, from: u32, to: u32) -> Option<u8> {
        let mut at = to;
        while let Some(channel) = self.graft_channel(at).map(|id| graph.channel(id)) {
            if channel.to == from {
                return Some(channel.to_port.value());
            }
            at = channel.to;
        }
        None
    }
}
