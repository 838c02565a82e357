//! Events that are derived from the counters of a recording, by the functions that judge a live watch.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::changed_words::{ComparedChange, changed_words};
use super::replay_frame::{CANCELLED, SnapshotMaker};
use crate::catalogue::snapshot::Snapshot;
use crate::operations::watch::fabric_events::fabric_event_label;
use crate::operations::watch::fabric_history::IntervalSums;
use crate::operations::watch::interval_verdict::{HOT_LABEL, error_span_words, hot_words, link_words};
use crate::operations::watch::threshold_events::{
    ThresholdEvent, ThresholdState, bottleneck_words, ended_words, threshold_events,
};
use fabdeck_fabric::counters::{
    ERROR_WINDOW, HotSpot, LinkProblem, LinkProblemKind, Thresholds, find_hot_spots, link_problems,
    rates_of_sweeps,
};
use fabdeck_fabric::observe::Sweep;
use fabdeck_files::capture::{DerivedEvent, RecordingPlayer, Timeline, TimelineEntry, TimelineEvent};
use fabdeck_files::capture_format::ByteSource;
use fabdeck_routing::RouteProgress;

/// Number of samples in one part.
pub(crate) const SAMPLES_PER_PART: usize = 64_000;

/// Maximum number of events.
pub(crate) const MAX_EVENTS: usize = 50_000;

/// The events of one part, and the number of moments that are done.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DerivedPart {
    pub happened: Vec<TimelineEntry>,
    /// What differs at moments where the recorder says that something changed.
    pub changes: Vec<ComparedChange>,
    /// The sums of its intervals, for charts of the whole recording.
    pub intervals: Vec<RecordedInterval>,
    pub done: usize,
}

/// The sums of the interval that ends with a moment.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedInterval {
    /// Milliseconds from the first moment to this one.
    pub at_ms: u64,
    pub seconds: f64,
    pub sums: IntervalSums,
}

/// What a moment adds to a part.
#[derive(Debug, Default)]
pub(crate) struct ScannedMoment {
    pub happened: Vec<TimelineEntry>,
    pub change: Option<ComparedChange>,
    pub interval: Option<RecordedInterval>,
    /// Number of samples read.
    samples: usize,
}

/// Derives events from a recording.
pub trait EventScan: Send {
    fn derive_part(
        &mut self,
        thresholds: &Thresholds,
        pulse: &dyn RouteProgress,
    ) -> Result<DerivedPart, String>;
}

/// A shared event scan, which derives one part after the other.
#[derive(Clone)]
pub struct RecordingScan(pub(crate) Arc<Mutex<dyn EventScan>>);

impl std::fmt::Debug for RecordingScan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RecordingScan")
    }
}

impl RecordingScan {
    pub fn new(derives: impl EventScan + 'static) -> Self {
        Self(Arc::new(Mutex::new(derives)))
    }

    /// Derives the next part.
    pub fn derive_part(
        &self,
        thresholds: &Thresholds,
        pulse: &dyn RouteProgress,
    ) -> Result<DerivedPart, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).derive_part(thresholds, pulse)
    }
}

/// An event scan with its own reader of the recording, independent of the reader for steps.
pub(crate) struct EventDeriver<B> {
    pub(crate) tape: RecordingPlayer<B>,
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) make_snapshot: SnapshotMaker,
    pub(crate) next: usize,
    /// Milliseconds since the first moment.
    pub(crate) elapsed: i64,
    pub(crate) before: Option<Arc<Sweep>>,
    /// The baseline of error rates; `half` becomes the next baseline.
    pub(crate) first: Option<Arc<Sweep>>,
    pub(crate) half: (i64, Option<Arc<Sweep>>),
    pub(crate) above: ThresholdState,
    pub(crate) look: Option<(Option<usize>, Snapshot)>,
    /// The moments at which the recorder says that something changed, and the snapshot before the next one.
    changes: BTreeSet<usize>,
    unchanged: Option<Snapshot>,
}

impl<B: ByteSource> EventDeriver<B> {
    pub fn new(tape: RecordingPlayer<B>, timeline: Arc<Timeline>, make_snapshot: SnapshotMaker) -> Self {
        let is_change = |entry: &&TimelineEntry| entry.event == TimelineEvent::Changed;
        Self {
            tape,
            changes: timeline.happened.iter().filter(is_change).map(|entry| entry.place).collect(),
            timeline,
            make_snapshot,
            next: 0,
            elapsed: 0,
            before: None,
            first: None,
            half: (0, None),
            above: ThresholdState::default(),
            look: None,
            unchanged: None,
        }
    }

    /// Reads the sweep of a moment, if that is possible. It moves the error baseline in the same way as a
    /// watch.
    pub(crate) fn read_sweep(&mut self, place: usize) -> Option<Arc<Sweep>> {
        let times = &self.timeline.times;
        if let Some(before) = place.checked_sub(1) {
            self.elapsed = self.elapsed.saturating_add(times[place].saturating_sub(times[before]).max(0));
        }
        let whole = !self.timeline.damaged.contains_key(&place) && self.tape.show_moment(place).is_ok();
        let sweep = whole.then(|| Arc::new(self.tape.sweep()));
        let anchor = i64::try_from(ERROR_WINDOW.as_millis()).unwrap_or(i64::MAX);
        if place == 0 || self.timeline.broken.contains(&place) {
            self.first.clone_from(&sweep);
            self.half = (self.elapsed, sweep.clone());
        } else if self.elapsed.saturating_sub(self.half.0) >= anchor {
            self.first = std::mem::replace(&mut self.half, (self.elapsed, sweep.clone())).1;
        }
        sweep
    }

    /// Derives the events and the sums of a moment by comparison with the last moment that has a verdict.
    pub(crate) fn read_moment(
        &mut self,
        place: usize,
        thresholds: &Thresholds,
    ) -> Result<ScannedMoment, String> {
        let after = self.read_sweep(place);
        let change = self.read_change(place, after.is_some())?;
        let before =
            std::mem::replace(&mut self.before, after.clone()).filter(|_| self.timeline.is_comparable(place));
        let Some(after) = after else { return Ok(ScannedMoment { change, ..ScannedMoment::default() }) };
        let samples = after.samples.len();
        let mut scanned = ScannedMoment { change, samples, ..ScannedMoment::default() };
        let Some(before) = before else { return Ok(scanned) };
        let ticks = self.tape.ticks().clone();
        let fabric = self.tape.fabric();
        let rates = rates_of_sweeps(fabric, &before, &after).with_ticks(fabric, &ticks);
        scanned.interval = Some(RecordedInterval {
            at_ms: u64::try_from(self.elapsed).unwrap_or(0),
            seconds: after.began.saturating_sub(before.began).as_secs_f64(),
            sums: IntervalSums::new(fabric, &rates, &[]).with_counter_rates(
                fabric,
                &rates,
                [&before, &after],
            ),
        });
        let verdict = find_hot_spots(fabric, &rates, thresholds);
        let since = rates_of_sweeps(fabric, self.first.as_ref().unwrap_or(&after), &after).with_min_hour();
        let bad = link_problems(fabric, &since, thresholds);
        let above = ThresholdState::after(fabric, &verdict, &bad, &self.above);
        let turned = threshold_events(fabric, &verdict, &bad, &self.above, &above);
        self.above = above;
        if turned.is_empty() {
            return Ok(scanned);
        }
        let time = self.timeline.times[place];
        let span = error_span_words(self.watched_s());
        let look = self.read_snapshot()?;
        let words = |turn: &ThresholdEvent| TimelineEntry {
            place,
            time,
            event: TimelineEvent::Derived(derived_event(look, turn, thresholds, &span)),
        };
        scanned.happened = turned.iter().map(words).collect();
        Ok(scanned)
    }

    /// What changed with a moment, where the recorder says that something did and both snapshots can be read.
    fn read_change(&mut self, place: usize, is_read: bool) -> Result<Option<ComparedChange>, String> {
        let (here, next) = (self.changes.contains(&place), self.changes.contains(&(place + 1)));
        let before = self.unchanged.take().filter(|_| here && is_read);
        if !is_read || !(before.is_some() || next) {
            return Ok(None);
        }
        let after = self.read_snapshot()?;
        let text = before.map(|before| changed_words(&before, after));
        if next {
            self.unchanged = Some(after.clone());
        }
        Ok(text.map(|text| ComparedChange { place, text }))
    }

    /// Seconds from the baseline of error rates to this sweep.
    fn watched_s(&self) -> f64 {
        let (first, now) = (self.first.as_ref(), self.before.as_ref());
        first.zip(now).map_or(0.0, |(first, now)| now.began.saturating_sub(first.began).as_secs_f64())
    }

    /// The snapshot at the position of the reader, with the names of that time.
    pub(crate) fn read_snapshot(&mut self) -> Result<&Snapshot, String> {
        let state = self.tape.state();
        let held = self.look.take().filter(|(of, _)| *of == state);
        let (_, look) = match held {
            Some(held) => self.look.insert(held),
            None => {
                let look = (self.make_snapshot)(self.tape.observation())?;
                self.look.insert((state, look))
            }
        };
        Ok(look)
    }
}

pub(crate) fn derived_event(
    look: &Snapshot,
    turn: &ThresholdEvent,
    thresholds: &Thresholds,
    span: &str,
) -> DerivedEvent {
    let over = || ended_words(look, turn).unwrap_or_default();
    match turn {
        ThresholdEvent::Hot(HotSpot { at, adapter }) => {
            let text = hot_words(look, *adapter, at, thresholds.congestion);
            DerivedEvent { label: HOT_LABEL, text, began: true }
        }
        ThresholdEvent::Stuck { .. } => {
            let words = bottleneck_words(look, turn, thresholds.congestion);
            let (label, text) = words.unwrap_or_default();
            DerivedEvent { label, text, began: true }
        }
        ThresholdEvent::Free(way) => DerivedEvent { label: way.label(), text: over(), began: false },
        ThresholdEvent::Cooled(_) => DerivedEvent { label: HOT_LABEL, text: over(), began: false },
        ThresholdEvent::Bad(bad @ LinkProblem { why, .. }) => {
            let label = if matches!(why, LinkProblemKind::Flaps { .. }) { flap_text() } else { ERRORS_TEXT };
            DerivedEvent { label, text: link_words(look, bad, thresholds.limit_for(*why), span), began: true }
        }
        ThresholdEvent::Mended { flaps, .. } => {
            DerivedEvent { label: if *flaps { flap_text() } else { ERRORS_TEXT }, text: over(), began: false }
        }
    }
}

impl<B: ByteSource + Send> EventScan for EventDeriver<B> {
    fn derive_part(
        &mut self,
        thresholds: &Thresholds,
        pulse: &dyn RouteProgress,
    ) -> Result<DerivedPart, String> {
        let (mut part, mut left) = (DerivedPart::default(), SAMPLES_PER_PART);
        while self.next < self.timeline.times.len() {
            if pulse.is_cancelled() {
                return Err(CANCELLED.to_owned());
            }
            let scanned = self.read_moment(self.next, thresholds)?;
            part.happened.extend(scanned.happened);
            part.changes.extend(scanned.change);
            part.intervals.extend(scanned.interval);
            self.next += 1;
            // A moment without samples takes time as well.
            left = left.saturating_sub(scanned.samples.max(64));
            if left == 0 {
                break;
            }
        }
        Ok(DerivedPart { done: self.next, ..part })
    }
}

pub(crate) const ERRORS_TEXT: &str = "errors";

/// The label that a recorder uses for the same event.
pub(crate) fn flap_text() -> &'static str {
    fabric_event_label("link-flapped")
}
