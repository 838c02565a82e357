//! Sums up the figures of cables and nodes when a reading arrives: at once on a small fabric, in the background on a large
//! one, where the sums take longer than a frame.

use std::sync::Arc;

use super::drawn_map::DrawnMap;
use super::figures::FigureTable;
use crate::catalogue::snapshot::Snapshot;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_routing::RouteProgress;
use fabdeck_routing::analysis::PathIndex;

/// Up to this number of cables the figures are summed up at once.
const FEW_CABLES: usize = 20_000;

/// What figures are made of.
#[derive(Clone, Debug)]
struct FigureTask {
    look: Arc<Snapshot>,
    reading: Option<Arc<WatchVerdict>>,
    paths: Option<Arc<PathIndex>>,
}

impl FigureTask {
    fn new(state: &SessionState) -> Option<Self> {
        let known = &state.known;
        Some(Self {
            look: known.look.clone()?,
            reading: known.watch.reading.clone(),
            paths: known.paths.clone(),
        })
    }

    fn table(&self) -> FigureTable {
        FigureTable::new(&self.look, self.reading.as_ref(), self.paths.as_ref())
    }
}

impl BackgroundTask for FigureTask {
    fn run(&self, _: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(FigureOutcome(self.table())))
    }
}

#[derive(Debug)]
struct FigureOutcome(FigureTable);

impl TaskOutcome for FigureOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        let map = &mut state.screens.map.drawn;
        if map.figure_task.take_if(|running| *running == task).is_some() {
            map.set_figures(self.0);
        }
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("figures {:?}", self.0.size())
    }
}

/// Brings the figures up to date with the reading and the paths. One task at a time is under way; figures of a reading that
/// came meanwhile follow it.
pub fn update_figures(state: &mut SessionState) -> Option<Effect> {
    let task = FigureTask::new(state)?;
    let map: &DrawnMap = &state.screens.map.drawn;
    if map.figures.is_of(&task.look, task.reading.as_ref(), task.paths.as_ref()) {
        return None;
    }
    if task.look.fabric().links().len() <= FEW_CABLES && !map.figures_behind {
        let figures = task.table();
        state.screens.map.drawn.set_figures(figures);
        return None;
    }
    if map.figure_task.is_some_and(|running| state.tasks.get(running).is_some()) {
        return None;
    }
    let (id, effect) = state.begin_quiet("adding up the map", task);
    state.screens.map.drawn.figure_task = Some(id);
    Some(effect)
}
