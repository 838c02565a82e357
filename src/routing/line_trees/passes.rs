//! All trees, grown one after the other by what those before put on channels, then again by what all others do.

use std::sync::Arc;

use super::flat_graph::{FlatGraph, NONE};
use super::switch_order::SwitchOrder;
use super::tree_grower::TreeGrower;
use super::weighted_load::{LOAD_POWERS, SOFT_HOP, STRICT_HOP, WeightedLoad};
use crate::engine::RouteProgress;

/// A place in a table that leads nowhere.
const NOWHERE: u8 = u8::MAX;

/// Passes in a row without gain that end the first half, in which hops decide, and the second.
const PATIENCE: usize = 6;

/// One tree to grow: the LIDs of `lids` behind a switch, how many of them are loaded (those of terminals), and what the
/// switches send to each.
#[derive(Clone, Debug)]
pub(crate) struct TreeTask {
    pub switch: u32,
    pub lids: Vec<u32>,
    pub loaded: u32,
    pub senders: Arc<[u32]>,
}

/// Trees that stand, and what they put on channels.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpreadTrees {
    /// Of each tree the place of the channel that each switch takes.
    pub table: Vec<u8>,
    pub busiest: u64,
    pub total: u64,
}

impl SpreadTrees {
    /// `least` is a lower bound of the busiest channel's load; the other limit is the number of passes over all trees. `None`
    /// when cancelled.
    pub fn new(
        net: &FlatGraph,
        trees: &[TreeTask],
        line: &SwitchOrder,
        least: u64,
        passes: usize,
        pulse: &dyn RouteProgress,
    ) -> Option<Self> {
        let table = vec![NOWHERE; trees.len() * net.switch_count()];
        let mut making = SpreadPass {
            net,
            trees,
            line,
            grower: TreeGrower::new(net),
            load: WeightedLoad::new(net, least),
            table,
        };
        let mut best = Self::default();
        let (mut idle, mut soft) = (0, false);
        for pass in 0..=passes {
            let power = LOAD_POWERS[pass % LOAD_POWERS.len()];
            if pass > 0 {
                making.load.reweigh(power);
            }
            making.load.hop = if soft { SOFT_HOP.pow(power) } else { STRICT_HOP };
            if !making.run_pass(pass == 0, pulse) {
                return None;
            }
            let (busiest, total) = (making.load.max_load(), making.load.total_load());
            if pass == 0 || (busiest, total) < (best.busiest, best.total) {
                best = Self { table: making.table.clone(), busiest, total };
                idle = 0;
            } else {
                idle += 1;
            }
            let is_idle = idle == PATIENCE;
            if busiest <= least || (soft && is_idle) {
                break;
            }
            if !soft && (is_idle || pass * 2 > passes) {
                (soft, idle) = (true, 0);
            }
        }
        Some(best)
    }
}

/// Trees in the making.
struct SpreadPass<'a> {
    net: &'a FlatGraph,
    trees: &'a [TreeTask],
    line: &'a SwitchOrder,
    grower: TreeGrower,
    load: WeightedLoad,
    table: Vec<u8>,
}

impl SpreadPass<'_> {
    /// Grows all trees; false when cancelled.
    fn run_pass(&mut self, first: bool, pulse: &dyn RouteProgress) -> bool {
        for at in 0..self.trees.len() {
            if pulse.is_cancelled() {
                return false;
            }
            if first || self.trees[at].loaded > 0 {
                self.grow_one(at, !first);
            }
        }
        true
    }

    fn grow_one(&mut self, at: usize, again: bool) {
        let (net, tree, load) = (self.net, &self.trees[at], &mut self.load);
        let loaded = u64::from(tree.loaded);
        let row = &mut self.table[at * net.switch_count()..(at + 1) * net.switch_count()];
        if again {
            self.grower.adopt_tree(net, row, tree.switch);
            self.grower.for_each_flow(net, &tree.senders, |channel, paths| {
                load.change_load(channel, paths * loaded, false)
            });
        }
        self.grower.grow_tree(net, self.line, load, (&tree.senders, loaded), tree.switch, again);
        if !again {
            self.grower.sort_by_depth(net, tree.switch);
            self.grower.for_each_flow(net, &tree.senders, |channel, paths| {
                load.change_load(channel, paths * loaded, true)
            });
        }
        for (place, next) in row.iter_mut().zip(&self.grower.next) {
            *place = if *next == NONE { NOWHERE } else { net.place(*next) };
        }
    }
}
