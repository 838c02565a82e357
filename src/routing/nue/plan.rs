//! From a problem to layers, and from layers to routes.

use rayon::prelude::*;

use super::blocks::partition;
use super::course::{Aim, Course};
use super::demand::Demand;
use super::escape::Reserve;
use super::layer::{Tree, roots};
use super::lined;
use super::net::{NONE, Net};
use super::plain::{Need, Plain};
use crate::acyclic::{Wanted, even_out};
use crate::engine::{Answer, Pulse, Refusal, Request};
use crate::problem::{Destination, Problem};
use crate::ranks::{self, Ranks, failed_roots, named_switches};
use crate::sftree::subtree_roots;
use crate::spread::Spread;
use crate::updn;
use crate::updown::{Order, fill};
use fabdeck_fabric::{Lanes, NodeId, Routes};

/// LIDs, times channels, that may have a tree each.
const SHARED: usize = 24_000_000;

/// With so many trees, times channels, a search has to be worth its time.
const LARGE: usize = 1 << 20;

/// With more switches the time counts for more than what a line gains.
const LINED: usize = 128;

pub fn route(problem: &Problem<'_>, request: &Request, pulse: &dyn Pulse) -> Result<Answer, Refusal> {
    route_for(problem, request, None, pulse)
}

/// Routes for what is sent, which is what every adapter sends to every other one unless somebody says.
pub(crate) fn route_for(
    problem: &Problem<'_>,
    request: &Request,
    demand: Option<&Demand>,
    pulse: &dyn Pulse,
) -> Result<Answer, Refusal> {
    let Found { mut answer, others } = find(problem, request, demand, pulse)?;
    if demand.is_some() {
        return Ok(answer);
    }
    let before = answer.routes.clone();
    let mut least = even_out(problem, (request, pulse), Wanted::Nothing, &mut answer.routes)?.busiest;
    let mut moved = answer.routes != before;
    if moved {
        answer.remarks.iter_mut().for_each(|remark| *remark = remark.replacen(UPDN_ROUTES, FROM_UPDN, 1));
    }
    for Other { mut routes, how } in others {
        let busiest = even_out(problem, (request, pulse), Wanted::Nothing, &mut routes)?.busiest;
        if busiest.is_some() && busiest < least {
            (answer.routes, least, moved) = (routes, busiest, true);
            answer.remarks = vec![how];
        }
    }
    if let Some(least) = least.filter(|_| moved) {
        answer.remarks.push(format!(
            "then paths were moved off the busiest channels: no channel has more than {least}"
        ));
    }
    Ok(with_request(answer, problem, request))
}

/// Routes, and others that may be better once paths are moved off their busiest channels.
struct Found {
    answer: Answer,
    others: Vec<Other>,
}

/// Routes on one lane, and how they are made, a sentence.
struct Other {
    routes: Routes,
    how: String,
}

impl From<Answer> for Found {
    fn from(answer: Answer) -> Self {
        Self { answer, others: Vec::new() }
    }
}

fn find(
    problem: &Problem<'_>,
    request: &Request,
    demand: Option<&Demand>,
    pulse: &dyn Pulse,
) -> Result<Found, Refusal> {
    if request.lanes == 0 {
        return Err(Refusal::Request { engine: "nue", what: "no lane to route on".to_owned() });
    }
    let given = named_switches("nue", problem, &request.roots)?;
    let net = Net::new(&problem.graph);
    let lanes = usize::from(problem.usable_lanes(request.lanes));
    let ranked = ranks::find(updn::ID, problem, request).ok();
    let is_ranked = ranked.is_some();
    let leads_across = |height: &[u32], channel: usize| {
        height[net.from[channel] as usize] == height[net.to[channel] as usize]
    };
    let tree = ranked.filter(|ranks| {
        given.is_empty() && !(0..net.channels()).any(|channel| leads_across(&ranks.height, channel))
    });
    // On a tree every way is free of cycles beside every other: more lanes are of no use.
    let lanes = if tree.is_some() { 1 } else { lanes };
    // What weighs differently shares no tree.
    let together = if demand.is_some() { 1 } else { lids_to_a_tree(problem, &net) };
    let plan = layers(problem, &net, lanes, together, demand);
    let need = Need::new(&net, &plan);
    let large = plan.iter().map(Vec::len).sum::<usize>() * net.channels() > LARGE;
    let lined = match large || net.switches() > LINED || demand.is_some() {
        true => None,
        false => Some(Lined::new(problem, &net, &given, (&need, together), pulse)?),
    };
    if let Some(lined) = lined.as_ref().filter(|lined| lined.suffices(&need)) {
        return Ok(lined.answer(problem, &net, &need, None).into());
    }
    let plain = match plan.len() {
        3.. if !is_ranked => None,
        _ => Some(Plain::new(problem, &net, &plan, request, pulse)?),
    };
    if let Some(plain) = plain.as_ref().filter(|plain| lined.is_none() && plain.suffices(&need, large)) {
        return Ok(plain_routes(plain, &need, None).into());
    }
    let aim = Aim::of(&need, plan.len(), tree.is_some());
    let roots: Vec<Vec<u32>> = match &tree {
        Some(tree) => vec![subtree_roots(problem, request, &Order::new(&problem.graph, &tree.height, false))],
        None => plan.par_iter().enumerate().map(|(lane, trees)| roots(&net, trees, &given, lane)).collect(),
    };
    if pulse.cancelled() {
        return Err(Refusal::Cancelled);
    }
    let course = search(&net, &plan, &roots, aim, tree.is_some(), pulse);
    let Some(course) = course.filter(|_| !pulse.cancelled()) else { return Err(Refusal::Cancelled) };
    let mut others = Vec::new();
    if let Some(lined) = &lined {
        others.extend(lined.others(problem, &net));
        others.extend(by_ranks(problem, request, &net, &plan, pulse)?);
    }
    let found = |answer| Ok(Found { answer, others });
    let lined = lined.filter(|lined| (1..=course.best.busiest).contains(&lined.spread.busiest));
    let busiest = lined.as_ref().map_or(course.best.busiest, |lined| lined.spread.busiest);
    if let Some(plain) = plain.filter(|plain| plain.busiest < busiest) {
        return found(plain_routes(&plain, &need, Some(&course)));
    }
    if let Some(lined) = lined {
        return found(lined.answer(problem, &net, &need, Some(&course)));
    }
    let mut answer = Answer::from(write(problem, &net, &plan, &course));
    answer.remarks.extend(remarks(problem, &plan, &roots, &course));
    found(answer)
}

/// Ways up and down by each reading of the fabric as a tree, with the subtree of the most central switch.
fn by_ranks(
    problem: &Problem<'_>,
    request: &Request,
    net: &Net,
    plan: &[Vec<Tree>],
    pulse: &dyn Pulse,
) -> Result<Vec<Other>, Refusal> {
    let Ok(found) = ranks::find(updn::ID, problem, request) else { return Ok(Vec::new()) };
    let trees: Vec<Tree> = plan.iter().flatten().cloned().collect();
    let centre = roots(net, &trees, &[], 0);
    let others = ranks::others(updn::ID, problem, request, &found);
    let fill_by = |ranks: Ranks| {
        let mut order = Order::new(&problem.graph, &ranks.height, false);
        order.complete(&problem.graph, &centre);
        let how = format!("ways up and down, {}", ranks.remark);
        Ok(Other { routes: fill(problem, &order, request, pulse)?, how })
    };
    [found].into_iter().chain(others).map(fill_by).collect()
}

/// Adds remarks on the parts of the request that the routes do not follow: failed roots, lists of nodes.
fn with_request(mut answer: Answer, problem: &Problem<'_>, request: &Request) -> Answer {
    answer.remarks.extend(failed_roots(problem, request));
    if !(request.compute_nodes.is_empty() && request.io_nodes.is_empty()) {
        answer.remarks.push(ALIKE.to_owned());
    }
    answer
}

const ALIKE: &str = "the search treats all adapters alike: lists of compute and I/O nodes weigh nothing there, and tell at \
                     most the ranks and the root that it begins from";

/// The first words of the remark that the routes are those of `updn`.
pub const UPDN_ROUTES: &str = "these are updn's routes";
const FROM_UPDN: &str = "these began as updn's routes";

/// Trees in one line, on one lane.
struct Lined {
    trees: Vec<Tree>,
    spread: Spread,
    /// Of other lines.
    others: Vec<Spread>,
}

impl Lined {
    fn new(
        problem: &Problem<'_>,
        net: &Net,
        given: &[u32],
        (need, together): (&Need, usize),
        pulse: &dyn Pulse,
    ) -> Result<Self, Refusal> {
        let trees = layers(problem, net, 1, together, None).pop().unwrap_or_default();
        let mut others = lined::spread(net, &trees, given, need, pulse).ok_or(Refusal::Cancelled)?;
        let spread = others.remove(0);
        Ok(Self { trees, spread, others })
    }

    /// Whether a search is not worth its time: the paths are shortest, and hardly any channel carries more than some
    /// channel must.
    fn suffices(&self, need: &Need) -> bool {
        let Spread { busiest, total, .. } = self.spread;
        busiest > 0 && total == need.total && busiest * 20 <= need.busiest * 21
    }

    fn others(&self, problem: &Problem<'_>, net: &Net) -> impl Iterator<Item = Other> {
        self.others.iter().map(|spread| Other {
            routes: lined::write(problem, net, &self.trees, spread),
            how: "trees on one lane, along another line of all switches".to_owned(),
        })
    }

    /// Its routes, and why they are taken.
    fn answer(&self, problem: &Problem<'_>, net: &Net, need: &Need, searched: Option<&Course<'_>>) -> Answer {
        let most = self.spread.busiest;
        let (fell, why) = match searched {
            None => (
                "no destination was searched, none fell back",
                format!("at most {most} paths on a channel, no routes have less than {}", need.busiest),
            ),
            Some(course) => (
                "the search was tried and is not taken, so no destination fell back",
                format!("at most {most} paths on a channel, and not {}", course.best.busiest),
            ),
        };
        let how = format!("trees on one lane, along a line of all switches: {why}");
        let routes = lined::write(problem, net, &self.trees, &self.spread);
        Answer { routes, remarks: vec![fell.to_owned(), how], degraded: false }
    }
}

/// All trees, with the escape paths that suit the fabric.
fn search<'n>(
    net: &'n Net,
    plan: &[Vec<Tree>],
    roots: &[Vec<u32>],
    aim: Aim,
    tree: bool,
    pulse: &dyn Pulse,
) -> Option<Course<'n>> {
    let course = |reserve| Course::new(net, reserve, aim, plan, roots);
    let mut best = if tree {
        // From the bottom of a tree whatever goes up and down does so in the orientation too: there is no more to find.
        course(Reserve::Turns)
    } else {
        let tried = [Reserve::Tree, Reserve::Turns].into_par_iter().map(|reserve| {
            let mut course = course(reserve);
            course.begin(pulse);
            course
        });
        // The first trees tell: to finish both takes twice the time and rarely comes to another choice.
        let mut best = tried.collect::<Vec<_>>().into_iter().min_by_key(Course::busiest)?;
        best.grow(pulse);
        best
    };
    best.finish(pulse);
    Some(best)
}

/// The routes of Up*/Down*, and why they are taken: nothing can be better, or what was searched is not.
fn plain_routes(plain: &Plain, need: &Need, searched: Option<&Course<'_>>) -> Answer {
    let most = plain.busiest;
    let (fell, why) = match searched {
        None => (
            "no destination was searched, none fell back",
            format!(
                "as good on one lane: at most {most} paths on a channel, no routes have less than {}",
                need.busiest
            ),
        ),
        Some(course) => (
            "the search was tried and is not taken, so no destination fell back",
            format!(
                "better on one lane than what was searched: at most {most} paths on a channel, and not {}",
                course.best.busiest
            ),
        ),
    };
    let mut answer = plain.answer.clone();
    answer.remarks.splice(0..0, [fell.to_owned(), format!("{UPDN_ROUTES}, {why}")]);
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

/// Where trees for every LID would take too long those of one switch share some.
fn lids_to_a_tree(problem: &Problem<'_>, net: &Net) -> usize {
    let terminals = problem.destinations().iter().filter(|end| !end.is_switch()).count();
    (terminals * net.channels() / SHARED).max(1)
}

/// The trees of every layer.
pub(super) fn layers(
    problem: &Problem<'_>,
    net: &Net,
    lanes: usize,
    together: usize,
    demand: Option<&Demand>,
) -> Vec<Vec<Tree>> {
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
            let mut adapters: Vec<u32> = of(false).map(lid).collect();
            adapters.sort_by_key(|lid| demand.map_or(0, |demand| demand.turn(*lid)));
            lids.extend(adapters.into_iter().skip(first).take(together));
            let loaded = (lids.len() - own) as u32;
            let sent = demand.zip(lids.get(own)).and_then(|(demand, lid)| demand.senders(*lid));
            let senders = sent.unwrap_or_else(|| net.senders.clone());
            if !lids.is_empty() {
                plan[layer_of[switch as usize] as usize].push(Tree { switch, lids, loaded, senders });
            }
        }
    }
    plan.retain(|trees| !trees.is_empty());
    plan
}

fn write(problem: &Problem<'_>, net: &Net, plan: &[Vec<Tree>], course: &Course<'_>) -> Routes {
    let mut routes = problem.no_routes();
    let stride = routes.stride().max(1);
    routes.bytes_mut().par_chunks_exact_mut(stride).enumerate().for_each(|(switch, row)| {
        for (layer, table) in course.layers.iter().zip(&course.best.tables) {
            for (number, tree) in layer.trees.iter().enumerate() {
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
