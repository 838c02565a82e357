//! The results of tasks and marks, and the tasks that follow from them.

use crate::console::features::changes::change_requests;
use crate::console::features::changes::comparison;
use crate::console::features::timeline::derived_events;
use crate::console::features::timeline::frame_requests;
use crate::console::features::timeline::paused_watch;
use crate::console::features::watch::sweep_cycle;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::features::fabric::health::FabricHealth;
use crate::console::features::jobs::running_jobs;
use crate::console::features::lanes::slow_lanes;
use crate::console::features::timeline::operator_log;
use crate::console::model::effect::{Effect, TaskOutcome, TaskRequest};
use crate::console::model::fabric_model::{Model, ProposalState};
use crate::console::model::messages::{LogMessage, Severity};
use crate::console::model::state::{LoadState, SessionState};
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::preview::path_preview::Preview;
use crate::operations::preview::whatif::{EngineRow, Proposal};
use fabdeck_fabric::ElementId;
use fabdeck_routing::analysis::CutOffPairs;
use fabdeck_routing::{ENGINES, Engine, EngineRefusal};

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
            super::row_selection::receive_selection(state, &selecting, selection);
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

/// Reads the source again.
pub fn reload_snapshot(state: &mut SessionState) -> Vec<Effect> {
    let (task, effect) = state.begin(format!("reading {}", state.source), TaskRequest::Look);
    state.set_loading(LoadState::Under(task));
    state.known.changes.rereading = false;
    vec![effect]
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

/// Replaces the snapshot. Values that refer to ids are converted to the new ids. Derived values are computed
/// again, unless fabric and tables are equal.
pub fn replace_snapshot(state: &mut SessionState, look: Arc<Snapshot>) -> Vec<Effect> {
    let same_fabric = state.snapshot().is_some_and(|before| before.fabric() == look.fabric());
    let same_tables = state
        .snapshot()
        .is_some_and(|before| same_fabric && before.observation.tables == look.observation.tables);
    // Values that were derived from an equal fabric and equal tables stay valid.
    if same_tables && state.known.tables {
        state.known.look = Some(look);
        refresh_screens(state);
        return start_next_engine(state);
    }
    let waiting = |proposed: &ProposalState| !matches!(proposed, ProposalState::Done { .. });
    let asked: Vec<&'static Engine> =
        ENGINES.iter().filter(|engine| state.known.proposed.get(engine.id).is_some_and(waiting)).collect();
    // After a change by this session, its result matters more, and the operator knows that tables changed.
    if state.known.proposed.len() > asked.len() && !state.known.changes.rereading {
        state.log_message(Severity::Info, "the fabric or its tables changed: p runs the engines again");
    }
    let mut effects = drop_results(state, TaskDependency::Snapshot);
    let mut places = state.screens.places(&state.known);
    if let Some(before) = state.known.look.replace(look.clone()).filter(|_| !same_fabric) {
        running_jobs::forget_ports(state);
        carry_marks_over(state, &before, &look);
        let again = |what: ElementId| what.translate(before.fabric(), look.fabric());
        places = places.into_iter().map(|what| what.and_then(again)).collect();
        state.known.carry_order_over(&again);
        state.screens.carry_over(&again);
        state.known.paths = None;
    }
    state.known.tables = look.observation.tables.has_forwarding();
    // Paths over the same links stay until those of the new tables are indexed.
    if !state.known.tables {
        state.known.paths = None;
    }
    count_cut_off_pairs(&mut state.known);
    (state.known.preview, state.known.unindexed) = (None, None);
    state.known.proposals = Arc::default();
    state.drafts.clear();
    refresh_screens(state);
    state.screens.restore_cursors(&places, &state.known);
    if !same_fabric || state.known.tiers.is_empty() {
        effects.push(state.begin("sorting switches by rank", TaskRequest::Arrange { look: look.clone() }).1);
    }
    if state.known.tables {
        effects.push(state.begin("indexing paths", TaskRequest::Index { look }).1);
    }
    effects.extend(preview_engines(state, &asked));
    effects
}

/// Converts the marks to the new fabric, and reports marked elements that are gone.
fn carry_marks_over(state: &mut SessionState, before: &Snapshot, look: &Snapshot) {
    let (marks, gone) = state.known.marks.translate(before.fabric(), look.fabric());
    state.known.marks = marks;
    for marks in &mut state.known.marks_before {
        *marks = marks.translate(before.fabric(), look.fabric()).0;
    }
    for what in gone {
        let name = fabdeck_fabric::Element::from_id(before.fabric(), &before.names, what);
        state.log_message(Severity::Warning, format!("{name} was marked and is no longer in the fabric"));
    }
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

/// Makes the lists of all screens again from the current model.
pub fn refresh_screens(state: &mut SessionState) {
    let numbers = |look: &Arc<Snapshot>| {
        (Arc::as_ptr(look) as usize, crate::console::features::details::ElementDetail::fabric_lines(look))
    };
    let held = state.known.numbers_of;
    if let Some((of, numbers)) =
        state.snapshot().filter(|look| Some(Arc::as_ptr(look) as usize) != held).map(numbers)
    {
        (state.known.numbers_of, state.known.numbers) = (Some(of), numbers);
    }
    if let Some(health) = FabricHealth::update_from(&state.known) {
        state.known.health = health;
    }
    state.screens.refresh(&state.known);
}

const COUNTING: &str = "counting lost paths";

/// Counts the cost of the marks in a background task.
fn count_lost_paths(state: &mut SessionState) -> Vec<Effect> {
    let (Some(look), Some(preview)) = (state.known.look.clone(), state.known.preview.clone()) else {
        return Vec::new();
    };
    let marks = state.known.marks.clone();
    let earlier: Vec<TaskId> = state
        .tasks
        .running_tasks()
        .iter()
        .filter(|task| task.title == COUNTING)
        .map(|task| task.id)
        .collect();
    earlier.into_iter().for_each(|task| drop(state.tasks.end(task)));
    vec![state.begin(COUNTING, TaskRequest::Cost { look, preview, marks }).1]
}

/// Counts what the marks cut off whatever the tables are, where there are none to count the cost with.
fn count_cut_off_pairs(known: &mut Model) {
    let without_tables = known.look.as_ref().filter(|_| !known.tables && !known.marks.is_empty());
    known.cut_off = without_tables.map(|look| CutOffPairs::count(look.fabric(), &known.marks));
}

/// Drops results for the old marks, and counts the cost of the new ones.
pub fn update_after_marking(state: &mut SessionState) -> Vec<Effect> {
    let mut effects = drop_results(state, TaskDependency::Marks);
    count_cut_off_pairs(&mut state.known);
    effects.extend(count_lost_paths(state));
    refresh_screens(state);
    effects
}

/// Drops the results for marks, and cancels all tasks that depend on what has changed.
fn drop_results(state: &mut SessionState, changed: TaskDependency) -> Vec<Effect> {
    let stale: Vec<TaskId> =
        state.tasks.running_tasks().iter().filter(|task| task.needs >= changed).map(|task| task.id).collect();
    state.queue.clear();
    (state.known.cost, state.known.groups) = (None, None);
    let others = if changed == TaskDependency::Snapshot {
        "the fabric or its tables changed"
    } else {
        "the marks changed"
    };
    running_jobs::drop_sar_answer(&mut state.known, others);
    state.known.proposed.clear();
    let end = |task: TaskId| state.tasks.end(task).map(|_| Effect::Cancel(task));
    stale.into_iter().filter_map(end).collect()
}

/// Maximum number of steps that can be undone.
const MAX_UNDO: usize = 100;

/// Saves the marks for a later undo.
pub fn save_marks(state: &mut SessionState) {
    let before = &mut state.known.marks_before;
    if before.len() == MAX_UNDO {
        before.remove(0);
    }
    before.push(state.known.marks.clone());
}

/// Marks elements as failed; when all of them are marked already, removes their marks.
pub fn mark_elements(state: &mut SessionState, all: &[ElementId]) -> Vec<Effect> {
    save_marks(state);
    let mut marked = 0;
    for what in all {
        marked += usize::from(state.known.marks.mark(*what));
    }
    if marked == 0 {
        for what in all {
            state.known.marks.unmark(*what);
        }
    }
    let again = if state.known.proposed.is_empty() { "" } else { "; p runs the engines again" };
    let verb = if marked > 0 { "marked as failed" } else { "no longer marked" };
    let what = match all {
        [one] => format!("{} is", state.known.element(*one).unwrap_or_default()),
        _ => count_words(all.len(), "element is", "elements are"),
    };
    state.log_message(Severity::Info, format!("{what} {verb}; nothing is written to the fabric{again}"));
    update_after_marking(state)
}

/// Removes the marks of the selected rows, or else all marks.
pub fn unmark_elements(state: &mut SessionState) -> Vec<Effect> {
    save_marks(state);
    let selected = state.selected().clone();
    match selected.is_empty() {
        true => {
            state.known.marks.clear();
            state.log_message(Severity::Info, "no element is marked now");
        }
        false => {
            let taken = selected.iter().filter(|what| state.known.marks.unmark(**what)).count();
            let count = count_words(taken, "mark of the selected rows is", "marks of the selected rows are");
            state.log_message(Severity::Info, format!("{count} removed"));
        }
    }
    update_after_marking(state)
}

/// Restores the marks before the last change of them.
pub fn undo_marks(state: &mut SessionState) -> Vec<Effect> {
    let Some(before) = state.known.marks_before.pop() else { return Vec::new() };
    state.known.marks = before;
    let count = count_words(state.known.marks.len(), "element is", "elements are");
    state.log_message(Severity::Info, format!("undone: {count} marked now"));
    update_after_marking(state)
}

/// Whether an engine is running or waiting.
pub fn has_running_engine(state: &SessionState) -> bool {
    state.known.proposed.values().any(|proposed| !matches!(proposed, ProposalState::Done { .. }))
}

/// Starts engines for the current marks, except those that have answered already.
pub fn preview_engines(state: &mut SessionState, engines: &[&'static Engine]) -> Vec<Effect> {
    running_jobs::use_known_jobs(state);
    for engine in engines {
        if !state.known.proposed.contains_key(engine.id) {
            state.known.proposed.insert(engine.id, ProposalState::Waiting);
            state.queue.push_back(engine);
        }
    }
    let effects = start_next_engine(state);
    refresh_screens(state);
    effects
}

/// Starts the next engine in the queue, unless another one runs or the tables to compare with are still being
/// read.
fn start_next_engine(state: &mut SessionState) -> Vec<Effect> {
    let routes = state.known.proposed.values().any(|proposed| matches!(proposed, ProposalState::Under(_)));
    let reading = matches!(state.loading, LoadState::Under(_));
    let Some(look) = state.known.look.clone().filter(|_| !routes && !reading) else { return Vec::new() };
    let Some(engine) = state.queue.pop_front() else { return Vec::new() };
    let (marks, request) = (state.known.marks.clone(), state.request.clone());
    let proposals = state.known.proposals.clone();
    let job = TaskRequest::Propose { look, proposals, marks, engine, request };
    let (task, effect) = state.begin(format!("{} routes", engine.id), job);
    state.known.proposed.insert(engine.id, ProposalState::Under(task));
    vec![effect]
}

/// All engines of the registry.
pub fn all_engines() -> Vec<&'static Engine> {
    ENGINES.iter().collect()
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
