//! Makes the table of pairs, and the detail of the pair at the cursor, in the background; a frame only shows them.

use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
pub use crate::operations::fabric_map::pair_detail::{PairDetail, PairDetailRequest};
pub use crate::operations::fabric_map::pair_table::{PairCell, PairRequest, PairTable};
use fabdeck_routing::RouteProgress;

/// Makes the table.
#[derive(Debug)]
pub struct PairTask(pub PairRequest);

#[derive(Debug)]
pub struct PairOutcome(PairTable);

impl BackgroundTask for PairTask {
    fn run(&self, _: &mut dyn TaskServices, progress: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(PairOutcome(self.0.table(progress))))
    }
}

impl TaskOutcome for PairOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        state.screens.map.drawn.matrix.receive(task, self.0);
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("pairs {:?}", self.0.cells)
    }
}

/// Examines the pair at the cursor.
#[derive(Debug)]
pub struct PairDetailTask(pub PairDetailRequest);

#[derive(Debug)]
pub struct PairDetailOutcome(PairDetail);

impl BackgroundTask for PairDetailTask {
    fn run(&self, _: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(PairDetailOutcome(self.0.detail())))
    }
}

impl TaskOutcome for PairDetailOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        state.screens.map.drawn.matrix.receive_detail(task, self.0);
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("pair {:?}", self.0)
    }
}
