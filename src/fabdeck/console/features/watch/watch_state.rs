//! The state of the watch: its settings, the sweeps for the next comparison, and the results.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::catalogue::snapshot::Snapshot;
use crate::console::model::tasks::TaskId;
use crate::operations::replay::replay_frame::{NoBaseline, ReplayFrame};
use crate::operations::watch::error_baseline::ErrorBaseline;
use crate::operations::watch::fabric_history::FabricHistory;
use crate::operations::watch::history::PortHistory;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_fabric::counters::{FlowHistory, Thresholds};
use fabdeck_fabric::observe::Sweep;

/// The interval of the first verdict after the fabric was read again, unless the watch has a shorter one.
const SOON_MS: u64 = 2000;

/// The settings of the watch in the configuration.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchSettings {
    /// Interval between sweeps; 0 turns the watch off.
    pub interval_ms: u64,
    /// Maximum size of the recording of the watch in bytes, packed; 0 records nothing.
    #[serde(default)]
    pub past_bytes: u64,
    pub thresholds: Thresholds,
}

/// A sweep in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunningSweep {
    pub task: TaskId,
    pub begun_ms: u64,
    /// Whether the sweep was reported as slow.
    pub reported: bool,
}

/// The sweeps of the last verdict.
#[derive(Clone, Debug)]
pub struct JudgedSweeps {
    pub first: Arc<Sweep>,
    pub before: Arc<Sweep>,
    pub after: Arc<Sweep>,
    /// The history before these sweeps.
    pub history: PortHistory,
    /// What a recording says of flows before them.
    pub flows: Option<FlowHistory>,
    pub at_ms: u64,
}

impl JudgedSweeps {
    /// The first sweep, the one before and the one of a recorded moment.
    pub fn recorded(
        [first, before, after]: [Arc<Sweep>; 3],
        flows: FlowHistory,
        history: &PortHistory,
        at_ms: u64,
    ) -> Self {
        Self { first, before, after, history: history.clone(), flows: Some(flows), at_ms }
    }
}

#[derive(Debug, Default)]
pub struct WatchState {
    pub settings: WatchSettings,
    /// Number of cabled ports whose link health the rotation has read, and of all, until it has read all.
    pub wire_read: Option<(usize, usize)>,
    pub paused: bool,
    /// Whether the source can be read repeatedly; `None` until it was read once.
    pub live: Option<bool>,
    /// Whether the screens show a recording, without sweeps.
    pub recorded: bool,
    /// Reason why a moment of a recording has no verdict.
    pub alone: Option<NoBaseline>,
    pub(super) running: Option<RunningSweep>,
    pub(super) judging: Option<TaskId>,
    /// Whether the fabric was read again in the course of a watch: the first verdict then comes soon.
    pub(super) resumed: bool,
    /// Time of the next sweep.
    pub(super) due_ms: u64,
    /// Reason why the last sweep failed.
    pub trouble: Option<String>,
    pub baseline: ErrorBaseline,
    pub(in crate::console) judged: Option<JudgedSweeps>,
    /// Whether the sweeps are judged again, so that changes are not reported twice.
    pub(super) again: bool,
    /// The changed snapshot that waits until the engines end.
    pub(super) held: Option<Arc<Snapshot>>,
    /// The sweep to compare with; `None` after a pause, because the growth since then belongs to no interval.
    pub(super) before: Option<Arc<Sweep>>,
    /// Time at which the last sweep began, by the clock of the source.
    pub(super) last_began: Option<Duration>,
    /// Time at which the last sweep began, by the clock of the session.
    pub swept_ms: u64,
    /// Number of sweeps since the snapshot; the next field is the time of the first one.
    pub sweeps: u64,
    pub since_ms: u64,
    pub history: PortHistory,
    /// The sums of the fabric over time.
    pub totals: FabricHistory,
    pub reading: Option<Arc<WatchVerdict>>,
}

impl WatchState {
    /// Whether the source can be watched.
    pub fn can_watch(&self) -> bool {
        self.settings.interval_ms > 0 && self.live == Some(true) && !self.recorded
    }

    /// Whether the verdict belongs to an earlier snapshot; a new verdict needs two sweeps.
    pub fn has_earlier_verdict(&self) -> bool {
        self.reading.is_some() && self.sweeps < 2 && !self.recorded
    }

    /// Whether the first verdict on a snapshot that replaced another one is still to come.
    pub fn is_reading_anew(&self) -> bool {
        self.resumed && self.sweeps < 2 && self.can_watch() && !self.paused
    }

    /// The time between the last sweep and the next one.
    pub(super) fn next_interval_ms(&self) -> u64 {
        match self.is_reading_anew() {
            true => self.settings.interval_ms.min(SOON_MS),
            false => self.settings.interval_ms,
        }
    }

    pub fn running_task(&self) -> Option<TaskId> {
        self.running.map(|under| under.task)
    }

    pub fn due_ms(&self) -> u64 {
        self.due_ms
    }

    pub fn last_began(&self) -> Option<Duration> {
        self.last_began
    }

    /// The state for the screens during a pause, in the form of a recording.
    pub fn as_recorded(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            live: self.live,
            recorded: true,
            history: self.history.clone(),
            totals: self.totals.clone(),
            reading: self.reading.clone(),
            sweeps: self.sweeps,
            since_ms: self.since_ms,
            ..Self::default()
        }
    }

    /// The watch as it was, with the sweep that is in progress now.
    pub fn resume(self, under: Option<TaskId>, begun_ms: u64, due_ms: u64) -> Self {
        let under = under.map(|task| RunningSweep { task, begun_ms, reported: false });
        Self { running: under, judging: None, due_ms, ..self }
    }

    /// The watch after a pause, which continues from the last recorded sweep. Changes are reported relative
    /// to the last verdict before the pause.
    pub fn after_pause(
        self,
        frame: &ReplayFrame,
        under: Option<TaskId>,
        begun_ms: u64,
        due_ms: u64,
        trouble: Option<String>,
        base_ms: u64,
    ) -> Self {
        let mut totals = self.totals.clone();
        totals.continue_with(&frame.totals.clone().shifted(base_ms));
        Self {
            totals,
            trouble,
            baseline: ErrorBaseline::new(frame.first.clone(), frame.half.clone()),
            held: None,
            before: Some(frame.after.clone()),
            last_began: Some(frame.after.began),
            sweeps: frame.sweeps,
            since_ms: base_ms + frame.since_ms,
            history: frame.history.clone(),
            ..self.resume(under, begun_ms, due_ms)
        }
    }

    /// Utilization of the busiest link of a switch in eighths, during a watch.
    pub fn switch_load(&self, switch: fabdeck_fabric::NodeId) -> Option<u8> {
        let reading = self.reading.as_ref()?;
        reading.node_load.get(switch.index()).copied().filter(|level| *level < 8)
    }
}
