//! The borders that were moved, in a file of the user's state folder. Each line is one of them.

use std::path::PathBuf;

use crate::catalogue::severity::Severity;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome, WholeOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::pane_sizes::{PaneSize, PaneSizes, WidthClass};
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::system::access::SystemAccess;
use crate::system::state_lines::{read_lines, update_lines};
use fabdeck_routing::RouteProgress;

const FILE_NAME: &str = "panes";

/// Reads the places of borders. Without a state folder there are none.
pub fn read_pane_sizes(system: &dyn SystemAccess) -> Result<PaneSizes, String> {
    let Some(file) = file_path(system) else { return Ok(PaneSizes::default()) };
    let lines = read_lines::<PaneSize>(&file).map(PaneSizes);
    lines.map_err(|error| format!("the sizes of panes in {} cannot be read: {error}", file.display()))
}

fn file_path(system: &dyn SystemAccess) -> Option<PathBuf> {
    Some(system.user_state()?.join(FILE_NAME))
}

/// Keeps the sizes of some screens and widths; another session may have changed those of others.
#[derive(Debug)]
pub struct PaneSizesTask {
    changed: Vec<(&'static str, WidthClass)>,
    sizes: Vec<PaneSize>,
}

impl PaneSizesTask {
    fn keep(&self, system: &dyn SystemAccess) -> Result<(), String> {
        let Some(file) = file_path(system) else {
            let why = "FD-7332: no state folder of this user is known; set HOME or XDG_STATE_HOME";
            return Err(why.to_owned());
        };
        let changed = update_lines(&file, |kept: &mut Vec<PaneSize>| {
            kept.retain(|size| !self.changed.iter().any(|(screen, width)| size.is_of(screen, *width)));
            kept.extend(self.sizes.iter().cloned());
        });
        changed.map_err(|error| format!("{} cannot be written: {error}", file.display()))
    }
}

impl BackgroundTask for PaneSizesTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Nothing
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        // A session without a system keeps nothing, and says nothing about it.
        let kept = services.system().map_or(Ok(()), |system| self.keep(system));
        Some(Box::new(PaneSizesOutcome { kept }))
    }

    fn restore(&self, whole: &WholeOutcome) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(PaneSizesOutcome { kept: whole.content("panes")? }))
    }
}

#[derive(Debug)]
pub struct PaneSizesOutcome {
    kept: Result<(), String>,
}

impl TaskOutcome for PaneSizesOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        state.panes.task = None;
        if let Err(why) = self.kept {
            let text = format!("the sizes of panes are kept in this session only: {why}");
            state.log_message(Severity::Warning, text);
        }
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("panes {:?}", self.kept)
    }

    fn to_whole(&self) -> Option<WholeOutcome> {
        WholeOutcome::new("panes", &self.kept)
    }
}

/// Begins to keep what changed, one change after the other.
pub fn follow(state: &mut SessionState) -> Vec<Effect> {
    // A border that is being dragged is kept once, where it is left.
    if state.panes.dragged.is_some() || state.panes.unkept.is_empty() || state.panes.task.is_some() {
        return Vec::new();
    }
    let changed = std::mem::take(&mut state.panes.unkept);
    let changed: Vec<_> = changed.into_iter().map(|(screen, width)| (screen.title().word, width)).collect();
    let is_changed = |size: &&PaneSize| changed.iter().any(|(screen, width)| size.is_of(screen, *width));
    let sizes = state.panes.sizes.0.iter().filter(is_changed).cloned().collect();
    let (task, effect) = state.begin_quiet("keeping the sizes of panes", PaneSizesTask { changed, sizes });
    state.panes.task = Some(task);
    vec![effect]
}
