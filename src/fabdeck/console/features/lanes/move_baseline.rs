//! The waiting when flows began to move, for a comparison with the waiting of now.

use std::sync::Arc;

use super::waiting_hosts::WaitingHosts;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::watch::port_values::port_identity;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_fabric::PortId;
use fabdeck_fabric::counters::{CongestedAdapter, CongestionRole, HotSpot, LikelyRole};
use fabdeck_fabric::observe::PortIdentity;

/// Most hot-spots with a line of their own, and most hosts with a name.
const MAX_SPOTS: usize = 2;
const MAX_HOSTS: usize = 3;

/// The last verdict before flows began to move.
#[derive(Clone, Debug)]
pub(crate) struct MoveBaseline {
    look: Arc<Snapshot>,
    reading: Arc<WatchVerdict>,
    pub(crate) waiting: WaitingHosts,
    /// The victims, those that are likely some, and those that may be some, in this order; those that wait longest first.
    held: [Vec<PortId>; 3],
}

impl MoveBaseline {
    pub(crate) fn new(look: Arc<Snapshot>, reading: Arc<WatchVerdict>) -> Self {
        let waiting = WaitingHosts::from_verdict(&reading);
        let undecided =
            || reading.watched.contributors().filter(|held| held.role == CongestionRole::Undecided);
        let likely = undecided().filter(|held| matches!(held.likely, Some(LikelyRole::Victim { .. })));
        let unknown = undecided().filter(|held| held.likely.is_none());
        let held = [longest_first(reading.watched.victims()), longest_first(likely), longest_first(unknown)];
        Self { look, reading, waiting, held }
    }

    /// How long a port waited then and now, in words.
    pub(super) fn words(&self, port: PortIdentity, now: &WatchVerdict) -> String {
        wait_change([&self.reading, now].map(|reading| reading.sums.wait_of(&port)))
    }

    fn words_of(&self, port: PortId, now: &WatchVerdict) -> String {
        self.words(port_identity(self.look.fabric(), port), now)
    }

    /// The longest wait of the victims, sure or likely, then and now, in percent.
    pub(super) fn others_wait(&self, now: &WatchVerdict) -> Option<[f64; 2]> {
        let ports = || self.held[..2].iter().flatten();
        let identity = |port: &PortId| port_identity(self.look.fabric(), *port);
        let longest = |reading: &WatchVerdict| {
            ports().filter_map(|port| reading.sums.wait_of(&identity(port))).reduce(f64::max)
        };
        Some([longest(&self.reading)?, longest(now)?])
    }

    /// The lines about the hot-spots, and about those that wait for them.
    pub(crate) fn lines(&self, now: &WatchVerdict) -> Vec<String> {
        let spots = &self.reading.watched.verdict.hot_spots;
        let spot = |spot: &HotSpot| {
            let name = self.look.port_name(spot.adapter);
            format!("wait to {name}: {}", self.words_of(spot.at.port, now))
        };
        let mut lines: Vec<String> = spots.iter().take(MAX_SPOTS).map(spot).collect();
        if let more @ 1.. = spots.len().saturating_sub(MAX_SPOTS) {
            lines.push(format!("and {} more", count_words(more, "hot-spot", "hot-spots")));
        }
        let words = [
            ["victim", "victims"],
            ["likely victim", "likely victims"],
            ["undecided host", "undecided hosts"],
        ];
        for (ports, word) in self.held.iter().zip(words) {
            let host = |port: &PortId| {
                let name = self.look.port_name(*port);
                format!("{} {}", name.split(' ').next().unwrap_or_default(), self.words_of(*port, now))
            };
            let mut hosts: Vec<String> = ports.iter().take(MAX_HOSTS).map(host).collect();
            if let more @ 1.. = ports.len().saturating_sub(MAX_HOSTS) {
                hosts.push(format!("and {more} more"));
            }
            if !hosts.is_empty() {
                let count = count_words(ports.len(), word[0], word[1]);
                lines.push(format!("wait of {count}: {}", hosts.join("; ")));
            }
        }
        lines
    }
}

/// The ports of adapters that wait, those that wait longest first.
fn longest_first<'h>(held: impl Iterator<Item = &'h CongestedAdapter>) -> Vec<PortId> {
    let mut held: Vec<_> = held.map(|held| held.at).collect();
    held.sort_by(|a, b| b.congestion.total_cmp(&a.congestion).then(a.port.cmp(&b.port)));
    let mut ports: Vec<PortId> = held.into_iter().map(|at| at.port).collect();
    // With several hot-spots, one host can wait for more than one.
    let mut seen = std::collections::BTreeSet::new();
    ports.retain(|port| seen.insert(*port));
    ports
}

/// `before 87 %, now 3 %`. A wait that is not known is not zero.
fn wait_change([before, now]: [Option<f64>; 2]) -> String {
    let text = |wait: Option<f64>| wait.map_or_else(|| "not known".to_owned(), |wait| format!("{wait:.0} %"));
    format!("before {}, now {}", text(before), text(now))
}
