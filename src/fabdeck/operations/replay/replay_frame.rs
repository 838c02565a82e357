//! A moment of a recording, as a watch would have seen it: the snapshot, the sweeps for its verdict, and the
//! history of every port. It does not depend on the moments shown before.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::event_scan::{EventDeriver, RecordingScan};
use super::flow_chain::FlowChain;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::watch::fabric_history::{FabricHistory, IntervalSums};
use crate::operations::watch::history::{MAX_SWEEPS, PortHistory, PortLevels, UNKNOWN_LEVELS, pack_levels};
use fabdeck_fabric::counters::{FlowHistory, rates_of_sweeps};
use fabdeck_fabric::observe::{Observation, Sweep};
use fabdeck_files::capture::{OperatorEntry, RecordingPlayer, Timeline, error_anchors};
use fabdeck_files::capture_format::{ByteSource, Damage};
use fabdeck_routing::RouteProgress;

/// A request for a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeekRequest {
    pub place: usize,
    /// Whether to compute the whole history, which may take long.
    pub deep: bool,
    /// The threshold of waiting.
    pub congestion: u64,
}

/// An opened recording, and the position at which it was opened.
#[derive(Clone, Debug)]
pub struct OpenedRecording {
    pub timeline: Arc<Timeline>,
    pub place: usize,
    /// The event scan.
    pub scan: Option<RecordingScan>,
}

/// The reason why a moment has no verdict: there is no moment before it to compare with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoBaseline {
    First,
    /// Nothing was recorded before it for some time, or another recording begins here.
    Gap,
    /// The moment before cannot be read.
    Damage,
}

/// A moment of a recording.
#[derive(Clone, Debug)]
pub struct ReplayFrame {
    /// The requested moment, and in the next field the one that this is: the last readable one.
    pub place: usize,
    pub shown: usize,
    /// The reason why these differ.
    pub damage: Option<String>,
    pub look: Arc<Snapshot>,
    /// The baseline of error rates; `half` becomes the next baseline.
    pub first: Arc<Sweep>,
    pub half: Arc<Sweep>,
    pub before: Result<Arc<Sweep>, NoBaseline>,
    pub after: Arc<Sweep>,
    /// The history without this moment.
    pub history: PortHistory,
    /// The sums of the fabric over the same time.
    pub totals: FabricHistory,
    /// What the intervals before this one say of flows.
    pub flows: FlowHistory,
    /// Whether the history is complete.
    pub whole: bool,
    /// Number of sweeps up to this moment, and in the next field the time since the first moment in
    /// milliseconds.
    pub sweeps: u64,
    pub at_ms: u64,
    /// The same time for the first of these sweeps.
    pub since_ms: u64,
}

/// Access to a recording, if there is one.
pub trait FrameSource {
    /// Opens the recording; `None` where there is none.
    fn open_recording(&mut self) -> Result<Option<OpenedRecording>, String>;

    /// Adds an entry of the operator, at this time after the last sweep. A read-only recording ignores it.
    fn add_entry(&mut self, _after: Duration, _entry: &OperatorEntry) {}

    /// The whole recording as the bytes of a capture, or the reason why there is none.
    fn capture_bytes(&mut self) -> Result<Vec<u8>, String> {
        Err("nothing of it is recorded".to_owned())
    }

    /// Reads a moment. A cancelled read ends early with an error that is not reported.
    fn seek_frame(&mut self, seek: SeekRequest, pulse: &dyn RouteProgress) -> Result<ReplayFrame, String>;
}

/// A source without a recording.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecording;

impl FrameSource for NoRecording {
    fn open_recording(&mut self) -> Result<Option<OpenedRecording>, String> {
        Ok(None)
    }

    fn seek_frame(&mut self, _: SeekRequest, _: &dyn RouteProgress) -> Result<ReplayFrame, String> {
        Err("there is no recording".to_owned())
    }
}

/// Number of samples that a request without the whole history reads at most.
const FILL_SAMPLES: usize = 64_000;
/// Maximum number of samples of cached sweeps; the next constant limits the bytes of history.
const MAX_CACHED_SAMPLES: usize = 1_000_000;
const MAX_COLUMN_BYTES: usize = 64 << 20;

/// The error of a cancelled read.
pub const CANCELLED: &str = "cancelled";

/// Makes a snapshot of an observation, with the operator's names and assumed tables.
pub type SnapshotMaker = Arc<dyn Fn(Observation) -> Result<Snapshot, String> + Send + Sync>;

/// What a moment adds to the histories.
struct HistoryColumn {
    /// Number of nodes of its fabric.
    nodes: usize,
    levels: PortLevels,
    seconds: f64,
    sums: IntervalSums,
}

/// The moments of a recording, with a cache of the latest ones.
pub struct ReplayFrames<B> {
    tape: RecordingPlayer<B>,
    timeline: Arc<Timeline>,
    opened_at: usize,
    make_snapshot: SnapshotMaker,
    /// Milliseconds since the first moment, for each moment.
    elapsed: Vec<i64>,
    sweeps: BTreeMap<usize, Arc<Sweep>>,
    /// Sweeps that many moments are compared with.
    pinned: BTreeMap<usize, Arc<Sweep>>,
    /// History columns, computed with the threshold `congestion`.
    columns: BTreeMap<usize, HistoryColumn>,
    congestion: u64,
    /// The flows that were known before the last moment that was read.
    chain: FlowChain,
    /// The snapshot of a state, with the state and the moment of its counters.
    look: Option<(Option<usize>, usize, Arc<Snapshot>)>,
}

impl<B> std::fmt::Debug for ReplayFrames<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReplayFrames")
    }
}

impl<B: ByteSource> ReplayFrames<B> {
    pub fn new(mut tape: RecordingPlayer<B>, opened_at: usize, make_snapshot: SnapshotMaker) -> Self {
        let timeline = Arc::new(tape.timeline());
        let mut passed = 0i64;
        let mut elapsed = vec![0; timeline.times.len()];
        for (at, pair) in timeline.times.windows(2).enumerate() {
            passed = passed.saturating_add(pair[1].saturating_sub(pair[0]).max(0));
            elapsed[at + 1] = passed;
        }
        let (sweeps, pinned, columns) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self {
            tape,
            timeline,
            opened_at,
            make_snapshot,
            elapsed,
            sweeps,
            pinned,
            columns,
            congestion: 0,
            chain: FlowChain::default(),
            look: None,
        }
    }

    /// Reads a sweep, or returns the damage. The reader is then at this moment, unless the sweep was cached.
    fn read_sweep(&mut self, place: usize) -> Result<Arc<Sweep>, Damage> {
        if let Some(cached) = self.sweeps.get(&place).or_else(|| self.pinned.get(&place)) {
            return Ok(cached.clone());
        }
        self.tape.show_moment(place)?;
        Ok(self.cache_sweep(place))
    }

    /// Caches the sweep at the position of the reader.
    fn cache_sweep(&mut self, place: usize) -> Arc<Sweep> {
        let sweep = Arc::new(self.tape.sweep());
        let most = (MAX_CACHED_SAMPLES / sweep.samples.len().max(1)).max(4);
        while self.sweeps.len() >= most {
            // The most distant sweep is the least likely to be needed.
            let ends = [self.sweeps.first_key_value(), self.sweeps.last_key_value()];
            let far = ends.into_iter().flatten().map(|(at, _)| *at).max_by_key(|at| at.abs_diff(place));
            far.and_then(|far| self.sweeps.remove(&far));
        }
        self.sweeps.insert(place, sweep.clone());
        sweep
    }

    /// The moments of the current and the next error baseline, at least half an hour apart.
    fn anchors(&self, place: usize) -> (usize, usize) {
        error_anchors(self.timeline.series_start(place), &self.elapsed[..=place])
    }

    /// Reads and pins a sweep that many moments are compared with.
    fn pinned_sweep(&mut self, place: usize) -> Option<Arc<Sweep>> {
        const MAX_PINNED: usize = 8;
        let sweep = self.read_sweep(place).ok()?;
        if self.pinned.len() >= MAX_PINNED && !self.pinned.contains_key(&place) {
            self.pinned.clear();
        }
        self.pinned.insert(place, sweep.clone());
        Some(sweep)
    }

    /// The snapshot at the position of the reader. Its counters are those with which a watch would have
    /// begun, for ports that no longer answer.
    fn read_snapshot(&mut self, (of, begun): (usize, Option<Arc<Sweep>>)) -> Result<Arc<Snapshot>, String> {
        let state = self.tape.state();
        if let Some((same, counters, look)) = &self.look
            && (*same, *counters) == (state, of)
        {
            return Ok(look.clone());
        }
        let mut observation = self.tape.observation();
        observation.counters = begun.map(|sweep| sweep.samples.clone()).unwrap_or_default();
        let mut look = (self.make_snapshot)(observation)?;
        look.source.clone_from(&self.timeline.name);
        // A state that was recorded again is the same.
        let same = self.look.as_ref().filter(|(_, _, before)| {
            let (a, b) = (&before.observation, &look.observation);
            a.counters == b.counters
                && a.fabric == b.fabric
                && a.tables == b.tables
                && a.names == b.names
                && a.subnet_manager == b.subnet_manager
                && a.jobs == b.jobs
        });
        let look = same.map_or_else(|| Arc::new(look), |(_, _, same)| same.clone());
        self.look = Some((state, of, look.clone()));
        Ok(look)
    }

    /// Computes the history column of a moment: the levels of every port, and the sums of the fabric.
    fn add_history_column(&mut self, place: usize) {
        if !self.timeline.is_comparable(place) {
            return;
        }
        let (Ok(before), Ok(after)) = (self.read_sweep(place - 1), self.read_sweep(place)) else { return };
        if self.tape.show_moment(place).is_err() {
            return;
        }
        let ticks = self.tape.ticks().clone();
        let fabric = self.tape.fabric();
        let mut levels = vec![UNKNOWN_LEVELS; fabric.ports().len()];
        let rates = rates_of_sweeps(fabric, &before, &after).with_ticks(fabric, &ticks);
        for port in &rates.ports {
            levels[port.port.index()] = pack_levels(port, self.congestion as f64);
        }
        let column = HistoryColumn {
            nodes: fabric.nodes().len(),
            levels: levels.into(),
            seconds: after.began.saturating_sub(before.began).as_secs_f64(),
            sums: IntervalSums::new(fabric, &rates, &[]).with_counter_rates(
                fabric,
                &rates,
                [&before, &after],
            ),
        };
        self.cache_column(place, column);
    }

    /// What the intervals before a moment say of flows, and whether all of them were read.
    fn flows_before(
        &mut self,
        place: usize,
        deep: bool,
        pulse: &dyn RouteProgress,
    ) -> Result<(FlowHistory, bool), String> {
        let moments = FlowChain::moments_before(self.timeline.series_start(place), place);
        let mut chain = std::mem::take(&mut self.chain).resumed(&moments);
        if !deep && place.saturating_sub(chain.next()) > 1 {
            return Ok((FlowHistory::default(), false));
        }
        while chain.next() < place {
            if pulse.is_cancelled() {
                return Err(CANCELLED.to_owned());
            }
            let at = chain.next();
            let sweeps = (self.read_sweep(at - 1), self.read_sweep(at));
            let shown = self.tape.show_moment(at).is_ok();
            chain.extend(|flows| match (sweeps, self.tape.forwarding()) {
                ((Ok(before), Ok(after)), Some((fabric, tables))) if shown => {
                    flows.after_interval(fabric, tables, &rates_of_sweeps(fabric, &before, &after))
                }
                _ => FlowHistory::default(),
            });
        }
        self.chain = chain;
        Ok((self.chain.flows().clone(), true))
    }

    fn cache_column(&mut self, place: usize, column: HistoryColumn) {
        let most = (MAX_COLUMN_BYTES / column.levels.len().max(1)).max(2 * MAX_SWEEPS);
        while self.columns.len() >= most {
            let ends = [self.columns.first_key_value(), self.columns.last_key_value()];
            let far = ends.into_iter().flatten().map(|(at, _)| *at).max_by_key(|at| at.abs_diff(place));
            far.and_then(|far| self.columns.remove(&far));
        }
        self.columns.insert(place, column);
    }

    /// The first history column before a moment; the column of the moment itself is the latest of the maximum
    /// number.
    fn oldest_column(&self, place: usize) -> usize {
        (self.timeline.series_start(place) + 1).max((place + 1).saturating_sub(MAX_SWEEPS))
    }

    /// Computes the missing history columns before a moment, or some of them; returns whether all exist.
    /// Columns are computed in order, so that nothing is read twice. A cancelled call leaves its columns for
    /// the next one.
    fn fill_columns(&mut self, place: usize, deep: bool, pulse: &dyn RouteProgress) -> Result<bool, String> {
        let wanted = |at: &usize| self.timeline.is_comparable(*at) && !self.columns.contains_key(at);
        let missing: Vec<usize> = (self.oldest_column(place)..place).filter(wanted).collect();
        let samples = self.pinned.values().next().map_or(1, |sweep| sweep.samples.len().max(1));
        let once = if deep { usize::MAX } else { FILL_SAMPLES / samples };
        // The latest columns are computed first, because they are shown first.
        for at in missing.iter().skip(missing.len().saturating_sub(once)) {
            if pulse.is_cancelled() {
                return Err(CANCELLED.to_owned());
            }
            self.add_history_column(*at);
        }
        Ok(missing.len() <= once)
    }

    /// The history before a moment, as far as port ids are the same as there.
    fn history(&self, place: usize, size: (usize, usize)) -> PortHistory {
        let mut history = PortHistory::default();
        for at in self.oldest_column(place)..place {
            let at_ms = u64::try_from(self.elapsed[at]).unwrap_or(0);
            match self.columns.get(&at) {
                // A node appeared, and port ids have changed since.
                Some(column) if (column.nodes, column.levels.len()) != size => {
                    history = PortHistory::default();
                }
                Some(column) => history.push(at_ms, column.levels.clone()),
                None => history.push_gap(at_ms),
            }
        }
        if !self.timeline.is_comparable(place) {
            history.push_gap(u64::try_from(self.elapsed[place]).unwrap_or(0));
        }
        history
    }

    /// The sums of the fabric before a moment.
    fn totals(&self, place: usize) -> FabricHistory {
        let mut totals = FabricHistory::default();
        for (at, column) in self.columns.range(self.oldest_column(place).min(place)..place) {
            let at_ms = u64::try_from(self.elapsed[*at]).unwrap_or(0);
            totals.push(at_ms, column.seconds, &column.sums);
        }
        totals
    }

    fn sweep_before(&mut self, place: usize) -> Result<Arc<Sweep>, NoBaseline> {
        match place.checked_sub(1) {
            None => Err(NoBaseline::First),
            Some(_) if !self.timeline.is_comparable(place) => Err(NoBaseline::Gap),
            Some(before) => self.read_sweep(before).map_err(|_| NoBaseline::Damage),
        }
    }

    /// Moves to a moment or to the last readable one before it; also returns the damage of the requested
    /// moment.
    fn seek_readable(&mut self, likely: usize, wanted: usize) -> Result<(usize, Option<String>), String> {
        let shown = self.tape.show_until(likely);
        let (shown, met) =
            shown.map_err(|damage| damage.map_or_else(String::new, |damage| damage.to_string()))?;
        let known = self.timeline.damaged.get(&wanted).cloned();
        Ok((shown, known.or(met.map(|damage| damage.to_string()))))
    }

    fn make_frame(&mut self, seek: SeekRequest, pulse: &dyn RouteProgress) -> Result<ReplayFrame, String> {
        if self.timeline.times.is_empty() {
            return Err("no moment was recorded".to_owned());
        }
        let place = seek.place.min(self.timeline.times.len() - 1);
        if self.congestion != seek.congestion {
            self.columns.clear();
            self.congestion = seek.congestion;
        }
        // A moment that is known to be damaged is not tried again.
        let likely = (0..=place).rev().find(|at| !self.timeline.damaged.contains_key(at)).unwrap_or(place);
        let anchors = self.anchors(likely);
        self.pinned_sweep(anchors.0);
        self.pinned_sweep(anchors.1);
        let filled = self.fill_columns(likely, seek.deep, pulse)?;
        let (flows, chained) = self.flows_before(likely, seek.deep, pulse)?;
        let before = self.sweep_before(likely);
        let (shown, damage) = self.seek_readable(likely, place)?;
        let (begin, end) = if shown == likely { anchors } else { self.anchors(shown) };
        let before = if shown == likely { before } else { self.sweep_before(shown) };
        // Without a verdict, the snapshot shows the counters of the moment itself.
        let of = if before.is_err() { shown } else { self.timeline.series_start(shown) };
        let begun = (of, if of == shown { self.read_sweep(of).ok() } else { self.pinned_sweep(of) });
        self.tape.show_moment(shown).map_err(|damage| damage.to_string())?;
        let (look, after) = (self.read_snapshot(begun)?, self.cache_sweep(shown));
        let size = (look.fabric().nodes().len(), look.fabric().ports().len());
        let (history, totals) = (self.history(shown, size), self.totals(shown));
        let first = self.pinned_sweep(begin).unwrap_or_else(|| after.clone());
        let half = self.pinned_sweep(end).unwrap_or_else(|| after.clone());
        let ms = |place: usize| u64::try_from(self.elapsed[place]).unwrap_or(0);
        Ok(ReplayFrame {
            place,
            shown,
            damage,
            look,
            first,
            half,
            before,
            after,
            history,
            totals,
            flows: if shown == likely { flows } else { FlowHistory::default() },
            whole: filled && chained,
            sweeps: (shown + 1 - self.timeline.series_start(shown)) as u64,
            at_ms: ms(shown),
            since_ms: ms(self.timeline.series_start(shown)),
        })
    }
}

impl<B: ByteSource + Clone + Send + 'static> FrameSource for ReplayFrames<B> {
    fn open_recording(&mut self) -> Result<Option<OpenedRecording>, String> {
        let (timeline, make_snapshot) = (self.timeline.clone(), self.make_snapshot.clone());
        let scan = RecordingScan::new(EventDeriver::new(self.tape.reopen(), timeline.clone(), make_snapshot));
        Ok(Some(OpenedRecording { timeline, place: self.opened_at, scan: Some(scan) }))
    }

    fn seek_frame(&mut self, seek: SeekRequest, pulse: &dyn RouteProgress) -> Result<ReplayFrame, String> {
        self.make_frame(seek, pulse)
    }
}
