//! The search for a credit loop in the tables in force, the next step where ports wait and nothing moves.

use std::sync::Arc;

use super::loop_finding::LoopSearch;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::screens::ScreenId;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::overlay::Overlay;
use crate::console::model::scroll::Scroll;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
use crate::operations::lanes::levels::{LevelsInForce, check_in_force};
use fabdeck_fabric::Faults;
use fabdeck_routing::RouteProgress;

/// Searches for a credit loop with all paths on one lane, those of switches included.
#[derive(Debug)]
struct LoopSearchTask(Arc<Snapshot>);

impl BackgroundTask for LoopSearchTask {
    fn is_cancellable(&self) -> bool {
        true
    }

    fn run(&self, _: &mut dyn TaskServices, progress: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let (look, level) = (&self.0, LevelsInForce::One);
        let report = check_in_force(look, &look.observation.tables, &Faults::new(), true, level, progress);
        let found = report.map(|report| report.cycle).map_err(|refusal| refusal.to_string());
        Some(Box::new(LoopSearchOutcome(LoopSearch { look: look.clone(), found })))
    }
}

#[derive(Debug)]
struct LoopSearchOutcome(LoopSearch);

impl TaskOutcome for LoopSearchOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        let (severity, text) = self.0.message();
        state.log_message(severity, text);
        state.known.problems.loop_search = Some(self.0);
        show_page(state);
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("searched {:?}", self.0.found)
    }
}

/// Searches the tables in force, or shows what was found in them already.
pub fn search(state: &mut SessionState) -> Vec<Effect> {
    let Some(look) = state.known.look.clone() else { return Vec::new() };
    if state.known.problems.loop_search.as_ref().is_some_and(|search| search.is_of(&look)) {
        show_page(state);
        return Vec::new();
    }
    vec![state.begin("searching for a credit loop", LoopSearchTask(look)).1]
}

/// Opens the page of the problem, unless the operator went elsewhere in the meantime.
fn show_page(state: &mut SessionState) {
    if state.screen == ScreenId::Health && state.layer.is_none() && state.prompt.is_none() {
        state.layer = Some(Overlay::Details(Scroll::default()));
    }
}
