//! From a problem to layers, and from layers to routes.

use rayon::prelude::*;

use super::blocks::partition;
use super::escape::Reserve;
use super::layer::{Layer, Recipe, Tree, roots};
use super::net::{NONE, Net};
use super::plain::{Need, Plain};
use crate::fabric::{Lanes, NodeId, Routes};
use crate::routing::engine::{Answer, Pulse, Refusal, Request};
use crate::routing::problem::{Destination, Problem};
use crate::routing::ranks::named_switches;

/// Layers tell each other their loads so many times in one pass over all destinations.
const ROUNDS: usize = 8;

/// Trees are made again until that was in vain so many times.
const IN_VAIN: usize = 2;

/// Trees made again, times channels, stay below this: on large fabrics the time is worth more than the balance.
const WORK: usize = 8_000_000;

/// LIDs, times channels, that may have a tree each.
const SHARED: usize = 6_000_000;

/// With so many trees, times channels, a search has to be worth its time.
const LARGE: usize = 1 << 20;

/// The best that the trees came to.
#[derive(Debug, Default)]
struct Outcome {
    busiest: u64,
    total: u64,
    fell_back: usize,
    tables: Vec<Vec<u8>>,
}

pub fn route(problem: &Problem<'_>, request: &Request, pulse: &dyn Pulse) -> Result<Answer, Refusal> {
    if request.lanes == 0 {
        return Err(Refusal::Request { engine: "nue", what: "no lane to route on".to_owned() });
    }
    let given = named_switches("nue", problem, &request.roots)?;
    let net = Net::new(&problem.graph);
    let lanes = usize::from(problem.usable_lanes(request.lanes));
    let plan = layers(problem, &net, lanes, lids_to_a_tree(problem, &net));
    let need = Need::new(&net, &plan);
    let large = plan.iter().map(Vec::len).sum::<usize>() * net.channels() > LARGE;
    let plain = Plain::new(problem, &net, &plan, request, pulse)?;
    if let Some(plain) = plain.as_ref().filter(|plain| plain.suffices(&need, large)) {
        return Ok(without_search(plain, &need));
    }
    let lanes = plan.par_iter().enumerate();
    let roots: Vec<Vec<u32>> = lanes.map(|(lane, trees)| roots(&net, trees, &given, lane)).collect();
    if pulse.cancelled() {
        return Err(Refusal::Cancelled);
    }
    let aim = Aim::of(&need, plan.len());
    let courses = [Reserve::Tree, Reserve::Turns].into_par_iter().map(|reserve| {
        let recipe = Recipe { reserve, hop: aim.hop, unpaid: 0 };
        Course::begin(&net, recipe, &plan, &roots, pulse)
    });
    let courses: Vec<Course<'_>> = courses.collect();
    // The first trees tell: to finish both takes twice the time and rarely comes to another choice.
    let best = courses.into_iter().min_by_key(Course::busiest);
    let Some(mut course) = best else { return Err(Refusal::Cancelled) };
    course.finish(&aim, pulse);
    if pulse.cancelled() {
        return Err(Refusal::Cancelled);
    }
    if let Some(plain) = plain.filter(|plain| plain.busiest < course.best.busiest) {
        return Ok(without_search(&plain, &need));
    }
    let mut answer = Answer::from(write(problem, &net, &plan, &course.best));
    answer.remarks.extend(remarks(problem, &plan, &roots, &course));
    if !(request.compute_nodes.is_empty() && request.io_nodes.is_empty()) {
        answer.remarks.push(
            "the search treats all adapters alike: lists of compute and I/O nodes change nothing".into(),
        );
    }
    Ok(answer)
}

/// The routes of Up*/Down*, and why they are taken.
fn without_search(plain: &Plain, need: &Need) -> Answer {
    let why = format!(
        "balanced Up*/Down* routes are as good on one lane: at most {} paths on a channel, no routes have less than {}",
        plain.busiest, need.busiest
    );
    let mut answer = plain.answer.clone();
    let fell = "no destination was searched, none fell back".to_owned();
    answer.remarks.splice(0..0, [fell, why]);
    answer
}

fn remarks(
    problem: &Problem<'_>,
    plan: &[Vec<Tree>],
    roots: &[Vec<u32>],
    course: &Course<'_>,
) -> Vec<String> {
    let trees: usize = plan.iter().map(Vec::len).sum();
    let reserved = match course.reserve {
        Reserve::Tree => "a spanning tree",
        Reserve::Turns => "all turns of an Up*/Down* orientation",
    };
    let fell = course.best.fell_back;
    let mut remarks = vec![
        format!("{fell} of {trees} destinations fell back on the escape paths"),
        format!("escape paths: {reserved} of each layer"),
    ];
    for (lane, roots) in roots.iter().enumerate() {
        let names =
            roots.iter().map(|root| match problem.fabric.node(NodeId(*root)).facts.description.trim() {
                "" => problem.fabric.node(NodeId(*root)).facts.guid.to_string(),
                name => name.to_owned(),
            });
        remarks.push(format!("root of lane {lane}: {}", names.collect::<Vec<_>>().join(", ")));
    }
    remarks
}

/// How to weigh, found by trying on the kit's fabrics: few layers have more to avoid than they can, so that detours
/// pay and half of all channels are worth another try; with many layers the shortest paths nearly fit.
#[derive(Clone, Copy, Debug)]
struct Aim {
    /// What a hop weighs beside the paths over a channel.
    hop: u64,
    /// Channels with so many percent of the busiest one's load are hot.
    hot_percent: u64,
    /// So many trees are made again for each that there is, at most.
    again: usize,
}

impl Aim {
    fn of(need: &Need, layers: usize) -> Self {
        match layers {
            0..=2 => Self { hop: (need.mean / 4).max(1), hot_percent: 50, again: 3 },
            _ => Self { hop: 2 * need.mean, hot_percent: 95, again: 1 },
        }
    }
}

/// Where trees for every LID would take too long those of one switch share some.
fn lids_to_a_tree(problem: &Problem<'_>, net: &Net) -> usize {
    let terminals = problem.destinations().iter().filter(|end| !end.is_switch()).count();
    (terminals * net.channels() / SHARED).max(1)
}

/// The trees of every layer.
pub(super) fn layers(problem: &Problem<'_>, net: &Net, lanes: usize, together: usize) -> Vec<Vec<Tree>> {
    let weight: Vec<u32> = problem.switches().map(|switch| problem.behind(switch).len() as u32).collect();
    let ends = weight.iter().filter(|weight| **weight > 0).count();
    let lanes = lanes.min(ends).max(1);
    let layer_of = partition(net, &weight, lanes as u32);
    let mut plan = vec![Vec::new(); lanes];
    // First one tree of every switch, then the second of every switch, and so on: load spreads as it grows.
    let most = weight.iter().copied().max().unwrap_or(0) as usize;
    for first in (0..most).step_by(together) {
        for switch in problem.switches().filter(|switch| layer_of[*switch as usize] != NONE) {
            // Its own LIDs, which carry no load, may lie anywhere among those of its terminals.
            let of = |own: bool| problem.behind(switch).iter().filter(move |end| end.is_switch() == own);
            let lid = |end: &Destination| end.lid.index() as u32;
            let mut lids: Vec<u32> = of(true).filter(|_| first == 0).map(lid).collect();
            let own = lids.len();
            lids.extend(of(false).skip(first).take(together).map(lid));
            let loaded = (lids.len() - own) as u32;
            if !lids.is_empty() {
                plan[layer_of[switch as usize] as usize].push(Tree { switch, lids, loaded });
            }
        }
    }
    plan.retain(|trees| !trees.is_empty());
    plan
}

/// One way to reserve escape paths, as far as its trees are made.
#[derive(Debug)]
struct Course<'n> {
    net: &'n Net,
    layers: Vec<Layer<'n>>,
    reserve: Reserve,
    /// Trees made so far, and all of them.
    made: usize,
    trees: usize,
    load: Vec<u64>,
    best: Outcome,
}

impl<'n> Course<'n> {
    /// Makes the first tree of every switch: enough to tell which recipe suits the fabric.
    fn begin(
        net: &'n Net,
        recipe: Recipe,
        plan: &[Vec<Tree>],
        roots: &[Vec<u32>],
        pulse: &dyn Pulse,
    ) -> Self {
        let make = |(trees, roots): (&Vec<Tree>, &Vec<u32>)| Layer::new(net, recipe, trees.clone(), roots);
        let layers = plan.par_iter().zip(roots).map(make).collect();
        let mut course = Self {
            net,
            layers,
            reserve: recipe.reserve,
            made: 0,
            trees: plan.iter().map(Vec::len).sum(),
            load: vec![0; net.channels()],
            best: Outcome::default(),
        };
        course.layers.iter_mut().for_each(|layer| layer.line_up(0..layer.first_turn()));
        course.make(pulse);
        course
    }

    fn busiest(&self) -> u64 {
        self.load.iter().copied().max().unwrap_or(0)
    }

    /// Makes the other trees, then those again that load hot channels, while that helps.
    fn finish(&mut self, aim: &Aim, pulse: &dyn Pulse) {
        self.layers.iter_mut().for_each(|layer| layer.line_up(layer.first_turn()..layer.trees.len()));
        self.make(pulse);
        self.keep();
        let (mut left, mut in_vain) = ((self.trees * aim.again).min(WORK / self.net.channels().max(1)), 0);
        while left > 0 && in_vain < IN_VAIN && !pulse.cancelled() {
            let bound = self.busiest() * aim.hot_percent / 100;
            let hot: Vec<bool> = self.load.iter().map(|load| *load > bound).collect();
            self.layers.iter_mut().for_each(|layer| layer.line_up_hot(&hot, left));
            let line: usize = self.layers.iter().map(Layer::line).sum();
            self.make(pulse);
            left = left.saturating_sub(line.max(1));
            in_vain = if self.keep() { 0 } else { in_vain + 1 };
        }
    }

    /// Makes the trees in line. Layers hear of each other's paths between rounds.
    fn make(&mut self, pulse: &dyn Pulse) {
        let rounds = if self.layers.len() > 1 { ROUNDS } else { 1 };
        for round in 0..rounds {
            self.layers.par_iter_mut().for_each(|layer| layer.make(round, rounds, pulse));
            self.load = sum(self.net, &self.layers);
            let load = &self.load;
            self.layers.par_iter_mut().for_each(|layer| layer.hear(load));
            let line = |layer: &Layer<'_>| layer.line() * (round + 1) / rounds;
            let made = self.made + self.layers.iter().map(line).sum::<usize>();
            pulse.step(made.min(self.trees), self.trees);
        }
        self.made += self.layers.iter().map(Layer::line).sum::<usize>();
    }

    /// Keeps the trees if they are the best so far.
    fn keep(&mut self) -> bool {
        let (busiest, total) = (self.busiest(), self.load.iter().sum());
        if !self.best.tables.is_empty() && (busiest, total) >= (self.best.busiest, self.best.total) {
            return false;
        }
        let fell_back = self.layers.iter().flat_map(|layer| &layer.fell_back).filter(|fell| **fell).count();
        let tables = self.layers.iter().map(|layer| layer.table.clone()).collect();
        self.best = Outcome { busiest, total, fell_back, tables };
        true
    }
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
