//! The results of tasks and marks, and the tasks that follow from them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::ailing::Ailing;
use super::effect::{Effect, Job, Outcome};
use super::known::Proposed;
use super::messages::{Message, Severity};
use super::state::{Loading, State};
use super::tasks::{Needs, TaskId};
use super::{changing, entering, running_jobs, slow_lanes, timeline, watch};
use crate::session::{EngineRow, Look, Preview, Proposal, counted};
use fabdeck_fabric::Resolved;
use fabdeck_routing::{ENGINES, Engine, Refusal};

/// Receives the result of a task; the result of a cancelled task is dropped.
pub fn finished(state: &mut State, task: TaskId, outcome: Outcome) -> Vec<Effect> {
    if state.tasks.end(task).is_none() {
        return Vec::new();
    }
    match outcome {
        Outcome::Looked(Ok(look)) => {
            let before = state.known.look.clone();
            let mut effects = looked(state, look);
            effects.extend(watch::first_after_look(state, before));
            effects.extend(changing::looked(state));
            effects
        }
        Outcome::Looked(Err(error)) => not_looked(state, error),
        Outcome::Arranged(ranks) => {
            let places = state.screens.places(&state.known);
            state.known.arrange(*ranks);
            refresh(state);
            state.screens.put_on(&places, &state.known);
            Vec::new()
        }
        Outcome::Indexed(Ok(preview)) => indexed(state, preview),
        Outcome::Indexed(Err(refusal)) => {
            state.say(Severity::Error, format!("lost paths cannot be counted: {refusal}"));
            state.known.unindexed = Some(refusal.to_string());
            refresh(state);
            Vec::new()
        }
        Outcome::Counted(cost, groups) => {
            (state.known.cost, state.known.groups) = (Some(*cost), groups);
            refresh(state);
            Vec::new()
        }
        Outcome::Proposed { engine, outcome, took_ms } => proposed(state, engine, outcome, took_ms),
        Outcome::Selected { selecting, selection } => {
            super::selecting::selected(state, &selecting, selection);
            Vec::new()
        }
        Outcome::Swept(result) if timeline::going_on(state).is_some() => {
            timeline::swept_behind(state, task, result)
        }
        Outcome::Swept(result) => watch::swept(state, result),
        Outcome::Unrolled(result) => timeline::unrolled(state, result),
        Outcome::Derived(result) => timeline::derived_part(state, task, result),
        Outcome::Sought(result) => timeline::sought(state, task, result),
        Outcome::Judged(reading) => watch::judged(state, task, reading),
        Outcome::Written { to, result } => written(state, to, result),
        Outcome::Saved { to, result: Ok(()) } => {
            let file = to.display();
            state.say(Severity::Said, format!("--source {file} plays what was watched so far"));
            entering::saved(state)
        }
        Outcome::Offered(result) => changing::offered(state, task, result),
        Outcome::Begun(result) => changing::begun(state, task, result),
        Outcome::Changes(result) => changing::changes(state, task, result),
        Outcome::Compared(result) => changing::compared(state, task, result),
        Outcome::Lanes(result) => slow_lanes::told(state, task, result),
        Outcome::Listed(result) => running_jobs::listed(state, task, result),
        Outcome::Weighed(weighed) => running_jobs::weighed(state, task, *weighed),
        Outcome::Asked { result, .. } => changing::asked(state, task, result),
        Outcome::Saved { result: Err(error), .. } => {
            state.say(Severity::Error, format!("no capture was written: {error}"));
            Vec::new()
        }
    }
}

/// Stores the result of an engine for the marks.
fn proposed(
    state: &mut State,
    engine: &'static str,
    outcome: Result<Arc<Proposal>, Refusal>,
    took_ms: u64,
) -> Vec<Effect> {
    let row = EngineRow::new(engine, outcome.as_deref(), Some(took_ms as f64 / 1000.0));
    let row = Box::new(if state.known.tables { row } else { row.without_tables() });
    if let Err(refusal) = &outcome {
        state.say(Severity::Warning, format!("{engine}: {refusal}"));
    }
    let refused = outcome.as_ref().err().map(ToString::to_string);
    state.known.proposed.insert(engine, Proposed::Done { outcome, row });
    let mut effects = entering::proposed(state, engine, refused);
    effects.extend(next_engine(state));
    refresh(state);
    effects
}

/// Reports whether a plan was written to its file.
fn written(state: &mut State, to: PathBuf, result: Result<(), String>) -> Vec<Effect> {
    let effects = match result {
        Ok(()) => {
            state.say(Severity::Said, format!("the plan is in {}", to.display()));
            entering::planned(state, &to)
        }
        Err(error) => {
            state.drafts.remove(&to);
            state.say(Severity::Error, format!("no plan was written: {error}"));
            Vec::new()
        }
    };
    state.plans.insert(to);
    effects
}

/// Reads the source again.
pub fn look_again(state: &mut State) -> Vec<Effect> {
    let (task, effect) = state.begin(format!("looking at {}", state.source), Job::Look);
    state.go_on(Loading::Under(task));
    state.known.changes.looking = false;
    vec![effect]
}

/// Reports that reading failed. An earlier snapshot stays, and so does the watch.
fn not_looked(state: &mut State, error: String) -> Vec<Effect> {
    state.say(Severity::Error, error.clone());
    state.go_on(match state.known.tables {
        true => Loading::Done,
        false => Loading::Failed(error),
    });
    refresh(state);
    next_engine(state)
}

/// Receives the fabric before its tables, which is enough for browsing. If an earlier snapshot exists, the
/// session waits for the complete one.
pub fn sighted(state: &mut State, task: TaskId, look: Arc<Look>) -> Vec<Effect> {
    if state.loading != Loading::Under(task) || state.known.look.is_some() {
        return Vec::new();
    }
    state.known.look = Some(look.clone());
    refresh(state);
    vec![state.begin("sorting switches by rank", Job::Arrange { look }).1]
}

fn looked(state: &mut State, look: Arc<Look>) -> Vec<Effect> {
    state.go_on(Loading::Done);
    // After a change, notes that were reported before are not repeated, as the result of the change matters
    // more.
    let follows = state.known.changes.looking;
    let notes = look.observation.notes.iter().map(ToString::to_string);
    let new = |text: &String| !(follows && state.messages.iter().any(|message| message.text == *text));
    let notes: Vec<String> = notes.filter(new).collect();
    if !(follows && notes.is_empty()) {
        let (at_ms, severity) = (state.now_ms, Severity::Warning);
        notes.into_iter().for_each(|text| state.messages.put_by(Message { at_ms, severity, text }));
        state.seen = state.messages.said();
    }
    if look.observation.partial() {
        state.say(Severity::Warning, "the look is partial: something did not answer (M shows the log)");
    }
    replaced(state, look)
}

/// Replaces the snapshot. Values that refer to ids are converted to the new ids. Derived values are computed
/// again, unless fabric and tables are equal.
pub fn replaced(state: &mut State, look: Arc<Look>) -> Vec<Effect> {
    let same_fabric = state.look().is_some_and(|before| before.fabric() == look.fabric());
    let same_tables = state
        .look()
        .is_some_and(|before| same_fabric && before.observation.tables == look.observation.tables);
    // Values that were derived from an equal fabric and equal tables stay valid.
    if same_tables && state.known.tables {
        state.known.look = Some(look);
        refresh(state);
        return next_engine(state);
    }
    let waiting = |proposed: &Proposed| !matches!(proposed, Proposed::Done { .. });
    let asked: Vec<&'static Engine> =
        ENGINES.iter().filter(|engine| state.known.proposed.get(engine.id).is_some_and(waiting)).collect();
    // After a change by this session, its result matters more, and the operator knows that tables changed.
    if state.known.proposed.len() > asked.len() && !state.known.changes.looking {
        state.say(Severity::Said, "the fabric or its tables changed: p asks the engines again");
    }
    let mut effects = let_go(state, Needs::Look);
    let mut places = state.screens.places(&state.known);
    if let Some(before) = state.known.look.replace(look.clone()).filter(|_| !same_fabric) {
        running_jobs::forget_ports(state);
        carry_marks_over(state, &before, &look);
        let again = |what: Resolved| what.in_another(before.fabric(), look.fabric());
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
    (state.known.preview, state.known.unindexed) = (None, None);
    state.known.proposals = Arc::default();
    state.drafts.clear();
    refresh(state);
    state.screens.put_on(&places, &state.known);
    if !same_fabric || state.known.tiers.is_empty() {
        effects.push(state.begin("sorting switches by rank", Job::Arrange { look: look.clone() }).1);
    }
    if state.known.tables {
        effects.push(state.begin("indexing paths", Job::Index { look }).1);
    }
    effects.extend(preview(state, &asked));
    effects
}

/// Converts the marks to the new fabric, and reports marked elements that are gone.
fn carry_marks_over(state: &mut State, before: &Look, look: &Look) {
    let (marks, gone) = state.known.marks.carried_over(before.fabric(), look.fabric());
    state.known.marks = marks;
    for marks in &mut state.known.marks_before {
        *marks = marks.carried_over(before.fabric(), look.fabric()).0;
    }
    for what in gone {
        let name = fabdeck_fabric::Element::of(before.fabric(), &before.names, what);
        state.say(Severity::Warning, format!("{name} was marked and is gone from the fabric"));
    }
}

fn indexed(state: &mut State, preview: Arc<Mutex<Preview>>) -> Vec<Effect> {
    // No other thread has the preview yet, so the lock is free.
    state.known.paths = preview.lock().ok().map(|preview| preview.paths().clone());
    state.known.preview = Some(preview);
    refresh(state);
    let mut effects = count(state);
    effects.extend(watch::judge_again(state));
    effects
}

/// Makes the lists of all screens again from the current model.
pub fn refresh(state: &mut State) {
    let numbers = |look: &Arc<Look>| (Arc::as_ptr(look) as usize, super::screens::Detail::of_fabric(look));
    let held = state.known.numbers_of;
    if let Some((of, numbers)) =
        state.look().filter(|look| Some(Arc::as_ptr(look) as usize) != held).map(numbers)
    {
        (state.known.numbers_of, state.known.numbers) = (Some(of), numbers);
    }
    if let Some(ailing) = Ailing::of(&state.known) {
        state.known.ailing = ailing;
    }
    state.screens.refresh(&state.known);
}

const COUNTING: &str = "counting lost paths";

/// Counts the cost of the marks in a background task.
fn count(state: &mut State) -> Vec<Effect> {
    let (Some(look), Some(preview)) = (state.known.look.clone(), state.known.preview.clone()) else {
        return Vec::new();
    };
    let marks = state.known.marks.clone();
    let earlier: Vec<TaskId> =
        state.tasks.running().iter().filter(|task| task.title == COUNTING).map(|task| task.id).collect();
    earlier.into_iter().for_each(|task| drop(state.tasks.end(task)));
    vec![state.begin(COUNTING, Job::Cost { look, preview, marks }).1]
}

/// Drops results for the old marks, and counts the cost of the new ones.
pub fn remarked(state: &mut State) -> Vec<Effect> {
    let mut effects = let_go(state, Needs::Marks);
    effects.extend(count(state));
    refresh(state);
    effects
}

/// Drops the results for marks, and cancels all tasks that depend on what has changed.
fn let_go(state: &mut State, changed: Needs) -> Vec<Effect> {
    let stale: Vec<TaskId> =
        state.tasks.running().iter().filter(|task| task.needs >= changed).map(|task| task.id).collect();
    state.queue.clear();
    (state.known.cost, state.known.groups) = (None, None);
    let others =
        if changed == Needs::Look { "the fabric or its tables changed" } else { "the marks changed" };
    running_jobs::let_go(&mut state.known, others);
    state.known.proposed.clear();
    let end = |task: TaskId| state.tasks.end(task).map(|_| Effect::Cancel(task));
    stale.into_iter().filter_map(end).collect()
}

/// Maximum number of steps that can be undone.
const BACK: usize = 100;

/// Saves the marks for a later undo.
pub fn remember(state: &mut State) {
    let before = &mut state.known.marks_before;
    if before.len() == BACK {
        before.remove(0);
    }
    before.push(state.known.marks.clone());
}

/// Marks elements as failed; when all of them are marked already, removes their marks.
pub fn mark(state: &mut State, all: &[Resolved]) -> Vec<Effect> {
    remember(state);
    let mut marked = 0;
    for what in all {
        marked += usize::from(state.known.marks.mark(*what));
    }
    if marked == 0 {
        for what in all {
            state.known.marks.unmark(*what);
        }
    }
    let again = if state.known.proposed.is_empty() { "" } else { "; p asks the engines again" };
    let verb = if marked > 0 { "marked as failed" } else { "no longer marked" };
    let what = match all {
        [one] => format!("{} is", state.known.element(*one).unwrap_or_default()),
        _ => counted(all.len(), "element is", "elements are"),
    };
    state.say(Severity::Said, format!("{what} {verb}; nothing is touched in the fabric{again}"));
    remarked(state)
}

/// Removes the marks of the selected rows, or else all marks.
pub fn unmark(state: &mut State) -> Vec<Effect> {
    remember(state);
    let selected = state.selected().clone();
    match selected.is_empty() {
        true => {
            state.known.marks.clear();
            state.say(Severity::Said, "no element is marked any more");
        }
        false => {
            let taken = selected.iter().filter(|what| state.known.marks.unmark(**what)).count();
            let said = counted(taken, "mark of the rows selected is", "marks of the rows selected are");
            state.say(Severity::Said, format!("{said} taken away"));
        }
    }
    remarked(state)
}

/// Restores the marks before the last change of them.
pub fn undo(state: &mut State) -> Vec<Effect> {
    let Some(before) = state.known.marks_before.pop() else { return Vec::new() };
    state.known.marks = before;
    let count = counted(state.known.marks.len(), "element is", "elements are");
    state.say(Severity::Said, format!("taken back: {count} marked now"));
    remarked(state)
}

/// Whether an engine is running or waiting.
pub fn engines_at_work(state: &State) -> bool {
    state.known.proposed.values().any(|proposed| !matches!(proposed, Proposed::Done { .. }))
}

/// Starts engines for the current marks, except those that have answered already.
pub fn preview(state: &mut State, engines: &[&'static Engine]) -> Vec<Effect> {
    running_jobs::ask_with(state);
    for engine in engines {
        if !state.known.proposed.contains_key(engine.id) {
            state.known.proposed.insert(engine.id, Proposed::Waiting);
            state.queue.push_back(engine);
        }
    }
    let effects = next_engine(state);
    refresh(state);
    effects
}

/// Starts the next engine in the queue, unless another one runs or the tables to compare with are still being
/// read.
fn next_engine(state: &mut State) -> Vec<Effect> {
    let routes = state.known.proposed.values().any(|proposed| matches!(proposed, Proposed::Under(_)));
    let reading = matches!(state.loading, Loading::Under(_));
    let Some(look) = state.known.look.clone().filter(|_| !routes && !reading) else { return Vec::new() };
    let Some(engine) = state.queue.pop_front() else { return Vec::new() };
    let (marks, request) = (state.known.marks.clone(), state.request.clone());
    let proposals = state.known.proposals.clone();
    let job = Job::Propose { look, proposals, marks, engine, request };
    let (task, effect) = state.begin(format!("{} routes", engine.id), job);
    state.known.proposed.insert(engine.id, Proposed::Under(task));
    vec![effect]
}

/// All engines of the registry.
pub fn all_engines() -> Vec<&'static Engine> {
    ENGINES.iter().collect()
}

/// Cancels long tasks and reports them: reading the source, and engines. Other tasks are short, or must not
/// stop halfway.
pub fn cancel_all(state: &mut State) -> Vec<Effect> {
    let looking = |task: TaskId| state.loading == Loading::Under(task);
    let routing = |task: TaskId| {
        let mut proposed = state.known.proposed.values();
        proposed.any(|proposed| matches!(proposed, Proposed::Under(under) if *under == task))
    };
    let long: Vec<(TaskId, String)> = (state.tasks.running().iter())
        .filter(|task| routing(task.id) || looking(task.id))
        .map(|task| (task.id, task.title.clone()))
        .collect();
    let mut effects: Vec<Effect> = changing::cancel(state).into_iter().collect();
    state.queue.clear();
    for (task, title) in long {
        state.tasks.end(task);
        effects.push(Effect::Cancel(task));
        state.say(Severity::Warning, format!("cancelled: {title}"));
        if state.loading == Loading::Under(task) {
            // An earlier snapshot stays.
            state.go_on(match state.known.tables {
                true => Loading::Done,
                false => Loading::Failed("the look was cancelled; r looks again".to_owned()),
            });
        }
    }
    state.known.proposed.retain(|_, proposed| matches!(proposed, Proposed::Done { .. }));
    refresh(state);
    effects
}
