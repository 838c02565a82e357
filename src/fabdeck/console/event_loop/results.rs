//! The outcomes of tasks, and the cancelling of tasks.

use crate::catalogue::severity::Severity;
use crate::console::features::changes::change_requests;
use crate::console::features::refresh::refresh_screens;
use crate::console::model::background_task::TaskOutcome;
use crate::console::model::effect::Effect;
use crate::console::model::fabric_model::ProposalState;
use crate::console::model::state::{LoadState, SessionState};
use crate::console::model::tasks::TaskId;

/// Receives the outcome of a task; the outcome of a cancelled task is dropped.
pub fn receive_outcome(state: &mut SessionState, task: TaskId, outcome: Box<dyn TaskOutcome>) -> Vec<Effect> {
    match state.tasks.end(task) {
        Some(_) => outcome.receive(state, task),
        None => Vec::new(),
    }
}

/// Cancels the running tasks that can be cancelled, and reports them.
pub fn cancel_all(state: &mut SessionState) -> Vec<Effect> {
    let cancelled: Vec<(TaskId, String)> = (state.tasks.running_tasks().iter())
        .filter(|task| task.cancellable)
        .map(|task| (task.id, task.title.clone()))
        .collect();
    let mut effects: Vec<Effect> = change_requests::cancel_offer(state).into_iter().collect();
    state.queue.clear();
    for (task, title) in cancelled {
        // The comparison of a plan has been cancelled above.
        if state.tasks.end(task).is_none() {
            continue;
        }
        effects.push(Effect::Cancel(task));
        state.log_message(Severity::Warning, format!("cancelled: {title}"));
        if state.loading == LoadState::Under(task) {
            // An earlier snapshot stays.
            state.set_loading(match state.known.tables {
                true => LoadState::Done,
                false => LoadState::Failed("the reading was cancelled; r reads again".to_owned()),
            });
        }
    }
    state.known.proposed.retain(|_, proposed| matches!(proposed, ProposalState::Done { .. }));
    refresh_screens(state);
    effects
}
