//! From a problem to layers, and from layers to routes.

use rayon::prelude::*;

use super::blocks::partition;
use super::escape::Reserve;
use super::layer::{Layer, Recipe, Tree, roots};
use super::net::{NONE, Net};
use crate::fabric::{Lanes, Routes};
use crate::routing::engine::{Answer, Pulse, Refusal, Request};
use crate::routing::problem::Problem;

/// Layers tell each other their loads so many times in one pass over all destinations.
const ROUNDS: usize = 8;

/// What a recipe came to.
#[derive(Debug)]
struct Outcome {
    busiest: u64,
    total: u64,
    fell_back: usize,
    tables: Vec<Vec<u8>>,
}

pub fn route(problem: &Problem<'_>, request: &Request, pulse: &dyn Pulse) -> Result<Answer, Refusal> {
    let net = Net::new(&problem.graph);
    let plan = layers(problem, &net, request);
    let roots: Vec<Vec<u32>> = plan.par_iter().map(|trees| roots(&net, trees)).collect();
    if pulse.cancelled() {
        return Err(Refusal::Cancelled);
    }
    let var = |n: &str, d: u64| std::env::var(n).ok().and_then(|v| v.parse().ok()).unwrap_or(d);
    let mean = mean_load(&net, &plan);
    let hop = match var("HOP", 0) {
        0 => 1 << 40,
        share => (mean * share / 8).max(1),
    };
    let unpaid = match var("HOP", 0) {
        0 => (1 << 40) * var("PAY", 0) / 64,
        share => (mean * share * var("PAY", 0) / 8 / 64).max(1),
    };
    let reserve = if var("TURNS", 0) == 1 { Reserve::Turns } else { Reserve::Tree };
    let recipe = Recipe { reserve, hop, unpaid };
    let best = attempt(&net, recipe, &plan, &roots, pulse, var("SWEEPS", 0) as usize);
    if pulse.cancelled() {
        return Err(Refusal::Cancelled);
    }
    let trees: usize = plan.iter().map(Vec::len).sum();
    let mut answer = Answer::from(write(problem, &net, &plan, &best));
    answer.remarks.push(format!(
        "{} of {trees} trees began from the escape paths; busiest {} total {}",
        best.fell_back, best.busiest, best.total
    ));
    Ok(answer)
}

/// The trees of every layer.
fn layers(problem: &Problem<'_>, net: &Net, request: &Request) -> Vec<Vec<Tree>> {
    let weight: Vec<u32> = problem.switches().map(|switch| problem.behind(switch).len() as u32).collect();
    let ends = weight.iter().filter(|weight| **weight > 0).count();
    let lanes = usize::from(request.lanes).min(ends).clamp(1, 15);
    let layer_of = partition(net, &weight, lanes as u32);
    let mut plan = vec![Vec::new(); lanes];
    // First one tree of every switch, then the second of every switch, and so on: load spreads as it grows.
    let most = weight.iter().copied().max().unwrap_or(0) as usize;
    for turn in 0..most {
        for switch in problem.switches().filter(|switch| layer_of[*switch as usize] != NONE) {
            let behind = problem.behind(switch);
            let own = behind.iter().take_while(|end| end.is_switch()).count();
            let terminals = behind.len() - own;
            let mut lids: Vec<u32> = Vec::new();
            if turn == 0 {
                lids.extend(behind[..own].iter().map(|end| end.lid.index() as u32));
            }
            let loaded = u32::from(turn < terminals);
            lids.extend(behind.get(own + turn).map(|end| end.lid.index() as u32));
            if !lids.is_empty() {
                plan[layer_of[switch as usize] as usize].push(Tree { switch, lids, loaded });
            }
        }
    }
    plan.retain(|trees| !trees.is_empty());
    plan
}

/// Paths over a channel if all were shortest and spread evenly.
fn mean_load(net: &Net, plan: &[Vec<Tree>]) -> u64 {
    let mut loaded = vec![0u64; net.switches()];
    plan.iter().flatten().for_each(|tree| loaded[tree.switch as usize] += u64::from(tree.loaded));
    let to = (0..net.switches() as u32).into_par_iter().filter(|to| loaded[*to as usize] > 0);
    let all: u64 = to
        .map_init(Default::default, |(hops, queue): &mut (Vec<u32>, Vec<u32>), to| {
            net.hops(&[to], hops, queue);
            let paths = hops.iter().zip(&net.senders).filter(|(hops, _)| **hops != NONE);
            loaded[to as usize] * paths.map(|(hops, sent)| u64::from(*hops) * u64::from(*sent)).sum::<u64>()
        })
        .sum();
    (all / (net.channels() as u64).max(1)).max(1)
}

fn attempt(
    net: &Net, recipe: Recipe, plan: &[Vec<Tree>], roots: &[Vec<u32>], pulse: &dyn Pulse, sweeps: usize,
) -> Outcome {
    let make = |(trees, roots): (&Vec<Tree>, &Vec<u32>)| Layer::new(net, recipe, trees.clone(), roots);
    let mut layers: Vec<Layer<'_>> = plan.par_iter().zip(roots).map(make).collect();
    let mut best: Option<Outcome> = None;
    let rounds = if layers.len() > 1 { ROUNDS } else { 1 };
    for sweep in 0..=sweeps {
        for round in 0..rounds {
            layers.par_iter_mut().for_each(|layer| layer.make(round, rounds, pulse));
            let all = sum(net, &layers);
            layers.iter_mut().for_each(|layer| layer.hear(&all));
            pulse.step(sweep * rounds + round + 1, (sweeps + 1) * rounds);
            if pulse.cancelled() {
                break;
            }
        }
        let all = sum(net, &layers);
        let (busiest, total) = (all.iter().copied().max().unwrap_or(0), all.iter().sum());
        if best.as_ref().is_none_or(|best| (busiest, total) < (best.busiest, best.total)) {
            let fell_back = layers.iter().flat_map(|layer| &layer.fell_back).filter(|fell| **fell).count();
            if std::env::var("SHOW").is_ok() { eprintln!("sweep {sweep} {busiest} {total} {fell_back}"); }
            let tables = layers.iter().map(|layer| layer.table.clone()).collect();
            best = Some(Outcome { busiest, total, fell_back, tables });
        }
    }
    best.unwrap_or(Outcome { busiest: 0, total: 0, fell_back: 0, tables: Vec::new() })
}

fn sum(net: &Net, layers: &[Layer<'_>]) -> Vec<u64> {
    let mut all = vec![0; net.channels()];
    for layer in layers {
        all.iter_mut().zip(&layer.load).for_each(|(all, load)| *all += load);
    }
    all
}

fn write(problem: &Problem<'_>, net: &Net, plan: &[Vec<Tree>], best: &Outcome) -> Routes {
    let mut routes = problem.no_routes();
    let stride = routes.stride().max(1);
    routes.bytes_mut().par_chunks_exact_mut(stride).enumerate().for_each(|(switch, row)| {
        for (trees, table) in plan.iter().zip(&best.tables) {
            for (number, tree) in trees.iter().enumerate() {
                let place = table[number * net.switches() + switch];
                if place == u8::MAX {
                    continue;
                }
                let channel = net.at_place(switch as u32, place);
                let port = problem.graph.channels()[channel as usize].from_port.value();
                tree.lids.iter().for_each(|lid| row[*lid as usize] = port);
            }
        }
        for end in problem.behind(switch as u32) {
            row[end.lid.index()] = end.port.value();
        }
    });
    let mut lane = vec![0; stride];
    for (number, trees) in plan.iter().enumerate() {
        trees.iter().flat_map(|tree| &tree.lids).for_each(|lid| lane[*lid as usize] = number as u8);
    }
    if plan.len() > 1 {
        routes.lanes = Lanes::ByDestination { lanes: plan.len() as u8, lane };
    }
    routes
}
