//! Requests and answers about changes: offers, begun changes, and decisions. The states of all changes are
//! read at intervals, each second while a change is pending.

use super::acting;
use super::changer::{Acceptance, Changes, Offer, Writing};
use super::comparing;
use super::dialogue::{Dialogue, Question};
use super::told;
use crate::session::interactive::effect::{Effect, Job};
use crate::session::interactive::entering;
use crate::session::interactive::forward;
use crate::session::interactive::layer::Layer;
use crate::session::interactive::messages::Severity;
use crate::session::interactive::slow_lanes;
use crate::session::interactive::state::{Loading, State};
use crate::session::interactive::tasks::TaskId;
use crate::session::time_of_day;
use fabdeck_change::{Ask, Phase, Status};

const SOON_MS: u64 = 1000;
const SELDOM_MS: u64 = 10_000;

/// The rollback would lose paths, and the operator has to decide.
const WOULD_LOSE: &str = "FD-5654";

/// The request was sent, and its result is unknown.
const UNSURE: &str = "FD-5659";

/// The plan to apply, and the command line that does the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    pub what: String,
    pub line: Option<String>,
}

/// Whether the fabric of the session can have changes.
pub(super) fn has_changes(state: &State) -> bool {
    state.known.look.is_some() && !matches!(state.writing, Writing::Never(_))
}

/// Time at which the changes need a tick: for a reading, or to update the remaining time on the screen.
pub fn wakes_ms(state: &State) -> Option<u64> {
    let changes = &state.known.changes;
    if !has_changes(state) {
        return None;
    }
    let due = changes.under.is_none().then_some(changes.due_ms);
    let left = changes.pending().find_map(|row| changes.left_ms(row)).filter(|left| *left > 0);
    let second = left.map(|left| state.now_ms + left % 1000 + 1);
    due.into_iter().chain(second).chain(comparing::wakes_ms(state)).min()
}

/// Handles the passing of time: reads the states of changes when that is due.
pub fn tick(state: &mut State) -> Vec<Effect> {
    let changes = &state.known.changes;
    if !has_changes(state) || changes.under.is_some() || state.now_ms < changes.due_ms {
        return look_anew(state).into_iter().chain(comparing::tick(state)).collect();
    }
    let (task, effect) = state.begin_quiet("reading how changes stand", Job::Changes);
    state.known.changes.under = Some(task);
    let mut effects = look_anew(state);
    effects.push(effect);
    effects.extend(comparing::tick(state));
    effects
}

/// Reads the states of changes after a new snapshot, because only then it is known which belong to its
/// fabric.
pub fn looked(state: &mut State) -> Vec<Effect> {
    soon(state)
}

/// Reads the states of changes at once, after a request.
fn soon(state: &mut State) -> Vec<Effect> {
    state.known.changes.due_ms = state.now_ms;
    tick(state)
}

/// Receives the comparison of a plan with the fabric, and opens the dialog.
pub fn offered(state: &mut State, task: TaskId, result: Result<Box<Offer>, String>) -> Vec<Effect> {
    let wanted = state.known.changes.offering.take_if(|(offering, _)| *offering == task);
    let Some((_, Wanted { what, line })) = wanted else { return Vec::new() };
    match result {
        Err(error) => state.say(Severity::Error, format!("{what} cannot be applied: {error}")),
        Ok(offer) if offer.applied => {
            state.say(Severity::Said, format!("nothing to do: all that {what} writes stands there already"));
        }
        Ok(offer) => state.layer = Some(Layer::Dialogue(Box::new(Dialogue::apply(offer, line)))),
    }
    Vec::new()
}

/// Cancels the comparison of a plan with the fabric; `None` where there is none.
pub fn cancel(state: &mut State) -> Option<Effect> {
    let (task, Wanted { what, .. }) = state.known.changes.offering.take()?;
    state.tasks.end(task)?;
    state.say(Severity::Warning, format!("cancelled: {what} was not applied"));
    Some(Effect::Cancel(task))
}

/// Begins a change after the operator's consent.
pub(super) fn begin(
    state: &mut State,
    offer: Box<Offer>,
    acceptance: Acceptance,
    line: Option<String>,
) -> Vec<Effect> {
    let accepted = match acceptance.accepted.as_slice() {
        [] => String::new(),
        names => format!(" --accept {}", names.join(",")),
    };
    let line = line.map(|line| format!("{line}{accepted} --confirm-within {}s", acceptance.window.as_secs()));
    let title = offer.title.clone();
    if !offer.migrations.is_empty() {
        slow_lanes::moves_begin(&mut state.known);
    }
    let (task, effect) = state.begin_quiet("beginning a change", Job::Apply { offer, acceptance });
    state.known.changes.beginning = Some((task, title.clone(), line));
    state.say(Severity::Said, format!("{title} is being applied; the screens are free"));
    vec![effect]
}

/// Receives the id of a change that was begun, or the reason why it was not.
pub fn begun(state: &mut State, task: TaskId, result: Result<String, String>) -> Vec<Effect> {
    let beginning = state.known.changes.beginning.take_if(|(beginning, ..)| *beginning == task);
    let Some((_, title, line)) = beginning else { return Vec::new() };
    let id = match result {
        Ok(id) => id,
        Err(error) => {
            state.say(Severity::Error, format!("{title} was not applied: {error}"));
            return soon(state);
        }
    };
    state.known.changes.begun.insert(id.clone());
    let mut effects =
        entering::changed(state, format!("began to apply {title}, as change {id}"), line.clone());
    if line.is_some() {
        state.last_line = line;
    }
    effects.extend(soon(state));
    effects
}

/// Sends a request to a guard: confirm, extend or roll back.
pub(super) fn ask(state: &mut State, id: String, ask: Ask) -> Vec<Effect> {
    let title = format!("asking about change {id}");
    let (task, effect) = state.begin_quiet(title, Job::Ask { id: id.clone(), ask: ask.clone() });
    if matches!(ask, Ask::RollBack { .. }) {
        state.known.changes.sent_back.insert(id.clone());
    }
    state.known.changes.asked.insert(task, (id, ask));
    vec![effect]
}

/// Receives the answer of a guard.
pub fn asked(state: &mut State, task: TaskId, result: Result<Status, String>) -> Vec<Effect> {
    let Some((id, ask)) = state.known.changes.asked.remove(&task) else { return Vec::new() };
    let number = state.known.changes.row(&id).map_or_else(|| id.clone(), |row| row.number.to_string());
    let (what, line) = match &ask {
        // These requests have no message: a status changes nothing, and the console names no process.
        Ask::Status | Ask::NameOpensm { .. } => return Vec::new(),
        Ask::Confirm { .. } => ("confirmed", format!("confirm {id}")),
        Ask::GoOn { .. } => ("told to go on", format!("confirm {id} --go-on")),
        Ask::Extend { seconds, .. } => ("extended", format!("extend {id} {seconds}s")),
        Ask::RollBack { anyway, .. } => {
            ("rolled back", format!("rollback {id}{}", if *anyway { " --force" } else { "" }))
        }
    };
    let status = match result {
        Ok(status) => status,
        Err(error) => {
            let refused = matches!(ask, Ask::RollBack { anyway: false, .. }) && error.contains(WOULD_LOSE);
            state.known.changes.sent_back.remove(&id);
            let text = if error.contains(UNSURE) { "may still be" } else { "was not" };
            state.say(Severity::Error, format!("change {number} {text} {what}: {error}"));
            if refused {
                acting::open(state, Question::RollBack { id, lost: Some(error) });
            }
            return soon(state);
        }
    };
    if let (Ask::Extend { .. }, Some(deadline)) = (&ask, &status.deadline) {
        state.say(Severity::Said, format!("change {number} waits until {}", time_of_day(deadline)));
    }
    // Only this session can reach a change of a simulator in its process, so there is no command line for it.
    let line = (state.writing != Writing::Own).then(|| state.line_anywhere(&line));
    let doing = match &ask {
        Ask::RollBack { .. } => format!("asked to roll back change {id}"),
        Ask::GoOn { .. } => format!("let change {id} go on"),
        _ => format!("{what} change {id}"),
    };
    let mut effects = entering::changed(state, doing, line.clone());
    if line.is_some() {
        state.last_line = line;
    }
    effects.extend(soon(state));
    effects
}

/// Receives the states of all changes.
pub fn changes(state: &mut State, task: TaskId, result: Result<Changes, String>) -> Vec<Effect> {
    let now_ms = state.now_ms;
    let seen = &mut state.known.changes;
    if seen.under != Some(task) {
        return Vec::new();
    }
    seen.under = None;
    match result {
        Err(error) => {
            if seen.trouble.replace(error.clone()).as_ref() != Some(&error) {
                let text = format!("how changes stand could not be read, which is tried again: {error}");
                state.say(Severity::Warning, text);
            }
        }
        Ok(changes) => {
            seen.trouble = None;
            seen.seen_ms = now_ms;
            let before = seen.last.replace(changes);
            seen.last.iter_mut().for_each(|last| seen.comparing.note_in(&mut last.rows));
            told::tell(state, before);
            close_if_over(state);
            state.screens.refresh(&state.known);
        }
    }
    let seen = &mut state.known.changes;
    let unseen = seen.begun.iter().any(|id| seen.row(id).is_none());
    let busy = unseen || seen.beginning.is_some() || seen.pending().next().is_some();
    seen.due_ms = now_ms + if busy { SOON_MS } else { SELDOM_MS };
    look_anew(state).into_iter().chain(comparing::tick(state)).collect()
}

/// Closes a question about a change that is decided. An incomplete change can still be rolled back again.
fn close_if_over(state: &mut State) {
    let Some(Layer::Dialogue(dialogue)) = &state.layer else { return };
    let seen = &state.known.changes;
    let back = matches!(dialogue.question, Question::RollBack { .. });
    let over = |id: &str| {
        let state = seen.row(id).map(|row| row.state);
        !state.is_some_and(|state| state.is_pending() || (back && state == Phase::Incomplete))
    };
    let left = matches!(dialogue.question, Question::Leave { .. }) && seen.pending().next().is_none();
    if left || dialogue.of_change().is_some_and(over) {
        state.layer = None;
    }
}

/// Reads the source again after tables were written, as soon as the session is free.
fn look_anew(state: &mut State) -> Vec<Effect> {
    let free = !matches!(state.loading, Loading::Under(_)) && state.known.playback.is_none();
    if !free || !std::mem::take(&mut state.known.changes.look_wanted) {
        return Vec::new();
    }
    let effects = forward::look_again(state);
    state.known.changes.looking = true;
    effects
}
