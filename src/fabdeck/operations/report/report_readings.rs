//! Reads a source for a report: sweeps of a live fabric, the growth that a file states, or one reading.

use std::sync::Arc;
use std::time::Duration;

use super::fabric_report::{ReportEvent, ReportEvents};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::query::Query;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::operation::{OpenSnapshot, Operation};
use crate::operations::rowset::Rowset;
use crate::operations::watch::fabric_history::FabricHistory;
use crate::operations::watch::history::PortHistory;
use crate::operations::watch::history_clock::HistoryClock;
use crate::operations::watch::sweep_judge::SweepSeries;
use crate::operations::watch::watch_verdict::{VerdictRequest, WatchVerdict};
use fabdeck_fabric::counters::{Rates, rates_of_growth};
use fabdeck_fabric::observe::{CounterGrowth, FabricEvent, Sweep};
use fabdeck_mad::access::{ReadOptions, Source};

/// What was read for a report.
pub struct ReportReadings {
    pub look: Snapshot,
    pub reading: Option<Arc<WatchVerdict>>,
    /// Why counters were not compared.
    pub uncounted: Option<String>,
    pub history: FabricHistory,
    pub clock: Option<HistoryClock>,
    /// When the last reading began, where a clock is known.
    pub read_at: Option<String>,
    pub events: ReportEvents,
    /// What changed during the last interval.
    pub news: Vec<FabricEvent>,
}

/// Reads the named source, which is no capture: `count` intervals of this length.
pub fn read_source(
    operation: &mut Operation<'_>,
    interval: Option<Duration>,
    count: u32,
) -> Result<ReportReadings, Failure> {
    operation.listen_to_stop();
    let wanted = ReadOptions { tables: true, partitions: true, ..ReadOptions::default() };
    let OpenSnapshot { mut source, snapshot: mut look } = operation.open_snapshot(wanted)?;
    operation.env.assume(&mut look)?;
    if let Some(growth) = look.observation.growth.take().filter(|_| interval.is_none()) {
        return Ok(read_growth(operation, look, &growth));
    }
    let begun = SweepSeries::begin(operation, source.as_mut(), &mut look, interval, count);
    let series = match begun {
        Ok(series) => series,
        // A file has one reading.
        Err(Failure { exit: Exit::Usage, message, .. }) if interval.is_none() => {
            let why = message.unwrap_or_default();
            return Ok(ReportReadings { uncounted: Some(why), ..unread(look) });
        }
        Err(failure) => return Err(failure),
    };
    let mut readings = read_sweeps(operation, source.as_mut(), (look, series), count)?;
    let counted = readings.reading.as_ref().is_some_and(|reading| reading.watched.ports > 0);
    if !counted {
        readings.reading = None;
        readings.uncounted = Some("no port has counters in both readings".to_owned());
    }
    let last_ms = readings.history.latest().and_then(|(at_ms, _)| i64::try_from(at_ms).ok());
    // A simulated fabric has a time of its own.
    let is_simulated = readings.look.source.starts_with("sim:");
    if let Some(at_ms) = last_ms.filter(|_| !operation.env.given.no_times && !is_simulated) {
        let now = jiff::Zoned::now();
        let (unix_ms, utc_offset_s) = (now.timestamp().as_millisecond(), now.offset().seconds());
        readings.clock = Some(HistoryClock { at_ms, unix_ms, utc_offset_s });
    }
    Ok(readings)
}

/// Readings without counters.
fn unread(look: Snapshot) -> ReportReadings {
    ReportReadings {
        reading: None,
        uncounted: None,
        history: FabricHistory::default(),
        clock: None,
        read_at: look.observation.time.clone(),
        events: ReportEvents::default(),
        news: Vec::new(),
        look,
    }
}

/// The state of a watch that judges one interval after the other.
struct ReportWatch {
    look: Arc<Snapshot>,
    reading: Option<Arc<WatchVerdict>>,
    ports: PortHistory,
    history: FabricHistory,
    events: Vec<ReportEvent>,
}

impl ReportWatch {
    fn new(look: &Snapshot) -> Self {
        Self {
            look: Arc::new(look.clone()),
            reading: None,
            ports: PortHistory::default(),
            history: FabricHistory::default(),
            events: Vec::new(),
        }
    }

    fn request(&self, operation: &Operation<'_>, sweeps: [Sweep; 3], at_ms: u64) -> VerdictRequest {
        let [first, before, after] = sweeps.map(Arc::new);
        VerdictRequest {
            pinned: Vec::new(),
            look: self.look.clone(),
            first,
            before,
            after,
            thresholds: operation.env.given.thresholds.clone(),
            history: self.ports.clone(),
            earlier: self.reading.clone(),
            flows: None,
            links: (Arc::new(Rowset::links(&self.look, None)), Query::default()),
            ports: Query::default(),
            at_ms,
        }
    }

    fn receive(&mut self, verdict: WatchVerdict) {
        let at_ms = i64::try_from(verdict.at_ms).unwrap_or(i64::MAX);
        let event =
            |(severity, text): &(_, String)| ReportEvent { at_ms, severity: *severity, text: text.clone() };
        self.events.extend(verdict.changes.iter().map(event));
        self.ports.push(verdict.at_ms, verdict.levels.clone());
        self.history.push(verdict.at_ms, verdict.watched.seconds, &verdict.sums);
        self.reading = Some(Arc::new(verdict));
    }

    fn finish(self, look: Snapshot, news: Vec<FabricEvent>) -> ReportReadings {
        let count = self.events.len();
        ReportReadings {
            reading: self.reading,
            history: self.history,
            events: ReportEvents::new(self.events, count),
            news,
            ..unread(look)
        }
    }
}

fn read_sweeps(
    operation: &mut Operation<'_>,
    source: &mut dyn Source,
    (mut look, mut series): (Snapshot, SweepSeries),
    count: u32,
) -> Result<ReportReadings, Failure> {
    let mut watch = ReportWatch::new(&look);
    let mut news = Vec::new();
    for _ in 0..count {
        let [_, before] = series.ends();
        let before = before.clone();
        series.advance(operation, source, &mut look)?;
        let [first, after] = series.ends().map(Sweep::clone);
        if after.fabric.is_some() {
            // Ports may have other numbers from here on.
            watch.ports = watch.ports.carry_over(watch.look.fabric(), look.fabric());
            (watch.look, watch.reading) = (Arc::new(look.clone()), None);
        }
        news.clone_from(&after.news);
        let at_ms = u64::try_from(after.began.as_millis()).unwrap_or(u64::MAX);
        let verdict = watch.request(operation, [first, before, after], at_ms).run();
        watch.receive(verdict);
    }
    source.end_watch(&mut look.observation);
    Ok(watch.finish(look, news))
}

/// Judges growth that the source itself states.
fn read_growth(operation: &Operation<'_>, look: Snapshot, growth: &CounterGrowth) -> ReportReadings {
    let mut watch = ReportWatch::new(&look);
    let rates: Rates = rates_of_growth(look.fabric(), growth);
    let seconds = growth.over.as_secs_f64();
    let at_ms = u64::try_from(growth.over.as_millis()).unwrap_or(u64::MAX);
    let request = watch.request(operation, [Sweep::default(), Sweep::default(), Sweep::default()], at_ms);
    let verdict = request.judge(&rates, &rates.clone().with_min_hour(), seconds);
    watch.receive(verdict);
    watch.finish(look, Vec::new())
}
