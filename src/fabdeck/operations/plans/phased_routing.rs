//! `route --phases` and `route --high-lids`: plans for one half of the LIDs.

use std::time::Instant;

use super::phases::{HalfPlan, HalfPlanRequest, LidHalf, PhasedAgent, PhasedPlanError, leaving_lids};
use super::plan_origin::PlanOrigin;
use super::route_plan::{RoutedPlan, elapsed_seconds, propose_settled};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::operation::Operation;
use crate::operations::preview::whatif::{EngineRow, ProposalOptions};
use fabdeck_fabric::Faults;
use fabdeck_mad::access::{ReadOptions, Source};
use fabdeck_routing::{Engine, NoProgress};

/// The half of the LIDs whose tables change, and the agents of the hosts.
#[derive(Clone, Copy)]
pub struct PhasedHalf<'r> {
    pub half: LidHalf,
    pub agents: &'r [PhasedAgent],
}

/// Adds lane tables to a snapshot, and queries which of its hosts have an agent.
pub fn read_agents(
    operation: &mut Operation<'_>,
    snapshot: &mut Snapshot,
    faults: &Faults,
) -> Result<Vec<PhasedAgent>, Failure> {
    let lids = leaving_lids(snapshot, faults).map_err(phase_failure)?;
    let mut source = operation.env.open_named_source()?;
    let source: &mut dyn Source = source.as_mut();
    // The query for agents needs the subnet manager, which this reading finds.
    operation.read_snapshot_through(source, ReadOptions::default())?;
    operation.read_lanes(source, snapshot, None)?;
    let states = source.find_agents(&lids)?;
    let agent = |(lid, subscribed)| PhasedAgent { lid, subscribed };
    Ok(lids.into_iter().zip(states).map(agent).collect())
}

/// Routes with an engine, and makes a plan for one half of the LIDs, whose hosts have these agents.
pub fn route_in_phases(
    operation: &mut Operation<'_>,
    snapshot: &Snapshot,
    faults: &Faults,
    engine: &'static Engine,
    half: PhasedHalf<'_>,
    asked: ProposalOptions<'_>,
) -> Result<RoutedPlan, Failure> {
    if engine.uses_path_bits() {
        return Err(path_bits_refusal(engine.id));
    }
    let begun = Instant::now();
    let proposal = propose_settled(operation, snapshot, faults, engine, asked)?;
    let made = PlanOrigin::now(operation.env.given);
    let PhasedHalf { half, agents } = half;
    let request =
        HalfPlanRequest { look: snapshot, faults, engine: engine.id, half, agents, sent: asked.sent };
    let HalfPlan { plan, proposal } = request.plan(&proposal, made, &NoProgress).map_err(phase_failure)?;
    let row = EngineRow::new(engine.id, Ok(&proposal), elapsed_seconds(operation, begun));
    Ok(RoutedPlan { plan, proposal, row })
}

pub(super) fn path_bits_refusal(engine: &str) -> Failure {
    let what = format!(
        "FD-7919: {engine} uses every LID of a port, and phases keep half of them apart; route without --phases and \
         --high-lids, or take another engine"
    );
    Failure::new(Exit::Refused, what)
}

pub(super) fn phase_failure(error: PhasedPlanError) -> Failure {
    let exit = match &error {
        PhasedPlanError::Plan(error) => super::route_plan::exit_of(error),
        PhasedPlanError::Refused(_) => Exit::Failed,
        _ => Exit::Refused,
    };
    Failure::new(exit, error.to_string())
}
