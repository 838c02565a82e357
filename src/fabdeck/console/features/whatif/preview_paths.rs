//! The paths of the proposal at the cursor, for the maps of a wide screen. They are counted in the background, for one proposal
//! at a time.

use std::sync::Arc;

use super::side_matrix::SideMatrix;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::screens::ScreenId;
use crate::console::features::whatif::whatif_layout::WhatifPanes;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::fabric_map::structure::MapStructure;
use crate::operations::preview::path_changes::PathChanges;
use crate::operations::preview::whatif::Proposal;
use fabdeck_fabric::Faults;
use fabdeck_routing::RouteProgress;
use fabdeck_routing::analysis::PathIndex;

/// The paths that are counted, for one proposal on one snapshot.
#[derive(Debug, Default)]
pub struct PreviewPaths {
    counted: Option<CountedPaths>,
    task: Option<TaskId>,
}

#[derive(Debug)]
struct CountedPaths {
    look: Arc<Snapshot>,
    proposal: Arc<Proposal>,
    changes: PathChanges,
    matrix: Option<SideMatrix>,
}

impl PreviewPaths {
    /// The paths under a proposal; `None` until they are counted.
    pub fn of(&self, look: &Arc<Snapshot>, proposal: &Arc<Proposal>) -> Option<&PathChanges> {
        let counted = self.counted.as_ref()?;
        let is_same = Arc::ptr_eq(&counted.look, look) && Arc::ptr_eq(&counted.proposal, proposal);
        is_same.then_some(&counted.changes)
    }

    /// The summed-up map of the paths that are counted.
    pub fn matrix(&self) -> Option<&SideMatrix> {
        self.counted.as_ref()?.matrix.as_ref()
    }
}

/// Counts the paths over each cable under a proposal.
#[derive(Debug)]
pub struct PreviewPathsTask {
    look: Arc<Snapshot>,
    live: Arc<PathIndex>,
    marks: Faults,
    proposal: Arc<Proposal>,
    structure: Option<Arc<MapStructure>>,
}

impl BackgroundTask for PreviewPathsTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Marks
    }

    fn run(&self, _: &mut dyn TaskServices, progress: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let Self { look, live, marks, proposal, structure } = self;
        // The proposal has routes for these marks, so only a cancelled task has no count.
        let changes = PathChanges::new(look, live, marks, proposal, progress).ok()?;
        let matrix = structure.as_ref().and_then(|structure| SideMatrix::new(look, structure, &changes));
        Some(Box::new(PreviewPathsOutcome {
            look: look.clone(),
            proposal: proposal.clone(),
            changes,
            matrix,
        }))
    }
}

#[derive(Debug)]
pub struct PreviewPathsOutcome {
    look: Arc<Snapshot>,
    proposal: Arc<Proposal>,
    changes: PathChanges,
    matrix: Option<SideMatrix>,
}

impl TaskOutcome for PreviewPathsOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        let Self { look, proposal, changes, matrix } = *self;
        let paths = &mut state.screens.whatif.preview;
        (paths.counted, paths.task) = (Some(CountedPaths { look, proposal, changes, matrix }), None);
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("paths over cables {:?} {:?}", self.changes.busiest, self.changes.changed)
    }
}

/// Begins to count the paths of the proposal at the cursor, where a screen has room for its map.
pub fn follow(state: &mut SessionState) -> Vec<Effect> {
    if state.screen != ScreenId::Whatif || WhatifPanes::new(&state.areas()).preview.is_empty() {
        return Vec::new();
    }
    let whatif = &state.screens.whatif;
    let (Some(engine), Some(look), Some(live)) = (whatif.engine(), &state.known.look, &state.known.paths)
    else {
        return Vec::new();
    };
    let Some(proposal) = state.known.proposal(engine) else { return Vec::new() };
    let is_running = whatif.preview.task.is_some_and(|task| state.tasks.get(task).is_some());
    if is_running || whatif.preview.of(look, proposal).is_some() {
        return Vec::new();
    }
    let task = PreviewPathsTask {
        look: look.clone(),
        live: live.clone(),
        marks: state.known.marks.clone(),
        proposal: proposal.clone(),
        structure: state.screens.map.drawn.structure.clone(),
    };
    let (task, effect) = state.begin_quiet(format!("counting the paths of {}", engine.id), task);
    state.screens.whatif.preview.task = Some(task);
    vec![effect]
}
