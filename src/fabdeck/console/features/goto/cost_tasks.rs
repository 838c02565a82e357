//! Counts what the failure of the element at the cursor costs, in a background task. A task for a row that the cursor has
//! left is cancelled.

use std::sync::{Arc, Mutex, PoisonError};

use super::failure_cost::{CostKey, FailureCost};
use super::goto_layout::GotoLayout;
use super::goto_state::GotoTarget;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::panes::pins::detail_element;
use crate::console::features::screens::ScreenId;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::detail_page::DetailLine;
use crate::console::model::effect::Effect;
use crate::console::model::prompt::Purpose;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
use crate::operations::preview::path_preview::Preview;
use fabdeck_fabric::{Element, ElementId};
use fabdeck_routing::RouteProgress;

/// The lines of the preview of an element; `unknown` is the sign of what is not known.
pub fn cost_lines(state: &SessionState, element: &str, unknown: &str) -> Vec<DetailLine> {
    let Some(look) = state.snapshot() else { return Vec::new() };
    match (state.goto.costs.cost_of(look, element), &state.known.unindexed) {
        (Some(cost), _) => cost.lines(unknown).to_vec(),
        (None, Some(why)) => vec![("if it fails", format!("{unknown} not known: {why}"))],
        (None, None) => vec![("if it fails", format!("{unknown} not known: being counted"))],
    }
}

/// Counts the cost of an element.
#[derive(Debug)]
pub struct FailureCostTask {
    look: Arc<Snapshot>,
    /// The paths under the tables in force; `None` where no tables are known.
    preview: Option<Arc<Mutex<Preview>>>,
    what: ElementId,
}

impl BackgroundTask for FailureCostTask {
    fn run(&self, _: &mut dyn TaskServices, progress: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let unmarked = |preview: &Arc<Mutex<Preview>>| {
            preview.lock().unwrap_or_else(PoisonError::into_inner).without_marks()
        };
        let preview = self.preview.as_ref().map(unmarked);
        if progress.is_cancelled() {
            return None;
        }
        Some(Box::new(FailureCostOutcome(FailureCost::count(&self.look, preview, self.what))))
    }
}

#[derive(Debug)]
pub struct FailureCostOutcome(FailureCost);

impl TaskOutcome for FailureCostOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        let costs = &mut state.goto.costs;
        if let Some((_, key)) = costs.pending.take_if(|(under, _)| *under == task) {
            costs.counted = Some((key, self.0));
        }
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("counted {:?}", self.0)
    }
}

/// Counts the cost of the row at the cursor, where a preview shows it.
pub fn follow_cost(state: &mut SessionState) -> Vec<Effect> {
    let wanted = wanted_element(state);
    let is_wanted =
        |key: &CostKey| wanted.as_ref().is_some_and(|(look, element, _)| key.is_of(look, element));
    if let Some((task, key)) = &state.goto.costs.pending
        && is_wanted(key)
        && state.tasks.get(*task).is_some()
    {
        return Vec::new();
    }
    let mut effects = cancel_cost(state);
    let Some((look, element, what)) = wanted else { return effects };
    if state.goto.costs.counted.as_ref().is_some_and(|(key, _)| key.is_of(&look, &element)) {
        return effects;
    }
    let preview = state.known.preview.clone();
    if preview.is_none() && state.known.tables {
        // The paths are being indexed.
        return effects;
    }
    let task = FailureCostTask { look: look.clone(), preview, what };
    let (task, effect) = state.begin_quiet("counting what a failure costs", task);
    state.goto.costs.pending = Some((task, CostKey { look, element }));
    effects.push(effect);
    effects
}

/// Cancels the task of a row that is no longer the one at the cursor.
fn cancel_cost(state: &mut SessionState) -> Vec<Effect> {
    let Some((task, _)) = state.goto.costs.pending.take() else { return Vec::new() };
    state.tasks.end(task).map(|_| Effect::Cancel(task)).into_iter().collect()
}

/// The element whose cost is shown: that of the row at the cursor, or without the line that of the Map.
fn wanted_element(state: &SessionState) -> Option<(Arc<Snapshot>, String, ElementId)> {
    let is_open = state.prompt.as_ref().is_some_and(|prompt| prompt.purpose == Purpose::Command);
    if is_open { picked_element(state) } else { map_element(state) }
}

/// The element that the pane beside the lines of the Map is about.
fn map_element(state: &SessionState) -> Option<(Arc<Snapshot>, String, ElementId)> {
    let map = &state.screens.map;
    let has_lines = state.screen == ScreenId::Map && map.shows_map() && map.drawn.layout.is_some();
    if !has_lines || state.areas().details_pane.is_empty() {
        return None;
    }
    let what = detail_element(state)?;
    Some((state.snapshot()?.clone(), state.known.element(what)?, what))
}

/// The element at the cursor of the line, where there is room for its preview.
fn picked_element(state: &SessionState) -> Option<(Arc<Snapshot>, String, ElementId)> {
    let GotoTarget::Element(text) = &state.goto.picked_row()?.target else { return None };
    if GotoLayout::new(&state.areas()).preview.is_empty() {
        return None;
    }
    let look = state.snapshot()?.clone();
    let element: Element = text.parse().ok()?;
    let what = element.resolve(look.fabric(), &look.names).ok()?;
    Some((look, text.clone(), what))
}
