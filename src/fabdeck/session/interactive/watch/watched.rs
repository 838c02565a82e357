//! What the session knows of the watch: how it goes, the sweeps that the next is compared with, and what came of them.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::history::History;
use super::judge::Reading;
use crate::session::Look;
use crate::session::interactive::tasks::TaskId;
use crate::session::interactive::timeline::{Alone, Scene};
use fabdeck_fabric::counters::{ANCHOR, Thresholds};
use fabdeck_fabric::observe::Sweep;

/// What the configuration says of it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchSettings {
    /// From one sweep to the next; 0 watches nothing.
    pub interval_ms: u64,
    /// What is kept of the watch for whoever pauses it has at most so many bytes, packed; 0 keeps nothing.
    #[serde(default)]
    pub past_bytes: u64,
    pub thresholds: Thresholds,
}

/// A sweep under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Under {
    pub task: TaskId,
    pub begun_ms: u64,
    /// It was said that it takes long.
    pub told: bool,
}

/// The sweeps that the last verdict is made of.
#[derive(Clone, Debug)]
pub struct Weighed {
    pub first: Arc<Sweep>,
    pub before: Arc<Sweep>,
    pub after: Arc<Sweep>,
    /// Before them.
    pub history: History,
    pub at_ms: u64,
}

#[derive(Debug, Default)]
pub struct Watch {
    pub settings: WatchSettings,
    pub paused: bool,
    /// Whether the source can be read again and again; `None` while it has not been read at all.
    pub live: Option<bool>,
    /// What is shown is of a recording: nothing of it is swept now.
    pub recorded: bool,
    /// Of a moment in a recording: why it has no verdict.
    pub alone: Option<Alone>,
    pub(super) under: Option<Under>,
    pub(super) judging: Option<TaskId>,
    /// When the next sweep is to begin.
    pub(super) due_ms: u64,
    /// Why the last sweep failed.
    pub trouble: Option<String>,
    /// Errors are told since the first of these; the other takes its place when it is half an hour old.
    pub(in crate::session::interactive) first: Option<Arc<Sweep>>,
    pub(in crate::session::interactive) half: Option<Arc<Sweep>>,
    pub(in crate::session::interactive) weighed: Option<Weighed>,
    /// They are judged once more.
    pub(super) again: bool,
    /// The fabric moved while engines were at work.
    pub(super) held: Option<Arc<Look>>,
    /// What the next is compared with; none after a pause, for what happened meanwhile is not that of an interval.
    pub(super) before: Option<Arc<Sweep>>,
    /// When the last one began, by the clock of the source.
    pub(super) last_began: Option<Duration>,
    /// When that was here.
    pub swept_ms: u64,
    /// How many there were since the look, and when the first of them came.
    pub sweeps: u64,
    pub since_ms: u64,
    pub history: History,
    pub reading: Option<Arc<Reading>>,
}

impl Watch {
    /// The sweep that errors are told from: too rare to tell from seconds, and of no use when they are of last week. It
    /// lies half an hour to an hour back, less in the beginning.
    pub(super) fn errors_since(&mut self, after: &Arc<Sweep>) -> Arc<Sweep> {
        let half = self.half.get_or_insert_with(|| after.clone());
        if after.began.saturating_sub(half.began) >= ANCHOR {
            self.first = Some(std::mem::replace(half, after.clone()));
        }
        self.first.get_or_insert_with(|| after.clone()).clone()
    }

    /// Whether there is something to watch at all.
    pub fn possible(&self) -> bool {
        self.settings.interval_ms > 0 && self.live == Some(true) && !self.recorded
    }

    /// Whether the verdict is of a look before this one: a new one takes two sweeps.
    pub fn before_look(&self) -> bool {
        self.reading.is_some() && self.sweeps < 2 && !self.recorded
    }

    pub fn sweep_under_way(&self) -> Option<TaskId> {
        self.under.map(|under| under.task)
    }

    pub fn due_ms(&self) -> u64 {
        self.due_ms
    }

    pub fn last_began(&self) -> Option<Duration> {
        self.last_began
    }

    /// What it shows, as of a recording that is to take its place.
    pub fn as_recorded(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            live: self.live,
            recorded: true,
            history: self.history.clone(),
            reading: self.reading.clone(),
            sweeps: self.sweeps,
            since_ms: self.since_ms,
            ..Self::default()
        }
    }

    /// As it was, with the sweep that is under way by now.
    pub fn resumed(self, under: Option<TaskId>, begun_ms: u64, due_ms: u64) -> Self {
        let under = under.map(|task| Under { task, begun_ms, told: false });
        Self { under, judging: None, due_ms, ..self }
    }

    /// The watch after a pause, which goes on from the last that was recorded meanwhile. What changed since the pause is
    /// told against its last verdict.
    pub fn after(
        self,
        scene: &Scene,
        (under, begun_ms, due_ms): (Option<TaskId>, u64, u64),
        trouble: Option<String>,
        base_ms: u64,
    ) -> Self {
        Self {
            trouble,
            first: Some(scene.first.clone()),
            half: Some(scene.half.clone()),
            held: None,
            before: Some(scene.after.clone()),
            last_began: Some(scene.after.began),
            sweeps: scene.sweeps,
            since_ms: base_ms + scene.since_ms,
            history: scene.history.clone(),
            ..self.resumed(under, begun_ms, due_ms)
        }
    }

    /// The load of a switch in eighths of its busiest link, while somebody watches.
    pub fn load_of(&self, switch: fabdeck_fabric::NodeId) -> Option<u8> {
        let reading = self.reading.as_ref()?;
        reading.node_load.get(switch.index()).copied().filter(|level| *level < 8)
    }
}
