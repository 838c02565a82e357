//! A snapshot with the tables of a plan.

use super::plan_verdict::{PlanFit, check_plan_fit};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::operation::Operation;
use crate::operations::preview::assume::assume;
use fabdeck_change::Plan;

/// Changes tables and routes of a snapshot to those after the plan; refuses a stale plan.
pub fn apply_to_snapshot(
    operation: &mut Operation<'_>,
    snapshot: &mut Snapshot,
    plan: &Plan,
) -> Result<(), Failure> {
    assume_tables(snapshot, plan)?;
    refuse_stale(operation, snapshot, plan)?;
    let after = plan.tables_after(snapshot.fabric(), &snapshot.observation.tables);
    snapshot.routes = Some(plan.routes(snapshot.fabric(), &after));
    snapshot.observation.tables = after;
    Ok(())
}

/// Refuses a plan for another fabric or another state of it.
pub(crate) fn refuse_stale(
    operation: &mut Operation<'_>,
    snapshot: &Snapshot,
    plan: &Plan,
) -> Result<PlanFit, Failure> {
    let fit = check_plan_fit(snapshot, plan);
    let Some(stale) = fit.stale() else { return Ok(fit) };
    operation.conclude(snapshot);
    let what = format!("FD-7932: the plan is stale: {}; make it again for the current fabric", stale.words());
    Err(Failure::new(Exit::Stale, what))
}

/// Assumes the same tables as the plan did.
pub(crate) fn assume_tables(snapshot: &mut Snapshot, plan: &Plan) -> Result<(), Failure> {
    match &plan.assumed {
        Some(id) if !snapshot.observation.tables.has_forwarding() => {
            Ok(assume(snapshot, crate::operations::preview::engine_names::engine_named(id)?)?)
        }
        _ => Ok(()),
    }
}
