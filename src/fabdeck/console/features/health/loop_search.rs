//! The search for a credit loop in the tables in force, the next step where ports wait and nothing moves.

use std::sync::Arc;

use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::features::screens::ScreenId;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::detail_page::DetailLine;
use crate::console::model::effect::Effect;
use crate::console::model::overlay::Overlay;
use crate::console::model::scroll::Scroll;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
use crate::operations::lanes::levels::{LevelsInForce, check_in_force};
use fabdeck_fabric::Faults;
use fabdeck_routing::RouteProgress;

/// Channels of a loop that have a line of their own at most.
const MAX_CHANNELS: usize = 100;

/// What the search found in the tables of a snapshot.
#[derive(Clone, Debug)]
pub struct LoopSearch {
    look: Arc<Snapshot>,
    /// The channels of a credit loop, `None` where there is none; or the reason why that is not known.
    found: Result<Option<Vec<String>>, String>,
}

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

impl LoopSearch {
    fn message(&self) -> (Severity, String) {
        match &self.found {
            Ok(Some(channels)) => {
                let channels = count_words(channels.len(), "channel", "channels");
                (Severity::Warning, format!("the tables in force have a credit loop of {channels}"))
            }
            Ok(None) => (Severity::Info, "the tables in force have no credit loop on one lane".to_owned()),
            Err(why) => (Severity::Warning, format!("a credit loop could not be searched for: {why}")),
        }
    }

    /// The lines for the page of the problem, where these are the tables in force.
    pub fn lines(&self, look: &Snapshot) -> Vec<DetailLine> {
        if !std::ptr::eq(&*self.look, look) {
            return Vec::new();
        }
        let mut lines = vec![("credit loop", self.message().1)];
        if let Ok(Some(channels)) = &self.found {
            lines.extend(channels.iter().take(MAX_CHANNELS).map(|channel| ("", channel.clone())));
        }
        lines
    }
}

/// Searches the tables in force, or shows what was found in them already.
pub fn search(state: &mut SessionState) -> Vec<Effect> {
    let Some(look) = state.known.look.clone() else { return Vec::new() };
    if state.known.problems.loop_search.as_ref().is_some_and(|search| Arc::ptr_eq(&search.look, &look)) {
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
