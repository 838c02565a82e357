//! Confirmed changes are compared with the fabric at intervals. The operator gets a message about a change
//! that no longer stands.

use super::change_requests::has_changes;
use crate::catalogue::severity::Severity;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome, WholeOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::changes::attestations::Attestations;
use crate::operations::changes::change_row::ChangeRow;
use fabdeck_change::{AttestationVerdict, ChangePhase};
use fabdeck_routing::RouteProgress;

/// Compares what confirmed changes wrote with the fabric.
#[derive(Debug)]
pub struct AttestationTask;

impl BackgroundTask for AttestationTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Nothing
    }

    fn restore(&self, whole: &WholeOutcome) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(AttestationOutcome(whole.content("compared")?)))
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(AttestationOutcome(services.changes().compare_changes())))
    }
}

#[derive(Debug)]
pub struct AttestationOutcome(pub Result<Attestations, String>);

impl TaskOutcome for AttestationOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        receive_comparison(state, task, self.0)
    }

    fn digest_text(&self) -> String {
        format!("compared {:?}", self.0)
    }

    fn to_whole(&self) -> Option<WholeOutcome> {
        WholeOutcome::new("compared", &self.0)
    }
}

/// Interval between comparisons. Each one reads the whole fabric, so it is as long as that of complete table
/// readings.
const COMPARISON_INTERVAL_MS: u64 = 300_000;

fn is_comparison_wanted(state: &SessionState) -> bool {
    let changes = &state.known.changes;
    let confirmed = || changes.rows_here().any(|row| row.state == ChangePhase::Confirmed);
    has_changes(state) && changes.comparing.task.is_none() && confirmed()
}

/// Time of the next comparison.
pub(super) fn next_wake_ms(state: &SessionState) -> Option<u64> {
    is_comparison_wanted(state).then_some(state.known.changes.comparing.due_ms)
}

/// Begins a comparison that is due.
pub(super) fn tick(state: &mut SessionState) -> Option<Effect> {
    if !is_comparison_wanted(state) || state.now_ms < state.known.changes.comparing.due_ms {
        return None;
    }
    let (task, effect) = state.begin_quiet("comparing confirmed changes with the fabric", AttestationTask);
    state.known.changes.comparing.task = Some(task);
    Some(effect)
}

/// Receives the results of a comparison.
fn receive_comparison(
    state: &mut SessionState,
    task: TaskId,
    result: Result<Attestations, String>,
) -> Vec<Effect> {
    let now_ms = state.now_ms;
    let comparing = &mut state.known.changes.comparing;
    if comparing.task != Some(task) {
        return Vec::new();
    }
    let due_ms = if std::mem::take(&mut comparing.again) { now_ms } else { now_ms + COMPARISON_INTERVAL_MS };
    (comparing.task, comparing.due_ms) = (None, due_ms);
    match result {
        Err(error) => {
            if comparing.trouble.replace(error.clone()).as_ref() != Some(&error) {
                let text =
                    format!("confirmed changes could not be compared, and are compared again: {error}");
                state.log_message(Severity::Warning, text);
            }
        }
        Ok(now) => {
            comparing.trouble = None;
            let before = std::mem::replace(&mut comparing.last, now);
            if let Some(changes) = &mut state.known.changes.last {
                state.known.changes.comparing.add_to_rows(&mut changes.rows);
            }
            report_differences(state, &before);
            state.screens.refresh(&state.known);
        }
    }
    Vec::new()
}

/// Reports what differs from the comparison before.
fn report_differences(state: &mut SessionState, before: &Attestations) {
    let rows: Vec<ChangeRow> = state.known.changes.rows_here().cloned().collect();
    let was = |row: &ChangeRow| before.get(&row.id).map(|before| before.verdict);
    let mut fallen = Vec::new();
    for row in &rows {
        let Some(now) = row.comparison.as_ref().filter(|now| was(row) != Some(now.verdict)) else { continue };
        let (number, words) = (row.number, now.summary());
        match (now.verdict, was(row)) {
            (AttestationVerdict::NoLongerStands, _) => fallen.push((number, words)),
            (AttestationVerdict::NotKnown, _) => {
                state.log_message(
                    Severity::Warning,
                    format!("whether change {number} is in force is {words}"),
                );
            }
            (
                AttestationVerdict::Stands,
                Some(AttestationVerdict::NoLongerStands | AttestationVerdict::NotKnown),
            ) => {
                state.log_message(Severity::Info, format!("change {number} {words} again"));
            }
            (AttestationVerdict::Stands | AttestationVerdict::Superseded, _) => {}
        }
    }
    let more = match fallen.len().saturating_sub(1) {
        0 => String::new(),
        more => format!("; and {more} more (9 shows them)"),
    };
    if let Some((number, words)) = fallen.first() {
        state.known.changes.comparing.fallen = Some(*number);
        state.log_message(Severity::Error, format!("change {number} {words}{more}"));
    }
}
