//! Work that follows from what came in or was marked: each step begins the next.

use std::sync::{Arc, Mutex};

use super::effect::{Effect, Job, Outcome};
use super::known::Proposed;
use super::messages::Severity;
use super::state::{Loading, State};
use super::tasks::{Needs, TaskId};
use crate::fabric::Resolved;
use crate::routing::{ENGINES, Engine};
use crate::session::{EngineRow, Look, Preview};

/// Takes what came of a task. What was cancelled in the meantime is let go.
pub fn finished(state: &mut State, task: TaskId, outcome: Outcome) -> Vec<Effect> {
    if state.tasks.end(task).is_none() {
        return Vec::new();
    }
    match outcome {
        Outcome::Looked(Ok(look)) => looked(state, look),
        Outcome::Looked(Err(error)) => {
            state.say(Severity::Error, error.clone());
            state.loading = Loading::Failed(error);
            next_engine(state)
        }
        Outcome::Arranged(tiers) => {
            state.known.tiers = tiers;
            refresh(state);
            Vec::new()
        }
        Outcome::Indexed(Ok(preview)) => indexed(state, preview),
        Outcome::Indexed(Err(refusal)) => {
            state.say(Severity::Error, format!("lost paths cannot be counted: {refusal}"));
            state.known.unindexed = Some(refusal.to_string());
            refresh(state);
            Vec::new()
        }
        Outcome::Counted(cost) => {
            state.known.cost = Some(*cost);
            refresh(state);
            Vec::new()
        }
        Outcome::Proposed { engine, outcome, took_ms } => {
            let row = Box::new(EngineRow::new(engine, outcome.as_deref(), Some(took_ms as f64 / 1000.0)));
            if let Err(refusal) = &outcome {
                state.say(Severity::Warning, format!("{engine}: {refusal}"));
            }
            state.known.proposed.insert(engine, Proposed::Done { outcome, row });
            let effects = next_engine(state);
            refresh(state);
            effects
        }
        Outcome::Written { to, result } => {
            match result {
                Ok(()) => state.say(Severity::Said, format!("the plan is in {}", to.display())),
                Err(error) => state.say(Severity::Error, format!("no plan was written: {error}")),
            }
            state.plans.insert(to);
            Vec::new()
        }
    }
}

/// The fabric is there before its tables: enough to browse. A look that follows another waits for the whole.
pub fn sighted(state: &mut State, task: TaskId, look: Arc<Look>) -> Vec<Effect> {
    if state.loading != Loading::Under(task) || state.known.look.is_some() {
        return Vec::new();
    }
    state.known.look = Some(look.clone());
    refresh(state);
    vec![state.begin("sorting switches by rank", Job::Arrange { look }).1]
}

fn looked(state: &mut State, look: Arc<Look>) -> Vec<Effect> {
    state.loading = Loading::Done;
    for note in look.observation.notes.iter() {
        state.say(Severity::Warning, note.to_string());
    }
    state.seen = state.messages.said();
    if look.observation.partial() {
        state.say(Severity::Warning, "the look is partial: something did not answer (M shows the log)");
    }
    let same_fabric = state.look().is_some_and(|before| before.fabric() == look.fabric());
    let same_tables = state
        .look()
        .is_some_and(|before| same_fabric && before.observation.tables == look.observation.tables);
    // What was worked out for the same fabric and the same tables is as good as new.
    if same_tables && state.known.tables {
        state.known.look = Some(look);
        refresh(state);
        return next_engine(state);
    }
    let waiting = |proposed: &Proposed| !matches!(proposed, Proposed::Done { .. });
    let asked: Vec<&'static Engine> =
        ENGINES.iter().filter(|engine| state.known.proposed.get(engine.id).is_some_and(waiting)).collect();
    if state.known.proposed.len() > asked.len() {
        state.say(Severity::Said, "the fabric or its tables changed: p asks the engines again");
    }
    let mut effects = let_go(state, Needs::Look);
    if let Some(before) = state.known.look.replace(look.clone()).filter(|_| !same_fabric) {
        carry_marks_over(state, &before, &look);
        state.screens.fabric = super::screens::FabricScreen::default();
        state.known.tiers.clear();
    }
    state.known.tables = look.observation.tables.has_forwarding();
    (state.known.paths, state.known.preview, state.known.unindexed) = (None, None, None);
    state.known.proposals = Arc::default();
    refresh(state);
    if state.known.tiers.is_empty() {
        effects.push(state.begin("sorting switches by rank", Job::Arrange { look: look.clone() }).1);
    }
    if state.known.tables {
        effects.push(state.begin("indexing paths", Job::Index { look }).1);
    }
    effects.extend(preview(state, &asked));
    effects
}

/// Marks are of one fabric; what is gone from the next is said.
fn carry_marks_over(state: &mut State, before: &Look, look: &Look) {
    let (marks, gone) = state.known.marks.carried_over(before.fabric(), look.fabric());
    state.known.marks = marks;
    for what in gone {
        let name = crate::fabric::Element::of(before.fabric(), &before.names, what);
        state.say(Severity::Warning, format!("{name} was marked and is gone from the fabric"));
    }
}

fn indexed(state: &mut State, preview: Arc<Mutex<Preview>>) -> Vec<Effect> {
    // Nobody else has it yet.
    state.known.paths = preview.lock().ok().map(|preview| preview.paths().clone());
    state.known.preview = Some(preview);
    refresh(state);
    count(state)
}

/// Lists are made anew from what is known now.
pub fn refresh(state: &mut State) {
    let numbers = |look: &Arc<Look>| (Arc::as_ptr(look) as usize, super::screens::Detail::of_fabric(look));
    let held = state.known.numbers_of;
    if let Some((of, numbers)) =
        state.look().filter(|look| Some(Arc::as_ptr(look) as usize) != held).map(numbers)
    {
        (state.known.numbers_of, state.known.numbers) = (Some(of), numbers);
    }
    state.screens.refresh(&state.known);
}

const COUNTING: &str = "counting lost paths";

/// Counts what the marks cost, in the background.
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

/// The marks are others now: what was worked out for the old ones is let go, and the loss is counted anew.
pub fn remarked(state: &mut State) -> Vec<Effect> {
    let mut effects = let_go(state, Needs::Marks);
    effects.extend(count(state));
    refresh(state);
    effects
}

/// Drops what was worked out for marks, and ends all work that rests on what is another now.
fn let_go(state: &mut State, changed: Needs) -> Vec<Effect> {
    let stale: Vec<TaskId> =
        state.tasks.running().iter().filter(|task| task.needs >= changed).map(|task| task.id).collect();
    state.queue.clear();
    state.known.cost = None;
    state.known.proposed.clear();
    let end = |task: TaskId| state.tasks.end(task).map(|_| Effect::Cancel(task));
    stale.into_iter().filter_map(end).collect()
}

/// Marks an element as failed, or takes the mark away.
pub fn mark(state: &mut State, what: Resolved) -> Vec<Effect> {
    let name = state.known.element(what).unwrap_or_default();
    let marked = state.known.marks.mark(what);
    if !marked {
        state.known.marks.unmark(what);
    }
    let again = if state.known.proposed.is_empty() { "" } else { "; p asks the engines again" };
    let verb = if marked { "marked as failed" } else { "no longer marked" };
    state.say(Severity::Said, format!("{name} is {verb}; nothing is touched in the fabric{again}"));
    remarked(state)
}

/// Asks engines for the marks as they are. Those that have answered are not asked again.
pub fn preview(state: &mut State, engines: &[&'static Engine]) -> Vec<Effect> {
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

/// The next engine of the queue begins when no other routes, and tables are there to compare with.
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

/// Every engine of the registry.
pub fn all_engines() -> Vec<&'static Engine> {
    ENGINES.iter().collect()
}

/// Ends work that takes long, and says what it was: a look, and what engines make of the marks. The rest is short, or
/// must not be left half done.
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
    let mut effects = Vec::new();
    state.queue.clear();
    for (task, title) in long {
        state.tasks.end(task);
        effects.push(Effect::Cancel(task));
        state.say(Severity::Warning, format!("cancelled: {title}"));
        if state.loading == Loading::Under(task) {
            // A look that was there before stands as it was.
            state.loading = match state.known.tables {
                true => Loading::Done,
                false => Loading::Failed("the look was cancelled; r looks again".to_owned()),
            };
        }
    }
    state.known.proposed.retain(|_, proposed| matches!(proposed, Proposed::Done { .. }));
    refresh(state);
    effects
}
