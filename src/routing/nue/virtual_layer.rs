//! One virtual layer: its destinations, its escape paths, the dependencies in use, and the trees that stand.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::central::most_central;
use crate::acyclic::dependency_order::AcyclicDependencies;
use crate::acyclic::escape_paths::{EscapeKind, EscapePaths};
use crate::acyclic::tree_search::{TreeSearch, dependencies_of};
use crate::engine::RouteProgress;
use crate::line_trees::TreeTask;
use crate::line_trees::flat_graph::{FlatGraph, NONE};

/// A place in a table that leads nowhere.
const NOWHERE: u8 = u8::MAX;

#[derive(Clone, Debug)]
pub struct VirtualLayer<'n> {
    net: &'n FlatGraph,
    /// What a hop weighs beside the paths over a channel.
    hop: u64,
    pub trees: Vec<TreeTask>,
    escape: EscapePaths,
    used: AcyclicDependencies,
    search: TreeSearch,
    weights: Vec<u64>,
    /// Paths over each channel: those of this layer, and of the others as they last said.
    pub load: Vec<u64>,
    others: Vec<u64>,
    /// For each tree and switch the place of the channel it takes.
    pub table: Vec<u8>,
    pub fell_back: Vec<bool>,
    /// The tree of each switch that the order grew with: it goes with the order, whatever comes later.
    first: Arc<FxHashMap<u32, Vec<u8>>>,
    /// Trees in line, and how many stand, the first ones.
    line: Vec<usize>,
    made: usize,
}

impl<'n> VirtualLayer<'n> {
    pub fn new(net: &'n FlatGraph, reserve: EscapeKind, hop: u64, trees: &[TreeTask], roots: &[u32]) -> Self {
        let escape = EscapePaths::new(net, roots, reserve);
        let mut is_destination = vec![false; net.switch_count()];
        trees.iter().for_each(|tree| is_destination[tree.switch as usize] = true);
        let used = escape.dependencies(net, &is_destination);
        Self {
            net,
            hop,
            escape,
            used,
            search: TreeSearch::new(net),
            weights: vec![hop; net.channel_count()],
            load: vec![0; net.channel_count()],
            others: vec![0; net.channel_count()],
            table: vec![NOWHERE; trees.len() * net.switch_count()],
            fell_back: vec![false; trees.len()],
            first: Arc::default(),
            line: Vec::new(),
            made: 0,
            trees: trees.to_vec(),
        }
    }

    /// The order of its channels stands from now on: trees depend on each other for the load alone, so that several
    /// can make those that are left.
    pub fn split_shares(mut self, shares: usize) -> Vec<Self> {
        self.used.freeze();
        let whole = (0..self.made).filter(|tree| !self.fell_back[*tree]);
        self.first = Arc::new(whole.map(|tree| (self.trees[tree].switch, self.row(tree).to_vec())).collect());
        let left = self.trees.split_off(self.made);
        self.table.truncate(self.trees.len() * self.net.switch_count());
        self.fell_back.truncate(self.trees.len());
        let others = Self {
            load: vec![0; self.net.channel_count()],
            trees: Vec::new(),
            table: Vec::new(),
            fell_back: Vec::new(),
            made: 0,
            ..self.clone()
        };
        let mut all = vec![others; shares - 1];
        all.insert(0, self);
        // The trees of one switch go together: no other tree loads the channels into it.
        left.into_iter().for_each(|tree| all[tree.switch as usize % shares].add(tree));
        all
    }

    fn add(&mut self, tree: TreeTask) {
        self.table.resize(self.table.len() + self.net.switch_count(), NOWHERE);
        self.fell_back.push(false);
        self.trees.push(tree);
    }

    /// Takes note of all paths on the fabric, its own among them.
    pub fn set_total_load(&mut self, all: &[u64]) {
        for (channel, all) in all.iter().enumerate() {
            self.others[channel] = all - self.load[channel];
            self.weights[channel] = self.hop + all;
        }
    }

    /// Puts the first tree of every switch in line, if it was not made yet.
    pub fn queue_first(&mut self) {
        let again = self.trees.windows(2).position(|two| two[1].switch <= two[0].switch);
        self.queue(self.made..again.map_or(self.trees.len(), |last| last + 1));
    }

    /// Puts in line what was not made yet.
    pub fn queue_rest(&mut self) {
        self.queue(self.made..self.trees.len());
    }

    fn queue(&mut self, trees: Range<usize>) {
        self.used.clear_refusals();
        self.made = self.made.max(trees.end);
        self.line.clear();
        self.line.extend(trees);
    }

    /// Queues at most `most` trees that load a hot channel or fell back.
    pub fn queue_hot(&mut self, hot: &[bool], most: usize) {
        self.queue(0..0);
        for tree in 0..self.trees.len() {
            let row = self.row(tree);
            let takes_hot = |(switch, place): (usize, &u8)| {
                *place != NOWHERE && hot[self.net.channel_at(switch as u32, *place) as usize]
            };
            let again = self.fell_back[tree]
                || (self.trees[tree].loaded > 0 && row.iter().enumerate().any(takes_hot));
            if self.line.len() < most && again {
                self.line.push(tree);
            }
        }
    }

    pub fn queued(&self) -> usize {
        self.line.len()
    }

    /// Makes share `round` of `rounds` of the trees in line; those that stand are taken out and made again.
    pub fn make_share(&mut self, round: usize, rounds: usize, pulse: &dyn RouteProgress) {
        let share = |round: usize| self.line.len() * round / rounds;
        for at in share(round)..share(round + 1) {
            if pulse.is_cancelled() {
                return;
            }
            let tree = self.line[at];
            self.remove_tree(tree);
            self.make_tree(tree);
        }
    }

    fn make_tree(&mut self, tree: usize) {
        let (net, destination) = (self.net, self.trees[tree].switch);
        let mark = self.used.checkpoint();
        let whole = self.search.route_all(net, &mut self.used, &self.weights, destination);
        let first = self.first.clone();
        let first = first.get(&destination).filter(|_| !whole);
        self.fell_back[tree] = !whole && first.is_none();
        if !whole {
            self.used.roll_back(net, mark);
            match first {
                Some(row) => self.restore_tree(destination, row),
                None => self.escape.route(net, &mut self.search, &self.weights, destination),
            }
            // At most four rounds, as long as each makes the tree better.
            let _ = (0..4).all(|_| self.search.improve_tree(net, &mut self.used, &self.weights));
        }
        let search = &self.search;
        self.used.commit_tree(net, dependencies_of(net, |switch| search.next(switch)));
        let row = tree * net.switch_count();
        for switch in 0..net.switch_count() as u32 {
            let channel = self.search.next(switch);
            self.table[row + switch as usize] = if channel == NONE { NOWHERE } else { net.place(channel) };
        }
        let lids = u64::from(self.trees[tree].loaded);
        let senders = &self.trees[tree].senders;
        let (load, others, weights) = (&mut self.load, &self.others, &mut self.weights);
        self.search.for_each_flow(net, senders, |channel, paths| {
            let at = channel as usize;
            load[at] += u64::from(paths) * lids;
            weights[at] = self.hop + load[at] + others[at];
        });
    }

    /// Puts a tree that was made before in the place of the one that is made now.
    fn restore_tree(&mut self, destination: u32, row: &[u8]) {
        self.search.begin(destination);
        for (switch, place) in row.iter().enumerate().filter(|(_, place)| **place != NOWHERE) {
            let channel = self.net.channel_at(switch as u32, *place);
            self.search.attach(self.net, switch as u32, channel, 0);
        }
    }

    fn row(&self, tree: usize) -> &[u8] {
        &self.table[tree * self.net.switch_count()..(tree + 1) * self.net.switch_count()]
    }

    fn remove_tree(&mut self, tree: usize) {
        let net = self.net;
        let row = self.row(tree).to_vec();
        if row.iter().all(|place| *place == NOWHERE) {
            return;
        }
        self.restore_tree(self.trees[tree].switch, &row);
        let search = &self.search;
        self.used.release_tree(net, dependencies_of(net, |switch| search.next(switch)));
        let lids = u64::from(self.trees[tree].loaded);
        let senders = &self.trees[tree].senders;
        let (load, others, weights) = (&mut self.load, &self.others, &mut self.weights);
        self.search.for_each_flow(net, senders, |channel, paths| {
            let at = channel as usize;
            load[at] -= u64::from(paths) * lids;
            weights[at] = self.hop + load[at] + others[at];
        });
    }
}

/// The root of a layer in each part of the fabric that it has destinations in: of those given the layers take turns.
pub fn layer_roots(net: &FlatGraph, trees: &[TreeTask], given: &[u32], lane: usize) -> Vec<u32> {
    let mut members: Vec<u32> = trees.iter().map(|tree| tree.switch).collect();
    members.sort_unstable_by_key(|switch| (net.part[*switch as usize], *switch));
    members.dedup();
    let same_part = |a: &u32, b: &u32| net.part[*a as usize] == net.part[*b as usize];
    let root = |members: &[u32]| {
        let here: Vec<u32> = given.iter().copied().filter(|root| same_part(root, &members[0])).collect();
        let turn = lane.checked_rem(here.len()).and_then(|turn| here.get(turn));
        turn.copied().or_else(|| most_central(net, members))
    };
    members.chunk_by(same_part).filter_map(root).collect()
}
