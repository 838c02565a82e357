//! The results of tasks, and the tasks that follow from them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::changes::{change_requests, comparison};
use crate::console::features::jobs::running_jobs;
use crate::console::features::lanes::slow_lanes;
use crate::console::features::refresh::refresh_screens;
use crate::console::features::snapshot_change::replace_snapshot;
use crate::console::features::timeline::{derived_events, frame_requests, operator_log, paused_watch};
use crate::console::features::watch::sweep_cycle;
use crate::console::features::whatif::engine_runs::start_next_engine;
use crate::console::features::whatif::marking::count_lost_paths;
use crate::console::model::effect::{Effect, TaskOutcome, TaskRequest};
use crate::console::model::fabric_model::ProposalState;
use crate::console::model::messages::LogMessage;
use crate::console::model::state::{LoadState, SessionState};
use crate::console::model::tasks::TaskId;
use crate::operations::preview::path_preview::Preview;
use crate::operations::preview::whatif::{EngineRow, Proposal};
use fabdeck_routing::EngineRefusal;

/// Receives the result of a task; the result of a cancelled task is dropped.
pub fn receive_outcome(state: &mut SessionState, task: TaskId, outcome: TaskOutcome) -> Vec<Effect> {
    if state.tasks.end(task).is_none() {
        return Vec::new();
    }
    match outcome {
        TaskOutcome::Looked(Ok(look)) => {
            let before = state.known.look.clone();
            let mut effects = receive_snapshot(state, look);
            effects.extend(sweep_cycle::restart_after_snapshot(state, before));
            effects.extend(change_requests::update_after_snapshot(state));
            effects
        }
        TaskOutcome::Looked(Err(error)) => report_failed_reload(state, error),
        TaskOutcome::Arranged(ranks) => {
            let places = state.screens.places(&state.known);
            state.known.arrange(*ranks);
            refresh_screens(state);
            state.screens.restore_cursors(&places, &state.known);
            Vec::new()
        }
        TaskOutcome::Indexed(Ok(preview)) => receive_path_index(state, preview),
        TaskOutcome::Indexed(Err(refusal)) => {
            state.log_message(Severity::Error, format!("lost paths cannot be counted: {refusal}"));
            state.known.unindexed = Some(refusal.to_string());
            refresh_screens(state);
            Vec::new()
        }
        TaskOutcome::Counted(cost, groups) => {
            (state.known.cost, state.known.groups) = (Some(*cost), groups);
            refresh_screens(state);
            Vec::new()
        }
        TaskOutcome::Proposed { engine, outcome, took_ms } => {
            receive_proposal(state, engine, outcome, took_ms)
        }
        TaskOutcome::Selected { selecting, selection } => {
            crate::console::features::row_selection::receive_selection(state, &selecting, selection);
            Vec::new()
        }
        TaskOutcome::Swept(result) if paused_watch::paused_watch_mut(state).is_some() => {
            paused_watch::receive_paused_sweep(state, task, result)
        }
        TaskOutcome::Swept(result) => sweep_cycle::receive_sweep(state, result),
        TaskOutcome::Unrolled(result) => frame_requests::receive_recording(state, result),
        TaskOutcome::Derived(result) => derived_events::receive_part(state, task, result),
        TaskOutcome::Sought(result) => frame_requests::receive_frame(state, task, result),
        TaskOutcome::Judged(reading) => sweep_cycle::receive_verdict(state, task, reading),
        TaskOutcome::Written { to, result } => receive_plan_file(state, to, result),
        TaskOutcome::Saved { to, result: Ok(()) } => {
            let file = to.display();
            state.log_message(Severity::Info, format!("--source {file} plays the recording so far"));
            operator_log::log_save(state)
        }
        TaskOutcome::Offered(result) => change_requests::receive_offer(state, task, result),
        TaskOutcome::Begun(result) => change_requests::receive_begun(state, task, result),
        TaskOutcome::Changes(result) => change_requests::receive_changes(state, task, result),
        TaskOutcome::Compared(result) => comparison::receive_comparison(state, task, result),
        TaskOutcome::Lanes(result) => slow_lanes::receive_lanes(state, task, result),
        TaskOutcome::Listed(result) => running_jobs::receive_list(state, task, result),
        TaskOutcome::Weighed(comparison) => running_jobs::receive_comparison(state, task, *comparison),
        TaskOutcome::Asked { result, .. } => change_requests::receive_answer(state, task, result),
        TaskOutcome::Saved { result: Err(error), .. } => {
            state.log_message(Severity::Error, format!("no capture was written: {error}"));
            Vec::new()
        }
    }
}

/// Stores the result of an engine for the marks.
fn receive_proposal(
    state: &mut SessionState,
    engine: &'static str,
    outcome: Result<Arc<Proposal>, EngineRefusal>,
    took_ms: u64,
) -> Vec<Effect> {
    let row = EngineRow::new(engine, outcome.as_deref(), Some(took_ms as f64 / 1000.0));
    let row = Box::new(if state.known.tables { row } else { row.without_tables() });
    if let Err(refusal) = &outcome {
        state.log_message(Severity::Warning, format!("{engine}: {refusal}"));
    }
    let refused = outcome.as_ref().err().map(ToString::to_string);
    state.known.proposed.insert(engine, ProposalState::Done { outcome, row });
    let mut effects = operator_log::log_proposal(state, engine, refused);
    effects.extend(start_next_engine(state));
    refresh_screens(state);
    effects
}

/// Reports whether a plan was written to its file.
fn receive_plan_file(state: &mut SessionState, to: PathBuf, result: Result<(), String>) -> Vec<Effect> {
    let effects = match result {
        Ok(()) => {
            state.log_message(Severity::Info, format!("the plan is in {}", to.display()));
            operator_log::log_plan(state, &to)
        }
        Err(error) => {
            state.drafts.remove(&to);
            state.log_message(Severity::Error, format!("no plan was written: {error}"));
            Vec::new()
        }
    };
    state.plans.insert(to);
    effects
}

/// Reports that reading failed. An earlier snapshot stays, and so does the watch.
fn report_failed_reload(state: &mut SessionState, error: String) -> Vec<Effect> {
    state.log_message(Severity::Error, error.clone());
    state.set_loading(match state.known.tables {
        true => LoadState::Done,
        false => LoadState::Failed(error),
    });
    refresh_screens(state);
    start_next_engine(state)
}

/// Receives the fabric before its tables, which is enough for browsing. If an earlier snapshot exists, the
/// session waits for the complete one.
pub fn receive_fabric(state: &mut SessionState, task: TaskId, look: Arc<Snapshot>) -> Vec<Effect> {
    if state.loading != LoadState::Under(task) || state.known.look.is_some() {
        return Vec::new();
    }
    state.known.look = Some(look.clone());
    refresh_screens(state);
    vec![state.begin("sorting switches by rank", TaskRequest::Arrange { look }).1]
}

fn receive_snapshot(state: &mut SessionState, look: Arc<Snapshot>) -> Vec<Effect> {
    state.set_loading(LoadState::Done);
    // After a change, notes that were reported before are not repeated, as the result of the change matters
    // more.
    let follows = state.known.changes.rereading;
    let notes = look.observation.notes.iter().map(ToString::to_string);
    let new = |text: &String| !(follows && state.messages.iter().any(|message| message.text == *text));
    let notes: Vec<String> = notes.filter(new).collect();
    if !(follows && notes.is_empty()) {
        let (at_ms, severity) = (state.now_ms, Severity::Warning);
        notes.into_iter().for_each(|text| state.messages.push_unread(LogMessage { at_ms, severity, text }));
        state.seen = state.messages.total_count();
    }
    if look.observation.is_partial() {
        state.log_message(
            Severity::Warning,
            "the snapshot is partial: part of the fabric did not answer (M shows the log)",
        );
    }
    replace_snapshot(state, look)
}

fn receive_path_index(state: &mut SessionState, preview: Arc<Mutex<Preview>>) -> Vec<Effect> {
    // No other thread has the preview yet, so the lock is free.
    state.known.paths = preview.lock().ok().map(|preview| preview.paths().clone());
    state.known.preview = Some(preview);
    refresh_screens(state);
    let mut effects = count_lost_paths(state);
    effects.extend(sweep_cycle::rejudge(state));
    effects
}

/// Cancels long tasks and reports them: reading the source, and engines. Other tasks are short, or must not
/// stop halfway.
pub fn cancel_all(state: &mut SessionState) -> Vec<Effect> {
    let is_reading = |task: TaskId| state.loading == LoadState::Under(task);
    let routing = |task: TaskId| {
        let mut proposed = state.known.proposed.values();
        proposed.any(|proposed| matches!(proposed, ProposalState::Under(under) if *under == task))
    };
    let long: Vec<(TaskId, String)> = (state.tasks.running_tasks().iter())
        .filter(|task| routing(task.id) || is_reading(task.id))
        .map(|task| (task.id, task.title.clone()))
        .collect();
    let mut effects: Vec<Effect> = change_requests::cancel_offer(state).into_iter().collect();
    state.queue.clear();
    for (task, title) in long {
        state.tasks.end(task);
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
