//! The model of lanes in a session.

use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::catalogue::value::Value;
use crate::console::model::tasks::TaskId;
use crate::operations::lanes::lane_request::LaneRequest;
use crate::operations::lanes::slow_lanes::LaneState;
use crate::operations::watch::watch_verdict::WatchVerdict;

/// The model of lanes in a session.
#[derive(Clone, Debug, Default)]
pub struct LanesModel {
    pub state: Option<Arc<LaneState>>,
    /// Reason why the state could not be computed.
    pub trouble: Option<String>,
    /// The input of the state.
    pub(crate) of: Option<LaneRequest>,
    pub(crate) pending: Option<(TaskId, LaneRequest)>,
    pub(crate) due_ms: u64,
    /// The waiting hosts when the last move of flows began.
    pub(crate) before_move: Option<WaitingHosts>,
}

/// Number of hosts that are held up, and the sum of their waiting in ticks per second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct WaitingHosts {
    pub(crate) hosts: usize,
    pub(crate) ticks: f64,
}

impl WaitingHosts {
    pub(crate) fn from_verdict(reading: &WatchVerdict) -> Self {
        let held = &reading.watched.verdict.congested_adapters;
        Self { hosts: held.len(), ticks: held.iter().map(|held| held.at.congestion).sum() }
    }

    /// The waiting as text: `14 hosts, 35.6G ticks/s`.
    pub(crate) fn words(self) -> String {
        let ticks = Value::Number(self.ticks as u64).scaled().into_owned();
        format!("{}, {ticks} ticks/s", count_words(self.hosts, "host", "hosts"))
    }
}

impl LanesModel {
    /// The snapshot of the state, which defines its port ids.
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.of.as_ref().map(|of| &of.look)
    }
}
