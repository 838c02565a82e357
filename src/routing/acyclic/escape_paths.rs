//! Escape paths: dependencies that are used from the start, free of cycles, and enough to reach every destination of
//! the layer (section 6.2.2). The dissertation's are those of a spanning tree. Ours may also be all the turns of an
//! Up*/Down* orientation from the same root: a superset, no less acyclic, and a destination that falls back on it is
//! spread over all its links.

use super::dependency_order::AcyclicDependencies;
use super::tree_search::TreeSearch;
use crate::line_trees::flat_graph::{FlatGraph, NONE};

/// What is reserved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EscapeKind {
    /// The turns of a spanning tree, as the dissertation does.
    Tree,
    /// Every turn of the orientation.
    Turns,
}

#[derive(Clone, Debug)]
pub(crate) struct EscapePaths {
    /// Places in breadth-first order from the roots; the way up is to a lower one.
    rank: Vec<u32>,
    /// Switches by rank.
    by_rank: Vec<u32>,
    /// Channels that escape paths may take.
    open: Vec<bool>,
}

impl EscapePaths {
    /// One root for each part of the fabric that the layer has destinations in.
    pub fn new(net: &FlatGraph, roots: &[u32], reserve: EscapeKind) -> Self {
        let (mut hops, mut by_rank) = (Vec::new(), Vec::new());
        net.hops(roots, &mut hops, &mut by_rank);
        let mut rank = vec![NONE; net.switch_count()];
        by_rank.iter().enumerate().for_each(|(place, switch)| rank[*switch as usize] = place as u32);
        let mut open = vec![reserve == EscapeKind::Turns; net.channel_count()];
        if reserve == EscapeKind::Tree {
            for switch in &by_rank {
                let to_parent = |channel: &u32| {
                    hops[net.to[*channel as usize] as usize] + 1 == hops[*switch as usize]
                        && net.reverse[*channel as usize] != NONE
                };
                let up = net.leaving(*switch).filter(to_parent);
                if let Some(up) = up.min_by_key(|channel| rank[net.to[*channel as usize] as usize]) {
                    open[up as usize] = true;
                    open[net.reverse[up as usize] as usize] = true;
                }
            }
        }
        Self { rank, by_rank, open }
    }

    /// A spanning tree of every part, all turns of which close no cycle with what is used; they are used from now on. Cables are
    /// added one by one, from whatever root that comes to an end.
    pub fn grow_within(net: &FlatGraph, used: &mut AcyclicDependencies) -> Option<Self> {
        let mut escape = Self {
            rank: vec![NONE; net.switch_count()],
            by_rank: Vec::new(),
            open: vec![false; net.channel_count()],
        };
        for first in net.part_first.iter().copied() {
            let part = net.part[first as usize];
            let mut roots = (0..net.switch_count() as u32).filter(|root| net.part[*root as usize] == part);
            roots.find(|root| escape.grow_part(net, used, *root))?;
        }
        Some(escape)
    }

    fn grow_part(&mut self, net: &FlatGraph, used: &mut AcyclicDependencies, root: u32) -> bool {
        let (mark, start) = (used.checkpoint(), self.by_rank.len());
        let all = net.part_size[net.part[root as usize] as usize] as usize;
        self.add(root);
        used.clear_refusals();
        let mut grows = true;
        while grows && self.by_rank.len() - start < all {
            grows = false;
            let mut at = start;
            while let Some(switch) = self.by_rank.get(at).copied() {
                at += 1;
                for down in net.leaving(switch) {
                    let (far, up) = (net.to[down as usize], net.reverse[down as usize]);
                    if self.rank[far as usize] == NONE && up != NONE && self.open_cable(net, used, (down, up))
                    {
                        self.add(far);
                        grows = true;
                    }
                }
            }
        }
        if self.by_rank.len() - start == all {
            let fresh: Vec<(u32, u32)> = used.added_since(mark).to_vec();
            used.commit_tree(net, fresh.into_iter());
            return true;
        }
        used.roll_back(net, mark);
        for switch in self.by_rank.drain(start..) {
            self.rank[switch as usize] = NONE;
            net.leaving(switch).for_each(|channel| self.open[channel as usize] = false);
        }
        false
    }

    fn add(&mut self, switch: u32) {
        self.rank[switch as usize] = self.by_rank.len() as u32;
        self.by_rank.push(switch);
    }

    /// Adds a cable to a switch that the tree has not reached, if the turns to and from it may be used.
    fn open_cable(
        &mut self,
        net: &FlatGraph,
        used: &mut AcyclicDependencies,
        (down, up): (u32, u32),
    ) -> bool {
        let mark = used.checkpoint();
        let beside = net.leaving(net.from[down as usize]).filter(|channel| self.open[*channel as usize]);
        let fits = beside
            .into_iter()
            .all(|away| used.try_use(net, up, away) && used.try_use(net, net.reverse[away as usize], down));
        if fits {
            (self.open[down as usize], self.open[up as usize]) = (true, true);
        } else {
            used.roll_back(net, mark);
        }
        fits
    }

    fn is_up(&self, net: &FlatGraph, channel: u32) -> bool {
        self.rank[net.to[channel as usize] as usize] < self.rank[net.from[channel as usize] as usize]
    }

    /// Dependencies with those of the escape paths to some destinations in them.
    pub fn dependencies(&self, net: &FlatGraph, is_destination: &[bool]) -> AcyclicDependencies {
        let mut dependencies = AcyclicDependencies::new(net, self.orientation_order(net));
        // A way down is of use where it ends at a destination.
        let mut leads = is_destination.to_vec();
        for switch in self.by_rank.iter().rev() {
            leads[*switch as usize] |= net.leaving(*switch).any(|channel| {
                self.open[channel as usize]
                    && !self.is_up(net, channel)
                    && leads[net.to[channel as usize] as usize]
            });
        }
        for held in (0..net.channel_count() as u32).filter(|held| self.open[*held as usize]) {
            let turn = net.to[held as usize];
            let held_up = self.is_up(net, held);
            for wanted in net.leaving(turn).filter(|wanted| self.open[*wanted as usize]) {
                let far = net.to[wanted as usize];
                let up = self.is_up(net, wanted);
                if far != net.from[held as usize] && (held_up || !up) && (up || leads[far as usize]) {
                    dependencies.reserve(net, held, wanted);
                }
            }
        }
        dependencies
    }

    /// Channels in an order that all turns of the orientation follow: up towards the root, then down from it.
    fn orientation_order(&self, net: &FlatGraph) -> Vec<u32> {
        let mut channels: Vec<u32> = (0..net.channel_count() as u32).collect();
        channels.sort_by_key(|channel| {
            let from = self.rank[net.from[*channel as usize] as usize];
            if self.is_up(net, *channel) { (false, NONE - from) } else { (true, from) }
        });
        let mut place = vec![0; channels.len()];
        channels.iter().enumerate().for_each(|(at, channel)| place[*channel as usize] = at as u32);
        place
    }

    /// A route inside the escape paths from everywhere: down as soon as there is a way down, up before, by weight.
    pub fn route(&self, net: &FlatGraph, search: &mut TreeSearch, weight: &[u64], destination: u32) {
        search.begin(destination);
        let start = self.rank[destination as usize] as usize;
        for switch in self.by_rank[..=start].iter().rev() {
            // The cone above the destination: every way down of a switch leads to a higher rank, done before.
            self.take_lightest(net, search, weight, *switch, false);
        }
        for switch in &self.by_rank {
            self.take_lightest(net, search, weight, *switch, true);
        }
    }

    fn take_lightest(&self, net: &FlatGraph, search: &mut TreeSearch, weight: &[u64], switch: u32, up: bool) {
        if search.is_done(switch) {
            return;
        }
        let ways = net.leaving(switch).filter(|channel| {
            self.open[*channel as usize]
                && self.is_up(net, *channel) == up
                && search.is_done(net.to[*channel as usize])
        });
        let cost = |channel: &u32| search.cost(net.to[*channel as usize]) + weight[*channel as usize];
        if let Some((cost, channel)) = ways.map(|channel| (cost(&channel), channel)).min() {
            search.attach(net, switch, channel, cost);
        }
    }
}
