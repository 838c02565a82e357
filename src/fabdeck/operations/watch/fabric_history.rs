//! Traffic, waiting and errors of the whole fabric over time. Each entry is the sum of one interval; coarser levels keep
//! the worst wait and the most errors of longer times, and the mean of the traffic.

use std::collections::{BTreeMap, VecDeque};

use super::counter_rates::CounterRates;
use super::port_values::{PortQuantity, PortValues};
use fabdeck_fabric::counters::{PortRates, Rates};
use fabdeck_fabric::observe::{Counter, PortIdentity, Sweep};
use fabdeck_fabric::{Fabric, PortId};

/// The sums of one interval. A sum is `None` where no port reports what it needs.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct FabricSums {
    /// What all adapters send.
    pub traffic_gbps: Option<f64>,
    /// The longest wait of a port, in percent of the time.
    pub worst_wait: Option<f64>,
    /// The mean wait of adapters, in percent of the time.
    pub mean_wait: Option<f64>,
    /// Link errors of all ports.
    pub errors_per_s: Option<f64>,
    /// Pairs of hosts without a path. This and the next two are known once the problems are ranked.
    pub lost_pairs: Option<f64>,
    /// Open problems that are critical, and in the next field open warnings.
    pub critical: Option<f64>,
    pub warnings: Option<f64>,
}

impl FabricSums {
    /// Number of open problems.
    pub fn problems(&self) -> Option<f64> {
        Some(self.critical? + self.warnings?)
    }
}

/// The sums of one interval, and what single ports did in it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct IntervalSums {
    pub sums: FabricSums,
    ports: PortValues,
    errors: CounterRates,
}

impl IntervalSums {
    /// The sums over all ports. The values of `pinned` ports are kept in a fabric of any size.
    pub fn new(fabric: &Fabric, rates: &Rates, pinned: &[PortIdentity]) -> Self {
        let is_adapter = |port: PortId| !fabric.node(fabric.port(port).node).is_switch();
        let adapters = || rates.ports.iter().filter(|port| is_adapter(port.port));
        let waits: Vec<f64> = adapters().filter_map(|port| PortQuantity::Wait.of(port)).collect();
        let errors = |port: &PortRates| PortQuantity::Errors.of(port);
        let sums = FabricSums {
            traffic_gbps: sum(adapters().filter_map(PortRates::bandwidth)).map(|bytes| bytes * 8.0 / 1e9),
            worst_wait: rates.ports.iter().filter_map(|port| PortQuantity::Wait.of(port)).reduce(f64::max),
            mean_wait: sum(waits.iter().copied()).map(|all| all / waits.len() as f64),
            errors_per_s: sum(rates.ports.iter().filter_map(errors)),
            ..FabricSums::default()
        };
        Self { sums, ports: PortValues::new(fabric, rates, pinned), errors: CounterRates::default() }
    }

    /// The same with the growth of each error counter, from the sweeps that the rates are of.
    pub fn with_counter_rates(self, fabric: &Fabric, rates: &Rates, sweeps: [&Sweep; 2]) -> Self {
        Self { errors: CounterRates::new(fabric, &rates.ports, sweeps), ..self }
    }

    /// The wait of a port in percent of the time; `None` where it is not known.
    pub fn wait_of(&self, port: &PortIdentity) -> Option<f64> {
        self.ports.value(port, PortQuantity::Wait)
    }

    /// Growth a second of an error counter, by its 64-bit form; `None` where no port counts errors.
    fn counter_of(&self, port: &PortIdentity, wide: &Counter) -> Option<f64> {
        self.sums.errors_per_s?;
        Some(self.errors.value(port, wide))
    }

    /// Errors a second of these ports together; `None` where no port counts errors.
    pub fn errors_of(&self, ports: &[PortIdentity]) -> Option<f64> {
        self.sums.errors_per_s?;
        Some(ports.iter().filter_map(|port| self.ports.value(port, PortQuantity::Errors)).sum())
    }
}

/// The sum of what is known; `None` where nothing is.
fn sum(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.fold(None, |all, value| Some(all.unwrap_or(0.0) + value))
}

/// What a column of a chart shows of the values in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnSum {
    Worst,
    Mean,
}

/// The time that a chart shows, in milliseconds of the clock of the session. It may begin before the session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeWindow {
    pub from_ms: i64,
    pub to_ms: i64,
}

/// The value of a span of time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpanValue {
    pub from_ms: i64,
    pub to_ms: i64,
    pub value: Option<f64>,
}

impl TimeWindow {
    /// The window of this length that ends with a reading. Its end lies on a step, so that charts move by whole steps.
    pub fn ending_at(at_ms: u64, length_ms: u64, step_ms: u64) -> Self {
        let to = at_ms.div_ceil(step_ms.max(1)) * step_ms.max(1);
        let to_ms = i64::try_from(to).unwrap_or(i64::MAX);
        Self { from_ms: to_ms.saturating_sub(i64::try_from(length_ms).unwrap_or(i64::MAX)), to_ms }
    }

    /// The place of a time in the window, as a share of its length; `None` outside it.
    pub fn share(self, at_ms: i64) -> Option<f64> {
        let inside = at_ms >= self.from_ms && at_ms <= self.to_ms && self.to_ms > self.from_ms;
        inside.then(|| (at_ms - self.from_ms) as f64 / (self.to_ms - self.from_ms) as f64)
    }

    /// The values of equal columns: each has the worst or the mean of the spans that reach into it, and `None` where
    /// nothing was read.
    pub fn columns(
        self,
        spans: impl Iterator<Item = SpanValue>,
        columns: usize,
        sum: ColumnSum,
    ) -> Vec<Option<f64>> {
        let mut all: Vec<(f64, f64)> = vec![(0.0, 0.0); columns];
        let length = (self.to_ms - self.from_ms).max(1) as f64;
        let place = |at: i64| (at - self.from_ms) as f64 / length * columns as f64;
        for SpanValue { from_ms, to_ms, value } in spans {
            let Some(value) = value.filter(|_| to_ms > self.from_ms && from_ms < self.to_ms) else {
                continue;
            };
            let (first, last) = (place(from_ms).max(0.0), place(to_ms).min(columns as f64));
            for (at, (total, weight)) in all.iter_mut().enumerate().skip(first as usize) {
                let share = last.min(at as f64 + 1.0) - first.max(at as f64);
                // A span that only touches the column says nothing about it.
                if share <= 1e-6 {
                    break;
                }
                match sum {
                    ColumnSum::Worst if *weight > 0.0 => *total = total.max(value),
                    ColumnSum::Worst => *total = value,
                    ColumnSum::Mean => *total += value * share,
                }
                *weight += share;
            }
        }
        let value = |(total, weight): (f64, f64)| {
            let divisor = if sum == ColumnSum::Mean { weight } else { 1.0 };
            (weight > 0.0).then(|| total / divisor)
        };
        all.into_iter().map(value).collect()
    }
}

/// The sums of a span of time.
#[derive(Clone, PartialEq, Debug)]
struct HistoryEntry {
    from_ms: u64,
    to_ms: u64,
    interval: IntervalSums,
}

/// Number of the latest readings whose values of single ports are kept. Of older ones only errors are.
const DETAILED_INTERVALS: usize = 300;

/// One resolution of the history: entries that begin within the same step are one.
#[derive(Clone, PartialEq, Debug)]
struct HistoryLevel {
    step_ms: u64,
    capacity: usize,
    entries: VecDeque<HistoryEntry>,
}

impl HistoryLevel {
    fn push(&mut self, entry: &HistoryEntry) {
        let step = |at_ms: u64| at_ms / self.step_ms.max(1);
        if let Some(last) = self.entries.back_mut()
            && self.step_ms > 0
            && step(last.from_ms) == step(entry.from_ms)
            && last.to_ms == entry.from_ms
        {
            return last.merge(entry);
        }
        if self.entries.len() == self.capacity {
            self.entries.pop_front();
        }
        let mut ports = entry.interval.ports.clone();
        if self.step_ms > 0 {
            ports.keep_waits();
        }
        if let Some(last) = self.entries.back() {
            ports.waits.share_ports(&last.interval.ports.waits);
        }
        // Coarse levels have no counters.
        let errors = if self.step_ms > 0 { CounterRates::default() } else { entry.interval.errors.clone() };
        let interval = IntervalSums { ports, errors, ..entry.interval };
        self.entries.push_back(HistoryEntry { interval, ..*entry });
        let older = self.entries.len().checked_sub(DETAILED_INTERVALS + 1);
        if let Some(entry) = older.and_then(|at| self.entries.get_mut(at)) {
            entry.interval.ports.keep_errors();
        }
    }
}

impl HistoryLevel {
    /// The entries that reach into a window.
    fn within(&self, window: TimeWindow) -> impl ExactSizeIterator<Item = &HistoryEntry> {
        let bound = |at_ms: i64| u64::try_from(at_ms).unwrap_or(0);
        let first = self.entries.partition_point(|entry| entry.to_ms <= bound(window.from_ms));
        let behind = self.entries.partition_point(|entry| entry.from_ms < bound(window.to_ms));
        self.entries.range(first.min(behind)..behind)
    }
}

impl HistoryEntry {
    fn merge(&mut self, later: &Self) {
        let length = |entry: &Self| entry.to_ms.saturating_sub(entry.from_ms).max(1) as f64;
        let (own, other) = (length(self), length(later));
        let (a, b) = (self.interval.sums, later.interval.sums);
        let either = |a: Option<f64>, b: Option<f64>, both: &dyn Fn(f64, f64) -> f64| match (a, b) {
            (Some(a), Some(b)) => Some(both(a, b)),
            (a, b) => a.or(b),
        };
        let mean = |a: f64, b: f64| (a * own + b * other) / (own + other);
        self.interval.sums = FabricSums {
            traffic_gbps: either(a.traffic_gbps, b.traffic_gbps, &mean),
            worst_wait: either(a.worst_wait, b.worst_wait, &f64::max),
            mean_wait: either(a.mean_wait, b.mean_wait, &f64::max),
            errors_per_s: either(a.errors_per_s, b.errors_per_s, &f64::max),
            lost_pairs: either(a.lost_pairs, b.lost_pairs, &f64::max),
            critical: either(a.critical, b.critical, &f64::max),
            warnings: either(a.warnings, b.warnings, &f64::max),
        };
        self.interval.ports.waits.merge(&later.interval.ports.waits);
        self.to_ms = later.to_ms;
    }
}

/// The sums of the fabric over up to a day.
#[derive(Clone, PartialEq, Debug)]
pub struct FabricHistory {
    /// The finest level first: each reading, minutes, ten minutes.
    levels: [HistoryLevel; 3],
}

impl Default for FabricHistory {
    fn default() -> Self {
        Self::with_readings(900)
    }
}

impl FabricHistory {
    /// A history that keeps this number of single readings.
    pub fn with_readings(capacity: usize) -> Self {
        let level = |step_ms, capacity| HistoryLevel { step_ms, capacity, entries: VecDeque::new() };
        Self { levels: [level(0, capacity), level(60_000, 420), level(600_000, 150)] }
    }

    /// Adds what the ranking found for the interval that ended at this time. Coarse levels keep the most.
    pub fn set_problems(&mut self, at_ms: u64, lost_pairs: Option<f64>, critical: f64, warnings: f64) {
        let most = |held: Option<f64>, found: f64| Some(held.map_or(found, |held| held.max(found)));
        for level in &mut self.levels {
            let at = level.entries.partition_point(|entry| entry.to_ms < at_ms);
            let Some(entry) = level.entries.get_mut(at) else { continue };
            let is_whole = entry.to_ms == at_ms;
            if !is_whole && (level.step_ms == 0 || entry.from_ms >= at_ms) {
                continue;
            }
            let sums = &mut entry.interval.sums;
            if level.step_ms == 0 {
                (sums.lost_pairs, sums.critical, sums.warnings) =
                    (lost_pairs, Some(critical), Some(warnings));
                continue;
            }
            sums.lost_pairs = lost_pairs.map_or(sums.lost_pairs, |lost| most(sums.lost_pairs, lost));
            (sums.critical, sums.warnings) = (most(sums.critical, critical), most(sums.warnings, warnings));
        }
    }

    /// The sums of the interval that a time lies in or ends, and its begin and end. `None` at the first reading: nothing
    /// was measured before it.
    pub fn sums_at(&self, at_ms: u64) -> Option<(u64, u64, FabricSums)> {
        let around = |level: &HistoryLevel| {
            let at = level.entries.partition_point(|entry| entry.to_ms < at_ms);
            let entry = level.entries.get(at).filter(|entry| entry.from_ms < at_ms)?;
            Some((entry.from_ms, entry.to_ms, entry.interval.sums))
        };
        self.levels.iter().find_map(around)
    }

    /// The wait of a port at a time, in percent.
    pub fn wait_at(&self, at_ms: u64, port: &PortIdentity) -> Option<f64> {
        let around = |level: &HistoryLevel| {
            let at = level.entries.partition_point(|entry| entry.to_ms < at_ms);
            let entry = level.entries.get(at).filter(|entry| entry.from_ms < at_ms)?;
            entry.interval.ports.value(port, PortQuantity::Wait)
        };
        self.levels.iter().find_map(around)
    }

    /// The ports that waited longest in a window, by the sum of their waits; at most this number.
    pub fn worst_waits(&self, window: TimeWindow, most: usize) -> Vec<PortIdentity> {
        let mut sums: BTreeMap<PortIdentity, u64> = BTreeMap::new();
        for entry in self.level(window).within(window) {
            let length = entry.to_ms.saturating_sub(entry.from_ms).max(1);
            for (port, percent) in entry.interval.ports.waits.worst() {
                *sums.entry(*port).or_default() += u64::from(*percent) * length;
            }
        }
        let mut ports: Vec<(PortIdentity, u64)> = sums.into_iter().collect();
        ports.sort_by_key(|(port, sum)| (std::cmp::Reverse(*sum), *port));
        ports.into_iter().take(most).map(|(port, _)| port).collect()
    }

    /// The ports with most errors in a window, as far back as each reading is kept; at most this number.
    pub fn worst_errors(&self, window: TimeWindow, most: usize) -> Vec<PortIdentity> {
        let mut sums: BTreeMap<PortIdentity, f64> = BTreeMap::new();
        for entry in self.levels[0].within(window) {
            let length = entry.to_ms.saturating_sub(entry.from_ms).max(1) as f64;
            for (port, errors) in entry.interval.ports.errors() {
                *sums.entry(port).or_default() += errors * length;
            }
        }
        let mut ports: Vec<(PortIdentity, f64)> = sums.into_iter().collect();
        ports.sort_by(|(a, one), (b, other)| other.total_cmp(one).then(a.cmp(b)));
        ports.into_iter().take(most).map(|(port, _)| port).collect()
    }

    /// The errors a second of a port at a time.
    pub fn errors_at(&self, at_ms: u64, port: &PortIdentity) -> Option<f64> {
        let entries = &self.levels[0].entries;
        let at = entries.partition_point(|entry| entry.to_ms < at_ms);
        let entry = entries.get(at).filter(|entry| entry.from_ms < at_ms)?;
        entry.interval.errors_of(&[*port])
    }

    /// The end of the worst interval, and its sums: that with most critical problems, then most pairs without a path, the
    /// longest wait, most errors and most warnings; of equal ones the first. `None` where nothing was wrong.
    pub fn worst_moment(&self) -> Option<(u64, FabricSums)> {
        let begin = |level: &HistoryLevel| level.entries.front().map_or(u64::MAX, |entry| entry.from_ms);
        let [fine, minutes, _] = [0, 1, 2].map(|at| begin(&self.levels[at]));
        let older = |level: usize, than: u64| {
            self.levels[level].entries.iter().filter(move |entry| entry.to_ms <= than)
        };
        let entries = older(2, minutes).chain(older(1, fine)).chain(&self.levels[0].entries);
        let badness = |sums: &FabricSums| {
            // Waits that read alike are alike.
            let wait = sums.worst_wait.map(|wait| wait.round());
            [sums.critical, sums.lost_pairs, wait, sums.errors_per_s, sums.warnings]
                .map(|value| value.unwrap_or(0.0))
        };
        let mut worst: Option<(&HistoryEntry, [f64; 5])> = None;
        for entry in entries {
            let own = badness(&entry.interval.sums);
            let is_worse = worst.as_ref().map_or(own > [0.0; 5], |(_, held)| own > *held);
            if is_worse {
                worst = Some((entry, own));
            }
        }
        worst.map(|(entry, _)| (entry.to_ms, entry.interval.sums))
    }

    /// Adds the interval that ended at this time. The same interval, judged again, is not added twice.
    pub fn push(&mut self, at_ms: u64, seconds: f64, interval: &IntervalSums) {
        let last = self.levels[0].entries.back().map(|entry| entry.to_ms);
        if last.is_some_and(|last| last >= at_ms) {
            return;
        }
        let length = (seconds.max(0.0) * 1000.0).round() as u64;
        let begin = at_ms.saturating_sub(length.max(1));
        // The clocks of source and session differ a little; without a gap between them, intervals touch.
        let from_ms = last.filter(|last| last.abs_diff(begin) <= length / 2).unwrap_or(begin);
        let entry = HistoryEntry { from_ms, to_ms: at_ms, interval: interval.clone() };
        self.levels.iter_mut().for_each(|level| level.push(&entry));
    }

    /// The same history, with all times later by this.
    pub fn shifted(mut self, by_ms: u64) -> Self {
        for entry in self.levels.iter_mut().flat_map(|level| &mut level.entries) {
            (entry.from_ms, entry.to_ms) = (entry.from_ms + by_ms, entry.to_ms + by_ms);
        }
        self
    }

    /// Adds the intervals of another history that ended later.
    pub fn continue_with(&mut self, later: &Self) {
        for entry in &later.levels[0].entries {
            let seconds = entry.to_ms.saturating_sub(entry.from_ms) as f64 / 1000.0;
            self.push(entry.to_ms, seconds, &entry.interval);
        }
    }

    /// The sums of the last interval, and when it ended.
    pub fn latest(&self) -> Option<(u64, FabricSums)> {
        self.levels[0].entries.back().map(|entry| (entry.to_ms, entry.interval.sums))
    }

    /// The sums of the last interval, where it began at or after a time.
    pub fn latest_since(&self, at_ms: u64) -> Option<FabricSums> {
        let latest = self.levels[0].entries.back().filter(|entry| entry.from_ms >= at_ms)?;
        Some(latest.interval.sums)
    }

    /// The sums of the last interval that ended up to a moment, and at most this long before it.
    pub fn last_before(&self, at_ms: u64, length_ms: u64) -> Option<FabricSums> {
        let begin = at_ms.saturating_sub(length_ms);
        let entries = &self.levels[0].entries;
        let behind = entries.partition_point(|entry| entry.to_ms <= at_ms);
        let last = entries.get(behind.checked_sub(1)?).filter(|entry| entry.from_ms >= begin)?;
        Some(last.interval.sums)
    }

    /// Time from the first interval that is kept to the last.
    pub fn span_ms(&self) -> Option<u64> {
        let first =
            self.levels.iter().filter_map(|level| level.entries.front()).map(|entry| entry.from_ms).min()?;
        Some(self.latest()?.0.saturating_sub(first))
    }

    /// The finest level that reaches back to the window, or as far as the history does.
    fn level(&self, window: TimeWindow) -> &HistoryLevel {
        let begin = |level: &HistoryLevel| level.entries.front().map_or(0, |entry| entry.from_ms);
        let oldest = begin(&self.levels[2]);
        let from = u64::try_from(window.from_ms).unwrap_or(0).max(oldest);
        let reaches = |level: &&HistoryLevel| begin(level) <= from;
        self.levels.iter().find(reaches).unwrap_or(&self.levels[2])
    }

    /// One sum in equal columns of a window.
    pub fn columns(
        &self,
        window: TimeWindow,
        columns: usize,
        sum: ColumnSum,
        value: fn(&FabricSums) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        let entries = &self.level(window).entries;
        let spans = entries.iter().map(|entry| (entry, value(&entry.interval.sums)));
        window.columns(extend_last(spans, window), columns, sum)
    }

    /// Errors a second of ports in equal columns, as far back as each reading is kept.
    pub fn error_columns(
        &self,
        window: TimeWindow,
        columns: usize,
        ports: &[PortIdentity],
    ) -> Vec<Option<f64>> {
        let spans = self.levels[0].entries.iter().map(|entry| (entry, entry.interval.errors_of(ports)));
        window.columns(extend_last(spans, window), columns, ColumnSum::Worst)
    }
}

impl FabricHistory {
    /// A value of one port in equal columns, as far back as it is kept: the mean of traffic, the worst of the others.
    pub fn port_columns(
        &self,
        window: TimeWindow,
        columns: usize,
        port: PortIdentity,
        quantity: PortQuantity,
    ) -> Vec<Option<f64>> {
        let value = |interval: &IntervalSums| match quantity {
            PortQuantity::Errors => interval.errors_of(&[port]),
            _ => interval.ports.value(&port, quantity),
        };
        // Of coarse levels only waits are kept.
        let level = if quantity == PortQuantity::Wait { self.level(window) } else { &self.levels[0] };
        let spans = level.entries.iter().map(|entry| (entry, value(&entry.interval)));
        let sum = if quantity == PortQuantity::Sent { ColumnSum::Mean } else { ColumnSum::Worst };
        window.columns(extend_last(spans, window), columns, sum)
    }
}

impl FabricHistory {
    /// Growth a second of an error counter of one port in equal columns, by the 64-bit form of the counter, as far back as
    /// each reading is kept.
    pub fn counter_columns(
        &self,
        window: TimeWindow,
        columns: usize,
        port: PortIdentity,
        wide: &Counter,
    ) -> Vec<Option<f64>> {
        let entries = &self.levels[0].entries;
        let spans = entries.iter().map(|entry| (entry, entry.interval.counter_of(&port, wide)));
        window.columns(extend_last(spans, window), columns, ColumnSum::Worst)
    }
}

/// A time in which a port waited without a pause, up to the last reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitingSpan {
    pub length_ms: u64,
    /// Whether it may have begun earlier, when nothing is known of the port.
    pub is_least: bool,
}

impl FabricHistory {
    /// How long a port has waited without a pause, as far back as each reading is kept; `None` where it does not wait, or
    /// its wait is not known.
    pub fn waiting_span(&self, port: &PortIdentity) -> Option<WaitingSpan> {
        let entries = &self.levels[0].entries;
        let end = entries.back()?.to_ms;
        let (mut from_ms, mut is_least) = (end, true);
        for entry in entries.iter().rev() {
            let wait = entry.interval.ports.value(port, PortQuantity::Wait);
            let touches = entry.to_ms == from_ms;
            match wait.filter(|_| touches) {
                Some(wait) if wait > 0.0 => from_ms = entry.from_ms,
                known => {
                    is_least = known.is_none();
                    break;
                }
            }
        }
        (from_ms < end).then_some(WaitingSpan { length_ms: end - from_ms, is_least })
    }
}

/// The spans of entries. The last one reaches to the end of the window, which lies less than a step behind it.
fn extend_last<'h>(
    entries: impl ExactSizeIterator<Item = (&'h HistoryEntry, Option<f64>)>,
    window: TimeWindow,
) -> impl Iterator<Item = SpanValue> {
    let last = entries.len();
    let ms = |at_ms: u64| i64::try_from(at_ms).unwrap_or(i64::MAX);
    entries.enumerate().map(move |(at, (entry, value))| {
        let to_ms = ms(entry.to_ms);
        let to_ms = if at + 1 == last { to_ms.max(window.to_ms) } else { to_ms };
        SpanValue { from_ms: ms(entry.from_ms), to_ms, value }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::watch::wait_column::WaitColumn;

    fn interval(traffic: f64, wait: f64) -> IntervalSums {
        let sums =
            FabricSums { traffic_gbps: Some(traffic), worst_wait: Some(wait), ..FabricSums::default() };
        IntervalSums { sums, ..IntervalSums::default() }
    }

    #[test]
    fn a_column_has_the_worst_or_the_mean_of_its_time() {
        let mut history = FabricHistory::default();
        for (at, traffic) in [(1, 10.0), (2, 30.0), (3, 0.0), (4, 20.0)] {
            history.push(at * 1000, 1.0, &interval(traffic, traffic));
        }
        let window = TimeWindow::ending_at(4000, 4000, 1000);
        let columns = |sum| history.columns(window, 2, sum, |sums| sums.traffic_gbps);
        assert_eq!(columns(ColumnSum::Mean), [Some(20.0), Some(10.0)]);
        assert_eq!(columns(ColumnSum::Worst), [Some(30.0), Some(20.0)]);
        let unknown = history.columns(window, 2, ColumnSum::Worst, |sums| sums.errors_per_s);
        assert_eq!(unknown, [None, None], "unknown is not zero");
    }

    #[test]
    fn what_was_not_read_is_a_gap() {
        let mut history = FabricHistory::default();
        history.push(1000, 1.0, &interval(1.0, 1.0));
        history.push(4000, 1.0, &interval(2.0, 2.0));
        history.push(4000, 1.0, &interval(9.0, 9.0));
        let window = TimeWindow::ending_at(4000, 5000, 1000);
        let columns = history.columns(window, 5, ColumnSum::Worst, |sums| sums.worst_wait);
        assert_eq!(columns, [None, Some(1.0), None, None, Some(2.0)]);
    }

    #[test]
    fn coarse_levels_keep_the_worst_wait_and_the_mean_traffic() {
        let mut history = FabricHistory::default();
        for at in 1..=3600u64 {
            let worst = if at == 5 { 80.0 } else { 1.0 };
            history.push(at * 1000, 1.0, &interval(at as f64 % 2.0 * 10.0, worst));
        }
        let hour = TimeWindow::ending_at(3_600_000, 3_600_000, 60_000);
        let waits = history.columns(hour, 60, ColumnSum::Worst, |sums| sums.worst_wait);
        assert_eq!((waits[0], waits[1], waits[59]), (Some(80.0), Some(1.0), Some(1.0)));
        let traffic = history.columns(hour, 1, ColumnSum::Mean, |sums| sums.traffic_gbps);
        assert!((traffic[0].unwrap() - 5.0).abs() < 0.1, "{traffic:?}");
    }

    #[test]
    fn problems_belong_to_the_interval_that_was_ranked() {
        let mut history = FabricHistory::default();
        for at in 1..=4 {
            history.push(at * 1000, 1.0, &interval(1.0, 1.0));
        }
        history.set_problems(2000, Some(40.0), 1.0, 2.0);
        history.set_problems(3000, None, 0.0, 1.0);
        history.set_problems(3500, Some(7.0), 9.0, 9.0);
        let window = TimeWindow::ending_at(4000, 4000, 1000);
        let columns =
            |value: fn(&FabricSums) -> Option<f64>| history.columns(window, 4, ColumnSum::Worst, value);
        assert_eq!(columns(FabricSums::problems), [None, Some(3.0), Some(1.0), None]);
        assert_eq!(columns(|sums| sums.lost_pairs), [None, Some(40.0), None, None]);
        let minute = history.levels[1].entries.front().unwrap().interval.sums;
        assert_eq!((minute.lost_pairs, minute.critical, minute.warnings), (Some(40.0), Some(9.0), Some(9.0)));
        assert_eq!(history.sums_at(1500).map(|(from, to, _)| (from, to)), Some((1000, 2000)));
        assert_eq!(history.sums_at(9000), None, "nothing was read then");
    }

    #[test]
    fn a_port_waits_since_its_last_pause() {
        let port = (fabdeck_fabric::Guid(1), fabdeck_fabric::PortNum(1));
        let span = |waits: &[Option<f64>]| {
            let mut history = FabricHistory::default();
            for (at, wait) in waits.iter().enumerate() {
                let mut ports = PortValues::default();
                ports.waits = WaitColumn::new([(port, *wait)].into_iter());
                history.push(at as u64 * 1000 + 1000, 1.0, &IntervalSums { ports, ..interval(1.0, 1.0) });
            }
            history.waiting_span(&port).map(|span| (span.length_ms, span.is_least))
        };
        assert_eq!(span(&[Some(9.0), Some(0.0), Some(1.0), Some(80.0)]), Some((2000, false)));
        assert_eq!(span(&[Some(9.0), None, Some(1.0)]), Some((1000, true)), "what is not known is no pause");
        assert_eq!(span(&[Some(9.0), Some(1.0)]), Some((2000, true)), "the first reading has none before it");
        assert_eq!((span(&[Some(9.0), Some(0.0)]), span(&[Some(9.0), None])), (None, None));
    }

    #[test]
    fn the_worst_ports_of_a_window_are_found_also_in_coarse_levels() {
        let mut history = FabricHistory::default();
        let port = |number: u8| (fabdeck_fabric::Guid(1), fabdeck_fabric::PortNum(number));
        for at in 1..=3600u64 {
            let early = if at < 600 { 90.0 } else { 0.0 };
            let waits = [(port(1), Some(early)), (port(2), Some(20.0)), (port(3), None)];
            let mut ports = PortValues::default();
            ports.waits = WaitColumn::new(waits.into_iter());
            history.push(at * 1000, 1.0, &IntervalSums { ports, ..interval(1.0, 1.0) });
        }
        let minute = TimeWindow::ending_at(3_600_000, 60_000, 1000);
        assert_eq!(history.worst_waits(minute, 5), [port(2)]);
        let hour = TimeWindow::ending_at(3_600_000, 3_600_000, 60_000);
        assert_eq!(history.worst_waits(hour, 5), [port(2), port(1)]);
        assert_eq!(history.worst_waits(hour, 1), [port(2)]);
        let columns = |number| history.port_columns(hour, 6, port(number), PortQuantity::Wait);
        assert_eq!(columns(1), [Some(90.0), Some(0.0), Some(0.0), Some(0.0), Some(0.0), Some(0.0)]);
        assert_eq!(columns(3), [None; 6], "a wait that is not known is not zero");
        assert_eq!(history.wait_at(3_599_500, &port(2)), Some(20.0));
    }
}
