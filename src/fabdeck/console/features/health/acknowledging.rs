//! Acknowledges problems as `fabdeck health --acknowledge` does: in the capture that is replayed, or in the state folder of
//! the user. `x` asks first: for a note, or whether an acknowledgement is taken back.

use std::path::Path;

use super::health_model::AcknowledgementRequest;
use crate::catalogue::severity::Severity;
use crate::console::features::completion::open_prompt;
use crate::console::features::screen::Screen;
use crate::console::features::timeline::annotations::{self, RewriteWatch};
use crate::console::features::timeline::operator_log;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome, WholeOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::prompt::Purpose;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::health::acknowledgements::{
    AcknowledgedCapture, KeptAcknowledgement, change_acknowledgement, own_acknowledgement,
};
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
        let AcknowledgementRequest { problem, note, is_removal, .. } = self.0.clone();
        let record = own_acknowledgement(problem, note, is_removal);
        let (problems, capture) = (&self.0.ranked.problems, self.0.capture.as_ref());
        let changed = match services.system() {
            Some(system) => {
                let observer = &mut RewriteWatch(progress);
                change_acknowledgement(system, &self.0.look, problems, capture, record, observer)
                    .map_err(|failure| failure.message.unwrap_or_default())
            }
            None => Err("this session has no state folder".to_owned()),
        };
        Some(Box::new(AcknowledgeOutcome::new(is_removal, changed)))
    }

    fn restore(&self, whole: &WholeOutcome) -> Option<Box<dyn TaskOutcome>> {
        let changed = whole.content("acknowledged")?;
        Some(Box::new(AcknowledgeOutcome::new(self.0.is_removal, changed)))
    }
}

#[derive(Debug)]
pub struct AcknowledgeOutcome {
    is_removal: bool,
    changed: Result<KeptAcknowledgement, String>,
}

impl AcknowledgeOutcome {
    pub fn new(is_removal: bool, changed: Result<KeptAcknowledgement, String>) -> Self {
        Self { is_removal, changed }
    }
}

impl TaskOutcome for AcknowledgeOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        let model = &mut state.known.problems;
        if model.acknowledging.take_if(|under| *under == task).is_none() {
            return Vec::new();
        }
        let request = model.waiting_acknowledgements.pop_front();
        let had_note = request.is_some_and(|request| request.changes_note);
        match self.changed {
            Ok(kept) => show_kept(state, kept, had_note),
            Err(why) => {
                let what = if self.is_removal { "the acknowledgement stays" } else { "not acknowledged" };
                state.log_message(Severity::Error, format!("{what}: {why}"));
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
fn show_kept(state: &mut SessionState, kept: KeptAcknowledgement, changes_note: bool) -> Vec<Effect> {
    let KeptAcknowledgement { record, in_capture, refused } = kept;
    state.known.problems.acknowledgements += 1;
    let text = match (record.removed, changes_note) {
        (true, _) => "the acknowledgement is taken back",
        (false, true) => "the acknowledgement has a new note",
        (false, false) => "acknowledged: the problem comes last, and x takes that back",
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

/// Acknowledges the problem at the cursor with the rest of the line as its note, or changes the note of an acknowledgement.
/// Without a note, a line asks for it, or whether the acknowledgement is taken back.
pub fn acknowledge(state: &mut SessionState, note: &str) -> Vec<Effect> {
    let Some((_, problem)) = state.screens.health.problem() else { return Vec::new() };
    let id = problem.id.clone();
    if !note.trim().is_empty() {
        add_request(state, id, note, false);
        return Vec::new();
    }
    let purpose = match is_acknowledged(state, &id) {
        true => Purpose::TakeBack,
        false => Purpose::Acknowledge,
    };
    // The cursor may be on another problem when the line is entered.
    state.known.problems.asked = Some(id);
    open_prompt(state, purpose, "");
    Vec::new()
}

/// Does what the entered line of the problem says.
pub fn enter_note(state: &mut SessionState, purpose: Purpose, note: &str) -> Vec<Effect> {
    if let Some(id) = state.known.problems.asked.take() {
        let is_removal = purpose == Purpose::TakeBack && note.trim().is_empty();
        add_request(state, id, note, is_removal);
    }
    Vec::new()
}

/// Whether a problem is acknowledged, or will be once all that waits is written.
fn is_acknowledged(state: &SessionState, id: &str) -> bool {
    let model = &state.known.problems;
    let waiting = model.waiting_acknowledgements.iter().rfind(|request| request.problem == id);
    waiting.map(|request| !request.is_removal).unwrap_or_else(|| {
        let ranked = model.ranked.iter().flat_map(|ranked| &ranked.problems);
        ranked.filter(|problem| problem.id == id).any(|problem| problem.acknowledged.is_some())
    })
}

fn add_request(state: &mut SessionState, id: String, note: &str, is_removal: bool) {
    let (Some(look), Some(ranked)) = (state.snapshot().cloned(), state.known.problems.ranked.clone()) else {
        return;
    };
    if !ranked.problems.iter().any(|problem| problem.id == id) {
        state.log_message(Severity::Warning, "this problem is over, and nothing was acknowledged");
        return;
    }
    let capture = annotations::replayed_capture(state).zip(state.known.playback.as_ref());
    let capture = capture.map(|(file, playback)| {
        // What it has is filled in when the request is written: requests before this one may change it.
        AcknowledgedCapture { file, at: playback.time(), recorded: Vec::new() }
    });
    let note = Some(note.trim().to_owned()).filter(|note| !note.is_empty());
    let changes_note = !is_removal && is_acknowledged(state, &id);
    let request =
        AcknowledgementRequest { look, ranked, problem: id, is_removal, changes_note, note, capture };
    state.known.problems.waiting_acknowledgements.push_back(request);
}

/// Begins the acknowledgement that has waited longest. A capture is changed by one task at a time.
pub fn follow(state: &mut SessionState) -> Option<Effect> {
    if state.known.problems.is_acknowledging(&state.tasks) || annotations::is_writing(state) {
        return None;
    }
    let model = &mut state.known.problems;
    if model.acknowledging.take().is_some() {
        // The task has ended without an outcome.
        model.waiting_acknowledgements.pop_front();
    }
    let mut request = model.waiting_acknowledgements.front()?.clone();
    if let (Some(capture), Some(playback)) = (&mut request.capture, &state.known.playback) {
        capture.recorded = playback.acknowledged().to_vec();
    }
    let (task, effect) = state.begin_quiet("acknowledging a problem", AcknowledgeTask(request));
    state.known.problems.acknowledging = Some(task);
    Some(effect)
}
