//! `route --phases` and `route --high-lids`: plans for one half of the LIDs.

use std::time::Instant;

use super::phases::{LidHalf, PhasedPlanError, leaving_lids, plan_half};
use super::plan_origin::PlanOrigin;
use super::route_plan::{RoutedPlan, elapsed_seconds, propose_settled};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::lanes::lanes_in_force::LanesInForce;
use crate::operations::operation::Operation;
use crate::operations::preview::whatif::{EngineRow, ProposalOptions};
use fabdeck_fabric::{Faults, Lid};
use fabdeck_mad::access::{ReadOptions, Source};
use fabdeck_routing::Engine;

/// Adds lane tables to a snapshot, and queries which of its hosts have an agent.
pub fn read_agents(
    operation: &mut Operation<'_>,
    snapshot: &mut Snapshot,
    faults: &Faults,
) -> Result<Vec<(Lid, Option<bool>)>, Failure> {
    let lids = leaving_lids(snapshot, faults).map_err(phase_failure)?;
    let mut source = operation.env.open_named_source()?;
    let source: &mut dyn Source = source.as_mut();
    // The query for agents needs the subnet manager, which this reading finds.
    operation.read_snapshot_through(source, ReadOptions::default())?;
    operation.read_lanes(source, snapshot, None)?;
    let states = source.find_agents(&lids)?;
    Ok(lids.into_iter().zip(states).collect())
}

/// Routes with an engine, and makes a plan for one half of the LIDs.
pub fn route_in_phases(
    operation: &mut Operation<'_>,
    (snapshot, faults): (&Snapshot, &Faults),
    engine: &'static Engine,
    (half, agents): (LidHalf, &[(Lid, Option<bool>)]),
    (asked, in_force): (ProposalOptions<'_>, &LanesInForce),
) -> Result<RoutedPlan, Failure> {
    let begun = Instant::now();
    let proposal = propose_settled(operation, snapshot, faults, engine, asked)?;
    let made = PlanOrigin::now(operation.env.given);
    let sent = in_force.sent();
    let half = (half, agents);
    let (plan, proposal) = plan_half(
        (snapshot, faults),
        (engine.id, &proposal),
        half,
        (sent, made),
        &fabdeck_routing::NoProgress,
    )
    .map_err(phase_failure)?;
    let row = EngineRow::new(engine.id, Ok(&proposal), elapsed_seconds(operation, begun));
    Ok(RoutedPlan { plan, proposal, row })
}

fn phase_failure(error: PhasedPlanError) -> Failure {
    let exit = match &error {
        PhasedPlanError::Plan(error) => super::route_plan::exit_of(error),
        PhasedPlanError::Refused(_) => Exit::Failed,
        _ => Exit::Refused,
    };
    Failure::new(exit, error.to_string())
}
