//! The routes, levels and lanes of a torus.

use std::sync::Arc;

use rayon::prelude::*;

use super::coordinates::TorusCoordinates;
use super::lane_tables::{LaneWidth, lane_tables, pair_level};
use super::next_hops::{Hop, next_hop};
use super::rings::WorkingRings;
use crate::certificate::{LaneKnowledge, RouteScope, certify};
use crate::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use crate::problem::{Destination, Problem, switch_name};
use crate::trees::Cause;
use fabdeck_fabric::{NO_PATH, PathLanes, PortNum, Routes, TORUS_DIMENSIONS};

/// The name of the engine.
pub const ID: &str = "torus2qos";

/// Lanes of a torus without a failed switch.
const WHOLE_LANES: u8 = 2;
/// Lanes with illegal turns.
const DETOUR_LANES: u8 = 4;

pub fn route(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    let unfit = |why: String| EngineRefusal::Unfit { engine: ID, why };
    let description = request.torus.as_deref();
    let torus = TorusCoordinates::find(problem.fabric, description).map_err(unfit)?;
    let rings = WorkingRings::new(&torus, &problem.graph);
    let refused = rings.find_broken_line(problem.fabric);
    if let Some(why) = refused.or_else(|| rings.find_missing_neighbours(problem.fabric)) {
        return Err(unfit(why));
    }
    let given = problem.usable_lanes(request.lanes);
    let too_few = |needed: u8| EngineRefusal::Lanes { engine: ID, needed: needed.into(), given };
    let width = LaneWidth::of_lanes(given).ok_or_else(|| too_few(WHOLE_LANES))?;
    let order = turn_order(problem, description.map_or(&[], |torus| &torus.port_order));
    let (mut routes, turns) = fill_rows(problem, &rings, &order, pulse)?;
    if let Some((from, to)) = turns.without_path {
        let [from, to] = [from, to].map(|switch| switch_name(problem.fabric, switch));
        let why = format!(
            "no dimension leads on from {from} towards {to}; mend what failed, or take nue until then"
        );
        return Err(unfit(why));
    }
    if turns.has_illegal && width == LaneWidth::Two {
        return Err(too_few(DETOUR_LANES));
    }
    let sides = if torus.is_closed.contains(&true) { WHOLE_LANES } else { 1 };
    routes.lanes = PathLanes::ByHop {
        lanes: if turns.has_illegal { DETOUR_LANES } else { sides },
        level: pair_levels(problem, &torus, &routes),
        tables: Arc::new(lane_tables(problem.fabric, &torus, width)),
    };
    if turns.has_illegal {
        check_detours(problem, &rings, &routes, pulse)?;
    }
    let mut remarks = vec![format!("coordinates: {}", torus.words())];
    if description.is_none() && torus.has_gap() {
        remarks.push(
            "a switch is not there: without --torus coordinates begin at the lowest GUID, so if it had that one, levels \
             of pairs differ from those of the whole torus"
                .to_owned(),
        );
    }
    if width != LaneWidth::Eight {
        remarks.push(
            "one class of service between switches: levels 8 to 15 share the lanes of levels 0 to 7"
                .to_owned(),
        );
    }
    Ok(EngineAnswer { routes, remarks, degraded: false, fell_back: None })
}

/// The LIDs behind each switch: the switch itself, then its hosts in the order of their turns on parallel cables.
fn turn_order(problem: &Problem<'_>, first: &[PortNum]) -> Vec<Vec<Destination>> {
    let rank = |port: PortNum| (first.iter().position(|other| *other == port).unwrap_or(first.len()), port);
    let ends = |switch: u32| {
        let mut ends = problem.destinations_behind(switch).to_vec();
        ends.sort_by_key(|end| (!end.is_switch(), rank(end.port), end.lid));
        ends
    };
    problem.switches().map(ends).collect()
}

/// What the hops of all paths have in common.
#[derive(Clone, Copy, Default, Debug)]
struct TurnReport {
    /// Whether some packet leaves by an earlier dimension than it came by.
    has_illegal: bool,
    /// The first two working switches without a path.
    without_path: Option<(u32, u32)>,
}

impl TurnReport {
    fn join(self, other: Self) -> Self {
        Self {
            has_illegal: self.has_illegal || other.has_illegal,
            without_path: self.without_path.into_iter().chain(other.without_path).min(),
        }
    }
}

fn fill_rows(
    problem: &Problem<'_>,
    rings: &WorkingRings<'_>,
    order: &[Vec<Destination>],
    pulse: &dyn RouteProgress,
) -> Result<(Routes, TurnReport), EngineRefusal> {
    let mut routes = problem.empty_routes();
    let stride = routes.stride().max(1);
    let rows = routes.entries_mut().par_chunks_exact_mut(stride).enumerate();
    let reports = rows.map(|(switch, row)| match pulse.is_cancelled() {
        true => TurnReport::default(),
        false => fill_row(problem, rings, order, switch as u32, row),
    });
    let report = reports.reduce(TurnReport::default, TurnReport::join);
    pulse.check_cancelled()?;
    pulse.report(1, 1);
    Ok((routes, report))
}

/// Fills the table of one switch.
fn fill_row(
    problem: &Problem<'_>,
    rings: &WorkingRings<'_>,
    order: &[Vec<Destination>],
    switch: u32,
    row: &mut [u8],
) -> TurnReport {
    let mut report = TurnReport::default();
    if !problem.graph.is_alive(switch) {
        return report;
    }
    let mut cables = cables_of(problem, rings.torus, switch);
    let here = rings.torus.place(switch);
    for (target, ends) in (0u32..).zip(order).filter(|(target, _)| problem.graph.is_alive(*target)) {
        if target == switch {
            ends.iter().for_each(|end| row[end.lid.index()] = end.port.value());
            continue;
        }
        let there = rings.torus.place(target);
        let hop = next_hop(rings, here, there);
        let Some(hop) = hop else {
            report.without_path = report.without_path.or(Some((switch, target)));
            continue;
        };
        cables[hop.dimension][usize::from(hop.is_positive)].fill(ends, row);
        report.has_illegal |= turns_illegally(rings, here, there, hop);
    }
    report
}

/// Parallel cables to one neighbour. Ports of hosts and switches take turns on them, each kind by itself.
#[derive(Default)]
struct ParallelCables {
    ports: Vec<PortNum>,
    hosts: usize,
    switches: usize,
}

impl ParallelCables {
    /// Sends the LIDs behind a switch over these cables; those of one port take the same.
    fn fill(&mut self, ends: &[Destination], row: &mut [u8]) {
        for port in ends.chunk_by(|a, b| a.port == b.port) {
            let is_switch = port.first().is_some_and(Destination::is_switch);
            let turn = if is_switch { &mut self.switches } else { &mut self.hosts };
            let taken = self.ports.get(*turn % self.ports.len().max(1));
            *turn += 1;
            let taken = taken.map_or(NO_PATH, |port| port.value());
            port.iter().for_each(|end| row[end.lid.index()] = taken);
        }
    }
}

/// The cables of a switch by dimension and direction (negative, positive).
fn cables_of(
    problem: &Problem<'_>,
    torus: &TorusCoordinates,
    switch: u32,
) -> [[ParallelCables; 2]; TORUS_DIMENSIONS] {
    let mut cables: [[ParallelCables; 2]; TORUS_DIMENSIONS] = Default::default();
    for channel in &problem.graph.channels()[problem.graph.outgoing(switch)] {
        if let Some((dimension, is_positive)) = torus.direction(channel.from, channel.to) {
            cables[dimension][usize::from(is_positive)].ports.push(channel.from_port);
        }
    }
    cables
}

/// Whether packets that make this hop next leave by an earlier dimension.
fn turns_illegally(rings: &WorkingRings<'_>, from: [u32; 3], to: [u32; 3], hop: Hop) -> bool {
    let next = rings.torus.step(from, hop.dimension, hop.is_positive);
    let beyond = next.and_then(|next| next_hop(rings, next, to));
    beyond.is_some_and(|beyond| beyond.dimension < hop.dimension)
}

fn pair_levels(problem: &Problem<'_>, torus: &TorusCoordinates, routes: &Routes) -> Vec<u8> {
    let stride = routes.stride();
    let mut levels = vec![0u8; stride * problem.graph.switch_count()];
    levels.par_chunks_exact_mut(stride.max(1)).enumerate().for_each(|(switch, row)| {
        let here = torus.place(switch as u32);
        for target in problem.switches() {
            let level = pair_level(torus, here, torus.place(target));
            for end in problem.destinations_behind(target) {
                row[end.lid.index()] = level;
            }
        }
    });
    levels
}

/// Several failures can bring illegal turns together. The certificate tells whether they close a credit loop, or leave a
/// pair without a path; such a fabric is refused.
fn check_detours(
    problem: &Problem<'_>,
    rings: &WorkingRings<'_>,
    routes: &Routes,
    pulse: &dyn RouteProgress,
) -> Result<(), EngineRefusal> {
    let scope = RouteScope { switches: true, lanes: LaneKnowledge::Known };
    let judged = certify(problem, routes, &scope, pulse)?;
    let lost = judged.lost.total() - judged.lost.by_cause(Cause::CutOff);
    let what = match (judged.cycles.is_empty(), lost + judged.loops.count) {
        (true, 0) => return Ok(()),
        (false, _) => "would wait for each other",
        (true, _) => "would not all arrive",
    };
    let name = |place: [u32; 3]| match rings.torus.switch_at(place) {
        Some(switch) => switch_name(problem.fabric, switch),
        None => format!("the switch at {place:?}"),
    };
    let missing: Vec<String> = rings.missing().into_iter().map(name).collect();
    let missing = missing.join(", ");
    let why = format!(
        "packets that turn early because of {missing} {what}; bring one back, or take nue until then"
    );
    Err(EngineRefusal::Unfit { engine: ID, why })
}
