//! Routes held against the tables in force: their certificate, what they change, and whether the way to them is safe.

use std::time::{Duration, Instant};

use super::check::{Names, held, report, unread_tables};
use super::lanes::{lanes_in_force, relaid};
use super::whatif::in_force;
use super::wording::adaptive_words;
use super::{Look, Report, Sent};
use fabdeck_change::TransitionReport;
use fabdeck_fabric::observe::Adaptive;
use fabdeck_fabric::{Faults, Routes, Tables, Unread};
use fabdeck_routing::certificate::{LaneKnowledge, Proof, Scope, certify};
use fabdeck_routing::difference::{Difference, Transition, changed_lanes, compare, transition};
use fabdeck_routing::{NoPulse, Problem, Pulse, Refusal};

/// Why nothing is said of what changes, where the source has a topology alone.
pub const NO_TABLES: &str = "no tables in force";

/// The transition from no tables: there is nothing to judge.
pub fn without_tables() -> TransitionReport {
    TransitionReport {
        reason: Some(NO_TABLES.to_owned()),
        old_lanes: "unknown".to_owned(),
        ..TransitionReport::default()
    }
}

/// What is true of an engine's routes, and of the way to them.
pub(super) struct Weighed {
    pub(super) report: Report,
    pub(super) difference: Difference,
    pub(super) changed_lanes: Option<u64>,
    pub(super) transition: TransitionReport,
    /// For the certificate.
    pub(super) took: Duration,
}

/// Holds routes against the tables in force.
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
    // What is marked may still be up, and its old paths in use until it is down: the way is judged with them.
    let none = Faults::default();
    let (difference, way) = if problem.faults.is_empty() {
        let (difference, found) = compare(problem, &held.old, routes, &held.together);
        (difference, passage(&Names { look, problem }, &found, &held))
    } else {
        let whole = Problem::new(problem.fabric, &none);
        let up = Held::of((look, tables), &whole, routes, (switches, sent));
        let found = transition(&whole, &up.old, routes, &up.together);
        let difference = Difference::between(problem, &held.old, routes);
        (difference, passage(&Names { look, problem: &whole }, &found, &up))
    };
    let changed_lanes = held.known.then(|| changed_lanes(problem, &held.old, routes, switches));
    // Lanes are no part of what is written; they change where levels do.
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

/// The tables in force on a fabric or on what marks leave of it.
pub(super) struct Held {
    pub(super) old: Routes,
    /// Whether their lanes are known, and from what.
    pub(super) known: bool,
    old_lanes: &'static str,
    pub(super) together: Scope,
    /// Tables are missing.
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
        // Where lanes are not known, paths count as moved by their ports alone.
        old.lanes = lanes.unwrap_or_else(|| relaid(routes, &old));
        let lanes = if known { LaneKnowledge::Known } else { LaneKnowledge::Unknown };
        // Of a fabric that did not answer whole, paths may lead to switches that are known to nobody.
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

/// A transition by name.
fn passage(names: &Names<'_, '_>, found: &Transition, held: &Held) -> TransitionReport {
    let cycle = found.cycles.first();
    let adaptive = names.look.observation.adaptive.map(Adaptive::unknown);
    // Without a cycle as if all shared one lane there is none on any lanes.
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
