//! Compares an applied plan with a reading of the fabric that is independent of the guard's, before a program confirms it.

use super::verification::{drift_message, hides_part, open_findings};
use crate::catalogue::failure::Failure;
use crate::operations::lanes::lanes_in_force::{LaneReading, read_snapshot};
use crate::operations::operation::Operation;
use crate::operations::plans::plan_file;
use crate::operations::plans::plan_verdict::check_after_change;
use fabdeck_change::Plan;
use fabdeck_fabric::Faults;
use fabdeck_mad::access::ReadOptions;

/// What differs from the plan, or which findings the fabric has that are not accepted; an error if that is unknown.
pub fn find_deviation(
    operation: &mut Operation<'_>,
    plan: &Plan,
    accepted: &[String],
) -> Result<Option<String>, String> {
    let message_of = |failure: Failure| failure.message.unwrap_or_default();
    let wanted =
        ReadOptions { tables: true, lanes: plan_file::plan_has_lanes(plan), ..ReadOptions::default() };
    let (snapshot, in_force) =
        read_snapshot(operation, wanted, LaneReading::default()).map_err(message_of)?;
    if hides_part(&snapshot.observation) {
        return Err("part of the fabric did not answer, so the change cannot be checked".to_owned());
    }
    if let Some(drift) = drift_message(&snapshot, plan) {
        return Ok(Some(format!(
            "FD-7818: the fabric differs from the applied plan, so it is rolled back: {drift}"
        )));
    }
    let report = check_after_change(&snapshot, Some(plan), &Faults::new(), in_force.sent())
        .map_err(|refusal| message_of(refusal.into()))?;
    let open = open_findings(&report, accepted);
    Ok((!open.is_empty())
        .then(|| format!("FD-7818: findings after the change, so it is rolled back: {}", open.join("; "))))
}
