//! Plans of dFtree moves: routes stay, tables on the paths get slow twins of the lanes in use, and hosts are
//! notified.
//!
//! The certificate covers every flow to a hot-spot on both of its levels, with the tables after the change.
//! The order in which hosts move is unknown, and hosts without an agent stay.

use std::collections::BTreeSet;

use serde_json::json;

use super::levels::{KnownLevels, LevelsInForce, check_levels, check_static_ports, levels_of_routes};
use super::slow_lanes::{MovePlanError, SlowLaneSetup, is_present, migrations, prepare_slow_lanes};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::check::certificate_text::adaptive_words;
use crate::operations::check::judgement::CertificateReport;
use crate::operations::plans::plan_origin::PlanOrigin;
use crate::operations::plans::proposal_plan::{PlanCreationError, findings};
use crate::operations::preview::whatif::routes_in_force;
use fabdeck_change::{
    CertificateScope, CutOffReport, Fingerprint, FollowMode, Migration, MigrationDirection, Plan, PlanLanes,
    PlanPathBits, PlanPort, PlanWrite, SCHEMA, SurvivingFabric, TransitionReport,
};
use fabdeck_fabric::{Fabric, Faults, Lid, ServiceLevel, Tables, VlWeight};
use fabdeck_mad::SlToVl;
use fabdeck_mad::access::AttributePart;
use fabdeck_routing::lanes::{FlowMoves, MissingEnd, MovedFlows, SlowTwinTables};
use fabdeck_routing::{EngineRefusal, NoProgress};

/// The engine name in such a plan.
pub const DFTREE: &str = "dftree";

/// Reason why no plan is made.
#[derive(Debug, thiserror::Error)]
pub enum MigrationPlanError {
    #[error(transparent)]
    Unmoved(#[from] MovePlanError),
    #[error(transparent)]
    Refused(#[from] EngineRefusal),
    #[error(transparent)]
    Plan(#[from] PlanCreationError),
}

/// Makes the plan of these moves. `agents` states for hosts whether an agent is subscribed, where that is
/// known.
pub fn migration_plan(
    look: &Snapshot,
    moves: &FlowMoves,
    agents: &[(Lid, Option<bool>)],
    sent: LevelsInForce<'_>,
    made: PlanOrigin,
) -> Result<Plan, MigrationPlanError> {
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let worked = match prepare_slow_lanes(look, moves, sent) {
        Ok(worked) => Some(worked),
        // Moves back to the fast lane need no slow lane.
        Err(_) if moves.has_moves() && moves.spots.iter().all(|spot| spot.joins.is_empty()) => None,
        Err(error) => return Err(error.into()),
    };
    let migrations = migrations(look, moves, agents, worked.as_ref())?;
    let writes = match &worked {
        Some(worked) => order_writes(look, &worked.prepared)?,
        None => Vec::new(),
    };
    // Tables on the paths of flows on the slow lane may need writes even where no flow moves.
    if migrations.is_empty() && writes.is_empty() {
        return Err(MovePlanError::Nothing.into());
    }
    let faults = Faults::default();
    let surviving = SurvivingFabric::new(fabric, &faults, look.manager());
    let name = |id| look.name(id).to_owned();
    let mut routes = routes_in_force(look, tables, &faults);
    if let Some(worked) = &worked {
        routes.lanes = worked.lanes(look, routes.stride());
    }
    let mut plan = Plan {
        schema: SCHEMA.to_owned(),
        source: look.source.clone(),
        assumed: look.assumed.map(str::to_owned),
        engine: DFTREE.to_owned(),
        failed: Vec::new(),
        scope: CertificateScope::default(),
        created: made.created,
        author: made.author,
        fingerprint: Fingerprint::of(&surviving, tables).with_lanes(&surviving, tables),
        names: Plan::names_of(fabric, &name),
        lanes: PlanLanes::of(&surviving, &routes),
        path_bits: PlanPathBits::of(fabric, &routes),
        certificate: serde_json::Value::Null,
        impact: impact(&migrations),
        jobs: serde_json::Value::Null,
        transition: TransitionReport::default(),
        cut_off: CutOffReport::default(),
        findings: Vec::new(),
        migrations,
        phases: None,
        writes,
        hash: String::new(),
    };
    plan.cover_adapters(&surviving, tables);
    let after = plan.tables_after(fabric, tables);
    let report = judge_migrations(look, moves, worked.as_ref(), sent, &after)?;
    plan.transition = transition(look, moves, &report, worked.as_ref())?;
    // No switch counts as unmet: the certificate follows the levels hop by hop, on any lanes.
    plan.findings = findings(&report, &plan.transition, Some(&[]));
    plan.findings.extend(missing_agent_words(&plan.migrations));
    plan.findings.extend(look.observation.adaptive.map(|adaptive| {
        let why = adaptive_words(adaptive.unknown_count());
        format!("{why}, so packets may take paths on which no slow lane is prepared")
    }));
    plan.certificate = serde_json::to_value(&report).map_err(PlanCreationError::from)?;
    Ok(plan)
}

/// Flows that applied changes have moved to a slow lane, as their plans name them.
struct AppliedFlows<'a> {
    hot_spot: &'a PlanPort,
    fast: ServiceLevel,
    slow: ServiceLevel,
    hosts: Vec<&'a PlanPort>,
}

/// The flows that applied changes have moved to slow lanes, the oldest first.
///
/// Ports are those of the plans, by GUID and LID. An end with another LID or without its port is gone; the
/// current owner of the LID is another port.
pub fn moved_flows(fabric: &Fabric, migrations: &[Migration]) -> Vec<MovedFlows> {
    let same = |a: &PlanPort, b: &PlanPort| (a.lid, &a.guid) == (b.lid, &b.guid);
    let mut all: Vec<AppliedFlows<'_>> = Vec::new();
    for migration in migrations {
        let level = |level: u8| ServiceLevel::new(level.into());
        let (Some(fast), Some(slow)) = (level(migration.fast), level(migration.slow)) else { continue };
        let hosts: BTreeSet<&PlanPort> = migration.flows.iter().map(|flow| &flow.host).collect();
        let ids: BTreeSet<(u16, &str)> = hosts.iter().map(|host| (host.lid, host.guid.as_str())).collect();
        // A host uses one level to a LID, so the newer move replaces the older one.
        for held in all.iter_mut().filter(|held| same(held.hot_spot, &migration.hot_spot)) {
            held.hosts.retain(|host| !ids.contains(&(host.lid, host.guid.as_str())));
        }
        if migration.towards == MigrationDirection::Slow {
            let hot_spot = &migration.hot_spot;
            let mut known = all.iter_mut();
            let known =
                known.find(|held| same(held.hot_spot, hot_spot) && (held.fast, held.slow) == (fast, slow));
            match known {
                Some(held) => held.hosts.extend(hosts),
                None => all.push(AppliedFlows { hot_spot, fast, slow, hosts: hosts.into_iter().collect() }),
            }
        }
    }
    all.iter().flat_map(|held| resolve_flows(fabric, held)).collect()
}

/// The flows whose ends are both in the fabric, and the flows with a missing end.
fn resolve_flows(fabric: &Fabric, held: &AppliedFlows<'_>) -> Vec<MovedFlows> {
    let Some(hot_spot) = Lid::new(held.hot_spot.lid.into()) else { return Vec::new() };
    let is_hot_spot_there = is_present(fabric, held.hot_spot);
    let flows = |gone: Option<MissingEnd>| {
        let wanted = held.hosts.iter().filter(|host| match gone {
            Some(MissingEnd::HotSpot) => true,
            Some(MissingEnd::Hosts) => !is_present(fabric, host),
            None => is_present(fabric, host),
        });
        let hosts = wanted.filter_map(|host| Lid::new(host.lid.into())).collect();
        MovedFlows { hot_spot, fast: held.fast, slow: held.slow, hosts, gone }
    };
    let mut all = match is_hot_spot_there {
        true => vec![flows(None), flows(Some(MissingEnd::Hosts))],
        false => vec![flows(Some(MissingEnd::HotSpot))],
    };
    all.retain(|flows| !flows.hosts.is_empty());
    all
}

/// Certifies the tables after the plan, with moving flows on both levels. Without slow lanes, the levels in
/// force count.
fn judge_migrations(
    look: &Snapshot,
    moves: &FlowMoves,
    worked: Option<&SlowLaneSetup<'_>>,
    sent: LevelsInForce<'_>,
    after: &Tables,
) -> Result<CertificateReport, EngineRefusal> {
    match worked {
        Some(worked) => {
            let either = worked.levels_before_and_after(look, moves);
            check_levels(look, after, &KnownLevels::computed(&either, worked.from), &NoProgress)
        }
        None => check_static_ports(look, after, &Faults::default(), false, sent, &NoProgress),
    }
}

/// Certifies the tables after such a plan again, with the levels that the plan states.
pub(crate) fn rejudge_plan(
    look: &Snapshot,
    plan: &Plan,
    after: &Tables,
) -> Result<CertificateReport, EngineRefusal> {
    let routes = plan.routes(look.fabric(), after);
    let mut levels = levels_of_routes(look, &routes);
    for migration in &plan.migrations {
        let Some(lid) = Lid::new(migration.hot_spot.lid.into()) else { continue };
        let level = |level: u8| ServiceLevel::new(level.into()).map_or(0, |level| 1u16 << level.value());
        let both = level(migration.fast) | level(migration.slow);
        // Hosts with another pair of levels have another migration in the plan.
        levels.map_lid(lid, |bits| if bits & both == 0 { bits } else { bits | both });
    }
    let report = check_levels(look, after, &KnownLevels::computed(&levels, "plan"), &NoProgress)?;
    // For hot-spots whose flows stay on the slow lane, the plan states one level; its own certificate covered
    // both.
    let made = plan.certificate["deadlock_free"].as_bool();
    let free = report.deadlock_free.filter(|free| !free || made == Some(true)).or(made.filter(|made| !made));
    Ok(CertificateReport { deadlock_free: free, ..report })
}

/// Judges the transition. Routes stay and only lanes change, so one certificate covers packets on old and new
/// lanes. A credit loop in it already exists, or is the slow twin of one that does. Fast levels keep their
/// lanes, and slow lanes are above them. This holds only while flows on the slow lane use the twin lanes.
/// Until their tables are written, packets may be on either lane.
fn transition(
    look: &Snapshot,
    moves: &FlowMoves,
    report: &CertificateReport,
    worked: Option<&SlowLaneSetup<'_>>,
) -> Result<TransitionReport, EngineRefusal> {
    const ROUTES_STAY: &str = "routes stay as they are";
    const FLOWS_APART: &str = "and no flow waits both on a fast lane and on a slow one";
    const FLOWS_MIXED: &str = "tables of the slow lane in use are not as it needs them, and until they are written \
                         its packets may wait on fast lanes too";
    let apart = worked.is_some_and(|worked| worked.are_apart(look, moves));
    // The tables in force are certified as well, to confirm that the loop already exists.
    let before = match worked.filter(|_| apart && report.deadlock_free == Some(false)) {
        Some(SlowLaneSetup { fast, from, .. }) => {
            let fast = KnownLevels::computed(fast, from);
            check_levels(look, &look.observation.tables, &fast, &NoProgress)?.deadlock_free == Some(false)
        }
        None => false,
    };
    let mixes = worked.is_some() && !apart;
    let (safe, reason) = match report.deadlock_free {
        Some(true) if mixes && report.whatever_lanes => {
            (Some(true), ROUTES_STAY.to_owned() + ", and there is no credit loop on any lanes")
        }
        Some(true) if mixes => (None, FLOWS_MIXED.to_owned()),
        Some(true) => (Some(true), format!("{ROUTES_STAY}, {FLOWS_APART}")),
        Some(false) if before => (
            Some(true),
            format!(
                "{ROUTES_STAY}, {FLOWS_APART}; a credit loop exists before, or is the slow twin of one that does"
            ),
        ),
        Some(false) => (Some(false), String::new()),
        None => (None, "whether there is a credit loop is not known".to_owned()),
    };
    let (cycle, cycle_paths, cycle_lane) = match safe {
        Some(true) => (None, None, None),
        _ => {
            let paths = |paths: &Vec<String>| paths.iter().map(|path| format!("path {path}")).collect();
            (report.cycle.clone(), report.cycle_paths.as_ref().map(paths), report.cycle_lane)
        }
    };
    Ok(TransitionReport {
        safe,
        reason: Some(reason).filter(|reason| !reason.is_empty()),
        old_lanes: worked.map_or("unknown", |worked| worked.from).to_owned(),
        cycle,
        cycle_paths,
        cycle_lane,
        ..TransitionReport::default()
    })
}

fn impact(migrations: &[Migration]) -> serde_json::Value {
    let flows = |towards| {
        let wanted = migrations.iter().filter(move |migration| migration.towards == towards);
        wanted.map(|migration| migration.flows.len()).sum::<usize>()
    };
    let follows = |follows| count_hosts(migrations, Some(follows));
    json!({
        "changed_entries": 0, "changed_blocks": 0, "changed_switches": 0, "moved_pairs": 0,
        "changed_lanes": flows(MigrationDirection::Slow) + flows(MigrationDirection::Fast),
        "to_slow": flows(MigrationDirection::Slow), "to_fast": flows(MigrationDirection::Fast),
        "hosts": count_hosts(migrations, None), "hosts_with_agent": follows(FollowMode::Agent),
        "hosts_without_agent": follows(FollowMode::Queries), "hosts_not_known": follows(FollowMode::Unknown),
    })
}

/// Number of hosts with moving flows; with `follows`, of those hosts that follow in this way.
fn count_hosts(migrations: &[Migration], follows: Option<FollowMode>) -> usize {
    let flows = migrations.iter().flat_map(|migration| &migration.flows);
    let wanted = flows.filter(|flow| follows.is_none_or(|follows| flow.follows == follows));
    wanted.map(|flow| flow.host.lid).collect::<BTreeSet<_>>().len()
}

/// Findings for hosts whose open connections may stay on their lane.
fn missing_agent_words(migrations: &[Migration]) -> Vec<String> {
    let all = count_words(count_hosts(migrations, None), "host", "hosts");
    let mut found = Vec::new();
    let without = count_hosts(migrations, Some(FollowMode::Queries));
    if without > 0 {
        let has = if without == 1 { "has" } else { "have" };
        found.push(format!(
            "{without} of {all} {has} no agent: their open connections stay on their present lane"
        ));
    }
    let unknown = count_hosts(migrations, Some(FollowMode::Unknown));
    if unknown > 0 {
        found.push(format!("whether {unknown} of {all} have an agent is not known: open connections may stay on their present lane"));
    }
    found
}

/// The exact writes, in the order of nodes. Tables that are already correct are not written.
fn order_writes(look: &Snapshot, prepared: &SlowTwinTables) -> Result<Vec<PlanWrite>, MovePlanError> {
    if let Some(refused) = prepared.refusal() {
        return Err(MovePlanError::from_refused(look, refused));
    }
    let fabric = look.fabric();
    let mut all = Vec::new();
    for (hop, row) in &prepared.rows {
        let Some(row) = row.as_ref().ok().filter(|row| row.held != row.wanted) else { continue };
        let part = AttributePart::Lanes([hop.from.value(), hop.to.value()]);
        let bytes = |row| SlToVl::from_table(row).pairs.to_vec();
        all.push((hop.node, part, bytes(row.held), bytes(row.wanted)));
    }
    for (port, weights) in &prepared.weights {
        let Ok(weights) = weights else { continue };
        let at = fabric.port(*port);
        let (held, wanted) = (&weights.held, &weights.wanted);
        for (place, held, wanted) in [(1, &held.low, &wanted.low), (3, &held.high, &wanted.high)] {
            for second in 0..2u8 {
                let (held, wanted) = (arbitration_block(held, second), arbitration_block(wanted, second));
                if held != wanted {
                    let part = AttributePart::Arbitration([at.number.value(), place + second]);
                    all.push((at.node, part, held, wanted));
                }
            }
        }
    }
    all.sort_by_key(|(node, part, ..)| (*node, *part));
    let write = |(node, part, old, new): (_, _, Vec<u8>, Vec<u8>)| {
        let node = fabric.node(node);
        let of = if node.is_switch() { PlanWrite::for_switch } else { PlanWrite::for_adapter };
        of(node.guid(), part, &old, &new)
    };
    Ok(all.into_iter().map(write).collect())
}

/// One block of an arbitration table: its first 32 entries, or the others.
fn arbitration_block(table: &[VlWeight], second: u8) -> Vec<u8> {
    const TURNS: usize = 32;
    let held = table.iter().skip(usize::from(second) * TURNS).take(TURNS);
    let mut bytes: Vec<u8> = held.flat_map(|entry| [entry.lane.value(), entry.weight]).collect();
    bytes.resize(2 * TURNS, 0);
    bytes
}

/// The flows that move, and how their hosts follow: a line for each hot-spot and direction. A dFtree plan
/// without moves has a line about its purpose.
pub fn migration_lines(plan: &Plan) -> Vec<(&'static str, String)> {
    if plan.migrations.is_empty() && plan.engine == DFTREE {
        return vec![(
            "moves",
            "no flow: tables on the paths of flows on the slow lane are corrected".to_owned(),
        )];
    }
    plan.migrations.iter().map(|migration| ("moves", migration_words(migration))).collect()
}

pub(crate) fn migration_words(migration: &Migration) -> String {
    let Migration { towards, hot_spot, fast, slow, flows } = migration;
    let (lane, level) = match towards {
        MigrationDirection::Slow => ("to the slow lane", slow),
        MigrationDirection::Fast => ("back to the fast lane", fast),
    };
    let count = |follows| flows.iter().filter(|flow| flow.follows == follows).count();
    let counts = [
        (FollowMode::Agent, "by their agents"),
        (
            FollowMode::Queries,
            "without an agent: new path queries through OpenSM's policy alone, open connections stay",
        ),
        (FollowMode::Unknown, "agent not known: open connections may stay"),
    ];
    let counts = counts.map(|(follows, words)| (count(follows), words));
    let follows =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, words)| format!("{count} {words}"));
    let flows = count_words(flows.len(), "flow", "flows");
    let (name, lid) = (&hot_spot.name, hot_spot.lid);
    format!("{flows} to {name} (LID {lid}) {lane}, level {level}; {}", follows.collect::<Vec<_>>().join(", "))
}
