//! Events that are derived from the counters of a recording: hot-spots and links in trouble, by the functions
//! that judge a live watch. A background task works through the recording in small parts, one after the
//! other. So nothing waits for it, and the events do not depend on the speed.

use super::derivation::Derivation;
use super::frame_requests;
use crate::catalogue::severity::Severity;
use crate::console::features::health::ranking;
use crate::console::features::screen::Screen;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
use crate::operations::replay::event_scan::{DerivedPart, MAX_EVENTS, RecordingScan};
use fabdeck_fabric::counters::Thresholds;
use fabdeck_routing::RouteProgress;

/// Derives events from the counters in the next part of the recording.
#[derive(Debug)]
pub struct DerivationTask {
    scan: RecordingScan,
    thresholds: Thresholds,
}

impl BackgroundTask for DerivationTask {
    fn run(&self, _: &mut dyn TaskServices, progress: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(DerivationOutcome(self.scan.derive_part(&self.thresholds, progress))))
    }
}

#[derive(Debug)]
pub struct DerivationOutcome(pub Result<DerivedPart, String>);

impl TaskOutcome for DerivationOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        receive_part(state, task, self.0)
    }

    fn digest_text(&self) -> String {
        match &self.0 {
            Ok(part) => format!(
                "derived {:?} {:?} {} {}",
                part.happened,
                part.changes,
                part.intervals.len(),
                part.done
            ),
            Err(error) => format!("derived {error}"),
        }
    }
}

/// Starts the next part, when the session waits for nothing else.
pub fn derive_next_part(state: &mut SessionState) -> Vec<Effect> {
    if !frame_requests::is_idle(state) || ranking::is_busy(state) {
        return Vec::new();
    }
    let thresholds = state.known.watch.settings.thresholds.clone();
    let Some(playback) = &state.known.playback else { return Vec::new() };
    let count = playback.timeline().times.len();
    let waits = |one: &&Derivation| !one.stopped && one.task.is_none() && one.done < count;
    let Some(scan) = playback.derivation.as_ref().filter(waits).map(|one| one.scan.clone()) else {
        return Vec::new();
    };
    let (task, effect) = state.begin_quiet("deriving events", DerivationTask { scan, thresholds });
    if let Some(one) = state.known.playback.as_mut().and_then(|playback| playback.derivation.as_mut()) {
        one.task = Some(task);
    }
    vec![effect]
}

/// Receives the events of a part. No other function adds derived events to the state.
fn receive_part(state: &mut SessionState, task: TaskId, result: Result<DerivedPart, String>) -> Vec<Effect> {
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let Some(one) = &mut playback.derivation else { return Vec::new() };
    if one.task.take_if(|under| *under == task).is_none() {
        return Vec::new();
    }
    match result {
        Ok(part) => {
            one.done = part.done;
            one.found += part.happened.len();
            let full = one.found > MAX_EVENTS;
            one.stopped |= full;
            for interval in &part.intervals {
                let at_ms = playback.base_ms.saturating_add(interval.at_ms);
                playback.totals.push(at_ms, interval.seconds, &interval.sums);
            }
            playback.name_changes(&part.changes);
            playback.add_entries(part.happened);
            state.screens.timeline.refresh(&state.known);
            if full {
                let text = format!("counters give more than {MAX_EVENTS} events, and no more are derived");
                state.log_message(Severity::Warning, text);
            }
        }
        Err(error) => {
            one.stopped = true;
            state.log_message(
                Severity::Warning,
                format!("no more events can be derived from counters: {error}"),
            );
        }
    }
    Vec::new()
}

/// Stops the scan; the part in progress still counts. Returns false where no scan runs.
pub fn stop_deriving(state: &mut SessionState) -> bool {
    let Some(playback) = &mut state.known.playback else { return false };
    let count = playback.timeline().times.len();
    let Some(one) = playback.derivation.as_mut().filter(|one| !one.stopped && one.done < count) else {
        return false;
    };
    one.stopped = true;
    let done = one.done;
    let text = format!("events are derived from counters up to sample {done} of {count}; r starts again");
    state.log_message(Severity::Info, text);
    true
}
