//! Watches counters: sweeps a fabric, or compares two files, and judges each interval.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use super::interval_verdict::IntervalVerdict;
use super::sweep_judge::{SweepJudge, SweepSeries};
use super::verdict_basis::VerdictBasis;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::operation::{OpenSnapshot, Operation};
use fabdeck_fabric::counters::{CongestedAdapter, CongestionRole, rates_of_growth, rates_of_samples};
use fabdeck_fabric::observe::{CounterGrowth, CounterSample, FabricEvent};
use fabdeck_files::capture::TOO_SHORT;
use fabdeck_mad::access::{NoObserver, ReadOptions, SourceError, WireReadOptions};

/// Default interval between two sweeps.
pub(super) const DEFAULT_INTERVAL: Duration = Duration::from_secs(10);

/// The counters to judge.
#[derive(Clone, Copy, Debug)]
pub enum WatchRequest<'r> {
    /// Sweeps of the named source, one more than intervals. `whole`: the sensors of its switches and the
    /// P_Key tables are read first.
    Sweeps { interval: Option<Duration>, count: u32, whole: bool },
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

    /// The proved role of an adapter as a word of JSON, which has the likely one beside it. Without a hot-spot there is no
    /// contributor.
    pub fn role_of(&self, held: &CongestedAdapter) -> &'static str {
        match held.role {
            CongestionRole::Contributor(_) => "contributor",
            CongestionRole::Undecided if self.watched.verdict.hot_spots.is_empty() => "victim",
            CongestionRole::Undecided => "undecided",
            CongestionRole::Victim { .. } => "victim",
            CongestionRole::FairShare => "fair-share",
            CongestionRole::Unknown => "unknown",
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
        WatchRequest::Sweeps { interval, count, whole } => judge_sweeps(operation, interval, count, whole),
        WatchRequest::Files { before, after, seconds } => judge_files(operation, before, after, seconds),
    }
}

fn judge_sweeps(
    operation: &mut Operation<'_>,
    asked: Option<Duration>,
    count: u32,
    whole: bool,
) -> Result<WatchReport, Failure> {
    // Forwarding tables distinguish contributors from victims.
    let wanted = ReadOptions { tables: true, partitions: whole, ..ReadOptions::default() };
    let OpenSnapshot { mut source, mut snapshot } = operation.open_snapshot(wanted)?;
    if let Some(growth) = snapshot.observation.growth.take().filter(|_| asked.is_none() && count == 1) {
        let interval = judge_growth(operation, &snapshot, &growth);
        return Ok(WatchReport { snapshot, intervals: vec![interval] });
    }
    let switch_sensors = WireReadOptions { switch_sensors: whole, ..WireReadOptions::default() };
    operation.read_wire(source.as_mut(), &mut snapshot, switch_sensors)?;
    let series = SweepSeries::begin(operation, source.as_mut(), &mut snapshot, asked, count)?;
    let mut judge = SweepJudge::new(series, &snapshot);
    let mut intervals = Vec::new();
    for _ in 0..count {
        intervals.push(judge.advance(operation, source.as_mut(), &mut snapshot)?.interval);
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
pub(super) fn explain_default_interval(error: SourceError) -> SourceError {
    match error {
        SourceError::Name { code: TOO_SHORT, what, hint } => {
            let usual = DEFAULT_INTERVAL.as_secs();
            let what = format!("{what} (the default of {usual} s, because no --interval is given)");
            SourceError::Name { code: TOO_SHORT, what, hint }
        }
        other => other,
    }
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
