//! Trees in one line of all switches, which need no search and no lane of their own.

use rayon::prelude::*;

use super::balanced_updown::LoadBounds;
use super::virtual_layer::layer_roots;
use crate::engine::RouteProgress;
use crate::line_trees::TreeTask;
use crate::line_trees::flat_graph::{FlatGraph, NONE};
use crate::line_trees::{SpreadTrees, SwitchOrder, TurnLoads};
use crate::problem::Problem;
use fabdeck_fabric::Routes;

/// Switches that lines begin at, and switches times channels that all of them may take.
const MAX_STARTS: usize = 64;
const MAX_LINE_WORK: usize = 1 << 24;

/// Lines in which trees are grown, `TRIAL_PASSES` times each, if trees times channels are below `MAX_TRIAL_WORK`.
const TRIAL_LINES: usize = 32;
const TRIAL_PASSES: usize = 3;
const MAX_TRIAL_WORK: usize = 16_000_000;

/// Most passes over all trees, if trees times channels are below `MAX_WORK`.
const MAX_PASSES: usize = 24;
const MAX_WORK: usize = 20_000_000;

/// Lines that are taken beside the best one.
const MAX_ALTERNATIVES: usize = 7;

/// The best trees of a few lines, those on whose busiest channel fewest paths are first; `None` when cancelled.
pub fn spread_trees(
    net: &FlatGraph,
    trees: &[TreeTask],
    given: &[u32],
    need: &LoadBounds,
    pulse: &dyn RouteProgress,
) -> Option<Vec<SpreadTrees>> {
    let once = (trees.len() * net.channel_count()).max(1);
    let mut lines = candidate_orders(net, trees, given);
    lines.truncate((MAX_TRIAL_WORK / once / (1 + TRIAL_PASSES)).clamp(1, TRIAL_LINES));
    let passes = (MAX_WORK / once).min(MAX_PASSES);
    let mut best = Vec::new();
    if lines.len() > 1 {
        let tried: Vec<Option<SpreadTrees>> = lines
            .par_iter()
            .map(|line| SpreadTrees::new(net, trees, line, need.busiest, TRIAL_PASSES, pulse))
            .collect();
        let tried: Vec<SpreadTrees> = tried.into_iter().collect::<Option<_>>()?;
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by_key(|at| (tried[*at].busiest, tried[*at].total, *at));
        lines.swap(0, order[0]);
        best.extend(order.iter().skip(1).take(MAX_ALTERNATIVES).map(|at| tried[*at].clone()));
    }
    let first = match lines.first() {
        Some(line) => SpreadTrees::new(net, trees, line, need.busiest, passes, pulse)?,
        None => SpreadTrees::default(),
    };
    best.insert(0, first);
    Some(best)
}

/// Those that forbid least first. In each part they begin at given switches, or at any.
fn candidate_orders(net: &FlatGraph, trees: &[TreeTask], given: &[u32]) -> Vec<SwitchOrder> {
    let turns = TurnLoads::new(net);
    let mut of_part: Vec<Vec<u32>> = vec![Vec::new(); net.part_size.len()];
    for switch in (0..net.switch_count() as u32).filter(|switch| net.part[*switch as usize] != NONE) {
        of_part[net.part[switch as usize] as usize].push(switch);
    }
    for all in of_part.iter_mut() {
        if all.iter().any(|switch| given.contains(switch)) {
            all.retain(|switch| given.contains(switch));
        }
    }
    let most = of_part.iter().map(Vec::len).max().unwrap_or(0);
    let begun =
        (MAX_LINE_WORK / (net.switch_count() * net.channel_count()).max(1)).clamp(1, MAX_STARTS).min(most);
    let central = layer_roots(net, trees, given, 0);
    let at = |turn: usize| -> Vec<u32> {
        match turn {
            // The only one where there is no time for more.
            0 => central.clone(),
            _ => of_part.iter().map(|all| all[turn * all.len() / begun % all.len()]).collect(),
        }
    };
    let mut lines: Vec<SwitchOrder> =
        (0..begun).into_par_iter().map(|turn| SwitchOrder::new(&turns, &at(turn))).collect();
    lines.sort_by_key(|line| line.forbidden);
    lines
}

/// Tables of the trees.
pub fn write_routes(
    problem: &Problem<'_>,
    net: &FlatGraph,
    trees: &[TreeTask],
    spread: &SpreadTrees,
) -> Routes {
    let mut routes = problem.empty_routes();
    let stride = routes.stride().max(1);
    routes.entries_mut().par_chunks_exact_mut(stride).enumerate().for_each(|(switch, row)| {
        for (tree, table) in trees.iter().zip(spread.table.chunks_exact(net.switch_count())) {
            let place = table[switch];
            if place != u8::MAX {
                let channel = net.channel_at(switch as u32, place);
                let port = problem.graph.channels()[channel as usize].from_port.value();
                tree.lids.iter().for_each(|lid| row[*lid as usize] = port);
            }
        }
        for end in problem.destinations_behind(switch as u32) {
            row[end.lid.index()] = end.port.value();
        }
    });
    routes
}
