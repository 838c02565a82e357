//! Watches counters: sweeps a fabric, or compares two files, and judges each interval.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use super::interval_verdict::{IntervalVerdict, role_word};
use super::verdict_basis::{LinksSince, SweepMoment, VerdictBasis};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::operation::{OpenSnapshot, Operation};
use fabdeck_fabric::counters::{
    CongestedAdapter, CongestionRole, FlowHistory, Rates, rates_of_growth, rates_of_samples, rates_of_sweeps,
};
use fabdeck_fabric::observe::{CounterGrowth, CounterSample, FabricEvent, Sweep};
use fabdeck_files::capture::TOO_SHORT;
use fabdeck_mad::access::{NoObserver, PastSweep, ReadOptions, Source, SourceError, WireReadOptions};

/// Default interval between two sweeps.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(10);

/// The counters to judge.
#[derive(Clone, Copy, Debug)]
pub enum WatchRequest<'r> {
    /// Sweeps of the named source, one more than intervals. `sensors`: the sensors of its switches are read first.
    Sweeps { interval: Option<Duration>, count: u32, sensors: bool },
    /// Two files with counters, on the fabric of the named source.
    Files { before: &'r Path, after: &'r Path, seconds: f64 },
}

/// The verdicts, one for each interval.
pub struct WatchReport {
    pub snapshot: Snapshot,
    pub intervals: Vec<HotspotInterval>,
}

/// Verdict of one interval, with the fabric at its end, because a change of the fabric can change ids.
pub struct HotspotInterval {
    pub snapshot: Rc<Snapshot>,
    pub watched: IntervalVerdict,
    pub basis: VerdictBasis,
    pub news: Vec<FabricEvent>,
}

impl WatchReport {
    /// Refuses an answer about intervals without a single port.
    pub fn refuse_uncounted(&self) -> Result<(), Failure> {
        match self.intervals.iter().any(|interval| interval.watched.ports == 0) {
            true => Err(uncounted_failure()),
            false => Ok(()),
        }
    }
}

impl HotspotInterval {
    pub fn has_findings(&self) -> bool {
        self.watched.has_findings() || self.news.iter().any(FabricEvent::is_trouble)
    }

    /// The role of an adapter in words. Without a hot-spot there is no contributor.
    pub fn role_of(&self, held: &CongestedAdapter) -> &'static str {
        match held.role {
            CongestionRole::Undecided if self.watched.verdict.hot_spots.is_empty() => "victim",
            role => role_word(role),
        }
    }

    /// Adapters that wait in one of these roles.
    pub fn adapters_with_role<'v>(&'v self, roles: &'v [&str]) -> impl Iterator<Item = &'v CongestedAdapter> {
        let adapters = self.watched.verdict.congested_adapters.iter();
        adapters.filter(|held| roles.contains(&self.role_of(held)))
    }
}

/// Roles of adapters that contribute to a hot-spot, certainly or possibly.
pub const CONTRIBUTOR_ROLES: &[&str] = &["contributor", "undecided"];
/// Role of adapters that certainly are victims.
pub const VICTIM_ROLES: &[&str] = &["victim"];

/// The failure if no port has counters in both readings.
pub fn uncounted_failure() -> Failure {
    let what = "FD-7941: no port of this fabric has counters in both readings; check the notes, and that both readings \
                are of this fabric";
    Failure::new(Exit::Failed, what)
}

/// Reads and judges counters.
pub fn watch_counters(
    operation: &mut Operation<'_>,
    request: WatchRequest<'_>,
) -> Result<WatchReport, Failure> {
    match request {
        WatchRequest::Sweeps { interval, count, sensors } => {
            judge_sweeps(operation, interval, count, sensors)
        }
        WatchRequest::Files { before, after, seconds } => judge_files(operation, before, after, seconds),
    }
}

/// Sweeps of one source, each an interval after the last.
pub struct SweepSeries {
    interval: Duration,
    first: Sweep,
    last: Sweep,
    /// Whether nodes appeared or disappeared since the snapshot.
    pub moved: bool,
}

/// Two consecutive sweeps compared.
pub struct SweepInterval {
    pub rates: Rates,
    pub seconds: f64,
}

impl SweepSeries {
    /// Makes the first sweep. A recording goes back by as many intervals as are wanted.
    pub fn begin(
        operation: &mut Operation<'_>,
        source: &mut dyn Source,
        snapshot: &mut Snapshot,
        asked: Option<Duration>,
        count: u32,
    ) -> Result<Self, Failure> {
        let interval = asked.unwrap_or(DEFAULT_INTERVAL);
        let back = source.rewind(&mut snapshot.observation, interval * count);
        back.map_err(|error| if asked.is_none() { explain_default_interval(error) } else { error })?;
        let first = sweep(operation, source, snapshot, Duration::ZERO)?;
        Ok(Self { interval, moved: first.fabric.is_some(), last: first.clone(), first })
    }

    /// Makes the next sweep and compares it with the last.
    pub fn advance(
        &mut self,
        operation: &mut Operation<'_>,
        source: &mut dyn Source,
        snapshot: &mut Snapshot,
    ) -> Result<SweepInterval, Failure> {
        let after = sweep(operation, source, snapshot, self.last.began + self.interval)?;
        self.moved |= after.fabric.is_some();
        let fabric = snapshot.fabric();
        let rates =
            rates_of_sweeps(fabric, &self.last, &after).with_ticks(fabric, &snapshot.observation.ticks);
        let seconds = (after.began - self.last.began).as_secs_f64();
        self.last = after;
        Ok(SweepInterval { rates, seconds })
    }

    /// The first sweep, and the last one so far.
    pub fn ends(&self) -> [&Sweep; 2] {
        [&self.first, &self.last]
    }

    pub fn into_last(self) -> Sweep {
        self.last
    }
}

fn judge_sweeps(
    operation: &mut Operation<'_>,
    asked: Option<Duration>,
    count: u32,
    sensors: bool,
) -> Result<WatchReport, Failure> {
    let thresholds = &operation.env.given.thresholds;
    // Forwarding tables distinguish contributors from victims.
    let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
    let OpenSnapshot { mut source, mut snapshot } = operation.open_snapshot(wanted)?;
    if let Some(growth) = snapshot.observation.growth.take().filter(|_| asked.is_none() && count == 1) {
        let interval = judge_growth(operation, &snapshot, &growth);
        return Ok(WatchReport { snapshot, intervals: vec![interval] });
    }
    let switch_sensors = WireReadOptions { switch_sensors: sensors, ..WireReadOptions::default() };
    operation.read_wire(source.as_mut(), &mut snapshot, switch_sensors)?;
    let mut series = SweepSeries::begin(operation, source.as_mut(), &mut snapshot, asked, count)?;
    let mut intervals = Vec::new();
    let mut seen = Rc::new(snapshot.clone());
    let first_began = SweepMoment::of(&snapshot, &series.first);
    let mut from = first_began.clone();
    // Changes between the snapshot and the first sweep are reported with the first interval.
    let mut news = series.first.news.clone();
    let mut flows = FlowHistory::default();
    for _ in 0..count {
        let SweepInterval { rates, seconds } = series.advance(operation, source.as_mut(), &mut snapshot)?;
        let (first, after) = (&series.first, &series.last);
        if after.fabric.is_some() {
            // Ports may have other ids.
            flows = FlowHistory::default();
            seen = Rc::new(snapshot.clone());
        }
        news.extend_from_slice(&after.news);
        // A recording has errors from before the first of these sweeps.
        let past = source.past_sweep()?.filter(|past| past.sweep.began < first.began);
        let baseline = past.as_ref().map_or(first, |past| &*past.sweep);
        let since = rates_of_sweeps(snapshot.fabric(), baseline, after).with_min_hour();
        let watched = IntervalVerdict::after(&flows, &snapshot, &rates, seconds, &since, thresholds);
        flows = watched.flows.clone();
        let to = SweepMoment::of(&snapshot, after);
        let since = match past {
            Some(PastSweep { time, .. }) => Some(LinksSince::Recorded(time)),
            None => (!intervals.is_empty()).then(|| LinksSince::First(first_began.clone())),
        };
        let basis = VerdictBasis::Sweeps { from, to: to.clone(), since };
        intervals.push(HotspotInterval {
            snapshot: seen.clone(),
            watched,
            basis,
            news: std::mem::take(&mut news),
        });
        from = to;
    }
    source.end_watch(&mut snapshot.observation);
    Ok(WatchReport { snapshot, intervals })
}

/// Judges growth that the source itself states.
fn judge_growth(operation: &Operation<'_>, snapshot: &Snapshot, growth: &CounterGrowth) -> HotspotInterval {
    let rates = rates_of_growth(snapshot.fabric(), growth);
    let seconds = growth.over.as_secs_f64();
    let thresholds = &operation.env.given.thresholds;
    let watched = IntervalVerdict::new(snapshot, &rates, seconds, &rates.clone().with_min_hour(), thresholds);
    let basis = VerdictBasis::Growth { stated: growth.stated };
    HotspotInterval { snapshot: Rc::new(snapshot.clone()), watched, basis, news: Vec::new() }
}

/// Adds to the error of a short capture that the interval is the default, because the operator gave none.
fn explain_default_interval(error: SourceError) -> SourceError {
    match error {
        SourceError::Name { code: TOO_SHORT, what, hint } => {
            let usual = DEFAULT_INTERVAL.as_secs();
            let what = format!("{what} (the default of {usual} s, because no --interval is given)");
            SourceError::Name { code: TOO_SHORT, what, hint }
        }
        other => other,
    }
}

/// Makes one sweep, which shows its progress.
fn sweep(
    operation: &mut Operation<'_>,
    source: &mut dyn Source,
    snapshot: &mut Snapshot,
    not_before: Duration,
) -> Result<Sweep, Failure> {
    let swept = source.sweep(&mut snapshot.observation, not_before, &mut operation.begin_reading())?;
    if swept.fabric.is_some() {
        snapshot.update_names();
    }
    Ok(swept)
}

fn judge_files(
    operation: &mut Operation<'_>,
    before: &Path,
    after: &Path,
    seconds: f64,
) -> Result<WatchReport, Failure> {
    let mut snapshot = operation.read_snapshot(ReadOptions { tables: true, ..ReadOptions::default() })?;
    let basis = VerdictBasis::Files(before.display().to_string(), after.display().to_string());
    let before = read_samples(operation, &mut snapshot, before)?;
    let after = read_samples(operation, &mut snapshot, after)?;
    let rates = rates_of_samples(snapshot.fabric(), &before, &after, seconds);
    let thresholds = &operation.env.given.thresholds;
    let watched =
        IntervalVerdict::new(&snapshot, &rates, seconds, &rates.clone().with_min_hour(), thresholds);
    let interval = HotspotInterval { snapshot: Rc::new(snapshot.clone()), watched, basis, news: Vec::new() };
    Ok(WatchReport { snapshot, intervals: vec![interval] })
}

fn read_samples(
    operation: &Operation<'_>,
    snapshot: &mut Snapshot,
    file: &Path,
) -> Result<Vec<CounterSample>, Failure> {
    let mut files = operation.env.outside.open_files(&[file.to_owned()])?;
    let seen = files.observe(ReadOptions::default(), &mut NoObserver)?;
    snapshot.observation.notes.extend(seen.notes);
    Ok(seen.counters)
}
