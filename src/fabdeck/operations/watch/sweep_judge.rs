//! Sweeps of one source, one after another, and the verdict on each interval between two of them.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::counter_watch::{DEFAULT_INTERVAL, HotspotInterval, explain_default_interval};
use super::error_baseline::ErrorBaseline;
use super::interval_verdict::IntervalVerdict;
use super::verdict_basis::{LinksSince, SweepMoment, VerdictBasis};
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::operation::Operation;
use fabdeck_fabric::counters::{FlowHistory, Rates, rates_of_sweeps};
use fabdeck_fabric::observe::{FabricEvent, Sweep};
use fabdeck_mad::access::{PastSweep, Source};

/// Sweeps of one source, each an interval after the last.
pub struct SweepSeries {
    interval: Duration,
    first: Arc<Sweep>,
    last: Arc<Sweep>,
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
        let first = Arc::new(sweep(operation, source, snapshot, Duration::ZERO)?);
        Ok(Self { interval, moved: first.fabric.is_some(), last: first.clone(), first })
    }

    /// Makes the next sweep and compares it with the last.
    pub fn advance(
        &mut self,
        operation: &mut Operation<'_>,
        source: &mut dyn Source,
        snapshot: &mut Snapshot,
    ) -> Result<SweepInterval, Failure> {
        let after = Arc::new(sweep(operation, source, snapshot, self.last.began + self.interval)?);
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
        Arc::unwrap_or_clone(self.last)
    }
}

/// A judged interval with the rates of all ports.
pub struct JudgedInterval {
    pub interval: HotspotInterval,
    pub rates: Rates,
}

/// Judges the sweeps of a series, each against the one before it.
pub struct SweepJudge {
    series: SweepSeries,
    /// The fabric as it was when it last changed.
    seen: Rc<Snapshot>,
    first_began: SweepMoment,
    /// When the current interval began.
    from: SweepMoment,
    /// Whether an interval was judged before.
    is_later: bool,
    flows: FlowHistory,
    /// Changes that no interval has reported.
    news: Vec<FabricEvent>,
    /// The baseline of errors of a watch without an end; otherwise the first sweep is the baseline.
    baseline: Option<ErrorBaseline>,
}

impl SweepJudge {
    /// Changes between the snapshot and the first sweep are reported with the first interval.
    pub fn new(series: SweepSeries, snapshot: &Snapshot) -> Self {
        let first_began = SweepMoment::of(snapshot, &series.first);
        Self {
            seen: Rc::new(snapshot.clone()),
            from: first_began.clone(),
            first_began,
            is_later: false,
            flows: FlowHistory::default(),
            news: series.first.news.clone(),
            baseline: None,
            series,
        }
    }

    /// Counts errors from a sweep that follows the time, for a watch without an end.
    pub fn without_end(mut self) -> Self {
        let mut baseline = ErrorBaseline::default();
        baseline.update(&self.series.first);
        self.baseline = Some(baseline);
        self
    }

    /// The last sweep.
    pub fn last(&self) -> &Sweep {
        &self.series.last
    }

    /// Makes the next sweep and judges the interval that it ends.
    pub fn advance(
        &mut self,
        operation: &mut Operation<'_>,
        source: &mut dyn Source,
        snapshot: &mut Snapshot,
    ) -> Result<JudgedInterval, Failure> {
        let SweepInterval { rates, seconds } = self.series.advance(operation, source, snapshot)?;
        let (first, after) = (&self.series.first, &self.series.last);
        if after.fabric.is_some() {
            // Ports may have other ids.
            self.flows = FlowHistory::default();
            self.seen = Rc::new(snapshot.clone());
        }
        self.news.extend_from_slice(&after.news);
        // A recording has errors from before the first of these sweeps.
        let past = source.past_sweep()?.filter(|past| past.sweep.began < first.began);
        let baseline = match (&past, &mut self.baseline) {
            (Some(past), _) => past.sweep.clone(),
            (None, Some(baseline)) => baseline.update(after),
            (None, None) => first.clone(),
        };
        let since = rates_of_sweeps(snapshot.fabric(), &baseline, after).with_min_hour();
        let thresholds = &operation.env.given.thresholds;
        let watched = IntervalVerdict::after(&self.flows, snapshot, &rates, seconds, &since, thresholds);
        self.flows = watched.flows.clone();
        let to = SweepMoment::of(snapshot, after);
        let since = match past {
            Some(PastSweep { time, .. }) => Some(LinksSince::Recorded(time)),
            None => self.is_later.then(|| LinksSince::First(self.first_began.clone())),
        };
        self.is_later = true;
        let from = std::mem::replace(&mut self.from, to.clone());
        let interval = HotspotInterval {
            snapshot: self.seen.clone(),
            watched,
            basis: VerdictBasis::Sweeps { from, to, since },
            news: std::mem::take(&mut self.news),
        };
        Ok(JudgedInterval { interval, rates })
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
