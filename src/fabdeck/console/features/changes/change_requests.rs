//! Requests and answers about changes: offers, begun changes, and decisions. The states of all changes are
//! read at intervals, each second while a change is pending.

use std::sync::Arc;

use super::apply_state::{ApplyState, answer_options};
use super::changes_model::ApplyRequest;
use super::dialogue::{Dialogue, DialogueQuestion};
use super::{change_actions, change_effect, change_messages, comparison, mode_actions};
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::nothing_to_do;
use crate::console::features::lanes::slow_lanes;
use crate::console::features::screen_change::open_screen;
use crate::console::features::screens::ScreenId;
use crate::console::features::snapshot_change;
use crate::console::features::timeline::operator_log;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome, WholeOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::overlay::Overlay;
use crate::console::model::state::{LoadState, SessionState};
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::changes::change_row::time_of_day;
use crate::operations::changes::changer::{Acceptance, ChangeOffer, ChangeOverview, PlanSource, WriteAccess};
use crate::operations::changes::weak_links::weak_links_used;
use crate::operations::jobs::job_request::JobInput;
use fabdeck_change::{ChangePhase, ChangeStatus, GuardRequest};
use fabdeck_fabric::LinkId;
use fabdeck_routing::RouteProgress;

/// Cables with errors or at a reduced rate, of a snapshot, each with what is wrong with it.
pub(super) type BadCables = (Arc<Snapshot>, Vec<(LinkId, String)>);

/// Compares a plan with the current fabric.
#[derive(Debug)]
pub struct OfferTask {
    pub(super) planned: PlanSource,
    /// The running jobs, where they are known.
    pub(super) jobs: Option<Arc<JobInput>>,
    pub(super) bad_links: Option<BadCables>,
}

impl BackgroundTask for OfferTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Nothing
    }

    fn is_cancellable(&self) -> bool {
        true
    }

    fn restore(&self, whole: &WholeOutcome) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(OfferOutcome(whole.content("offered")?)))
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let mut offer = services.changes().prepare_offer_for(&self.planned, self.jobs.as_deref());
        if let (Ok(offer), Some((look, bad))) = (&mut offer, &self.bad_links)
            && let Some(plan) = offer.plan.as_ref().filter(|_| offer.blocks > 0)
        {
            offer.facts.weak_links = weak_links_used(look, &plan.0, bad);
        }
        Some(Box::new(OfferOutcome(offer.map(Box::new))))
    }
}

#[derive(Debug)]
pub struct OfferOutcome(pub Result<Box<ChangeOffer>, String>);

impl TaskOutcome for OfferOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        receive_offer(state, task, self.0)
    }

    fn digest_text(&self) -> String {
        format!("offered {:?}", self.0.as_ref().map(|offer| &offer.title))
    }

    fn to_whole(&self) -> Option<WholeOutcome> {
        WholeOutcome::new("offered", &self.0)
    }
}

/// Begins the offered change.
#[derive(Debug)]
pub struct BeginChangeTask {
    offer: Box<ChangeOffer>,
    acceptance: Acceptance,
}

impl BackgroundTask for BeginChangeTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Nothing
    }

    fn restore(&self, whole: &WholeOutcome) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(BeginChangeOutcome(whole.content("begun")?)))
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let begun = services.changes().begin_change(&self.offer, &self.acceptance);
        Some(Box::new(BeginChangeOutcome(begun)))
    }
}

/// The id of the change, or the reason why none was begun.
#[derive(Debug)]
pub struct BeginChangeOutcome(Result<String, String>);

impl TaskOutcome for BeginChangeOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        receive_begun(state, task, self.0)
    }

    fn digest_text(&self) -> String {
        format!("begun {:?}", self.0)
    }

    fn to_whole(&self) -> Option<WholeOutcome> {
        WholeOutcome::new("begun", &self.0)
    }
}

/// Reads the states of changes.
#[derive(Debug)]
pub struct ChangesTask;

impl BackgroundTask for ChangesTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Nothing
    }

    fn restore(&self, whole: &WholeOutcome) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(ChangesOutcome(whole.content("changes")?)))
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(ChangesOutcome(services.changes().list_changes())))
    }
}

#[derive(Debug)]
pub struct ChangesOutcome(pub Result<ChangeOverview, String>);

impl TaskOutcome for ChangesOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        receive_changes(state, task, self.0)
    }

    fn digest_text(&self) -> String {
        format!("changes {:?}", self.0)
    }

    fn to_whole(&self) -> Option<WholeOutcome> {
        WholeOutcome::new("changes", &self.0)
    }
}

/// Confirms, extends or rolls back a change.
#[derive(Debug)]
pub struct GuardTask {
    id: String,
    pub ask: GuardRequest,
}

impl BackgroundTask for GuardTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Nothing
    }

    fn restore(&self, whole: &WholeOutcome) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(whole.content::<GuardOutcome>("asked")?))
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let result = services.changes().ask_guard(&self.id, &self.ask);
        Some(Box::new(GuardOutcome { id: self.id.clone(), result }))
    }
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct GuardOutcome {
    id: String,
    result: Result<ChangeStatus, String>,
}

impl TaskOutcome for GuardOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        receive_answer(state, task, self.result)
    }

    fn digest_text(&self) -> String {
        format!("asked {} {:?}", self.id, self.result)
    }

    fn to_whole(&self) -> Option<WholeOutcome> {
        WholeOutcome::new("asked", self)
    }
}

const PENDING_INTERVAL_MS: u64 = 1000;
const IDLE_INTERVAL_MS: u64 = 10_000;

/// The rollback would lose paths, and the operator has to decide.
const WOULD_LOSE_PATHS: &str = "FD-5654";

/// The request was sent, and its result is unknown.
const UNKNOWN_RESULT: &str = "FD-5659";

/// Whether the fabric of the session can have changes.
pub(super) fn has_changes(state: &SessionState) -> bool {
    state.known.look.is_some() && !matches!(state.writing, WriteAccess::Never(_))
}

/// Time at which the changes need a tick: for a reading, or to update the remaining time on the screen.
pub fn next_wake_ms(state: &SessionState) -> Option<u64> {
    let changes = &state.known.changes;
    if !has_changes(state) {
        return None;
    }
    let due = changes.task.is_none().then_some(changes.due_ms);
    let left = changes.pending_rows().find_map(|row| changes.left_ms(row)).filter(|left| *left > 0);
    let second = left.map(|left| state.now_ms + left % 1000 + 1);
    due.into_iter().chain(second).chain(comparison::next_wake_ms(state)).min()
}

/// Handles the passing of time: reads the states of changes when that is due.
pub fn tick(state: &mut SessionState) -> Vec<Effect> {
    let changes = &state.known.changes;
    if !has_changes(state) || changes.task.is_some() || state.now_ms < changes.due_ms {
        return reload_when_idle(state).into_iter().chain(comparison::tick(state)).collect();
    }
    let (task, effect) = state.begin_quiet("reading the states of changes", ChangesTask);
    state.known.changes.task = Some(task);
    let mut effects = reload_when_idle(state);
    effects.push(effect);
    effects.extend(comparison::tick(state));
    effects
}

/// Reads the states of changes after a new snapshot, because only then it is known which belong to its
/// fabric.
pub fn update_after_snapshot(state: &mut SessionState) -> Vec<Effect> {
    poll_now(state)
}

/// Reads the states of changes at once, after a request.
fn poll_now(state: &mut SessionState) -> Vec<Effect> {
    state.known.changes.due_ms = state.now_ms;
    tick(state)
}

/// Receives the comparison of a plan with the fabric, and opens the dialog.
fn receive_offer(
    state: &mut SessionState,
    task: TaskId,
    result: Result<Box<ChangeOffer>, String>,
) -> Vec<Effect> {
    let wanted = state.known.changes.offering.take_if(|(offering, _)| *offering == task);
    let Some((_, wanted)) = wanted else { return Vec::new() };
    if wanted.replaces {
        mode_actions::receive_replacement(state, wanted, result);
        return Vec::new();
    }
    let ApplyRequest { what, line, proposed, .. } = wanted;
    match result {
        Err(error) => state.log_message(Severity::Error, format!("{what} cannot be applied: {error}")),
        Ok(offer) if offer.applied => {
            state.log_message(Severity::Info, nothing_to_do(&what, offer.parts));
            offer.remarks.iter().for_each(|remark| state.log_message(Severity::Warning, remark.clone()));
        }
        Ok(offer) => {
            let question = ApplyState::new(offer, line, proposed);
            state.layer = Some(Overlay::Dialogue(Box::new(Dialogue::apply(question))));
        }
    }
    Vec::new()
}

/// Cancels the comparison of a plan with the fabric; `None` where there is none.
pub fn cancel_offer(state: &mut SessionState) -> Option<Effect> {
    let (task, ApplyRequest { what, .. }) = state.known.changes.offering.take()?;
    state.tasks.end(task)?;
    state.log_message(Severity::Warning, format!("cancelled: {what} was not applied"));
    Some(Effect::Cancel(task))
}

/// Begins a change after the operator's consent.
pub(super) fn begin_change(state: &mut SessionState, apply: ApplyState) -> Vec<Effect> {
    let acceptance = apply.acceptance();
    let ApplyState { offer, line, .. } = apply;
    let options = answer_options(&acceptance.accepted, acceptance.window.as_secs(), acceptance.unanswered);
    let line = line.map(|line| format!("{line}{options}"));
    let title = offer.title.clone();
    if !offer.migrations.is_empty() {
        slow_lanes::record_waiting(&mut state.known);
    }
    let (task, effect) = state.begin_quiet("beginning a change", BeginChangeTask { offer, acceptance });
    state.known.changes.beginning = Some((task, title.clone(), line));
    state.log_message(Severity::Info, format!("{title} is being applied; the session continues"));
    vec![effect]
}

/// Receives the id of a change that was begun, or the reason why it was not.
fn receive_begun(state: &mut SessionState, task: TaskId, result: Result<String, String>) -> Vec<Effect> {
    let beginning = state.known.changes.beginning.take_if(|(beginning, ..)| *beginning == task);
    let Some((_, title, line)) = beginning else { return Vec::new() };
    let id = match result {
        Ok(id) => id,
        Err(error) => {
            state.log_message(Severity::Error, format!("{title} was not applied: {error}"));
            return poll_now(state);
        }
    };
    state.known.changes.begun.insert(id.clone());
    // The decision about the change is there; What-if has only suppositions.
    if state.screen == ScreenId::Whatif {
        open_screen(state, ScreenId::Changes);
        state.screens.changes.move_to_newest();
    }
    let mut effects = operator_log::log_change(state, format!("began to apply {title}"), line.clone());
    if line.is_some() {
        state.last_line = line;
    }
    effects.extend(poll_now(state));
    effects
}

/// Sends a request to a guard: confirm, extend or roll back.
pub(super) fn ask_guard(state: &mut SessionState, id: String, ask: GuardRequest) -> Vec<Effect> {
    let title = format!("sending a request for change {id}");
    let (task, effect) = state.begin_quiet(title, GuardTask { id: id.clone(), ask: ask.clone() });
    if matches!(ask, GuardRequest::RollBack { .. }) {
        state.known.changes.sent_back.insert(id.clone());
    }
    state.known.changes.asked.insert(task, (id, ask));
    vec![effect]
}

/// Receives the answer of a guard.
fn receive_answer(
    state: &mut SessionState,
    task: TaskId,
    result: Result<ChangeStatus, String>,
) -> Vec<Effect> {
    let Some((id, ask)) = state.known.changes.asked.remove(&task) else { return Vec::new() };
    let number = state.known.changes.row(&id).map_or_else(|| id.clone(), |row| row.number.to_string());
    let (what, line) = match &ask {
        // These requests have no message: a status changes nothing, and the console names no process.
        GuardRequest::Status | GuardRequest::NameOpensm { .. } => return Vec::new(),
        GuardRequest::Confirm { .. } => ("confirmed", format!("confirm {id}")),
        GuardRequest::GoOn { .. } => ("ordered to continue", format!("confirm {id} --go-on")),
        GuardRequest::Extend { seconds, .. } => ("extended", format!("extend {id} {seconds}s")),
        GuardRequest::RollBack { anyway, .. } => {
            ("rolled back", format!("rollback {id}{}", if *anyway { " --force" } else { "" }))
        }
    };
    let status = match result {
        Ok(status) => status,
        Err(error) => {
            let refused = matches!(ask, GuardRequest::RollBack { anyway: false, .. })
                && error.contains(WOULD_LOSE_PATHS);
            state.known.changes.sent_back.remove(&id);
            let text = if error.contains(UNKNOWN_RESULT) { "may still be" } else { "was not" };
            state.log_message(Severity::Error, format!("change {number} {text} {what}: {error}"));
            if refused {
                change_actions::open_dialogue(state, DialogueQuestion::RollBack { id, lost: Some(error) });
            }
            return poll_now(state);
        }
    };
    if let (GuardRequest::Extend { .. }, Some(deadline)) = (&ask, &status.deadline) {
        state.log_message(Severity::Info, format!("change {number} waits until {}", time_of_day(deadline)));
    }
    // Only this session can reach a change of a simulator in its process, so there is no command line for it.
    let line = (state.writing != WriteAccess::Own).then(|| state.command_line_without_source(&line));
    let doing = match &ask {
        GuardRequest::RollBack { .. } => format!("rolled back change {number}"),
        GuardRequest::GoOn { .. } => format!("continued change {number}"),
        _ => format!("{what} change {number}"),
    };
    let mut effects = operator_log::log_change(state, doing, line.clone());
    if line.is_some() {
        state.last_line = line;
    }
    effects.extend(poll_now(state));
    effects
}

/// Receives the states of all changes.
fn receive_changes(
    state: &mut SessionState,
    task: TaskId,
    result: Result<ChangeOverview, String>,
) -> Vec<Effect> {
    let now_ms = state.now_ms;
    let seen = &mut state.known.changes;
    if seen.task != Some(task) {
        return Vec::new();
    }
    seen.task = None;
    match result {
        Err(error) => {
            if seen.trouble.replace(error.clone()).as_ref() != Some(&error) {
                let text = format!("the states of changes could not be read, and are read again: {error}");
                state.log_message(Severity::Warning, text);
            }
        }
        Ok(changes) => {
            seen.trouble = None;
            seen.seen_ms = now_ms;
            let before = seen.last.replace(changes);
            seen.last.iter_mut().for_each(|last| seen.comparing.add_to_rows(&mut last.rows));
            seen.write_marks = seen.find_write_marks();
            change_effect::keep_values_before(&mut state.known);
            change_messages::report_changes(state, before);
            close_decided_dialogue(state);
            state.screens.refresh(&state.known);
        }
    }
    let seen = &mut state.known.changes;
    let unseen = seen.begun.iter().any(|id| seen.row(id).is_none());
    let busy = unseen || seen.beginning.is_some() || seen.pending_rows().next().is_some();
    seen.due_ms = now_ms + if busy { PENDING_INTERVAL_MS } else { IDLE_INTERVAL_MS };
    reload_when_idle(state).into_iter().chain(comparison::tick(state)).collect()
}

/// Closes a question about a change that is decided. An incomplete change can still be rolled back again.
fn close_decided_dialogue(state: &mut SessionState) {
    let Some(Overlay::Dialogue(dialogue)) = &state.layer else { return };
    let seen = &state.known.changes;
    let back = matches!(dialogue.question, DialogueQuestion::RollBack { .. });
    let over = |id: &str| {
        let state = seen.row(id).map(|row| row.state);
        !state.is_some_and(|state| state.is_pending() || (back && state == ChangePhase::Incomplete))
    };
    let left =
        matches!(dialogue.question, DialogueQuestion::Leave { .. }) && seen.pending_rows().next().is_none();
    if left || dialogue.change_id().is_some_and(over) {
        state.layer = None;
    }
}

/// Reads the source again after tables were written, as soon as the session is free.
fn reload_when_idle(state: &mut SessionState) -> Vec<Effect> {
    let free = !matches!(state.loading, LoadState::Under(_)) && state.known.playback.is_none();
    if !free || !std::mem::take(&mut state.known.changes.look_wanted) {
        return Vec::new();
    }
    let effects = snapshot_change::reload_snapshot(state);
    state.known.changes.rereading = true;
    effects
}
