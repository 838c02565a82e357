//! From a problem to layers, and from layers to routes.

use rayon::prelude::*;

use super::balanced_updown::{BalancedUpDown, LoadBounds, TIE_BREAKS};
use super::demand::Demand;
use super::layered_search::{LayeredSearch, SearchWeights};
use super::line_routes;
use super::partition::partition;
use super::virtual_layer::layer_roots;
use crate::acyclic::escape_paths::EscapeKind;
use crate::acyclic::{CompletionScope, balance_tables};
use crate::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use crate::line_trees::SpreadTrees;
use crate::line_trees::TreeTask;
use crate::line_trees::flat_graph::{FlatGraph, NONE};
use crate::problem::{Destination, Problem};
use crate::ranks::{self, failed_roots, named_switches};
use crate::sftree::subtree_roots;
use crate::updn;
use crate::updown::{UpDownOrder, fill_tables};
use fabdeck_fabric::{NodeId, PathLanes, Routes};

/// LIDs, times channels, that may have a tree each.
const MAX_TREE_WORK: usize = 24_000_000;

/// Trees times channels from which a search has to be worth its time.
const LARGE_WORK: usize = 1 << 20;

/// With more switches the time counts for more than what a line gains.
const MAX_LINE_SWITCHES: usize = 128;

pub fn route(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    route_for(problem, request, None, pulse)
}

/// Routes for the given traffic; by default every adapter sends to every other one.
pub(crate) fn route_for(
    problem: &Problem<'_>,
    request: &Request,
    demand: Option<&Demand>,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    let NueRoutes { mut answer, others } = find_routes(problem, request, demand, pulse)?;
    if demand.is_some() {
        return Ok(answer);
    }
    if request.plain_search {
        return Ok(with_request(answer, problem, request));
    }
    let before = answer.routes.clone();
    let mut least =
        balance_tables(problem, request, pulse, CompletionScope::Nothing, &mut answer.routes)?.busiest;
    let mut moved = answer.routes != before;
    if moved {
        answer
            .remarks
            .iter_mut()
            .for_each(|remark| *remark = remark.replacen(UPDOWN_REMARK, FROM_UPDOWN_REMARK, 1));
    }
    for AlternativeRoutes { mut routes, how } in others {
        let busiest = balance_tables(problem, request, pulse, CompletionScope::Nothing, &mut routes)?.busiest;
        if busiest.is_some() && busiest < least {
            (answer.routes, least, moved) = (routes, busiest, true);
            answer.remarks = vec![how];
        }
    }
    if let Some(least) = least.filter(|_| moved) {
        answer.remarks.push(format!(
            "then paths were moved away from the busiest channels: no channel has more than {least}"
        ));
    }
    Ok(with_request(answer, problem, request))
}

/// Routes, and others that may be better once paths are moved off their busiest channels.
struct NueRoutes {
    answer: EngineAnswer,
    others: Vec<AlternativeRoutes>,
}

/// Routes on one lane, and how they are made, a sentence.
struct AlternativeRoutes {
    routes: Routes,
    how: String,
}

impl From<EngineAnswer> for NueRoutes {
    fn from(answer: EngineAnswer) -> Self {
        Self { answer, others: Vec::new() }
    }
}

fn find_routes(
    problem: &Problem<'_>,
    request: &Request,
    demand: Option<&Demand>,
    pulse: &dyn RouteProgress,
) -> Result<NueRoutes, EngineRefusal> {
    check_lanes(request)?;
    let given = named_switches("nue", problem, &request.roots)?;
    let net = FlatGraph::new(&problem.graph);
    let lanes = usize::from(problem.usable_lanes(request.lanes));
    let ranked = ranks::find_ranks(updn::ID, problem, request).ok();
    let is_ranked = ranked.is_some();
    let is_tree = |height: &[u32]| given.is_empty() && !has_level_links(&net, height);
    let tree = ranked.filter(|ranks| !request.plain_search && is_tree(&ranks.height));
    // On a tree every way is free of cycles beside every other: more lanes are of no use.
    let lanes = if tree.is_some() { 1 } else { lanes };
    // What weighs differently shares no tree.
    let together = if demand.is_some() { 1 } else { lids_per_tree(problem, &net) };
    let plan = plan_layers(problem, &net, lanes, together, demand);
    let need = LoadBounds::new(&net, &plan);
    let large = plan.iter().map(Vec::len).sum::<usize>() * net.channel_count() > LARGE_WORK;
    let searched_only = request.plain_search || demand.is_some();
    let lined = match large || net.switch_count() > MAX_LINE_SWITCHES || searched_only {
        true => None,
        false => Some(LineTrees::new(problem, &net, &given, (&need, together), pulse)?),
    };
    if let Some(lined) = lined.as_ref().filter(|lined| lined.is_sufficient(&need)) {
        return Ok(lined.answer(problem, &net, &need, None).into());
    }
    let plain = match plan.len() {
        _ if request.plain_search => None,
        3.. if !is_ranked => None,
        _ => Some(BalancedUpDown::new(problem, &net, &plan, request, pulse)?),
    };
    if let Some(plain) = plain.as_ref().filter(|plain| lined.is_none() && plain.is_sufficient(&need, large)) {
        return Ok(updown_answer(plain, &need, None).into());
    }
    let aim = SearchWeights::choose(&need, plan.len(), tree.is_some());
    let roots: Vec<Vec<u32>> = match &tree {
        Some(tree) => {
            vec![subtree_roots(problem, request, &UpDownOrder::new(&problem.graph, &tree.height, false))]
        }
        None => {
            plan.par_iter().enumerate().map(|(lane, trees)| layer_roots(&net, trees, &given, lane)).collect()
        }
    };
    pulse.check_cancelled()?;
    let course = search_layers(&net, &plan, &roots, aim, tree.is_some(), pulse);
    let Some(course) = course.filter(|_| !pulse.is_cancelled()) else { return Err(EngineRefusal::Cancelled) };
    let mut others = Vec::new();
    if let Some(lined) = &lined {
        others.extend(lined.alternatives(problem, &net));
        others.extend(updown_by_ranks(problem, request, &net, &plan, pulse)?);
    }
    let found = |answer| Ok(NueRoutes { answer, others });
    let lined = lined.filter(|lined| (1..=course.best.busiest).contains(&lined.spread.busiest));
    let busiest = lined.as_ref().map_or(course.best.busiest, |lined| lined.spread.busiest);
    if let Some(plain) = plain.filter(|plain| plain.busiest < busiest) {
        return found(updown_answer(&plain, &need, Some(&course)));
    }
    if let Some(lined) = lined {
        return found(lined.answer(problem, &net, &need, Some(&course)));
    }
    let mut answer = EngineAnswer::from(write_routes(problem, &net, &plan, &course));
    answer.fell_back = Some(course.best.fell_back);
    answer.remarks.extend(remarks(problem, &plan, &roots, &course));
    found(answer)
}

fn check_lanes(request: &Request) -> Result<(), EngineRefusal> {
    if request.lanes == 0 {
        let what = "0 lanes were asked for; it needs at least 1".to_owned();
        return Err(EngineRefusal::Request { engine: "nue", what });
    }
    Ok(())
}

/// Whether a channel joins two switches of one level.
fn has_level_links(net: &FlatGraph, height: &[u32]) -> bool {
    let mut ends = net.from.iter().zip(&net.to).take(net.channel_count());
    ends.any(|(from, to)| height[*from as usize] == height[*to as usize])
}

/// Ways up and down by each reading of the fabric as a tree, with the subtree of the most central switch and with that of
/// `sftree`.
fn updown_by_ranks(
    problem: &Problem<'_>,
    request: &Request,
    net: &FlatGraph,
    plan: &[Vec<TreeTask>],
    pulse: &dyn RouteProgress,
) -> Result<Vec<AlternativeRoutes>, EngineRefusal> {
    let Ok(found) = ranks::find_ranks(updn::ID, problem, request) else { return Ok(Vec::new()) };
    let trees: Vec<TreeTask> = plan.iter().flatten().cloned().collect();
    let centre = layer_roots(net, &trees, &[], 0);
    let mut filled = Vec::new();
    for ranks in [&found].into_iter().chain(&ranks::other_ranks(updn::ID, problem, request, &found)) {
        let plain = UpDownOrder::new(&problem.graph, &ranks.height, false);
        let subtrees = subtree_roots(problem, request, &plain);
        for roots in [&centre, &subtrees] {
            let mut order = plain.clone();
            order.connect_all(&problem.graph, roots);
            for ties in [TIE_BREAKS, updn::TIE_BREAKS] {
                let routes = fill_tables(problem, &order, ties, request, pulse)?;
                filled.push(AlternativeRoutes { routes, how: format!("ways up and down, {}", ranks.remark) });
            }
        }
    }
    Ok(filled)
}

/// Adds remarks on the parts of the request that the routes do not follow: failed roots, lists of nodes.
fn with_request(mut answer: EngineAnswer, problem: &Problem<'_>, request: &Request) -> EngineAnswer {
    answer.remarks.extend(failed_roots(problem, request));
    if !(request.compute_nodes.is_empty() && request.io_nodes.is_empty()) {
        answer.remarks.push(LISTS_IGNORED_REMARK.to_owned());
    }
    answer
}

const LISTS_IGNORED_REMARK: &str = "the search treats all adapters alike: lists of compute and I/O nodes only affect \
 the ranks and the root from which it begins";

/// The first words of the remark that no search was of use.
pub const UPDOWN_REMARK: &str = "these are Up*/Down* routes";
const FROM_UPDOWN_REMARK: &str = "these began as Up*/Down* routes";

/// Trees in one line, on one lane.
struct LineTrees {
    trees: Vec<TreeTask>,
    spread: SpreadTrees,
    /// Of other lines.
    others: Vec<SpreadTrees>,
}

impl LineTrees {
    fn new(
        problem: &Problem<'_>,
        net: &FlatGraph,
        given: &[u32],
        (need, together): (&LoadBounds, usize),
        pulse: &dyn RouteProgress,
    ) -> Result<Self, EngineRefusal> {
        let trees = plan_layers(problem, net, 1, together, None).pop().unwrap_or_default();
        let mut others =
            line_routes::spread_trees(net, &trees, given, need, pulse).ok_or(EngineRefusal::Cancelled)?;
        let spread = others.remove(0);
        Ok(Self { trees, spread, others })
    }

    /// Whether a search is not worth its time: the paths are shortest, and hardly any channel carries more than some
    /// channel must.
    fn is_sufficient(&self, need: &LoadBounds) -> bool {
        let SpreadTrees { busiest, total, .. } = self.spread;
        busiest > 0 && total == need.total && busiest * 20 <= need.busiest * 21
    }

    fn alternatives(
        &self,
        problem: &Problem<'_>,
        net: &FlatGraph,
    ) -> impl Iterator<Item = AlternativeRoutes> {
        self.others.iter().map(|spread| AlternativeRoutes {
            routes: line_routes::write_routes(problem, net, &self.trees, spread),
            how: "trees on one lane, along another line of all switches".to_owned(),
        })
    }

    /// Its routes, and why they are taken.
    fn answer(
        &self,
        problem: &Problem<'_>,
        net: &FlatGraph,
        need: &LoadBounds,
        searched: Option<&LayeredSearch<'_>>,
    ) -> EngineAnswer {
        let most = self.spread.busiest;
        let (fell, why) = match searched {
            None => (
                "no destination was searched and none uses the escape paths",
                format!("at most {most} paths on a channel, no routes have less than {}", need.busiest),
            ),
            Some(course) => (
                "the result of the search is not used, so no destination uses the escape paths",
                format!("at most {most} paths on a channel, and not {}", course.best.busiest),
            ),
        };
        let how = format!("trees on one lane, along a line of all switches: {why}");
        let routes = line_routes::write_routes(problem, net, &self.trees, &self.spread);
        EngineAnswer { routes, remarks: vec![fell.to_owned(), how], degraded: false, fell_back: Some(0) }
    }
}

/// All trees, with the escape paths that suit the fabric.
fn search_layers<'n>(
    net: &'n FlatGraph,
    plan: &[Vec<TreeTask>],
    roots: &[Vec<u32>],
    aim: SearchWeights,
    tree: bool,
    pulse: &dyn RouteProgress,
) -> Option<LayeredSearch<'n>> {
    let course = |reserve| LayeredSearch::new(net, reserve, aim, plan, roots);
    let mut best = if tree {
        // From the bottom of a tree whatever goes up and down does so in the orientation too: there is no more to find.
        course(EscapeKind::Turns)
    } else {
        let tried = [EscapeKind::Tree, EscapeKind::Turns].into_par_iter().map(|reserve| {
            let mut course = course(reserve);
            course.make_first(pulse);
            course
        });
        // The first trees tell: to finish both takes twice the time and rarely comes to another choice.
        let mut best = tried.collect::<Vec<_>>().into_iter().min_by_key(LayeredSearch::max_load)?;
        best.make_firsts(pulse);
        best
    };
    best.make_rest(pulse);
    Some(best)
}

/// The routes of Up*/Down*, and why they are taken: nothing can be better, or what was searched is not.
fn updown_answer(
    plain: &BalancedUpDown,
    need: &LoadBounds,
    searched: Option<&LayeredSearch<'_>>,
) -> EngineAnswer {
    let most = plain.busiest;
    let (fell, why) = match searched {
        None => (
            "no destination was searched and none uses the escape paths",
            format!(
                "as good on one lane: at most {most} paths on a channel, no routes have less than {}",
                need.busiest
            ),
        ),
        Some(course) => (
            "the result of the search is not used, so no destination uses the escape paths",
            format!(
                "better on one lane than what was searched: at most {most} paths on a channel, and not {}",
                course.best.busiest
            ),
        ),
    };
    let mut answer = plain.answer.clone();
    answer.remarks.splice(0..0, [fell.to_owned(), format!("{UPDOWN_REMARK}, {why}")]);
    answer.fell_back = Some(0);
    answer
}

fn remarks(
    problem: &Problem<'_>,
    plan: &[Vec<TreeTask>],
    roots: &[Vec<u32>],
    course: &LayeredSearch<'_>,
) -> Vec<String> {
    let trees: usize = plan.iter().map(Vec::len).sum();
    let reserved = match course.reserve {
        EscapeKind::Tree => "a spanning tree",
        EscapeKind::Turns => "all turns of an Up*/Down* orientation",
    };
    let fell = course.best.fell_back;
    let mut remarks = vec![
        format!("{fell} of {trees} destinations use the escape paths"),
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

/// Where trees for every LID would take too long those of one switch share some.
fn lids_per_tree(problem: &Problem<'_>, net: &FlatGraph) -> usize {
    let terminals = problem.destinations().iter().filter(|end| !end.is_switch()).count();
    (terminals * net.channel_count() / MAX_TREE_WORK).max(1)
}

/// The trees of every layer.
pub fn plan_layers(
    problem: &Problem<'_>,
    net: &FlatGraph,
    lanes: usize,
    together: usize,
    demand: Option<&Demand>,
) -> Vec<Vec<TreeTask>> {
    let weight: Vec<u32> =
        problem.switches().map(|switch| problem.destinations_behind(switch).len() as u32).collect();
    let ends = weight.iter().filter(|weight| **weight > 0).count();
    let lanes = lanes.min(ends).max(1);
    let layer_of = partition(net, &weight, lanes as u32);
    let mut plan = vec![Vec::new(); lanes];
    // First one tree of every switch, then the second of every switch, and so on: load spreads as it grows.
    let most = weight.iter().copied().max().unwrap_or(0) as usize;
    for first in (0..most).step_by(together) {
        for switch in problem.switches().filter(|switch| layer_of[*switch as usize] != NONE) {
            // Its own LIDs, which carry no load, may lie anywhere among those of its terminals.
            let of = |own: bool| {
                problem.destinations_behind(switch).iter().filter(move |end| end.is_switch() == own)
            };
            let lid = |end: &Destination| end.lid.index() as u32;
            let mut lids: Vec<u32> = of(true).filter(|_| first == 0).map(lid).collect();
            let own = lids.len();
            let mut adapters: Vec<u32> = of(false).map(lid).collect();
            adapters.sort_by_key(|lid| demand.map_or(0, |demand| demand.turn(*lid)));
            lids.extend(adapters.into_iter().skip(first).take(together));
            let loaded = (lids.len() - own) as u32;
            let sent = demand.zip(lids.get(own)).and_then(|(demand, lid)| demand.senders(*lid));
            let senders = sent.unwrap_or_else(|| net.senders.clone());
            if !lids.is_empty() {
                plan[layer_of[switch as usize] as usize].push(TreeTask { switch, lids, loaded, senders });
            }
        }
    }
    plan.retain(|trees| !trees.is_empty());
    plan
}

fn write_routes(
    problem: &Problem<'_>,
    net: &FlatGraph,
    plan: &[Vec<TreeTask>],
    course: &LayeredSearch<'_>,
) -> Routes {
    let mut routes = problem.empty_routes();
    let stride = routes.stride().max(1);
    routes.entries_mut().par_chunks_exact_mut(stride).enumerate().for_each(|(switch, row)| {
        for (layer, table) in course.layers.iter().zip(&course.best.tables) {
            for (number, tree) in layer.trees.iter().enumerate() {
                let place = table[number * net.switch_count() + switch];
                if place == u8::MAX {
                    continue;
                }
                let channel = net.channel_at(switch as u32, place);
                let port = problem.graph.channels()[channel as usize].from_port.value();
                tree.lids.iter().for_each(|lid| row[*lid as usize] = port);
            }
        }
        for end in problem.destinations_behind(switch as u32) {
            row[end.lid.index()] = end.port.value();
        }
    });
    let mut lane = vec![0; stride];
    for (number, trees) in plan.iter().enumerate() {
        trees.iter().flat_map(|tree| &tree.lids).for_each(|lid| lane[*lid as usize] = number as u8);
    }
    if plan.len() > 1 {
        routes.lanes = PathLanes::ByDestination { lanes: plan.len() as u8, lane };
    }
    routes
}
