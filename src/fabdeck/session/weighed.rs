//! The comparison of routes with the tables in force: certificate, changes, and whether the transition is
//! safe.

use std::time::{Duration, Instant};

use super::check::{Names, held, report, unread_tables};
use super::lanes::{lanes_in_force, relaid};
use super::passage::ANY_ORDER;
use super::whatif::in_force;
use super::wording::adaptive_words;
use super::{Look, Report, Sent};
use fabdeck_change::TransitionReport;
use fabdeck_fabric::observe::Adaptive;
use fabdeck_fabric::{Faults, Routes, Tables, Unread};
use fabdeck_routing::certificate::{LaneKnowledge, Proof, Scope, certify};
use fabdeck_routing::difference::{Difference, Transition, changed_lanes, compare, transition};
use fabdeck_routing::mixture::mixture;
use fabdeck_routing::{NoPulse, Problem, Pulse, Refusal};

/// Reason why no change is judged, where the source has only a topology.
pub const NO_TABLES: &str = "no tables in force";

/// The transition without tables in force, which cannot be judged.
pub fn without_tables() -> TransitionReport {
    TransitionReport {
        reason: Some(NO_TABLES.to_owned()),
        old_lanes: "unknown".to_owned(),
        ..TransitionReport::default()
    }
}

/// The comparison of an engine's routes with the tables in force.
pub(super) struct Weighed {
    pub(super) report: Report,
    pub(super) difference: Difference,
    pub(super) changed_lanes: Option<u64>,
    pub(super) transition: TransitionReport,
    /// Time for the certificate.
    pub(super) took: Duration,
}

/// Compares routes with the tables in force.
pub(super) fn weigh(
    (look, tables): (&Look, &Tables),
    problem: &Problem<'_>,
    routes: &Routes,
    (switches, sent): (bool, Sent<'_>),
    pulse: &dyn Pulse,
) -> Result<Weighed, Refusal> {
    let begun = Instant::now();
    let scope = Scope { switches, lanes: LaneKnowledge::Known };
    let certificate = certify(problem, routes, &scope, pulse)?;
    let took = begun.elapsed();
    let held = Held::of((look, tables), problem, routes, (switches, sent));
    // Marked elements may still work, and packets use their old paths until they fail. So the transition
    // covers the whole fabric.
    let none = Faults::default();
    let (difference, way) = if problem.faults.is_empty() {
        let (difference, found) = compare(problem, &held.old, routes, &held.together);
        let way = passage(&Names { look, problem }, &found, &held);
        (difference, held.in_any_order(look, problem, routes, way))
    } else {
        let whole = Problem::new(problem.fabric, &none);
        let up = Held::of((look, tables), &whole, routes, (switches, sent));
        let found = transition(&whole, &up.old, routes, &up.together);
        let difference = Difference::between(problem, &held.old, routes);
        let way = passage(&Names { look, problem: &whole }, &found, &up);
        (difference, up.in_any_order(look, &whole, routes, way))
    };
    let changed_lanes = held.known.then(|| changed_lanes(problem, &held.old, routes, switches));
    // A plan writes no lanes; lanes change only where service levels do.
    let same_lanes = changed_lanes.map_or(routes.lane_count() == 1, |changed| changed == 0);
    let nothing = difference.entries == 0 && same_lanes && look.observation.adaptive.is_none();
    Ok(Weighed {
        report: Report { lanes_from: "engine", ..report(look, problem, &certificate) },
        difference,
        changed_lanes,
        transition: match nothing {
            _ if !tables.has_forwarding() => without_tables(),
            true => TransitionReport::nothing("nothing changes", held.old_lanes),
            false => way,
        },
        took,
    })
}

/// The tables in force, on the whole fabric or without its marked elements.
pub(super) struct Held {
    pub(super) old: Routes,
    /// Whether the lanes of these routes are known; the next field is their source.
    pub(super) known: bool,
    old_lanes: &'static str,
    pub(super) together: Scope,
    /// Whether tables are missing, or paths lead to nodes that did not answer.
    pub(super) unread: bool,
}

impl Held {
    pub(super) fn of(
        (look, tables): (&Look, &Tables),
        problem: &Problem<'_>,
        routes: &Routes,
        (switches, sent): (bool, Sent<'_>),
    ) -> Self {
        let mut old = in_force(look, tables, problem.faults);
        let (lanes, old_lanes) = lanes_in_force(look, problem, tables, &old, switches, sent);
        let known = lanes.is_some();
        // Where lanes are unknown, the old routes get those of the new ones, so only changed ports count as
        // moves.
        old.lanes = lanes.unwrap_or_else(|| relaid(routes, &old));
        let lanes = if known { LaneKnowledge::Known } else { LaneKnowledge::Unknown };
        // In a fabric that answered in part, paths may lead to unknown switches.
        let to_silence = |(_, unread): (u32, &Unread)| matches!(unread, Unread::Lids(_));
        let paths_beyond = |routes: &Routes| {
            let scope = Scope { switches, lanes: LaneKnowledge::Unknown };
            certify(problem, routes, &scope, &NoPulse).is_ok_and(|found| found.lost.unread() > 0)
        };
        let beyond = || {
            let routes = held(look, tables);
            routes.unread().any(to_silence) && paths_beyond(&routes)
        };
        let unread = unread_tables(problem, tables) > 0 || beyond();
        Self { old, known, old_lanes, together: Scope { switches, lanes }, unread }
    }
}

impl Held {
    /// Adds the verdict on mixtures of old and new entries that holds in any order of writes. Only a plan has an order.
    fn in_any_order(
        &self,
        look: &Look,
        problem: &Problem<'_>,
        routes: &Routes,
        way: TransitionReport,
    ) -> TransitionReport {
        if way.paths_are_safe() != Some(true) {
            return way;
        }
        let sure = !self.unread && look.observation.adaptive.is_none();
        let none = || mixture(problem, [&self.old, routes], &self.together, &ANY_ORDER).is_empty();
        way.with_mixture((sure && none()).then_some(true), None)
    }
}

/// The report on a transition, with names.
fn passage(names: &Names<'_, '_>, found: &Transition, held: &Held) -> TransitionReport {
    let cycle = found.cycles.first();
    let adaptive = names.look.observation.adaptive.map(Adaptive::unknown);
    // Paths without a cycle on one shared lane have none on any lanes.
    let verdict = match cycle {
        _ if let Some(unknown) = adaptive => {
            Err(format!("{}, so tables do not tell the paths", adaptive_words(unknown)))
        }
        None if held.unread => Err("tables that were not read may close a circle".to_owned()),
        None => Ok(true),
        Some(_) if held.known => Ok(false),
        Some(_) => Err(format!("the lanes of the old paths are {}", held.old_lanes)),
    };
    let (safe, reason) = (verdict.as_ref().ok().copied(), verdict.err());
    let path = |proof: &Proof| {
        let age = if proof.routes == 0 { "old" } else { "new" };
        format!("{age} path {}", names.path(proof))
    };
    TransitionReport {
        safe,
        reason,
        old_lanes: held.old_lanes.to_owned(),
        cycle: cycle.map(|cycle| cycle.channels.iter().map(|channel| names.channel(*channel)).collect()),
        cycle_paths: cycle.map(|cycle| cycle.paths.iter().map(path).collect()),
        cycle_lane: cycle.filter(|_| held.known).map(|cycle| cycle.lane.value()),
        ..TransitionReport::default()
    }
}
