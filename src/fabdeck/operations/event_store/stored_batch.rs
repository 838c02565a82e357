//! A batch: everything that is stored of one sweep. It is one line of the log, so a crash leaves all of it or nothing.

use serde::{Deserialize, Serialize};

use super::error_counters::ErrorCounters;
use super::watch_event::WatchEvent;
use crate::operations::health::problem::ProblemSeverity;
use crate::operations::ledger::cable_history::{CableCounts, CableSighting};
use fabdeck_fabric::observe::PortIdentity;

/// The ends of a link, the lower one first.
pub type LinkEnds = [PortIdentity; 2];

/// A problem that was reported and has not ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OpenProblem {
    pub severity: ProblemSeverity,
    pub title: String,
    /// Hosts that it hit when it was last reported.
    pub hosts: usize,
    /// Time since which it is no longer found, in milliseconds since 1970. A restarted watch counts anew.
    #[serde(skip)]
    pub absent_ms: Option<i64>,
}

/// A change that was reported as pending.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OpenChange {
    pub number: u64,
    pub overdue: bool,
}

/// An event with the state that it leaves behind.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StoredEvent {
    #[serde(flatten)]
    pub event: WatchEvent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<OpenProblem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<OpenChange>,
}

/// What happened to a cable.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StoredCable {
    pub place: CableSighting,
    #[serde(flatten)]
    pub counts: CableCounts,
}

/// Everything that is stored of a sweep.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct StoredBatch {
    /// Batches are numbered without gaps.
    pub batch: u64,
    pub time_ms: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<StoredEvent>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cables: Vec<StoredCable>,
    /// Error counters of ports whose values changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<(PortIdentity, ErrorCounters)>,
    /// Ports whose counters were read for the first time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_ports: Vec<PortIdentity>,
    /// Links that are new, and those that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links_up: Vec<LinkEnds>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links_down: Vec<LinkEnds>,
    /// Number of events that could not be stored before these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl StoredBatch {
    /// Whether there is nothing to store.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
            && self.cables.is_empty()
            && self.ports.is_empty()
            && self.new_ports.is_empty()
            && self.links_up.is_empty()
            && self.links_down.is_empty()
    }
}
