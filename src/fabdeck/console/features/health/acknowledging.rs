//! Acknowledges a problem in the state folder of the user, as `fabdeck health --acknowledge` does.

use std::sync::Arc;

use jiff::Zoned;

use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome, WholeOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::changes::change_exit::user;
use crate::operations::health::acknowledgements::{AcknowledgementChange, change_acknowledgement};
use crate::operations::health::ranked_problems::RankedProblems;
use fabdeck_routing::RouteProgress;

/// Acknowledges a problem, or takes that back.
#[derive(Debug)]
pub struct AcknowledgeTask {
    look: Arc<Snapshot>,
    ranked: Arc<RankedProblems>,
    problem: String,
    /// Whether an acknowledgement is taken back.
    is_removal: bool,
    note: Option<String>,
}

impl BackgroundTask for AcknowledgeTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Nothing
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let problem = self.problem.clone();
        let change = match self.is_removal {
            true => AcknowledgementChange::Remove { problem },
            false => AcknowledgementChange::Add {
                problem,
                by: user(),
                at: Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
                note: self.note.clone(),
            },
        };
        let changed = match services.system() {
            Some(system) => change_acknowledgement(system, &self.look, &self.ranked.problems, &change)
                .map_err(|failure| failure.message.unwrap_or_default()),
            None => Err("this session has no state folder".to_owned()),
        };
        Some(Box::new(AcknowledgeOutcome { is_removal: self.is_removal, changed }))
    }

    fn restore(&self, whole: &WholeOutcome) -> Option<Box<dyn TaskOutcome>> {
        let changed = whole.content("acknowledged")?;
        Some(Box::new(AcknowledgeOutcome { is_removal: self.is_removal, changed }))
    }
}

#[derive(Debug)]
pub struct AcknowledgeOutcome {
    is_removal: bool,
    changed: Result<(), String>,
}

impl TaskOutcome for AcknowledgeOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        let model = &mut state.known.problems;
        if model.acknowledging.take_if(|under| *under == task).is_none() {
            return Vec::new();
        }
        match self.changed {
            Ok(()) => {
                model.acknowledgements += 1;
                let text = match self.is_removal {
                    true => "the acknowledgement is taken back",
                    false => "acknowledged: the problem comes last, and x takes that back",
                };
                state.log_message(Severity::Info, text);
            }
            Err(why) => state.log_message(Severity::Error, format!("not acknowledged: {why}")),
        }
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("acknowledged {:?}", self.changed)
    }

    fn to_whole(&self) -> Option<WholeOutcome> {
        WholeOutcome::new("acknowledged", &self.changed)
    }
}

/// Acknowledges the problem at the cursor with the rest of the line as a note, or takes an acknowledgement back.
pub fn acknowledge(state: &mut SessionState, note: &str) -> Vec<Effect> {
    let (Some(look), Some(ranked)) = (state.snapshot().cloned(), state.known.problems.ranked.clone()) else {
        return Vec::new();
    };
    let Some((_, problem)) = state.screens.health.problem() else { return Vec::new() };
    if state.known.problems.acknowledging.is_some_and(|task| state.tasks.get(task).is_some()) {
        return Vec::new();
    }
    let task = AcknowledgeTask {
        look,
        ranked,
        problem: problem.id.clone(),
        is_removal: problem.acknowledged.is_some(),
        note: Some(note.trim().to_owned()).filter(|note| !note.is_empty()),
    };
    let (task, effect) = state.begin_quiet("acknowledging a problem", task);
    state.known.problems.acknowledging = Some(task);
    vec![effect]
}
