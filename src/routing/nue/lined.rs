//! Trees in one line of all switches, which need no search and no lane of their own.

use rayon::prelude::*;

use super::layer::{Tree, roots};
use super::net::{NONE, Net};
use super::plain::Need;
use crate::engine::Pulse;
use crate::problem::Problem;
use crate::spread::{Line, Spread, Turns};
use fabdeck_fabric::Routes;

/// Switches that lines begin at, and switches times channels that all of them may take.
const BEGUN: usize = 64;
const LINE_WORK: usize = 1 << 24;

/// Trees are grown in so many lines, twice and once more, as long as trees times channels allow it.
const TRIED: usize = 32;
const TRIED_PASSES: usize = 3;
const TRIED_WORK: usize = 16_000_000;

/// All trees are grown again so many times, as long as trees times channels allow it.
const PASSES: usize = 24;
const WORK: usize = 20_000_000;

/// So many of the lines that were tried are taken beside the best one.
const OTHERS: usize = 7;

/// The best trees of a few lines, those on whose busiest channel fewest paths are first; `None` when cancelled.
pub(super) fn spread(
    net: &Net,
    trees: &[Tree],
    given: &[u32],
    need: &Need,
    pulse: &dyn Pulse,
) -> Option<Vec<Spread>> {
    let once = (trees.len() * net.channels()).max(1);
    let mut lines = lines(net, trees, given);
    lines.truncate((TRIED_WORK / once / (1 + TRIED_PASSES)).clamp(1, TRIED));
    let passes = (WORK / once).min(PASSES);
    let mut best = Vec::new();
    if lines.len() > 1 {
        let tried: Vec<Option<Spread>> = lines
            .par_iter()
            .map(|line| Spread::new(net, trees, line, need.busiest, TRIED_PASSES, pulse))
            .collect();
        let tried: Vec<Spread> = tried.into_iter().collect::<Option<_>>()?;
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by_key(|at| (tried[*at].busiest, tried[*at].total, *at));
        lines.swap(0, order[0]);
        best.extend(order.iter().skip(1).take(OTHERS).map(|at| tried[*at].clone()));
    }
    let first = match lines.first() {
        Some(line) => Spread::new(net, trees, line, need.busiest, passes, pulse)?,
        None => Spread::default(),
    };
    best.insert(0, first);
    Some(best)
}

/// Those that forbid least first. In each part they begin at given switches, or at any.
fn lines(net: &Net, trees: &[Tree], given: &[u32]) -> Vec<Line> {
    let turns = Turns::new(net);
    let mut of_part: Vec<Vec<u32>> = vec![Vec::new(); net.part_size.len()];
    for switch in (0..net.switches() as u32).filter(|switch| net.part[*switch as usize] != NONE) {
        of_part[net.part[switch as usize] as usize].push(switch);
    }
    for all in of_part.iter_mut() {
        if all.iter().any(|switch| given.contains(switch)) {
            all.retain(|switch| given.contains(switch));
        }
    }
    let most = of_part.iter().map(Vec::len).max().unwrap_or(0);
    let begun = (LINE_WORK / (net.switches() * net.channels()).max(1)).clamp(1, BEGUN).min(most);
    let central = roots(net, trees, given, 0);
    let at = |turn: usize| -> Vec<u32> {
        match turn {
            // The only one where there is no time for more.
            0 => central.clone(),
            _ => of_part.iter().map(|all| all[turn * all.len() / begun % all.len()]).collect(),
        }
    };
    let mut lines: Vec<Line> = (0..begun).into_par_iter().map(|turn| Line::new(&turns, &at(turn))).collect();
    lines.sort_by_key(|line| line.forbidden);
    lines
}

/// Tables of the trees.
pub(super) fn write(problem: &Problem<'_>, net: &Net, trees: &[Tree], spread: &Spread) -> Routes {
    let mut routes = problem.no_routes();
    let stride = routes.stride().max(1);
    routes.bytes_mut().par_chunks_exact_mut(stride).enumerate().for_each(|(switch, row)| {
        for (tree, table) in trees.iter().zip(spread.table.chunks_exact(net.switches())) {
            let place = table[switch];
            if place != u8::MAX {
                let channel = net.at_place(switch as u32, place);
                let port = problem.graph.channels()[channel as usize].from_port.value();
                tree.lids.iter().for_each(|lid| row[*lid as usize] = port);
            }
        }
        for end in problem.behind(switch as u32) {
            row[end.lid.index()] = end.port.value();
        }
    });
    routes
}
