//! The sequence of sweeps. A tick requests a sweep; the state receives the sweep first, then its verdict. A new
//! snapshot restarts the series.

use std::sync::Arc;
use std::time::Duration;

use super::watch_state::{JudgedSweeps, RunningSweep, WatchState};
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::map::health::FabricHealth;
use crate::console::features::panes::pins::pinned_ports;
use crate::console::features::screen::Screen;
use crate::console::features::timeline::{frame_requests, operator_log, paused_watch};
use crate::console::features::whatif::engine_runs;
use crate::console::features::{refresh, snapshot_change};
use crate::console::model::background_task::{BackgroundTask, TaskOutcome, TaskPlace};
use crate::console::model::digest::{sweep_digest, text_digest};
use crate::console::model::effect::Effect;
use crate::console::model::state::{LoadState, SessionState};
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
use crate::operations::watch::history::PortHistory;
use crate::operations::watch::sweep::SweepResult;
use crate::operations::watch::sweep_messages as change_messages;
use crate::operations::watch::watch_verdict::{VerdictRequest, WatchVerdict};
use fabdeck_fabric::observe::Sweep;
use fabdeck_routing::RouteProgress;

/// Reads all counters again, not before this time of the source's clock.
#[derive(Debug)]
pub struct SweepTask {
    pub not_before: Duration,
}

impl BackgroundTask for SweepTask {
    fn place(&self) -> TaskPlace {
        TaskPlace::SourceThread
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(SweepOutcome(services.read_sweep(self.not_before))))
    }
}

#[derive(Debug)]
pub struct SweepOutcome(pub Result<SweepResult, String>);

impl TaskOutcome for SweepOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        match paused_watch::paused_watch_mut(state) {
            Some(_) => paused_watch::receive_paused_sweep(state, task, self.0),
            None => receive_sweep(state, self.0),
        }
    }

    fn digest_text(&self) -> String {
        match &self.0 {
            Ok(swept) => sweep_digest(&swept.sweep),
            Err(error) => format!("swept {error}"),
        }
    }

    /// The counters of a large fabric are too many for a text.
    fn digest(&self) -> String {
        match &self.0 {
            Ok(swept) => sweep_digest(&swept.sweep),
            Err(_) => text_digest(&self.digest_text()),
        }
    }
}

/// Judges two sweeps. Those that were judged before are freed with the task: on a large fabric that takes longer than a
/// frame has.
#[derive(Debug)]
pub struct VerdictTask {
    request: Box<VerdictRequest>,
    _judged_before: Option<JudgedSweeps>,
}

impl BackgroundTask for VerdictTask {
    fn run(&self, _: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(VerdictOutcome(Arc::new(self.request.run()))))
    }
}

#[derive(Debug)]
pub struct VerdictOutcome(Arc<WatchVerdict>);

impl TaskOutcome for VerdictOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        receive_verdict(state, task, self.0)
    }

    fn digest_text(&self) -> String {
        format!("judged {:?} {:?}", self.0.watched, self.0.levels)
    }
}

/// Number of intervals after which a sweep is reported as slow; the next constant is the minimum time.
const SLOW_INTERVALS: u64 = 10;
const SLOW_MS: u64 = 30_000;

/// The message for a sweep in which no port answered.
pub const NO_ANSWER_MESSAGE: &str = "FD-6320: no port answered the request for its counters";

fn slow_sweep_ms(watch: &WatchState) -> u64 {
    (watch.settings.interval_ms * SLOW_INTERVALS).max(SLOW_MS)
}

/// Time at which the watch needs a tick, even without any other event.
pub fn next_wake_ms(state: &SessionState) -> Option<u64> {
    let watch = &state.known.watch;
    match watch.running {
        Some(under) if under.reported => None,
        Some(under) => Some(under.begun_ms + slow_sweep_ms(watch)),
        None => is_idle(state).then_some(watch.due_ms),
    }
}

/// Whether the watch is idle, and only time separates it from the next sweep.
fn is_idle(state: &SessionState) -> bool {
    let watch = &state.known.watch;
    let idle = watch.running.is_none() && watch.judging.is_none();
    idle && watch.can_watch() && !watch.paused && state.loading == LoadState::Done
}

/// Handles the passing of time: requests the next sweep, or reports a slow one.
pub fn tick(state: &mut SessionState) -> Vec<Effect> {
    let now = state.now_ms;
    let long = slow_sweep_ms(&state.known.watch);
    if let Some(under) = &mut state.known.watch.running {
        if !under.reported && now >= under.begun_ms + long {
            under.reported = true;
            let seconds = (now - under.begun_ms) / 1000;
            let text =
                format!("reading counters has taken {seconds} s so far; the screens show the sweep before");
            state.log_message(Severity::Warning, text);
        }
        return Vec::new();
    }
    if !is_idle(state) || now < state.known.watch.due_ms {
        return Vec::new();
    }
    let watch = &mut state.known.watch;
    let interval = Duration::from_millis(watch.next_interval_ms());
    // On a simulator, waiting takes no real time; this request makes its time pass.
    let not_before = watch.last_began.map_or(Duration::ZERO, |began| began + interval);
    let (task, effect) = state.begin_quiet("reading counters", SweepTask { not_before });
    state.known.watch.running = Some(RunningSweep { task, begun_ms: now, reported: false });
    vec![effect]
}

/// Receives the result of a sweep. No other function puts a sweep into the state.
pub fn receive_sweep(state: &mut SessionState, result: Result<SweepResult, String>) -> Vec<Effect> {
    let now = state.now_ms;
    let watch = &mut state.known.watch;
    let begun_ms = watch.running.take().map_or(now, |under| under.begun_ms);
    let took = now.saturating_sub(begun_ms);
    // A slow sweep is followed by a pause of the same length, to limit the load on the fabric.
    watch.due_ms = now + watch.next_interval_ms().saturating_sub(took).max(took);
    let mut effects = result.as_ref().map_or_else(|_| Vec::new(), |swept| apply_fabric_change(state, swept));
    let watch = &mut state.known.watch;
    let silent = |sweep: &Sweep| sweep.samples.is_empty() && sweep.ports > 0;
    let result = match result {
        Ok(swept) if silent(&swept.sweep) => Err(NO_ANSWER_MESSAGE.to_owned()),
        other => other,
    };
    let after = match result {
        Err(error) => {
            if watch.trouble.replace(error.clone()).is_none() {
                state.log_message(
                    Severity::Warning,
                    format!(
                        "counters could not be read and are read again; r reads the fabric again: {error}"
                    ),
                );
            }
            return effects;
        }
        Ok(swept) => {
            watch.wire_read = swept.wire_read;
            swept.unreported.into_iter().for_each(|text| state.log_message(Severity::Warning, text));
            swept.sweep
        }
    };
    let watch = &mut state.known.watch;
    if watch.sweeps == 0 {
        watch.since_ms = now;
    }
    watch.sweeps += 1;
    (watch.last_began, watch.swept_ms) = (Some(after.began), begun_ms);
    let first = watch.baseline.update(&after);
    let before = watch.before.replace(after.clone());
    if watch.trouble.take().is_some() {
        state.log_message(Severity::Info, "counters are read again");
    }
    let judged = before.map(|before| JudgedSweeps {
        first,
        before,
        after,
        flows: None,
        history: state.known.watch.history.clone(),
        at_ms: now,
    });
    effects.extend(judged.into_iter().flat_map(|judged| request_verdict(state, judged)));
    effects
}

/// Reports changes of the fabric at once. Running engines do not restart at every sweep: the fabric of the
/// session stays until they end.
fn apply_fabric_change(state: &mut SessionState, swept: &SweepResult) -> Vec<Effect> {
    let held = state.known.watch.held.take();
    let look = swept.look.clone().or(held);
    if let Some(look) = look.as_ref().or(state.known.look.as_ref()) {
        let news = change_messages::fabric_event_messages(look, &swept.sweep.news);
        for (severity, text) in news {
            state.known.problems.add_event(state.now_ms, severity, text.clone());
            state.log_message(severity, text);
        }
    }
    match look {
        None => Vec::new(),
        Some(look) if engine_runs::has_running_engine(state) => {
            if swept.look.is_some() {
                state.log_message(
                    Severity::Warning,
                    "engines continue with the fabric before the change; it is shown when they end",
                );
            }
            state.known.watch.held = Some(look);
            Vec::new()
        }
        Some(look) => follow_fabric(state, look),
    }
}

/// Applies a changed fabric or changed tables. Where a node appeared, port ids differ: the history is
/// converted and the verdict dropped. Sweeps identify ports by GUID.
fn follow_fabric(state: &mut SessionState, look: Arc<Snapshot>) -> Vec<Effect> {
    let before = state.known.look.clone();
    let effects = snapshot_change::replace_snapshot(state, look);
    let watch = &mut state.known.watch;
    let (history, reading) = (std::mem::take(&mut watch.history), watch.reading.take());
    if !carry_over(state, before.as_deref(), history, reading) {
        state.known.watch.judged = None;
    }
    effects
}

/// Takes over the results for an earlier snapshot: the history with converted port ids, and the verdict where
/// port ids are equal. Returns whether they are.
fn carry_over(
    state: &mut SessionState,
    before: Option<&Snapshot>,
    history: PortHistory,
    reading: Option<Arc<WatchVerdict>>,
) -> bool {
    let (Some(before), Some(look)) = (before, state.known.look.clone()) else { return true };
    let alike = before.fabric().is_numbered_like(look.fabric());
    let watch = &mut state.known.watch;
    watch.history = history.carry_over(before.fabric(), look.fabric());
    watch.reading = reading.filter(|_| alike);
    match watch.reading.clone() {
        Some(reading) => state.screens.hotspots.set_verdict(&reading, &state.known),
        None => state.screens.hotspots.reset(&state.known),
    }
    alike
}

/// Requests the verdict on two sweeps.
pub fn request_verdict(state: &mut SessionState, sweeps: JudgedSweeps) -> Vec<Effect> {
    let Some(look) = state.known.look.clone() else { return Vec::new() };
    let (links, hot) = (&state.screens.links, &state.screens.hotspots);
    let Some(rows) = links.stored_rows().cloned() else { return Vec::new() };
    let JudgedSweeps { first, before, after, history, flows, at_ms } = sweeps.clone();
    let judging = VerdictRequest {
        links: (rows, links.table().query()),
        ports: hot.all_ports().query(),
        pinned: pinned_ports(state, &look),
        look,
        first,
        before,
        after,
        thresholds: state.known.watch.settings.thresholds.clone(),
        history,
        earlier: state.known.watch.reading.clone(),
        flows,
        at_ms,
    };
    let _judged_before = state.known.watch.judged.replace(sweeps);
    let job = VerdictTask { request: Box::new(judging), _judged_before };
    let (task, effect) = state.begin_quiet("judging counters", job);
    (state.known.watch.judging, state.known.watch.again) = (Some(task), false);
    vec![effect]
}

/// Judges the same sweeps again after the rows of links have changed. Changes are reported only once.
pub fn rejudge(state: &mut SessionState) -> Vec<Effect> {
    let Some(sweeps) = state.known.watch.judged.clone() else { return Vec::new() };
    let pending = state.known.watch.judging.take().filter(|task| state.tasks.end(*task).is_some());
    state.known.watch.history = sweeps.history.clone();
    let mut effects = request_verdict(state, sweeps);
    state.known.watch.again = pending.is_none();
    effects.extend(pending.map(Effect::Cancel));
    effects
}

/// Receives the verdict on two sweeps.
fn receive_verdict(state: &mut SessionState, task: TaskId, reading: Arc<WatchVerdict>) -> Vec<Effect> {
    let watch = &mut state.known.watch;
    if watch.judging != Some(task) {
        return Vec::new();
    }
    watch.judging = None;
    watch.history.push(reading.at_ms, reading.levels.clone());
    watch.totals.push(reading.at_ms, reading.watched.seconds, &reading.sums);
    watch.reading = Some(reading.clone());
    state.screens.links.set_loads(&reading, &state.known);
    state.screens.hotspots.set_verdict(&reading, &state.known);
    if let Some(health) = FabricHealth::update_from(&state.known) {
        state.known.health = health;
        refresh::refresh_screens(state);
    }
    // In a recording, the previous moment is not what the screens showed before, so changes mean nothing.
    let silent = state.known.watch.recorded || state.known.watch.again;
    let changes: &[_] = if silent { &[] } else { &reading.changes };
    for (severity, text) in changes {
        state.known.problems.add_event(reading.at_ms, *severity, text.clone());
        state.log_message(*severity, text.clone());
    }
    Vec::new()
}

/// Whether a verdict is being computed.
pub fn is_judging(state: &SessionState) -> bool {
    state.known.watch.judging.is_some()
}

/// Restarts the watch for a new snapshot, which may have other ports and counters. The history, the verdict, the sweep from
/// which errors count, the recording and its bookmarks stay.
pub fn restart_after_snapshot(state: &mut SessionState, before: Option<Arc<Snapshot>>) -> Vec<Effect> {
    let mut effects = cancel_work(state);
    effects.extend(frame_requests::cancel_requests(state));
    let live = state.snapshot().map(|look| look.observation.reading.is_some());
    let swept = state.known.watch.sweeps > 0;
    let (settings, paused) = (state.known.watch.settings.clone(), state.known.watch.paused);
    // The recording of a capture is opened again as a whole.
    let recorded = state.known.playback.as_ref().is_some_and(|playback| playback.live.is_none());
    let next = WatchState { settings, paused, live, recorded, due_ms: state.now_ms, ..WatchState::default() };
    let earlier = std::mem::replace(&mut state.known.watch, next);
    if live == Some(false) {
        state.screens.hotspots.reset(&state.known);
        effects.extend(frame_requests::open_recording(state));
        return effects;
    }
    let paused = state.known.playback.take();
    paused.iter().for_each(|paused| paused_watch::restore_bookmarks(state, paused));
    // During a pause, the paused watch is the one that continues.
    let (before, earlier, totals, baseline) = match paused_watch::watch_at_pause(paused.as_ref()) {
        Some((look, watch)) => {
            let earlier = (watch.history.clone(), watch.reading.clone());
            (Some(look.clone()), earlier, watch.totals.clone(), watch.baseline.clone())
        }
        None => (before, (earlier.history, earlier.reading), earlier.totals, earlier.baseline),
    };
    // Sweeps know ports by GUID, and the clock of the source goes on, so errors still count from the same sweep.
    (state.known.watch.totals, state.known.watch.baseline) = (totals, baseline);
    state.known.watch.resumed = swept && live == Some(true);
    carry_over(state, before.as_deref(), earlier.0, earlier.1);
    if swept && live == Some(true) {
        effects.extend(operator_log::log_reload(state, paused.is_some()));
    }
    effects
}

/// Turns the watch off or on.
pub fn toggle_pause(state: &mut SessionState) -> Vec<Effect> {
    let (now, interval) =
        (state.now_ms, super::watch_text::interval_words(state.known.watch.settings.interval_ms));
    let watch = &mut state.known.watch;
    watch.paused = !watch.paused;
    if watch.paused {
        state.log_message(Severity::Info, "counters are no longer read: W resumes");
        return cancel_work(state);
    }
    watch.before = None;
    watch.history.push_gap(now);
    watch.due_ms = now;
    state.log_message(Severity::Info, format!("counters are read again every {interval}"));
    Vec::new()
}

/// Cancels the tasks of the watch; a partial sweep is useless.
pub fn cancel_work(state: &mut SessionState) -> Vec<Effect> {
    let watch = &mut state.known.watch;
    let tasks = watch.running.take().map(|under| under.task).into_iter().chain(watch.judging.take());
    let ended: Vec<TaskId> = tasks.filter(|task| state.tasks.end(*task).is_some()).collect();
    ended.into_iter().map(Effect::Cancel).collect()
}
