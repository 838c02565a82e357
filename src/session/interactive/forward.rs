//! Work that follows from what came in or was marked: each step begins the next.

use std::sync::{Arc, Mutex};

use super::effect::{Effect, Job, Outcome};
use super::known::Proposed;
use super::messages::Severity;
use super::state::{Loading, State};
use super::tasks::TaskId;
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
            Vec::new()
        }
        Outcome::Arranged(tiers) => {
            state.known.tiers = tiers;
            refresh(state);
            Vec::new()
        }
        Outcome::Indexed(Ok(preview)) => indexed(state, preview),
        Outcome::Indexed(Err(refusal)) => {
            state.say(Severity::Error, format!("lost paths cannot be counted: {refusal}"));
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
            refresh(state);
            Vec::new()
        }
        Outcome::Written { to, result: Ok(()) } => {
            state.say(Severity::Said, format!("the plan is in {}", to.display()));
            Vec::new()
        }
        Outcome::Written { to, result: Err(error) } => {
            state.say(Severity::Error, format!("{}: {error}", to.display()));
            Vec::new()
        }
    }
}

fn looked(state: &mut State, look: Arc<Look>) -> Vec<Effect> {
    state.loading = Loading::Done;
    for note in look.observation.notes.iter() {
        state.messages.push(super::messages::Message {
            at_ms: state.now_ms,
            severity: Severity::Warning,
            text: note.to_string(),
        });
    }
    state.unseen = state.messages.len();
    if look.observation.partial() {
        state.say(Severity::Warning, "the look is partial: something did not answer (L shows the log)");
    }
    state.known.tables = look.observation.tables.nodes.values().any(|node| node.lft.is_some());
    state.known.look = Some(look.clone());
    refresh(state);
    let mut effects = vec![state.begin("sorting switches by rank", Job::Arrange { look: look.clone() }).1];
    if state.known.tables {
        effects.push(state.begin("indexing paths", Job::Index { look }).1);
    }
    effects
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
    state.screens.refresh(&state.known);
}

/// Counts what the marks cost, in the background.
fn count(state: &mut State) -> Vec<Effect> {
    let (Some(look), Some(preview)) = (state.known.look.clone(), state.known.preview.clone()) else {
        return Vec::new();
    };
    let marks = state.known.marks.clone();
    vec![state.begin("counting lost paths", Job::Cost { look, preview, marks }).1]
}

/// The marks are others now: what was worked out for the old ones is let go, and the loss is counted anew.
pub fn remarked(state: &mut State) -> Vec<Effect> {
    let stale: Vec<TaskId> = state.tasks.running().iter().map(|task| task.id).collect();
    let mut effects = Vec::new();
    let index_or_look = |task: &TaskId| {
        let title = state.tasks.get(*task).map(|task| task.title.as_str());
        title.is_some_and(|title| {
            ["looking", "sorting", "indexing"].iter().any(|word| title.starts_with(word))
        })
    };
    let stale: Vec<TaskId> = stale.into_iter().filter(|task| !index_or_look(task)).collect();
    for task in stale {
        state.tasks.end(task);
        effects.push(Effect::Cancel(task));
    }
    state.known.cost = None;
    state.known.proposed.clear();
    effects.extend(count(state));
    refresh(state);
    effects
}

/// Marks an element as failed, or takes the mark away.
pub fn mark(state: &mut State, what: Resolved) -> Vec<Effect> {
    let name = state.known.element(what).unwrap_or_default();
    let marked = state.known.marks.mark(what);
    if !marked {
        state.known.marks.unmark(what);
    }
    let verb = if marked { "marked as failed" } else { "no longer marked" };
    state.say(Severity::Said, format!("{name} is {verb}; nothing is touched in the fabric"));
    remarked(state)
}

/// Asks engines for the marks as they are. Those that have answered are not asked again.
pub fn preview(state: &mut State, engines: &[&'static Engine]) -> Vec<Effect> {
    let Some(look) = state.known.look.clone() else { return Vec::new() };
    let mut effects = Vec::new();
    for engine in engines
        .iter()
        .filter(|engine| !state.known.proposed.contains_key(engine.id))
        .copied()
        .collect::<Vec<_>>()
    {
        let (marks, request) = (state.known.marks.clone(), state.request.clone());
        let job = Job::Propose { look: look.clone(), marks, engine, request };
        let (task, effect) = state.begin(format!("{} routes", engine.id), job);
        state.known.proposed.insert(engine.id, Proposed::Under(task));
        effects.push(effect);
    }
    refresh(state);
    effects
}

/// Every engine of the registry.
pub fn all_engines() -> Vec<&'static Engine> {
    ENGINES.iter().collect()
}

/// Ends all work that can be done without, and says what it was.
pub fn cancel_all(state: &mut State) -> Vec<Effect> {
    let running: Vec<(TaskId, String)> =
        state.tasks.running().iter().map(|task| (task.id, task.title.clone())).collect();
    let mut effects = Vec::new();
    for (task, title) in running {
        state.tasks.end(task);
        effects.push(Effect::Cancel(task));
        state.say(Severity::Warning, format!("cancelled: {title}"));
        if state.loading == Loading::Under(task) {
            state.loading = Loading::Failed("the look was cancelled; r looks again".to_owned());
        }
    }
    state.known.proposed.retain(|_, proposed| matches!(proposed, Proposed::Done { .. }));
    refresh(state);
    effects
}
