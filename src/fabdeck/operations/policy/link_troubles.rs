//! What links did lately: how often they went down, their errors and bit errors, and whether that makes them bad.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::policy_file::{BadLinkThresholds, Policy};
use crate::catalogue::summary::count_words;
use crate::operations::event_store::error_counters::ErrorCounterWatch;
use crate::operations::event_store::stored_batch::LinkEnds;
use fabdeck_fabric::Fabric;
use fabdeck_fabric::observe::{PortIdentity, Sweep, digits_in_groups};

const HOUR_MS: i64 = 3_600_000;
/// Time for which counts are kept.
const KEPT_MS: i64 = 24 * HOUR_MS;
/// Counts of this time are one.
const SLOT_MS: i64 = 60_000;

/// Counts by the time of their slot.
#[derive(Clone, Debug, Default)]
struct SlottedCounts(VecDeque<(i64, u64)>);

impl SlottedCounts {
    fn add(&mut self, time_ms: i64, count: u64) {
        match self.0.back_mut() {
            Some((at, sum)) if time_ms - *at < SLOT_MS => *sum = sum.saturating_add(count),
            _ => self.0.push_back((time_ms, count)),
        }
    }

    fn since(&self, from_ms: i64) -> u64 {
        self.0.iter().filter(|(at, _)| *at > from_ms).map(|(_, count)| count).sum()
    }

    fn drop_until(&mut self, until_ms: i64) {
        while self.0.front().is_some_and(|(at, _)| *at <= until_ms) {
            self.0.pop_front();
        }
    }
}

/// What one link did.
#[derive(Clone, Debug, Default)]
struct LinkTrouble {
    /// How often it went down, by the counters of its two ends and by sweeps; the one that saw most counts.
    downs: [SlottedCounts; 3],
    errors: SlottedCounts,
    bit_error_rate: Option<f32>,
    /// When it became bad, and when it was bad last.
    bad: Option<(i64, i64)>,
}

impl LinkTrouble {
    fn downs_since(&self, from_ms: i64) -> u64 {
        self.downs.iter().map(|counts| counts.since(from_ms)).max().unwrap_or(0)
    }

    /// What makes it bad, in words that tell how bad.
    fn evidence(&self, now_ms: i64, limits: &BadLinkThresholds, downs_today: u64) -> Option<String> {
        let window = limits.flap_window_ms;
        let flaps = self.downs_since(now_ms - window);
        let errors = self.errors.since(now_ms - HOUR_MS);
        let rate = self.bit_error_rate.map(f64::from).filter(|rate| *rate >= limits.bit_error_rate);
        let words = [
            (flaps >= limits.flaps).then(|| {
                let flaps = usize::try_from(flaps).unwrap_or(usize::MAX);
                format!("it went down {} in {} min", count_words(flaps, "time", "times"), window / 60_000)
            }),
            (limits.flaps_a_day > 0 && downs_today >= limits.flaps_a_day)
                .then(|| format!("it went down {} times today", digits_in_groups(downs_today as usize))),
            (errors >= limits.errors_an_hour)
                .then(|| format!("it has {} errors in an hour", digits_in_groups(errors as usize))),
            rate.map(|rate| format!("its bit error rate is {rate:.0e}")),
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// A link that is bad now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadLinkEvidence {
    pub ends: LinkEnds,
    /// When it became bad.
    pub since_ms: i64,
    pub words: String,
}

/// What all links did lately. Links without trouble take no room.
#[derive(Clone, Debug, Default)]
pub struct LinkTroubles {
    links: BTreeMap<LinkEnds, LinkTrouble>,
    counters: ErrorCounterWatch,
    known_ports: BTreeSet<PortIdentity>,
}

impl LinkTroubles {
    /// Takes up the counters of a sweep; `ends_of` gives the link at a port, also one that is down.
    pub fn observe(
        &mut self,
        fabric: &Fabric,
        sweep: &Sweep,
        time_ms: i64,
        ends_of: impl Fn(PortIdentity) -> Option<LinkEnds>,
    ) {
        let new = self.counters.observe(fabric, sweep, &self.known_ports);
        self.known_ports.extend(new);
        for (port, growth, _) in self.counters.take_changes() {
            let Some(ends) = ends_of(port).filter(|_| growth.downs > 0 || growth.errors > 0) else {
                continue;
            };
            let mut downs = [0; 3];
            downs[usize::from(ends[0] != port)] = growth.downs;
            self.count(ends, time_ms, downs, growth.errors);
        }
    }

    /// Counts what a link did: how often it went down, by the counters of its ends and by sweeps, and its errors.
    pub fn count(&mut self, ends: LinkEnds, time_ms: i64, downs: [u64; 3], errors: u64) {
        let link = self.links.entry(ends).or_default();
        for (counts, count) in link.downs.iter_mut().zip(downs).filter(|(_, count)| *count > 0) {
            counts.add(time_ms, count);
        }
        if errors > 0 {
            link.errors.add(time_ms, errors);
        }
    }

    /// Sets the bit error rate that devices state of a link; `None`: no longer stated.
    pub fn set_bit_error_rate(&mut self, ends: LinkEnds, rate: Option<f32>) {
        match self.links.get_mut(&ends) {
            Some(link) => link.bit_error_rate = rate,
            None if rate.is_some() => self.links.entry(ends).or_default().bit_error_rate = rate,
            None => {}
        }
    }

    /// The links that are bad, those since the longest time first. `downs_today` is what the ledger has.
    pub fn judge(
        &mut self,
        now_ms: i64,
        policy: &Policy,
        downs_today: impl Fn(LinkEnds) -> u64,
    ) -> Vec<BadLinkEvidence> {
        let mut bad = Vec::new();
        for (ends, link) in &mut self.links {
            match link.evidence(now_ms, &policy.thresholds, downs_today(*ends)) {
                Some(words) => {
                    let since_ms = link.bad.map_or(now_ms, |(since, _)| since);
                    link.bad = Some((since_ms, now_ms));
                    bad.push(BadLinkEvidence { ends: *ends, since_ms, words });
                }
                None => link.bad = None,
            }
            link.downs
                .iter_mut()
                .chain([&mut link.errors])
                .for_each(|counts| counts.drop_until(now_ms - KEPT_MS));
        }
        self.links.retain(|_, link| {
            let is_quiet = link.downs.iter().chain([&link.errors]).all(|counts| counts.0.is_empty());
            !(is_quiet && link.bad.is_none() && link.bit_error_rate.is_none())
        });
        bad.sort_by_key(|link| (link.since_ms, link.ends));
        bad
    }

    /// Number of links that went down or became bad since a time.
    pub fn troubled_since(&self, from_ms: i64) -> usize {
        let is_troubled = |link: &&LinkTrouble| {
            link.downs_since(from_ms) > 0 || link.bad.is_some_and(|(since, _)| since > from_ms)
        };
        self.links.values().filter(is_troubled).count()
    }

    /// When a link went down last, as far as is known.
    pub fn last_down_ms(&self, ends: LinkEnds) -> Option<i64> {
        let link = self.links.get(&ends)?;
        link.downs.iter().filter_map(|counts| counts.0.back()).map(|(at, _)| *at).max()
    }
}
