//! Sorts the switches by rank, and the hosts by rack, in the background.

use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::console::features::refresh::refresh_screens;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::fabric_model::Ranks;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
use crate::operations::fabric_map::ranks::ranks;
use crate::operations::fabric_map::structure::MapStructure;
use fabdeck_routing::RouteProgress;

/// Sorts the switches of a snapshot by rank.
#[derive(Debug)]
pub struct RankTask {
    look: Arc<Snapshot>,
}

impl RankTask {
    pub fn new(look: Arc<Snapshot>) -> Self {
        Self { look }
    }
}

impl BackgroundTask for RankTask {
    fn run(&self, _: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let (ranks, structure) = ranks(&self.look);
        Some(Box::new(RankOutcome(ranks, structure)))
    }
}

#[derive(Debug)]
pub struct RankOutcome(Ranks, MapStructure);

impl TaskOutcome for RankOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        let places = state.screens.places(&state.known);
        state.known.arrange(self.0);
        state.screens.map.drawn.set_structure(self.1);
        refresh_screens(state);
        state.screens.restore_cursors(&places, &state.known);
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("arranged {:?}", self.0)
    }
}
