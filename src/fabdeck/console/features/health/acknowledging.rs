//! Acknowledges a problem as `fabdeck health --acknowledge` does: in the capture that is replayed, or in the state folder of
//! the user.

use std::path::{Path, PathBuf};

use super::health_model::AcknowledgementRequest;
use crate::catalogue::severity::Severity;
use crate::console::features::screen::Screen;
use crate::console::features::timeline::annotations::{self, RewriteWatch};
use crate::console::features::timeline::operator_log;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome, WholeOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::health::acknowledgements::{
    AcknowledgedCapture, KeptAcknowledgement, change_acknowledgement, own_acknowledgement,
};
use fabdeck_files::capture::find_capture;
use fabdeck_routing::RouteProgress;

/// Acknowledges a problem, or takes that back.
#[derive(Debug)]
pub struct AcknowledgeTask(AcknowledgementRequest);

impl BackgroundTask for AcknowledgeTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Nothing
    }

    fn file(&self) -> Option<&Path> {
        self.0.capture.as_ref().map(|capture| capture.file.as_path())
    }

    fn run(
        &self,
        services: &mut dyn TaskServices,
        progress: &dyn RouteProgress,
    ) -> Option<Box<dyn TaskOutcome>> {
        let record = own_acknowledgement(self.0.problem.clone(), self.0.note.clone(), self.0.is_removal);
        let (problems, capture) = (&self.0.ranked.problems, self.0.capture.as_ref());
        let changed = match services.system() {
            Some(system) => {
                let observer = &mut RewriteWatch(progress);
                change_acknowledgement(system, &self.0.look, problems, capture, record, observer)
                    .map_err(|failure| failure.message.unwrap_or_default())
            }
            None => Err("this session has no state folder".to_owned()),
        };
        Some(Box::new(AcknowledgeOutcome { changed }))
    }

    fn restore(&self, whole: &WholeOutcome) -> Option<Box<dyn TaskOutcome>> {
        let changed = whole.content("acknowledged")?;
        Some(Box::new(AcknowledgeOutcome { changed }))
    }
}

#[derive(Debug)]
pub struct AcknowledgeOutcome {
    changed: Result<KeptAcknowledgement, String>,
}

impl TaskOutcome for AcknowledgeOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        let model = &mut state.known.problems;
        if model.acknowledging.take_if(|under| *under == task).is_none() {
            return Vec::new();
        }
        match self.changed {
            Ok(kept) => show_kept(state, kept),
            Err(why) => {
                state.log_message(Severity::Error, format!("not acknowledged: {why}"));
                Vec::new()
            }
        }
    }

    /// The user and the time of an acknowledgement are not those of the session.
    fn digest_text(&self) -> String {
        let changed = self.changed.as_ref().map(|kept| (&kept.record.problem, kept.record.removed));
        format!("acknowledged {changed:?}")
    }

    fn to_whole(&self) -> Option<WholeOutcome> {
        WholeOutcome::new("acknowledged", &self.changed)
    }
}

/// Shows a changed acknowledgement, and adds it to the recording of a watch.
fn show_kept(state: &mut SessionState, kept: KeptAcknowledgement) -> Vec<Effect> {
    let KeptAcknowledgement { record, in_capture, refused } = kept;
    state.known.problems.acknowledgements += 1;
    let text = match record.removed {
        true => "the acknowledgement is taken back",
        false => "acknowledged: the problem comes last, and x takes that back",
    };
    match refused {
        Some(why) => {
            let text = format!("acknowledged in your state folder only: {why}");
            state.log_message(Severity::Warning, text);
        }
        None => state.log_message(Severity::Info, text),
    }
    if let Some(playback) = state.known.playback.as_mut().filter(|playback| playback.live.is_none()) {
        if in_capture {
            playback.add_acknowledgement(record);
            state.screens.timeline.refresh(&state.known);
        }
        return Vec::new();
    }
    operator_log::log_acknowledgement(state, record)
}

/// Acknowledges the problem at the cursor with the rest of the line as a note, or takes an acknowledgement back.
pub fn acknowledge(state: &mut SessionState, note: &str) -> Vec<Effect> {
    let (Some(look), Some(ranked)) = (state.snapshot().cloned(), state.known.problems.ranked.clone()) else {
        return Vec::new();
    };
    let Some((_, problem)) = state.screens.health.problem() else { return Vec::new() };
    if is_acknowledging(state) || state.known.problems.next_acknowledgement.is_some() {
        return Vec::new();
    }
    let replay = state.known.playback.as_ref().filter(|playback| playback.live.is_none());
    let capture = replay.map(|playback| {
        let source = PathBuf::from(&state.source);
        AcknowledgedCapture {
            file: find_capture(&source).unwrap_or(source),
            at: playback.time(),
            recorded: playback.acknowledged().to_vec(),
        }
    });
    let request = AcknowledgementRequest {
        look,
        ranked,
        problem: problem.id.clone(),
        is_removal: problem.acknowledged.is_some(),
        note: Some(note.trim().to_owned()).filter(|note| !note.is_empty()),
        capture,
    };
    state.known.problems.next_acknowledgement = Some(request);
    Vec::new()
}

/// Whether an acknowledgement is being written.
fn is_acknowledging(state: &SessionState) -> bool {
    state.known.problems.acknowledging.is_some_and(|task| state.tasks.get(task).is_some())
}

/// Begins the acknowledgement that waits. A capture is changed by one task at a time.
pub fn follow(state: &mut SessionState) -> Option<Effect> {
    if annotations::is_writing(state) {
        return None;
    }
    let request = state.known.problems.next_acknowledgement.take()?;
    let (task, effect) = state.begin_quiet("acknowledging a problem", AcknowledgeTask(request));
    state.known.problems.acknowledging = Some(task);
    Some(effect)
}
