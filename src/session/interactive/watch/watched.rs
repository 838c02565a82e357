//! What the session knows of the watch: how it goes, the sweeps that the next is compared with, and what came of them.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::history::History;
use super::judge::Reading;
use crate::counters::Thresholds;
use crate::observe::Sweep;
use crate::session::Look;
use crate::session::interactive::tasks::TaskId;

/// What the configuration says of it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchSettings {
    /// From one sweep to the next; 0 watches nothing.
    pub interval_ms: u64,
    pub thresholds: Thresholds,
}

const HALF_HOUR: Duration = Duration::from_secs(1800);

/// A sweep under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Under {
    pub task: TaskId,
    pub begun_ms: u64,
    /// It was said that it takes long.
    pub told: bool,
}

#[derive(Debug, Default)]
pub struct Watch {
    pub settings: WatchSettings,
    pub paused: bool,
    /// Whether the source can be read again and again; `None` while it has not been read at all.
    pub live: Option<bool>,
    pub(super) under: Option<Under>,
    pub(super) judging: Option<TaskId>,
    /// When the next sweep is to begin.
    pub(super) due_ms: u64,
    /// Why the last sweep failed.
    pub trouble: Option<String>,
    /// Errors are told since the first of these; the other takes its place when it is half an hour old.
    pub(super) first: Option<Arc<Sweep>>,
    pub(super) half: Option<Arc<Sweep>>,
    /// The fabric moved while engines were at work.
    pub(super) held: Option<Arc<Look>>,
    /// What the next is compared with; none after a pause, for what happened meanwhile is not that of an interval.
    pub(super) before: Option<Arc<Sweep>>,
    /// When the last one began, by the clock of the source.
    pub(super) last_began: Option<Duration>,
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
        if after.began.saturating_sub(half.began) >= HALF_HOUR {
            self.first = Some(std::mem::replace(half, after.clone()));
        }
        self.first.get_or_insert_with(|| after.clone()).clone()
    }

    /// Whether there is something to watch at all.
    pub fn possible(&self) -> bool {
        self.settings.interval_ms > 0 && self.live == Some(true)
    }

    /// The load of a switch in eighths of its busiest link, while somebody watches.
    pub fn load_of(&self, switch: crate::fabric::NodeId) -> Option<u8> {
        let reading = self.reading.as_ref()?;
        reading.node_load.get(switch.index()).copied().filter(|level| *level < 8)
    }
}
