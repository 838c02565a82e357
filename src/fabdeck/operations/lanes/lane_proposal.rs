//! The state of dFtree's slow lanes, and the moves of flows that counters suggest.

use std::time::Duration;

use super::lane_choice::LaneChoice;
use super::lane_moves::LaneMoves;
use super::lanes_in_force::read_lanes_in_force;
use super::migrations::{MigrationPlanError, moved_flows};
use super::slow_lanes::LaneState;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::changes::change_store::all_migrations_in_force;
use crate::operations::environment::switch_guids;
use crate::operations::lanes::lanes_in_force::LaneReading;
use crate::operations::operation::{OpenSnapshot, Operation};
use crate::operations::plans::plan_origin::PlanOrigin;
use crate::operations::watch::counter_watch::uncounted_failure;
use crate::operations::watch::interval_verdict::IntervalVerdict;
use crate::operations::watch::sweep_judge::SweepSeries;
use fabdeck_change::Plan;
use fabdeck_live::is_live;
use fabdeck_mad::access::{ReadOptions, Source};
use fabdeck_routing::lanes::{FlowMoves, MovedFlows, propose_moves};

/// What dFtree is asked to propose.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProposalRequest {
    /// Whether all flows on slow lanes move back, without reading counters.
    pub back: bool,
    pub interval: Option<Duration>,
    /// Number of intervals; the last one decides.
    pub count: u32,
    pub lanes_in_force: Option<LaneChoice>,
}

/// What dFtree proposes.
pub struct LaneProposal {
    pub snapshot: Snapshot,
    pub state: LaneState,
    /// The plan, or why there can be none; `None` if there is nothing to move.
    pub plan: Result<Option<Plan>, Failure>,
}

/// Reads which flows are on slow lanes.
pub fn read_lane_state(
    operation: &mut Operation<'_>,
    choice: Option<LaneChoice>,
) -> Result<(Snapshot, LaneState), Failure> {
    let OpenSnapshot { mut source, mut snapshot } = open_snapshot(operation)?;
    let sent = read_lanes_in_force(
        operation,
        source.as_mut(),
        &mut snapshot,
        LaneReading { choice, switches: false },
    )?;
    let moves = FlowMoves::keep_all(snapshot.fabric(), &flows_in_force(operation, &snapshot)?);
    let moves = LaneMoves::read(source.as_mut(), snapshot, sent, moves)?;
    let state = moves.state();
    Ok((moves.snapshot, state))
}

/// Watches counters and proposes moves for the last interval.
pub fn propose_lanes(
    operation: &mut Operation<'_>,
    request: &ProposalRequest,
) -> Result<LaneProposal, Failure> {
    let OpenSnapshot { mut source, mut snapshot } = open_snapshot(operation)?;
    let watched = match request.back {
        true => None,
        false => Some(watch_hotspots(operation, source.as_mut(), &mut snapshot, request)?),
    };
    let choice = LaneReading { choice: request.lanes_in_force, switches: false };
    let sent = read_lanes_in_force(operation, source.as_mut(), &mut snapshot, choice)?;
    let in_force = flows_in_force(operation, &snapshot)?;
    let moves = match &watched {
        Some(watched) => propose_moves(snapshot.fabric(), &watched.verdict, &watched.told, &in_force),
        None => FlowMoves::return_all(snapshot.fabric(), &in_force),
    };
    let moves = LaneMoves::read(source.as_mut(), snapshot, sent, moves)?;
    let state = moves.state();
    let plan = match moves.has_moves() || state.needs_tables() {
        true => moves.plan(PlanOrigin::now(operation.env.given)).map(Some).map_err(plan_failure),
        false => Ok(None),
    };
    Ok(LaneProposal { snapshot: moves.snapshot, state, plan })
}

/// Reads a snapshot with lane tables.
fn open_snapshot(operation: &mut Operation<'_>) -> Result<OpenSnapshot, Failure> {
    operation.open_snapshot(ReadOptions { tables: true, lanes: true, ..ReadOptions::default() })
}

/// Migrations of changes in force. A recording is not the live fabric, and a simulator of this process has no
/// changes, so both have none.
fn flows_in_force(operation: &mut Operation<'_>, snapshot: &Snapshot) -> Result<Vec<MovedFlows>, Failure> {
    let env = operation.env;
    let source = env.named_source()?;
    if !is_live(source) || env.outside.is_own_simulator(source) {
        return Ok(Vec::new());
    }
    let (migrations, unread) = all_migrations_in_force(env, source, switch_guids(snapshot))?;
    unread.iter().for_each(|message| operation.reporter.report_line(message));
    Ok(moved_flows(snapshot.fabric(), &migrations))
}

/// Verdict of the last interval.
fn watch_hotspots(
    operation: &mut Operation<'_>,
    source: &mut dyn Source,
    snapshot: &mut Snapshot,
    request: &ProposalRequest,
) -> Result<IntervalVerdict, Failure> {
    let mut series = SweepSeries::begin(operation, source, snapshot, request.interval, request.count)?;
    let mut judged = None;
    for _ in 0..request.count {
        let swept = series.advance(operation, source, snapshot)?;
        let thresholds = &operation.env.given.thresholds;
        judged = Some(IntervalVerdict::new(
            snapshot,
            &swept.rates,
            swept.seconds,
            &swept.rates.clone().with_min_hour(),
            thresholds,
        ));
    }
    source.end_watch(&mut snapshot.observation);
    // Nodes that appeared meanwhile need lane tables too.
    if series.moved {
        operation.read_lanes(source, snapshot, None)?;
    }
    judged.filter(|watched| watched.ports > 0).ok_or_else(uncounted_failure)
}

fn plan_failure(error: MigrationPlanError) -> Failure {
    let words = error.to_string();
    match error {
        MigrationPlanError::Refused(refusal) => refusal.into(),
        MigrationPlanError::Unmoved(_) | MigrationPlanError::Plan(_) => Failure::new(Exit::Failed, words),
    }
}
