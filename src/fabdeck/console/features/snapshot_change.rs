//! A snapshot that replaces another one: what stays valid, and what is computed again.

use std::sync::{Arc, Mutex};

use super::refresh::refresh_screens;
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::awaited::INDEXING_PATHS;
use crate::console::features::jobs::job_words;
use crate::console::features::map::rank_task::RankTask;
use crate::console::features::panes::pins::carry_pins_over;
use crate::console::features::whatif::engine_runs::{preview_engines, start_next_engine};
use crate::console::features::whatif::marking::{count_cut_off_pairs, drop_results};
use crate::console::model::background_task::{BackgroundTask, TaskOutcome, TaskPlace};
use crate::console::model::effect::Effect;
use crate::console::model::fabric_model::{ProposalState, SNAPSHOT_CHANGED};
use crate::console::model::keymap::Keymap;
use crate::console::model::layout::Size;
use crate::console::model::state::{LoadState, SessionState};
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskDependency;
use crate::operations::preview::path_preview::Preview;
use fabdeck_fabric::ElementId;
use fabdeck_routing::{ENGINES, Engine, EngineRefusal, NAMED_ENGINES, RouteProgress};

/// Reads the source.
#[derive(Debug)]
pub struct SnapshotTask;

impl BackgroundTask for SnapshotTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Nothing
    }

    fn place(&self) -> TaskPlace {
        TaskPlace::NewSource
    }

    fn is_cancellable(&self) -> bool {
        true
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(SnapshotOutcome(services.read_snapshot())))
    }
}

/// The snapshot, or the reason why there is none.
#[derive(Debug)]
pub struct SnapshotOutcome(pub Result<Arc<Snapshot>, String>);

/// Indexes the paths in force.
#[derive(Debug)]
pub struct PathIndexTask {
    look: Arc<Snapshot>,
}

impl BackgroundTask for PathIndexTask {
    fn run(&self, _: &mut dyn TaskServices, progress: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let preview = Preview::new(&self.look, &self.look.observation.tables, progress);
        Some(Box::new(PathIndexOutcome(preview.map(|preview| Arc::new(Mutex::new(preview))))))
    }
}

#[derive(Debug)]
pub struct PathIndexOutcome(pub Result<Arc<Mutex<Preview>>, EngineRefusal>);

impl SessionState {
    /// Opens a session on a source; returns its state and its first effects.
    pub fn open(source: impl Into<String>, keymap: Keymap, size: Size) -> (Self, Vec<Effect>) {
        let mut state = Self::new(source.into(), keymap, size);
        let effects = reload_snapshot(&mut state);
        (state, effects)
    }
}

/// Reads the source again.
pub fn reload_snapshot(state: &mut SessionState) -> Vec<Effect> {
    let (task, effect) = state.begin(format!("reading {}", state.source), SnapshotTask);
    state.set_loading(LoadState::Under(task));
    state.known.changes.rereading = false;
    vec![effect]
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
    let asked: Vec<&'static Engine> = ENGINES
        .iter()
        .chain(NAMED_ENGINES)
        .filter(|engine| state.known.proposed.get(engine.id).is_some_and(waiting))
        .collect();
    // After a change by this session, its result matters more, and the operator knows that tables changed.
    let mut outdated = Vec::new();
    if state.known.proposed.len() > asked.len() && !state.known.changes.rereading {
        let text = format!("{SNAPSHOT_CHANGED}: p runs the engines again");
        state.log_message(Severity::Info, text);
        outdated = state.screens.whatif.outdated_rows(&state.known);
    } else if !state.known.changes.rereading {
        outdated = std::mem::take(&mut state.known.outdated);
    }
    let mut effects = drop_results(state, TaskDependency::Snapshot);
    state.known.outdated = outdated;
    let mut places = state.screens.places(&state.known);
    if let Some(before) = state.known.look.replace(look.clone()).filter(|_| !same_fabric) {
        job_words::forget_ports(state);
        carry_marks_over(state, &before, &look);
        let again = |what: ElementId| what.translate(before.fabric(), look.fabric());
        places = places.into_iter().map(|what| what.and_then(again)).collect();
        state.known.carry_order_over(&again);
        state.screens.carry_over(&again);
        carry_pins_over(state, &again);
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
        effects.push(state.begin("sorting switches by rank", RankTask::new(look.clone())).1);
    }
    if state.known.tables {
        effects.push(state.begin(INDEXING_PATHS, PathIndexTask { look }).1);
    }
    effects.extend(preview_engines(state, &asked));
    effects
}

/// Converts the marks to the new fabric, and reports marked elements that are gone.
pub(crate) fn carry_marks_over(state: &mut SessionState, before: &Snapshot, look: &Snapshot) {
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
