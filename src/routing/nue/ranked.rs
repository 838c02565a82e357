//! Trees in lines that the ranks of switches give.

use rayon::prelude::*;

use super::layer::Tree;
use super::net::{NONE, Net};
use super::plain::Need;
use crate::fabric::{Lanes, Routes};
use crate::routing::engine::Answer;
use crate::routing::problem::Problem;
use crate::routing::ranks::Ranks;
use crate::routing::spread::line::Turns;
use crate::routing::spread::{Line, Spread};

const CANDIDATES: usize = 64;

pub(super) fn route(_problem: &Problem<'_>, net: &Net, _ranks: Option<Ranks>, plan: Vec<Vec<Tree>>, lanes: usize) -> Answer {
    let need = Need::new(net, &plan);
    let trees = plan.into_iter().next().unwrap_or_default();
    let lines = lines(net, &trees, lanes, need.mean);
    let spread = Spread::new(net, trees, &lines, need.mean, 24);
    let mut answer = Answer::from(write(_problem, net, &spread));
    answer.remarks.push(format!("forbidden {:?} need {} {}", lines.iter().map(|l| l.forbidden).collect::<Vec<_>>(), need.busiest, spread.busiest));
    answer
}

const TRIED: usize = 8;

fn lines(net: &Net, trees: &[Tree], lanes: usize, mean: u64) -> Vec<Line> {
    let turns = Turns::new(net);
    let parts = net.part_size.len();
    let mut candidates: Vec<Vec<u32>> = vec![Vec::new(); parts];
    for switch in (0..net.switches() as u32).filter(|at| net.part[*at as usize] != NONE) {
        candidates[net.part[switch as usize] as usize].push(switch);
    }
    let most = candidates.iter().map(Vec::len).max().unwrap_or(0).min(CANDIDATES);
    let roots = |turn: usize| -> Vec<u32> {
        candidates.iter().map(|all| all[turn * all.len() / most.max(1) % all.len()]).collect()
    };
    let mut all: Vec<Line> = (0..most).into_par_iter().map(|turn| Line::new(&turns, &roots(turn))).collect();
    all.sort_by_key(|line| line.forbidden);
    all.truncate(TRIED.max(lanes));
    let tried: Vec<(u64, u64)> = all.par_iter().map(|line| {
        let spread = Spread::new(net, trees.to_vec(), std::slice::from_ref(line), mean, 4);
        (spread.busiest, spread.total)
    }).collect();
    let first = (0..all.len()).min_by_key(|at| (tried[*at], *at)).unwrap_or(0);
    let line = all.swap_remove(first);
    let _ = lanes;
    vec![line]
}

fn write(problem: &Problem<'_>, net: &Net, spread: &Spread) -> Routes {
    let mut routes = problem.no_routes();
    let stride = routes.stride().max(1);
    routes.bytes_mut().par_chunks_exact_mut(stride).enumerate().for_each(|(switch, row)| {
        for (tree, table) in spread.trees.iter().zip(spread.table.chunks_exact(net.switches())) {
            let place = table[switch];
            if place == u8::MAX {
                continue;
            }
            let channel = net.at_place(switch as u32, place);
            let port = problem.graph.channels()[channel as usize].from_port.value();
            tree.lids.iter().for_each(|lid| row[*lid as usize] = port);
        }
        for end in problem.behind(switch as u32) {
            row[end.lid.index()] = end.port.value();
        }
    });
    let mut lane = vec![0; stride];
    for (tree, line) in spread.trees.iter().zip(&spread.line) {
        tree.lids.iter().for_each(|lid| lane[*lid as usize] = *line);
    }
    let count = spread.line.iter().map(|line| line + 1).max().unwrap_or(1);
    if count > 1 {
        routes.lanes = Lanes::ByDestination { lanes: count, lane };
    }
    routes
}
