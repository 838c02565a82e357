//! Routes of an engine, as a plan.

use std::time::Instant;

use super::plan_origin::PlanOrigin;
use super::proposal_plan::{PlanCreationError, make_plan, plan_text, settle_proposal};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::operation::Operation;
use crate::operations::preview::whatif::{EngineRow, Proposal, ProposalOptions, propose};
use crate::system::phase::Phase;
use fabdeck_change::Plan;
use fabdeck_fabric::Faults;
use fabdeck_mad::access::AttributePart;
use fabdeck_routing::{Engine, EngineRefusal};

/// Result of an engine, as a plan.
pub struct RoutedPlan {
    pub plan: Plan,
    pub proposal: Proposal,
    pub row: EngineRow,
}

/// Runs an engine, and restricts its routes to the switches that a plan can write.
pub(super) fn propose_settled(
    operation: &mut Operation<'_>,
    snapshot: &Snapshot,
    faults: &Faults,
    engine: &'static Engine,
    asked: ProposalOptions<'_>,
) -> Result<Proposal, EngineRefusal> {
    let tables = &snapshot.observation.tables;
    operation.run_with_progress(engine.id, |progress| {
        let proposal = propose(snapshot, tables, faults, engine, asked, progress)?;
        settle_proposal(snapshot, faults, proposal, asked.sent, progress)
    })
}

/// Seconds since `begun`, unless the answer is to have no times.
pub(super) fn elapsed_seconds(operation: &Operation<'_>, begun: Instant) -> Option<f64> {
    (!operation.env.given.no_times).then(|| begun.elapsed().as_secs_f64())
}

/// Runs an engine and compares its routes with the fabric.
pub fn route_plan(
    operation: &mut Operation<'_>,
    snapshot: &Snapshot,
    faults: &Faults,
    engine: &'static Engine,
    asked: ProposalOptions<'_>,
) -> Result<RoutedPlan, Failure> {
    let begun = Instant::now();
    let proposal = propose_settled(operation, snapshot, faults, engine, asked)?;
    let row = EngineRow::new(engine.id, Ok(&proposal), elapsed_seconds(operation, begun));
    let plan =
        make_plan(snapshot, faults, engine.id, &proposal, asked.sent, PlanOrigin::now(operation.env.given))
            .map_err(unwritten_failure)?;
    Ok(RoutedPlan { plan, proposal, row })
}

pub fn text_of_plan(plan: &Plan) -> Result<String, Failure> {
    Phase::time("text of the plan", || plan_text(plan)).map_err(unwritten_failure)
}

pub(crate) fn unwritten_failure(error: PlanCreationError) -> Failure {
    Failure::new(exit_of(&error), error.to_string())
}

/// Exit code for a plan that cannot be written.
pub fn exit_of(error: &PlanCreationError) -> Exit {
    if matches!(error, PlanCreationError::Refused(_)) { Exit::Bug } else { Exit::Failed }
}

/// The writes of a plan, in one sentence.
pub fn change_summary(plan: &Plan) -> String {
    let safe = plan.transition.short_verdict();
    let lane_tables =
        plan.writes.iter().filter(|write| matches!(write.part, AttributePart::Lanes(_))).count();
    let lanes = match plan.impact["changed_lanes"].as_u64() {
        Some(0) => "no lane changes".to_owned(),
        Some(some) => {
            let paths = count_words(some as usize, "path", "paths");
            format!("the lane of {paths} of a switch to a LID changes")
        }
        None if plan.lanes.count == 1 => "changes of lanes are unknown; all paths use one lane".to_owned(),
        None => format!("changes of lanes are unknown; paths use {} lanes", plan.lanes.count),
    };
    let blocks = count_words(plan.writes.len() - lane_tables, "block", "blocks");
    let switches = count_words(plan.count_targets().0, "switch", "switches");
    let tables = match lane_tables {
        0 => String::new(),
        some => format!(", with {}", count_words(some, "SL2VL table", "SL2VL tables")),
    };
    format!("{blocks} on {switches}{tables}; {lanes}; {safe}")
}

/// Warning with the findings of a plan, in one line.
pub fn findings_warning(plan: &Plan) -> Option<String> {
    let words = plan.findings.join("; ");
    (!plan.findings.is_empty()).then(|| format!("warning: the plan of {}: {words}", plan.engine))
}
