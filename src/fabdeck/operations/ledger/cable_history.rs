//! What one cable did: counts by day, week and year, and what was done about it.
//!
//! A link that goes down is counted by three sources: the counter of the port at each end, and the sweep that finds it
//! down. None of them sees all (a counter may be absent or read later, a sweep misses what happens between two), and all
//! of them see most. So each source is summed up for itself, and the largest sum counts.

use serde::{Deserialize, Serialize};

use super::period::PeriodLength;
use fabdeck_fabric::observe::PortIdentity;

/// Most actions that are kept; the oldest are deleted first.
const MAX_ACTIONS: usize = 12;

/// The counts of a period.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "(u32, u32, u64, u32, f32)", into = "(u32, u32, u64, u32, f32)")]
pub struct PeriodCounts {
    pub period: u32,
    /// How often the link went down.
    pub downs: u32,
    /// Errors of both ports, without the times that the link went down.
    pub errors: u64,
    /// Problems that began.
    pub problems: u32,
    /// The worst bit error rate after error correction; 0 where none is known.
    pub bit_error_rate: f32,
}

impl From<(u32, u32, u64, u32, f32)> for PeriodCounts {
    fn from((period, downs, errors, problems, bit_error_rate): (u32, u32, u64, u32, f32)) -> Self {
        Self { period, downs, errors, problems, bit_error_rate }
    }
}

impl From<PeriodCounts> for (u32, u32, u64, u32, f32) {
    fn from(counts: PeriodCounts) -> Self {
        (counts.period, counts.downs, counts.errors, counts.problems, counts.bit_error_rate)
    }
}

/// A cable at the place where it is seen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CableSighting {
    /// The ports, the lower GUID first.
    pub ends: [PortIdentity; 2],
    /// The names of the ports.
    pub names: [String; 2],
    /// The serial numbers of the modules in them, where they are known.
    pub serials: [Option<String>; 2],
}

impl CableSighting {
    /// `a` and `b`: port, name and serial number of each end, in any order.
    pub fn new(a: (PortIdentity, String, Option<String>), b: (PortIdentity, String, Option<String>)) -> Self {
        let (a, b) = if b.0 < a.0 { (b, a) } else { (a, b) };
        Self { ends: [a.0, b.0], names: [a.1, b.1], serials: [a.2, b.2] }
    }

    /// Both ends in words.
    pub fn words(&self) -> String {
        format!("{} to {}", self.names[0], self.names[1])
    }
}

/// What happened to a cable.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CableCounts {
    /// How often it went down, by the counters of its two ends and by sweeps.
    #[serde(default, skip_serializing_if = "is_zero_downs")]
    pub downs: [u64; 3],
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errors: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub problems: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bit_error_rate: Option<f32>,
    /// What was done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_zero_downs(downs: &[u64; 3]) -> bool {
    *downs == [0; 3]
}

impl CableCounts {
    /// Whether anything happened that a cable is remembered for.
    pub fn is_event(&self) -> bool {
        !is_zero_downs(&self.downs) || self.errors > 0 || self.problems > 0 || self.action.is_some()
    }
}

/// Something that was done about a cable, or that it was found at another place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CableAction {
    pub time_ms: i64,
    pub text: String,
}

/// The history of a cable.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CableHistory {
    /// Where it is, or was seen last.
    pub place: CableSighting,
    /// Whether it is there, as far as is known: another cable took the place of one that is not.
    pub is_in_place: bool,
    pub first_ms: i64,
    pub last_ms: i64,
    /// Sums since the first event.
    pub downs: u64,
    pub errors: u64,
    pub problems: u64,
    pub bit_error_rate: Option<f32>,
    /// How often it went down at this place, by each source, and before it came here.
    counted: [u64; 3],
    downs_elsewhere: u64,
    days: Vec<PeriodCounts>,
    weeks: Vec<PeriodCounts>,
    years: Vec<PeriodCounts>,
    pub actions: Vec<CableAction>,
}

impl CableHistory {
    pub fn new(place: CableSighting, time_ms: i64) -> Self {
        Self {
            place,
            is_in_place: true,
            first_ms: time_ms,
            last_ms: time_ms,
            downs: 0,
            errors: 0,
            problems: 0,
            bit_error_rate: None,
            counted: [0; 3],
            downs_elsewhere: 0,
            days: Vec::new(),
            weeks: Vec::new(),
            years: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// Counts what happened at a time.
    pub fn add(&mut self, counts: &CableCounts, time_ms: i64) {
        for (sum, more) in self.counted.iter_mut().zip(counts.downs) {
            *sum = sum.saturating_add(more);
        }
        let most = self.counted.iter().max().copied().unwrap_or(0);
        let downs = self.downs_elsewhere.saturating_add(most).saturating_sub(self.downs);
        self.downs += downs;
        self.errors = self.errors.saturating_add(counts.errors);
        self.problems = self.problems.saturating_add(counts.problems);
        let rate = round_rate(counts.bit_error_rate.unwrap_or(0.0));
        if counts.bit_error_rate.is_some() {
            self.bit_error_rate = Some(self.bit_error_rate.map_or(rate, |worst| worst.max(rate)));
        }
        for length in PeriodLength::ALL {
            let at = self.counts_at(length, time_ms);
            at.downs = at.downs.saturating_add(u32::try_from(downs).unwrap_or(u32::MAX));
            at.errors = at.errors.saturating_add(counts.errors);
            at.problems = at.problems.saturating_add(u32::try_from(counts.problems).unwrap_or(u32::MAX));
            at.bit_error_rate = at.bit_error_rate.max(rate);
        }
        // A counter that is read later says nothing new.
        if downs > 0 || counts.errors > 0 || counts.problems > 0 || counts.action.is_some() {
            self.first_ms = self.first_ms.min(time_ms);
            self.last_ms = self.last_ms.max(time_ms);
        }
        self.note_action(counts.action.clone(), time_ms);
    }

    pub fn note_action(&mut self, text: Option<String>, time_ms: i64) {
        let Some(text) = text else { return };
        self.actions.push(CableAction { time_ms, text });
        let old = self.actions.len().saturating_sub(MAX_ACTIONS);
        self.actions.drain(..old);
    }

    /// The cable is found at another place. What the ports there count begins anew.
    pub fn move_to(&mut self, place: CableSighting, time_ms: i64) {
        let words = format!("moved from {} to {}", self.place.words(), place.words());
        self.note_action(Some(words), time_ms);
        (self.place, self.is_in_place) = (place, true);
        (self.counted, self.downs_elsewhere) = ([0; 3], self.downs);
    }

    fn periods(&mut self, length: PeriodLength) -> &mut Vec<PeriodCounts> {
        match length {
            PeriodLength::Day => &mut self.days,
            PeriodLength::Week => &mut self.weeks,
            PeriodLength::Year => &mut self.years,
        }
    }

    /// The counts of the period of a time. They are in the order of time, and a clock may have been set back.
    fn counts_at(&mut self, length: PeriodLength, time_ms: i64) -> &mut PeriodCounts {
        let period = length.period_at(time_ms);
        let all = self.periods(length);
        let at = all.partition_point(|counts| counts.period < period);
        if all.get(at).is_none_or(|counts| counts.period != period) {
            all.insert(at, PeriodCounts { period, ..PeriodCounts::default() });
        }
        &mut all[at]
    }

    /// Deletes the counts of periods that are no longer kept.
    pub fn delete_old(&mut self, now_ms: i64) {
        for length in PeriodLength::ALL {
            let oldest = length.oldest_kept(now_ms);
            self.periods(length).retain(|counts| counts.period >= oldest);
        }
    }

    /// The days with events, of those that are kept at a time.
    pub fn days(&self, now_ms: i64) -> impl Iterator<Item = &PeriodCounts> {
        let oldest = PeriodLength::Day.oldest_kept(now_ms);
        let is_event = |day: &&PeriodCounts| day.downs > 0 || day.errors > 0 || day.problems > 0;
        self.days.iter().filter(move |day| day.period >= oldest).filter(is_event)
    }

    pub fn weeks(&self) -> &[PeriodCounts] {
        &self.weeks
    }

    pub fn years(&self) -> &[PeriodCounts] {
        &self.years
    }

    pub fn has_serial(&self, serial: &str) -> bool {
        self.place.serials.iter().flatten().any(|own| own == serial)
    }
}

/// Two digits of a rate: more are never asked for, and each takes room over ten years.
fn round_rate(rate: f32) -> f32 {
    format!("{rate:.1e}").parse().unwrap_or(rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::ledger::period::DAY_MS;
    use fabdeck_fabric::{Guid, PortNum};

    fn history() -> CableHistory {
        let end = |node| ((Guid(node), PortNum(1)), format!("n{node}[1]"), None);
        CableHistory::new(CableSighting::new(end(2), end(1)), 0)
    }

    fn downs(downs: [u64; 3]) -> CableCounts {
        CableCounts { downs, ..CableCounts::default() }
    }

    #[test]
    fn a_link_that_three_sources_saw_go_down_went_down_once() {
        let mut cable = history();
        assert_eq!(cable.place.words(), "n1[1] to n2[1]");
        cable.add(&downs([0, 0, 1]), 10);
        assert_eq!(cable.downs, 1);
        // One counter is read a sweep later, the other one not at all for a while.
        cable.add(&downs([1, 0, 0]), 20);
        cable.add(&downs([2, 1, 1]), 30);
        assert_eq!((cable.downs, cable.counted), (3, [3, 1, 2]));
        cable.add(&downs([0, 2, 0]), 40);
        assert_eq!(cable.downs, 3);
        // At another place the counters are others.
        let place = CableSighting { names: ["x".into(), "y".into()], ..cable.place.clone() };
        cable.move_to(place, 50);
        cable.add(&downs([1, 1, 1]), 60);
        assert_eq!((cable.downs, cable.actions.len()), (4, 1));
    }

    #[test]
    fn periods_are_kept_as_long_as_they_are_wanted() {
        let mut cable = history();
        for day in 0..4000 {
            cable.add(&CableCounts { errors: 2, ..downs([1, 1, 1]) }, day * DAY_MS + 5);
            cable.delete_old(day * DAY_MS + 5);
        }
        assert_eq!((cable.days.len(), cable.weeks.len(), cable.years.len()), (90, 104, 10));
        assert!(cable.days.iter().all(|day| day.downs == 1 && day.errors == 2));
        assert_eq!([cable.years[0].downs, cable.years[1].downs], [365, 366]);
        assert_eq!((cable.downs, cable.errors), (4000, 8000));
        // A clock that was set back adds to the day that it shows.
        cable.add(&downs([1, 0, 0]), 3990 * DAY_MS);
        cable.add(&downs([0, 1, 0]), 3990 * DAY_MS);
        assert_eq!((cable.days.len(), cable.downs), (90, 4001));
        let read: CableHistory = serde_json::from_str(&serde_json::to_string(&cable).unwrap()).unwrap();
        assert_eq!(read, cable);
    }
}
