//! How many hosts wait, and how long they wait together.

use crate::catalogue::summary::count_words;
use crate::catalogue::value::Value;
use crate::operations::watch::watch_verdict::WatchVerdict;

/// Number of hosts that wait, and the sum of their waiting in ticks per second.
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
