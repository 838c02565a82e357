//! From layers to trees: the first of every switch, in an order of channels that grows with them; all others in the
//! order as it stands then; and those again that load the busiest channels.

use rayon::prelude::*;

use super::balanced_updown::LoadBounds;
use super::virtual_layer::VirtualLayer;
use crate::acyclic::escape_paths::EscapeKind;
use crate::engine::RouteProgress;
use crate::line_trees::TreeTask;
use crate::line_trees::flat_graph::FlatGraph;

/// Times that layers exchange their loads in one pass over all destinations.
const ROUNDS: usize = 8;

/// Least number of threads that grow trees once the order of channels is fixed.
const MIN_SHARES: usize = 8;

/// Most retries of trees that fell back to escape paths before the order of channels is fixed.
const MAX_RESCUES: usize = 3;

/// Layers on which candidates for escape paths are tried.
const TRIAL_LAYERS: usize = 2;

/// Trees are grown again until 1/`PATIENCE` of them have not lowered the busiest channel by 1/`MIN_GAIN`.
const PATIENCE: usize = 4;
const MIN_GAIN: u64 = 64;

/// Trees made again, times channels, stay below this: on large fabrics the time is worth more than the balance.
const MAX_WORK: usize = 8_000_000;

/// How to weigh, found by trying on the kit's fabrics: few layers have more to avoid than they can, so that detours
/// pay and half of all channels are worth another try; with many layers, and on trees, the shortest paths nearly fit.
#[derive(Clone, Copy, Debug)]
pub struct SearchWeights {
    /// What a hop weighs beside the paths over a channel.
    hop: u64,
    /// Share of the busiest channel's load from which a channel is hot, in percent.
    hot_percent: u64,
}

impl SearchWeights {
    pub fn choose(need: &LoadBounds, layers: usize, tree: bool) -> Self {
        match layers {
            0..=2 if !tree => Self { hop: (need.mean / 4).max(1), hot_percent: 50 },
            _ => Self { hop: 2 * need.mean, hot_percent: 95 },
        }
    }
}

/// The best that the trees came to.
#[derive(Debug, Default)]
pub struct BestTrees {
    pub busiest: u64,
    total: u64,
    pub fell_back: usize,
    /// Of each layer.
    pub tables: Vec<Vec<u8>>,
}

/// One way to reserve escape paths, as far as its trees are made.
#[derive(Debug)]
pub struct LayeredSearch<'n> {
    net: &'n FlatGraph,
    aim: SearchWeights,
    pub reserve: EscapeKind,
    pub layers: Vec<VirtualLayer<'n>>,
    /// Trees made so far, and all of them.
    made: usize,
    trees: usize,
    load: Vec<u64>,
    pub best: BestTrees,
}

impl<'n> LayeredSearch<'n> {
    pub fn new(
        net: &'n FlatGraph,
        reserve: EscapeKind,
        aim: SearchWeights,
        plan: &[Vec<TreeTask>],
        roots: &[Vec<u32>],
    ) -> Self {
        let make = |(trees, roots): (&Vec<TreeTask>, &Vec<u32>)| {
            VirtualLayer::new(net, reserve, aim.hop, trees, roots)
        };
        Self {
            net,
            aim,
            reserve,
            layers: plan.par_iter().zip(roots).map(make).collect(),
            made: 0,
            trees: plan.iter().map(Vec::len).sum(),
            load: vec![0; net.channel_count()],
            best: BestTrees::default(),
        }
    }

    /// Makes the first trees of some layers: enough to tell which escape paths suit the fabric.
    pub fn make_first(&mut self, pulse: &dyn RouteProgress) {
        self.layers.iter_mut().take(TRIAL_LAYERS).for_each(VirtualLayer::queue_first);
        self.make_trees(pulse);
    }

    pub fn max_load(&self) -> u64 {
        self.load.iter().copied().max().unwrap_or(0)
    }

    /// Makes the first tree of every switch, and those again that load hot channels while the order still gives way to
    /// them: the trees that come later have none but this order.
    pub fn make_firsts(&mut self, pulse: &dyn RouteProgress) {
        self.layers.iter_mut().for_each(VirtualLayer::queue_first);
        self.make_trees(pulse);
        self.queue_hot(usize::MAX);
        self.make_trees(pulse);
        // What fell back may do without it while the order gives way, and never after.
        let cold = vec![false; self.net.channel_count()];
        for _ in 0..MAX_RESCUES {
            self.layers.par_iter_mut().for_each(|layer| layer.queue_hot(&cold, usize::MAX));
            if self.layers.iter().all(|layer| layer.queued() == 0) {
                break;
            }
            self.make_trees(pulse);
        }
    }

    /// Makes the other trees, then those again that load hot channels, while that helps.
    pub fn make_rest(&mut self, pulse: &dyn RouteProgress) {
        let shares = MIN_SHARES.div_ceil(self.layers.len().max(1));
        let layers = std::mem::take(&mut self.layers).into_iter();
        self.layers = layers.flat_map(|layer| layer.split_shares(shares)).collect();
        self.layers.iter_mut().for_each(VirtualLayer::queue_rest);
        self.make_trees(pulse);
        self.store_best();
        let patience = (self.trees / PATIENCE).min(MAX_WORK / self.net.channel_count().max(1));
        let mut left = patience;
        while left > 0 && !pulse.is_cancelled() {
            let before = self.best.busiest;
            let line = self.queue_hot(left);
            self.make_trees(pulse);
            self.store_best();
            let gained = before > 0 && (before - self.best.busiest) * MIN_GAIN >= before;
            // A pass costs something even if there is little to make.
            left = if gained { patience } else { left.saturating_sub(line.max(patience / 4).max(1)) };
        }
    }

    /// Queues about `most` trees that load hot channels or fell back.
    fn queue_hot(&mut self, most: usize) -> usize {
        let bound = self.max_load() * self.aim.hot_percent / 100;
        let hot: Vec<bool> = self.load.iter().map(|load| *load > bound).collect();
        let most = most.div_ceil(self.layers.len().max(1));
        self.layers.par_iter_mut().for_each(|layer| layer.queue_hot(&hot, most));
        self.layers.iter().map(VirtualLayer::queued).sum()
    }

    /// Makes the trees in line. Layers hear of each other's paths before each round.
    fn make_trees(&mut self, pulse: &dyn RouteProgress) {
        let longest = self.layers.iter().map(VirtualLayer::queued).max().unwrap_or(0);
        let rounds = longest.min(ROUNDS);
        let before = self.made;
        for round in 0..rounds {
            let load = &self.load;
            self.layers.par_iter_mut().for_each(|layer| {
                layer.set_total_load(load);
                layer.make_share(round, rounds, pulse);
            });
            self.load = total_loads(self.net, &self.layers);
            let line = |layer: &VirtualLayer<'_>| layer.queued() * (round + 1) / rounds;
            self.made = before + self.layers.iter().map(line).sum::<usize>();
            pulse.report(self.made.min(self.trees), self.trees);
        }
    }

    /// Keeps the trees if they are the best so far.
    fn store_best(&mut self) {
        let (busiest, total) = (self.max_load(), self.load.iter().sum());
        if !self.best.tables.is_empty() && (busiest, total) >= (self.best.busiest, self.best.total) {
            return;
        }
        let fell_back = self.layers.iter().flat_map(|layer| &layer.fell_back).filter(|fell| **fell).count();
        let tables = self.layers.iter().map(|layer| layer.table.clone()).collect();
        self.best = BestTrees { busiest, total, fell_back, tables };
    }
}

fn total_loads(net: &FlatGraph, layers: &[VirtualLayer<'_>]) -> Vec<u64> {
    let mut all = vec![0; net.channel_count()];
    for layer in layers {
        all.iter_mut().zip(&layer.load).for_each(|(all, load)| *all += load);
    }
    all
}
