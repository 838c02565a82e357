//! Requests for moments of a recording, and their display. Only one request is in progress at a time. While a
//! key is held, only the latest requested moment follows.

use std::sync::Arc;

use super::derivation::Derivation;
use super::playback::{PendingSeek, Playback};
use super::{paused_watch, time_navigation};
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::features::health::health_model::ChartWindow;
use crate::console::features::screens::ScreenId;
use crate::console::features::watch::sweep_cycle;
use crate::console::features::watch::watch_state::JudgedSweeps;
use crate::console::features::whatif::engine_runs;
use crate::console::features::{refresh, snapshot_change};
use crate::console::model::background_task::{BackgroundTask, TaskOutcome, TaskPlace};
use crate::console::model::digest::sweep_digest;
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
use crate::operations::replay::replay_frame::{OpenedRecording, ReplayFrame, SeekRequest};
use crate::operations::watch::error_baseline::ErrorBaseline;
use fabdeck_routing::RouteProgress;

/// Opens the recording, where there is one.
#[derive(Debug)]
pub struct RecordingTask;

impl BackgroundTask for RecordingTask {
    fn place(&self) -> TaskPlace {
        TaskPlace::SourceThread
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(RecordingOutcome(services.recording().open_recording())))
    }
}

#[derive(Debug)]
pub struct RecordingOutcome(pub Result<Option<OpenedRecording>, String>);

impl TaskOutcome for RecordingOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        receive_recording(state, self.0)
    }

    fn digest_text(&self) -> String {
        match &self.0 {
            Ok(Some(opened)) => format!("unrolled {:?}", opened.timeline),
            none => format!("unrolled {:?}", none.as_ref().err()),
        }
    }
}

/// Reads a moment of the recording.
#[derive(Debug)]
pub struct FrameTask(pub SeekRequest);

impl BackgroundTask for FrameTask {
    fn place(&self) -> TaskPlace {
        TaskPlace::SourceThread
    }

    fn run(
        &self,
        services: &mut dyn TaskServices,
        progress: &dyn RouteProgress,
    ) -> Option<Box<dyn TaskOutcome>> {
        let frame = services.recording().seek_frame(self.0, progress);
        Some(Box::new(FrameOutcome(frame.map(Box::new))))
    }
}

#[derive(Debug)]
pub struct FrameOutcome(pub Result<Box<ReplayFrame>, String>);

impl TaskOutcome for FrameOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        receive_frame(state, task, self.0)
    }

    fn digest_text(&self) -> String {
        match &self.0 {
            Ok(frame) => {
                let (sweep, fabric) = (sweep_digest(&frame.after), frame.look.fabric());
                format!("sought {} {sweep} {fabric:?}", frame.place)
            }
            Err(error) => format!("sought {error}"),
        }
    }
}

/// Opens the recording of the source, where there is one.
pub fn open_recording(state: &mut SessionState) -> Vec<Effect> {
    vec![state.begin_quiet("reading the recording", RecordingTask).1]
}

/// Receives the opened recording.
fn receive_recording(
    state: &mut SessionState,
    result: Result<Option<OpenedRecording>, String>,
) -> Vec<Effect> {
    let returning = state.known.playback.as_ref().is_some_and(|playback| playback.live.is_some());
    match result {
        Err(error) => {
            let effects = paused_watch::resume_watch(state);
            state.log_message(Severity::Error, format!("the recording cannot be read: {error}"));
            effects
        }
        Ok(None) => paused_watch::resume_watch(state),
        Ok(Some(OpenedRecording { timeline, .. })) if timeline.times.is_empty() => {
            paused_watch::resume_watch(state)
        }
        Ok(Some(unrolled)) if returning => paused_watch::receive_recording(state, unrolled),
        // A recording for a pause that a new snapshot has ended.
        Ok(Some(_)) if state.known.watch.live == Some(true) => Vec::new(),
        Ok(Some(OpenedRecording { timeline, place, scan })) => {
            let count = timeline.times.len();
            // The recording was opened again and may be longer; the position stays.
            let before = state.known.playback.take();
            let place = before.as_ref().map_or(place, Playback::place).min(count - 1);
            let timeline_key = ScreenId::Timeline.title().number;
            if let (None, Some((from, to))) = (&before, timeline.span()) {
                let length = u64::try_from(to.saturating_sub(from)).unwrap_or(0);
                state.known.problems.window = ChartWindow::fitting(length);
            }
            let mut playback = Playback::new(timeline, place);
            playback.derivation = scan.map(Derivation::new);
            if let Some(before) = before {
                (playback.bookmarks, playback.speed) = (before.bookmarks, before.speed);
                playback.bookmarks.retain(|place| *place < count);
            }
            state.known.annotations.session.iter().for_each(|own| playback.add_annotation(own.clone()));
            let (moment, clock) = (place + 1, playback.timeline().clock_text(playback.time()));
            let moments = count_words(count, "moment", "moments");
            let (severity, lost) = match playback.timeline().damaged.len() {
                0 => (Severity::Info, String::new()),
                some => (Severity::Warning, format!(", {some} of which cannot be read")),
            };
            state.known.playback = Some(playback);
            state.known.watch.recorded = true;
            state.log_message(
                severity,
                format!(
                    "a replay of {moments}{lost}; this is {moment}, {clock}: [ and ] step, {timeline_key} is the Timeline"
                ),
            );
            refresh::refresh_screens(state);
            seek_moment(state, place)
        }
    }
}

/// Requests a moment, unless it is shown or another one is being read.
pub fn seek_moment(state: &mut SessionState, place: usize) -> Vec<Effect> {
    if paused_watch::is_returning(state) {
        return Vec::new();
    }
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    match playback.pending {
        Some(under) if under.seek.place == place => {
            playback.wanted = None;
            return Vec::new();
        }
        // Reading the whole history stops when the position moves on.
        Some(under) if under.seek.deep => {
            playback.pending = None;
            state.tasks.end(under.task);
            let mut effects = vec![Effect::Cancel(under.task)];
            effects.extend(request_frame(state, place, false));
            return effects;
        }
        Some(_) => {
            playback.wanted = Some(place);
            return Vec::new();
        }
        None => {}
    }
    if playback.shown == Some(place) { Vec::new() } else { request_frame(state, place, false) }
}

pub(super) fn request_frame(state: &mut SessionState, place: usize, deep: bool) -> Vec<Effect> {
    let congestion = state.known.watch.settings.thresholds.congestion.max(0.0) as u64;
    let seek = SeekRequest { place, deep, congestion };
    let (task, effect) = state.begin_quiet("reading a moment", FrameTask(seek));
    if let Some(playback) = &mut state.known.playback {
        playback.pending = Some(PendingSeek { task, seek });
    }
    vec![effect]
}

/// Receives a moment. No other function puts a moment into the state.
fn receive_frame(
    state: &mut SessionState,
    task: TaskId,
    result: Result<Box<ReplayFrame>, String>,
) -> Vec<Effect> {
    let returning = paused_watch::is_returning(state);
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let Some(PendingSeek { seek, .. }) = playback.pending.take_if(|under| under.task == task) else {
        return Vec::new();
    };
    let wanted = playback.wanted.take();
    let frame = match result {
        Ok(frame) => frame,
        Err(error) if returning => return paused_watch::stay_paused(state, &error),
        Err(error) => {
            playback.due_ms = None;
            playback.shown = Some(seek.place);
            state.log_message(Severity::Error, format!("this moment cannot be shown: {error}"));
            return wanted.map_or_else(Vec::new, |place| seek_moment(state, place));
        }
    };
    if returning {
        // The watch resumes from the last moment only.
        let last = playback.timeline().times.len().saturating_sub(1);
        return if seek.place == last {
            paused_watch::receive_latest_frame(state, *frame)
        } else {
            request_frame(state, last, true)
        };
    }
    let whole = frame.whole;
    let mut effects = show_frame(state, *frame);
    match (wanted, whole) {
        (Some(place), _) => effects.extend(seek_moment(state, place)),
        (None, false) if !is_playing(state) => effects.extend(request_frame(state, seek.place, true)),
        (None, _) => {}
    }
    effects
}

pub(super) fn is_playing(state: &SessionState) -> bool {
    state.known.playback.as_ref().is_some_and(Playback::is_playing)
}

/// Shows a moment on the screens, in the state in which a watch would have been.
fn show_frame(state: &mut SessionState, frame: ReplayFrame) -> Vec<Effect> {
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    playback.shown = Some(frame.place);
    let base = playback.base_ms;
    if let Some(damage) = frame.damage {
        time_navigation::report_damage(state, frame.place, frame.shown, damage);
    }
    let mut effects = sweep_cycle::cancel_work(state);
    let size = |look: &Snapshot| (look.fabric().nodes().len(), look.fabric().ports().len());
    let numbered_alike = state.snapshot().is_some_and(|before| size(before) == size(&frame.look));
    if state.snapshot().is_none_or(|before| !Arc::ptr_eq(before, &frame.look)) {
        effects.extend(snapshot_change::replace_snapshot(state, frame.look));
    }
    let known = &mut state.known.watch;
    (known.history, known.totals) = (frame.history, frame.totals.shifted(base));
    (known.sweeps, known.since_ms) = (frame.sweeps, base + frame.since_ms);
    known.baseline = ErrorBaseline::new(frame.first.clone(), frame.half);
    known.alone = frame.before.as_ref().err().copied();
    if frame.before.is_err() || !numbered_alike {
        (known.reading, known.judged) = (None, None);
        state.screens.hotspots.reset(&state.known);
    }
    match frame.before {
        Ok(before) => {
            let (sweeps, at_ms) = ([frame.first, before, frame.after], base + frame.at_ms);
            let sweeps = JudgedSweeps::recorded(sweeps, frame.flows, &state.known.watch.history, at_ms);
            effects.extend(sweep_cycle::request_verdict(state, sweeps));
        }
        Err(_) => state.screens.links.reset(&state.known),
    }
    refresh::refresh_screens(state);
    effects
}

/// Cancels the requests for the old snapshot: a moment, a sweep of the paused watch, a part of the event
/// scan.
pub fn cancel_requests(state: &mut SessionState) -> Vec<Effect> {
    paused_watch::report_missed(state);
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    (playback.wanted, playback.due_ms, playback.shown) = (None, None, None);
    let moment = playback.pending.take().map(|under| under.task);
    let derived = playback.derivation.as_mut().and_then(Derivation::stop);
    let sweep = paused_watch::paused_watch_mut(state).and_then(super::pause_state::PausedWatch::cancel_sweep);
    let tasks = moment.into_iter().chain(sweep).chain(derived);
    let ended: Vec<TaskId> = tasks.filter(|task| state.tasks.end(*task).is_some()).collect();
    ended.into_iter().map(Effect::Cancel).collect()
}

/// Time at which the timeline needs a tick, even without any other event.
pub fn next_wake_ms(state: &SessionState) -> Option<u64> {
    let own = state.known.playback.as_ref().filter(|_| is_idle(state)).and_then(|playback| playback.due_ms);
    own.into_iter().chain(paused_watch::next_wake_ms(state)).min()
}

/// Whether only time separates the session from the next moment. Playback waits for running engines, instead
/// of starting them again at each moment.
pub(super) fn is_idle(state: &SessionState) -> bool {
    let idle = state.known.playback.as_ref().is_some_and(|playback| playback.pending.is_none());
    idle && !sweep_cycle::is_judging(state) && !engine_runs::has_running_engine(state)
}

/// Handles the passing of time.
pub fn tick(state: &mut SessionState) -> Vec<Effect> {
    let mut effects = paused_watch::tick(state);
    if is_idle(state) {
        effects.extend(time_navigation::advance_playback(state));
    }
    effects
}
