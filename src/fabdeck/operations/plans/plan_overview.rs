//! What a plan would do, from its file alone.

use crate::operations::check::loads::JobGain;
use crate::operations::preview::comparison::NO_TABLES;
use fabdeck_change::Plan;

/// The figures of a plan that its certificate and its impact state. `None` where a plan does not state one.
#[derive(Clone, PartialEq, Debug)]
pub struct PlanOverview {
    /// Number of pairs without a path after the plan.
    pub unreachable: Option<u64>,
    pub deadlock_free: Option<bool>,
    pub moved_pairs: MovedPairs,
    /// The gain of the jobs for which the plan was made.
    pub jobs: Option<JobGain>,
}

/// Number of pairs whose path changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MovedPairs {
    Count(Option<u64>),
    /// There were no tables in force to compare with.
    NoTables,
}

/// Reads the figures of a plan.
pub fn read_overview(plan: &Plan) -> PlanOverview {
    let moved_pairs = match plan.transition.reason.as_deref() {
        Some(NO_TABLES) => MovedPairs::NoTables,
        _ => MovedPairs::Count(plan.impact["moved_pairs"].as_u64()),
    };
    PlanOverview {
        unreachable: plan.certificate["unreachable"].as_u64(),
        deadlock_free: plan.certificate["deadlock_free"].as_bool(),
        moved_pairs,
        jobs: serde_json::from_value(plan.jobs.clone()).ok(),
    }
}
