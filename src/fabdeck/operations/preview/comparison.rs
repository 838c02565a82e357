//! The comparison of routes with the tables in force: certificate, changes, and whether the transition is
//! safe.

use std::time::{Duration, Instant};

use super::transition::judge_mixture_in_plan_order;
use super::whatif::routes_in_force;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::certificate_text::adaptive_words;
use crate::operations::check::judgement::{
    CertificateNames, CertificateReport, certificate_report, count_unread_tables, routes_of_tables,
};
use crate::operations::lanes::levels::{LevelsInForce, RouteLanesInForce, lanes_in_force, rearrange_lanes};
use crate::system::phase::Phase;
use fabdeck_change::TransitionReport;
use fabdeck_fabric::observe::AdaptiveRouting;
use fabdeck_fabric::{Faults, PathLanes, Routes, Tables, UnreadEntries};
use fabdeck_routing::certificate::{
    DependencyProof, LaneKnowledge, RouteScope, certify, certify_partitioned,
};
use fabdeck_routing::difference::{
    MovedTerminal, RouteComparison, RouteDifference, TransitionCheck, check_transition, compare_partitioned,
    count_changed_lanes,
};
use fabdeck_routing::mixture::find_mixture_cycles;
use fabdeck_routing::{EngineRefusal, NoProgress, Problem, RouteProgress};

/// Reason why no change is judged, where the source has only a topology.
pub const NO_TABLES: &str = "no tables in force";

/// The transition without tables in force, which cannot be judged.
pub fn transition_without_tables() -> TransitionReport {
    TransitionReport {
        reason: Some(NO_TABLES.to_owned()),
        old_lanes: "unknown".to_owned(),
        ..TransitionReport::default()
    }
}

/// The comparison of an engine's routes with the tables in force.
pub(crate) struct ProposalComparison {
    pub(crate) report: CertificateReport,
    pub(crate) difference: RouteDifference,
    /// The terminals to which pairs move.
    pub(crate) moved: Vec<MovedTerminal>,
    pub(crate) changed_lanes: Option<u64>,
    pub(crate) transition: TransitionReport,
    /// Time for the certificate.
    pub(crate) took: Duration,
}

/// The paths that a comparison judges.
#[derive(Clone, Copy, Debug)]
pub struct PathScope<'a> {
    /// Whether the paths of switches count too.
    pub switches: bool,
    /// How the lanes of the paths in force are known.
    pub sent: LevelsInForce<'a>,
}

impl PathScope<'_> {
    /// Paths of terminals, whose lanes in force were not read.
    pub const TERMINALS: Self = Self { switches: false, sent: LevelsInForce::Unsaid };
}

/// Compares routes with the tables in force.
pub(crate) fn compare_with_tables(
    look: &Snapshot,
    tables: &Tables,
    problem: &Problem<'_>,
    routes: &Routes,
    scope: PathScope<'_>,
    pulse: &dyn RouteProgress,
) -> Result<ProposalComparison, EngineRefusal> {
    let begun = Instant::now();
    let judged = RouteScope { switches: scope.switches, lanes: LaneKnowledge::Known };
    let partitions = look.partitions.as_ref();
    let certificate =
        Phase::time("certificate", || certify_partitioned(problem, routes, &judged, partitions, pulse))?;
    let took = begun.elapsed();
    let held = Phase::time("tables in force", || TablesInForce::new(look, tables, problem, routes, scope));
    // Marked elements may still work, and packets use their old paths until they fail. So the transition
    // covers the whole fabric.
    let none = Faults::default();
    let unmarked = (!problem.faults.is_empty()).then(|| Problem::new(problem.fabric, &none));
    let whole = unmarked.as_ref().unwrap_or(problem);
    let of_whole = unmarked.as_ref().map(|whole| {
        Phase::time("tables in force", || TablesInForce::new(look, tables, whole, routes, scope))
    });
    let up = of_whole.as_ref().unwrap_or(&held);
    let mixed = up.is_free_in_any_order(look, whole, routes);
    // Where no mixture has a loop, old and new paths together have none, for they are mixtures too.
    let is_free = mixed == Some(true);
    let joint = Some(&held.together).filter(|_| unmarked.is_none() && !is_free);
    let compare = || compare_partitioned(problem, &held.old, routes, joint, partitions);
    let phase = if joint.is_some() { "difference and transition" } else { "difference" };
    let RouteComparison { difference, moved, transition } = Phase::time(phase, compare);
    let found = match &unmarked {
        _ if is_free => TransitionCheck::without_cycles(&up.together),
        None => transition,
        Some(whole) => Phase::time("transition", || check_transition(whole, &up.old, routes, &up.together)),
    };
    let way = transition_report(&CertificateNames { look, problem: whole }, &found, up);
    let way =
        up.add_mixture_verdict((look, tables), [problem, whole], (routes, scope.switches), (way, mixed));
    let changed_lanes = held.known.then(|| count_changed_lanes(problem, &held.old, routes, scope.switches));
    // A plan writes no lanes; lanes change only where service levels do.
    let same_lanes = changed_lanes.map_or(routes.lane_count() == 1, |changed| changed == 0);
    let same_tables = has_lane_tables(tables, routes);
    // Hosts pick other LIDs of the same tables.
    let same_picks = held.old.path_bits(problem.fabric) == routes.path_bits(problem.fabric);
    let same = same_lanes && same_tables && same_picks;
    let nothing = difference.entries == 0 && same && look.observation.adaptive.is_none();
    Ok(ProposalComparison {
        report: CertificateReport { lanes_from: "engine", ..certificate_report(look, problem, &certificate) },
        difference,
        moved,
        changed_lanes,
        transition: match nothing {
            _ if !tables.has_forwarding() => transition_without_tables(),
            true => TransitionReport::unchanged("nothing changes", held.old_lanes),
            false => way,
        },
        took,
    })
}

/// Whether the SL2VL tables in force are those that routes need whose lanes change on the way.
fn has_lane_tables(tables: &Tables, routes: &Routes) -> bool {
    let PathLanes::ByHop { tables: wanted, .. } = &routes.lanes else { return true };
    wanted.nodes.iter().all(|(id, wanted)| {
        let held = tables.nodes.get(id).map(|held| &held.sl2vl);
        wanted.sl2vl.iter().all(|(ports, row)| held.and_then(|held| held.get(ports)) == Some(row))
    })
}

/// The tables in force, on the whole fabric or without its marked elements.
pub(crate) struct TablesInForce {
    pub(crate) old: Routes,
    /// Whether the lanes of these routes are known; the next field is their source.
    pub(crate) known: bool,
    old_lanes: &'static str,
    pub(crate) together: RouteScope,
    /// Whether tables are missing, or paths lead to nodes that did not answer.
    pub(crate) unread: bool,
}

impl TablesInForce {
    pub(crate) fn new(
        look: &Snapshot,
        tables: &Tables,
        problem: &Problem<'_>,
        routes: &Routes,
        scope: PathScope<'_>,
    ) -> Self {
        let PathScope { switches, sent } = scope;
        let mut old = routes_in_force(look, tables, problem.faults);
        let RouteLanesInForce { lanes, from: old_lanes } =
            lanes_in_force(look, problem, tables, &old, switches, sent);
        let known = lanes.is_some();
        // Where lanes are unknown, the old routes get those of the new ones, so only changed ports count as
        // moves.
        old.lanes = lanes.unwrap_or_else(|| rearrange_lanes(routes, &old));
        let lanes = if known { LaneKnowledge::Known } else { LaneKnowledge::Unknown };
        // In a fabric that answered in part, paths may lead to unknown switches.
        let to_silence = |(_, unread): (u32, &UnreadEntries)| matches!(unread, UnreadEntries::Lids(_));
        let paths_beyond = |routes: &Routes| {
            let scope = RouteScope { switches, lanes: LaneKnowledge::Unknown };
            certify(problem, routes, &scope, &NoProgress).is_ok_and(|found| found.lost.unread() > 0)
        };
        let beyond = || {
            let routes = routes_of_tables(look, tables);
            routes.unread_entries().any(to_silence) && paths_beyond(&routes)
        };
        let unread = count_unread_tables(problem, tables) > 0 || beyond();
        Self { old, known, old_lanes, together: RouteScope { switches, lanes }, unread }
    }
}

impl TablesInForce {
    /// Whether no mixture of old and new entries has a credit loop, in whatever order they are written. `None` where it is
    /// not known, or where paths of several lanes make it likely that their own loops are found sooner.
    fn is_free_in_any_order(&self, look: &Snapshot, whole: &Problem<'_>, routes: &Routes) -> Option<bool> {
        let one_lane = self.old.lanes == PathLanes::One && routes.lanes == PathLanes::One;
        (one_lane && self.is_sure(look)).then(|| self.has_free_mixtures(whole, routes))
    }

    /// Whether the tables determine the old paths.
    fn is_sure(&self, look: &Snapshot) -> bool {
        !self.unread && look.observation.adaptive.is_none()
    }

    fn has_free_mixtures(&self, whole: &Problem<'_>, routes: &Routes) -> bool {
        let cycles = || find_mixture_cycles(whole, [&self.old, routes], &self.together, None);
        Phase::time("mixtures", || cycles().is_empty())
    }

    /// Adds the verdict on mixtures of old and new entries: the one that holds in any order of writes, else the one of the
    /// order that a plan would have, where finding that is quick. `problems`: without the marked elements, and whole.
    /// `mixed`: the verdict of any order, where it is known already.
    fn add_mixture_verdict(
        &self,
        (look, tables): (&Snapshot, &Tables),
        [surviving, whole]: [&Problem<'_>; 2],
        (routes, switches): (&Routes, bool),
        (way, mixed): (TransitionReport, Option<bool>),
    ) -> TransitionReport {
        if way.paths_are_safe() != Some(true) {
            return way;
        }
        if mixed.unwrap_or_else(|| self.is_sure(look) && self.has_free_mixtures(whole, routes)) {
            return way.with_mixture(Some(true), None);
        }
        let (mixed, cycle) =
            judge_mixture_in_plan_order((look, tables), [surviving, whole], self, (routes, switches))
                .unwrap_or_default();
        way.with_mixture(mixed, cycle)
    }
}

/// The report on a transition, with names.
fn transition_report(
    names: &CertificateNames<'_, '_>,
    found: &TransitionCheck,
    held: &TablesInForce,
) -> TransitionReport {
    let cycle = found.cycles.first();
    let adaptive = names.look.observation.adaptive.map(AdaptiveRouting::unknown_count);
    // Paths without a cycle on one shared lane have none on any lanes.
    let verdict = match cycle {
        _ if let Some(unknown) = adaptive => {
            Err(format!("{}, so tables do not determine the paths", adaptive_words(unknown)))
        }
        None if held.unread => Err("tables that were not read may close a credit loop".to_owned()),
        None => Ok(true),
        Some(_) if held.known => Ok(false),
        Some(_) => Err(format!("the lanes of the old paths are {}", held.old_lanes)),
    };
    let (safe, reason) = (verdict.as_ref().ok().copied(), verdict.err());
    let path = |proof: &DependencyProof| {
        let age = if proof.routes == 0 { "old" } else { "new" };
        format!("{age} path {}", names.path(proof))
    };
    TransitionReport {
        safe,
        reason,
        old_lanes: held.old_lanes.to_owned(),
        cycle: cycle.map(|cycle| names.cycle(cycle)),
        cycle_paths: cycle.map(|cycle| cycle.paths.iter().map(path).collect()),
        cycle_lane: cycle.filter(|_| held.known).map(|cycle| cycle.lane.value()),
        ..TransitionReport::default()
    }
}
