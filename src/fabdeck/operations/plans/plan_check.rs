//! Compares a plan with the fabric: whether it still fits, what it would make of the paths, and what is not in place yet.

use super::plan_file::plan_has_lanes;
use super::plan_snapshot::{assume_tables, refuse_stale};
use super::plan_verdict::{
    ExcludedElement, PlanFit, PlanVerdict, RemainingDifference, check_plan_fit, excluded_elements,
    judge_plan, remaining_difference,
};
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::lanes::lane_choice::LaneChoice;
use crate::operations::lanes::lanes_in_force;
use crate::operations::lanes::lanes_in_force::{LaneReading, LanesInForce};
use crate::operations::lanes::levels::LEVEL_ASSUMED;
use crate::operations::operation::Operation;
use crate::operations::preview::comparison::PathScope;
use fabdeck_change::Plan;
use fabdeck_mad::access::ReadOptions;

/// A plan that fits the fabric, with its verdict.
pub struct PlanCheck<'p> {
    pub snapshot: Snapshot,
    pub fit: PlanFit,
    pub judged: PlanVerdict,
    /// The elements that the plan leaves out.
    pub failed: Vec<ExcludedElement<'p>>,
}

/// Judges a plan again; refuses a stale one. With `switches`, switches are sources and destinations too.
pub fn check_plan<'p>(
    operation: &mut Operation<'_>,
    plan: &'p Plan,
    switches: bool,
) -> Result<PlanCheck<'p>, Failure> {
    let lanes = plan_has_lanes(plan);
    let mut source = operation.env.open_named_source()?;
    let wanted = ReadOptions { tables: true, lanes, ..ReadOptions::default() };
    let mut snapshot = operation.read_snapshot_through(source.as_mut(), wanted)?;
    assume_tables(&mut snapshot, plan)?;
    let fit = refuse_stale(operation, &snapshot, plan)?;
    let wider = switches && !plan.scope.switches;
    let in_force = match wider && fit == PlanFit::AsMade {
        true => lanes_in_force::read_lanes_in_force(
            operation,
            source.as_mut(),
            &mut snapshot,
            LaneReading { choice: planned_lane_choice(plan), switches: true },
        )?,
        false => LanesInForce::of_choice(None),
    };
    let judged = judge_plan(&snapshot, plan, &fit, PathScope { switches, sent: in_force.sent() })?;
    let failed = excluded_elements(&snapshot, plan);
    Ok(PlanCheck { snapshot, fit, judged, failed })
}

/// A plan beside the fabric, whether it fits or not.
pub struct PlanComparison {
    pub snapshot: Snapshot,
    pub fit: PlanFit,
    pub difference: RemainingDifference,
}

/// Lists what the fabric does not have yet of a plan.
pub fn compare_plan(operation: &mut Operation<'_>, plan: &Plan) -> Result<PlanComparison, Failure> {
    let lanes = plan_has_lanes(plan);
    let wanted = ReadOptions { tables: true, lanes, ..ReadOptions::default() };
    let mut snapshot = operation.read_snapshot(wanted)?;
    assume_tables(&mut snapshot, plan)?;
    let difference = remaining_difference(&snapshot, plan);
    let fit = check_plan_fit(&snapshot, plan);
    Ok(PlanComparison { snapshot, fit, difference })
}

/// How the lanes of the old paths were determined for the plan, so that they are determined in the same way again.
fn planned_lane_choice(plan: &Plan) -> Option<LaneChoice> {
    match plan.transition.old_lanes.as_str() {
        "one" => Some(LaneChoice::One),
        "path records, sampled" => Some(LaneChoice::Sampled),
        "path records, every pair" => Some(LaneChoice::Exact),
        "unknown" => Some(LaneChoice::Unknown),
        LEVEL_ASSUMED => Some(LaneChoice::Assumed),
        _ => None,
    }
}
