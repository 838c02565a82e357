//! The background tasks of names: the index of a large fabric, and the search in the names that a key leaves out.

use std::sync::Arc;

use super::name_index::NameIndex;
use super::name_search::{NameHits, search_names};
use crate::catalogue::snapshot::Snapshot;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
use fabdeck_routing::RouteProgress;

/// Indexes the names of a snapshot.
#[derive(Debug)]
pub struct NameIndexTask(pub Arc<Snapshot>);

impl BackgroundTask for NameIndexTask {
    fn run(&self, _: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(NameIndexOutcome(NameIndex::new(self.0.clone()))))
    }
}

#[derive(Debug)]
pub struct NameIndexOutcome(NameIndex);

impl TaskOutcome for NameIndexOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        if state.goto.pending.index.take_if(|(under, _)| *under == task).is_some() {
            state.goto.index = Some(Arc::new(self.0));
        }
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("indexed {} names", self.0.len())
    }
}

/// Searches all names of an index.
#[derive(Debug)]
pub struct NameSearchTask {
    pub index: Arc<NameIndex>,
    pub words: Vec<String>,
}

impl BackgroundTask for NameSearchTask {
    fn run(&self, _: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let hits = search_names(&self.index, &self.words, usize::MAX);
        Some(Box::new(NameSearchOutcome { words: self.words.clone(), hits }))
    }
}

#[derive(Debug)]
pub struct NameSearchOutcome {
    words: Vec<String>,
    hits: NameHits,
}

impl TaskOutcome for NameSearchOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        if state.goto.pending.search.take_if(|(under, _)| *under == task).is_some() {
            state.goto.found = Some((self.words, self.hits));
        }
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("searched {:?} {:?}", self.words, self.hits)
    }
}

/// Indexes the names of the snapshot: at once where they are few, otherwise in the background.
pub fn follow_index(state: &mut SessionState) -> Option<Effect> {
    let look = state.known.look.clone()?;
    let is_of = |of: &Arc<Snapshot>| Arc::ptr_eq(of, &look);
    if state.goto.index.as_ref().is_some_and(|index| is_of(&index.look)) {
        return None;
    }
    // Ids of another snapshot are no longer valid.
    (state.goto.index, state.goto.found, state.goto.pending.search) = (None, None, None);
    if look.fabric().nodes().len() <= state.goto.names_per_key {
        state.goto.index = Some(Arc::new(NameIndex::new(look)));
        return None;
    }
    let pending = state.goto.pending.index.as_ref();
    if pending.is_some_and(|(task, of)| is_of(of) && state.tasks.get(*task).is_some()) {
        return None;
    }
    let (task, effect) = state.begin_quiet("indexing names", NameIndexTask(look.clone()));
    state.goto.pending.index = Some((task, look));
    Some(effect)
}

/// Searches the names that the key left out. An earlier search for another line ends.
pub fn begin_search(state: &mut SessionState, index: Arc<NameIndex>, words: Vec<String>) -> Vec<Effect> {
    let mut effects = Vec::new();
    if let Some((task, of)) = state.goto.pending.search.take() {
        let is_under_way = state.tasks.get(task).is_some();
        if is_under_way && of == words {
            state.goto.pending.search = Some((task, of));
            return effects;
        }
        if state.tasks.end(task).is_some() {
            effects.push(Effect::Cancel(task));
        }
    }
    let (task, effect) = state.begin_quiet("searching names", NameSearchTask { index, words: words.clone() });
    state.goto.pending.search = Some((task, words));
    effects.push(effect);
    effects
}
