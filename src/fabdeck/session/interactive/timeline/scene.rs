//! A moment of a recording, as a watch would have seen it: the snapshot, the sweeps for its verdict, and the
//! history of every port. It does not depend on the moments shown before.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::deriving::{Deriving, Scan};
use crate::session::Look;
use crate::session::interactive::watch::{History, KEPT, Levels, NOBODY, byte};
use fabdeck_fabric::counters::rates_of_sweeps;
use fabdeck_fabric::observe::{Observation, Sweep};
use fabdeck_files::capture::{Entry, Tape, Timeline, anchors};
use fabdeck_files::capture_format::{Bytes, Damage};
use fabdeck_routing::Pulse;

/// A request for a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seek {
    pub place: usize,
    /// Whether to compute the whole history, which may take long.
    pub deep: bool,
    /// The threshold of waiting.
    pub congestion: u64,
}

/// An opened recording, and the position at which it was opened.
#[derive(Clone, Debug)]
pub struct Unrolled {
    pub timeline: Arc<Timeline>,
    pub place: usize,
    /// The event scan.
    pub scan: Option<Scan>,
}

/// The reason why a moment has no verdict: there is no moment before it to compare with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alone {
    First,
    /// Nothing was recorded before it for some time, or another recording begins here.
    Gap,
    /// The moment before cannot be read.
    Damage,
}

/// A moment of a recording.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The requested moment, and in the next field the one that this is: the last readable one.
    pub place: usize,
    pub shown: usize,
    /// The reason why these differ.
    pub damage: Option<String>,
    pub look: Arc<Look>,
    /// The baseline of error rates; `half` becomes the next baseline.
    pub first: Arc<Sweep>,
    pub half: Arc<Sweep>,
    pub before: Result<Arc<Sweep>, Alone>,
    pub after: Arc<Sweep>,
    /// The history without this moment.
    pub history: History,
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
pub trait Recorded {
    /// Opens the recording; `None` where there is none.
    fn unroll(&mut self) -> Result<Option<Unrolled>, String>;

    /// Adds an entry of the operator, at this time after the last sweep. A read-only recording ignores it.
    fn enter(&mut self, _after: Duration, _entry: &Entry) {}

    /// The whole recording as the bytes of a capture, or the reason why there is none.
    fn whole(&mut self) -> Result<Vec<u8>, String> {
        Err("nothing of it is recorded".to_owned())
    }

    /// Reads a moment. A cancelled read ends early with an error that is not reported.
    fn seek(&mut self, seek: Seek, pulse: &dyn Pulse) -> Result<Scene, String>;
}

/// A source without a recording.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unrecorded;

impl Recorded for Unrecorded {
    fn unroll(&mut self) -> Result<Option<Unrolled>, String> {
        Ok(None)
    }

    fn seek(&mut self, _: Seek, _: &dyn Pulse) -> Result<Scene, String> {
        Err("there is no recording".to_owned())
    }
}

/// Number of samples that a request without the whole history reads at most.
const AT_ONCE: usize = 64_000;
/// Maximum number of samples of cached sweeps; the next constant limits the bytes of history.
const SAMPLES: usize = 1_000_000;
const COLUMNS: usize = 64 << 20;

/// The error of a cancelled read.
pub const CANCELLED: &str = "cancelled";

/// Makes a snapshot of an observation, with the operator's names and assumed tables.
pub type Looking = Arc<dyn Fn(Observation) -> Result<Look, String> + Send + Sync>;

/// The moments of a recording, with a cache of the latest ones.
pub struct Scenes<B> {
    tape: Tape<B>,
    timeline: Arc<Timeline>,
    opened_at: usize,
    looking: Looking,
    /// Milliseconds since the first moment, for each moment.
    elapsed: Vec<i64>,
    sweeps: BTreeMap<usize, Arc<Sweep>>,
    /// Sweeps that many moments are compared with.
    pinned: BTreeMap<usize, Arc<Sweep>>,
    /// History columns, computed with the threshold `congestion`.
    columns: BTreeMap<usize, (usize, Levels)>,
    congestion: u64,
    /// The snapshot of a state, with the state and the moment of its counters.
    look: Option<(Option<usize>, usize, Arc<Look>)>,
}

impl<B> std::fmt::Debug for Scenes<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scenes")
    }
}

impl<B: Bytes> Scenes<B> {
    pub fn new(mut tape: Tape<B>, opened_at: usize, looking: Looking) -> Self {
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
            looking,
            elapsed,
            sweeps,
            pinned,
            columns,
            congestion: 0,
            look: None,
        }
    }

    /// Reads a sweep, or returns the damage. The reader is then at this moment, unless the sweep was cached.
    fn sweep(&mut self, place: usize) -> Result<Arc<Sweep>, Damage> {
        if let Some(kept) = self.sweeps.get(&place).or_else(|| self.pinned.get(&place)) {
            return Ok(kept.clone());
        }
        self.tape.show(place)?;
        Ok(self.keep(place))
    }

    /// Caches the sweep at the position of the reader.
    fn keep(&mut self, place: usize) -> Arc<Sweep> {
        let sweep = Arc::new(self.tape.sweep());
        let most = (SAMPLES / sweep.samples.len().max(1)).max(4);
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
        anchors(self.timeline.series(place), &self.elapsed[..=place])
    }

    /// Reads and pins a sweep that many moments are compared with.
    fn pin(&mut self, place: usize) -> Option<Arc<Sweep>> {
        const MOST: usize = 8;
        let sweep = self.sweep(place).ok()?;
        if self.pinned.len() >= MOST && !self.pinned.contains_key(&place) {
            self.pinned.clear();
        }
        self.pinned.insert(place, sweep.clone());
        Some(sweep)
    }

    /// The snapshot at the position of the reader. Its counters are those with which a watch would have
    /// begun, for ports that no longer answer.
    fn look(&mut self, (of, begun): (usize, Option<Arc<Sweep>>)) -> Result<Arc<Look>, String> {
        let state = self.tape.state();
        if let Some((same, counters, look)) = &self.look
            && (*same, *counters) == (state, of)
        {
            return Ok(look.clone());
        }
        let mut observation = self.tape.observation();
        observation.counters = begun.map(|sweep| sweep.samples.clone()).unwrap_or_default();
        let mut look = (self.looking)(observation)?;
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

    /// The history column at the position of the reader: the levels of every port.
    fn column(&mut self, place: usize) -> Option<Levels> {
        if !self.timeline.follows(place) {
            return None;
        }
        let (Ok(before), Ok(after)) = (self.sweep(place - 1), self.sweep(place)) else { return None };
        self.tape.show(place).ok()?;
        let ticks = self.tape.ticks().clone();
        let fabric = self.tape.fabric();
        let mut levels = vec![NOBODY; fabric.ports().len()];
        for port in &rates_of_sweeps(fabric, &before, &after).with_ticks(fabric, &ticks).ports {
            levels[port.port.index()] = byte(port, self.congestion as f64);
        }
        let nodes = fabric.nodes().len();
        let levels: Levels = levels.into();
        self.keep_column(place, nodes, levels.clone());
        Some(levels)
    }

    fn keep_column(&mut self, place: usize, nodes: usize, levels: Levels) {
        let most = (COLUMNS / levels.len().max(1)).max(2 * KEPT);
        while self.columns.len() >= most {
            let ends = [self.columns.first_key_value(), self.columns.last_key_value()];
            let far = ends.into_iter().flatten().map(|(at, _)| *at).max_by_key(|at| at.abs_diff(place));
            far.and_then(|far| self.columns.remove(&far));
        }
        self.columns.insert(place, (nodes, levels));
    }

    /// The first history column before a moment; the column of the moment itself is the latest of the maximum
    /// number.
    fn oldest(&self, place: usize) -> usize {
        (self.timeline.series(place) + 1).max((place + 1).saturating_sub(KEPT))
    }

    /// Computes the missing history columns before a moment, or some of them; returns whether all exist.
    /// Columns are computed in order, so that nothing is read twice. A cancelled call leaves its columns for
    /// the next one.
    fn fill(&mut self, place: usize, deep: bool, pulse: &dyn Pulse) -> Result<bool, String> {
        let wanted = |at: &usize| self.timeline.follows(*at) && !self.columns.contains_key(at);
        let missing: Vec<usize> = (self.oldest(place)..place).filter(wanted).collect();
        let samples = self.pinned.values().next().map_or(1, |sweep| sweep.samples.len().max(1));
        let once = if deep { usize::MAX } else { AT_ONCE / samples };
        // The latest columns are computed first, because they are shown first.
        for at in missing.iter().skip(missing.len().saturating_sub(once)) {
            if pulse.cancelled() {
                return Err(CANCELLED.to_owned());
            }
            self.column(*at);
        }
        Ok(missing.len() <= once)
    }

    /// The history before a moment, as far as port ids are the same as there.
    fn history(&self, place: usize, size: (usize, usize)) -> History {
        let mut history = History::default();
        for at in self.oldest(place)..place {
            let at_ms = u64::try_from(self.elapsed[at]).unwrap_or(0);
            match self.columns.get(&at) {
                // A node appeared, and port ids have changed since.
                Some((nodes, levels)) if (*nodes, levels.len()) != size => history = History::default(),
                Some((_, levels)) => history.push(at_ms, levels.clone()),
                None => history.gap(at_ms),
            }
        }
        if !self.timeline.follows(place) {
            history.gap(u64::try_from(self.elapsed[place]).unwrap_or(0));
        }
        history
    }

    fn before(&mut self, place: usize) -> Result<Arc<Sweep>, Alone> {
        match place.checked_sub(1) {
            None => Err(Alone::First),
            Some(_) if !self.timeline.follows(place) => Err(Alone::Gap),
            Some(before) => self.sweep(before).map_err(|_| Alone::Damage),
        }
    }

    /// Moves to a moment or to the last readable one before it; also returns the damage of the requested
    /// moment.
    fn settle(&mut self, likely: usize, wanted: usize) -> Result<(usize, Option<String>), String> {
        let shown = self.tape.show_until(likely);
        let (shown, met) =
            shown.map_err(|damage| damage.map_or_else(String::new, |damage| damage.to_string()))?;
        let known = self.timeline.damaged.get(&wanted).cloned();
        Ok((shown, known.or(met.map(|damage| damage.to_string()))))
    }

    fn scene(&mut self, seek: Seek, pulse: &dyn Pulse) -> Result<Scene, String> {
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
        self.pin(anchors.0);
        self.pin(anchors.1);
        let whole = self.fill(likely, seek.deep, pulse)?;
        let before = self.before(likely);
        let (shown, damage) = self.settle(likely, place)?;
        let (begin, end) = if shown == likely { anchors } else { self.anchors(shown) };
        let before = if shown == likely { before } else { self.before(shown) };
        // Without a verdict, the snapshot shows the counters of the moment itself.
        let of = if before.is_err() { shown } else { self.timeline.series(shown) };
        let begun = (of, if of == shown { self.sweep(of).ok() } else { self.pin(of) });
        self.tape.show(shown).map_err(|damage| damage.to_string())?;
        let (look, after) = (self.look(begun)?, self.keep(shown));
        let size = (look.fabric().nodes().len(), look.fabric().ports().len());
        let history = self.history(shown, size);
        let first = self.pin(begin).unwrap_or_else(|| after.clone());
        let half = self.pin(end).unwrap_or_else(|| after.clone());
        let ms = |place: usize| u64::try_from(self.elapsed[place]).unwrap_or(0);
        Ok(Scene {
            place,
            shown,
            damage,
            look,
            first,
            half,
            before,
            after,
            history,
            whole,
            sweeps: (shown + 1 - self.timeline.series(shown)) as u64,
            at_ms: ms(shown),
            since_ms: ms(self.timeline.series(shown)),
        })
    }
}

impl<B: Bytes + Clone + Send + 'static> Recorded for Scenes<B> {
    fn unroll(&mut self) -> Result<Option<Unrolled>, String> {
        let (timeline, looking) = (self.timeline.clone(), self.looking.clone());
        let scan = Scan::new(Deriving::new(self.tape.again(), timeline.clone(), looking));
        Ok(Some(Unrolled { timeline, place: self.opened_at, scan: Some(scan) }))
    }

    fn seek(&mut self, seek: Seek, pulse: &dyn Pulse) -> Result<Scene, String> {
        self.scene(seek, pulse)
    }
}
