//! The timeline of a capture: moments, the events between them, and damage. It holds no snapshots.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use super::cursor::MomentStore;
use crate::capture_format::{AcknowledgementRecord, Annotation, OperatorAction};
use fabdeck_fabric::counters::ERROR_WINDOW;
use fabdeck_fabric::observe::FabricEvent;

/// An event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TimelineEvent {
    /// A difference that a sweep found.
    News(FabricEvent),
    /// An operator's note.
    Note(String),
    /// An operator's action.
    Action(OperatorAction),
    /// A note or a bookmark that an operator left at this time.
    Annotation(Annotation),
    /// A problem that an operator acknowledged, or no longer does.
    Acknowledgement(AcknowledgementRecord),
    /// A result of counters, derived from the recording; recorders do not write it.
    Derived(DerivedEvent),
    /// The fabric, its tables or its names changed, and no news says how.
    Changed,
    /// News of a later version of fabdeck, by its name.
    Later(String),
    /// The recorder's clock was set back, by this many milliseconds.
    SetBack(i64),
    /// Number of notes, actions and news beyond the list's limit.
    LeftOut(usize),
}

/// A condition above a threshold began or ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DerivedEvent {
    pub label: &'static str,
    pub text: String,
    /// Whether the condition began and needs attention.
    pub began: bool,
}

/// An event, and the moment that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimelineEntry {
    pub place: usize,
    pub time: i64,
    pub event: TimelineEvent,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Timeline {
    /// The file, as the operator named it.
    pub name: String,
    /// The source that was recorded.
    pub source: String,
    pub interval_ms: u64,
    pub utc_offset_s: i32,
    /// Times of the moments, by the recorder's clock.
    pub times: Vec<i64>,
    /// The longest time between two moments that is no gap.
    pub longest_step: i64,
    /// Sorted by moment.
    pub happened: Vec<TimelineEntry>,
    /// Moments with events.
    pub eventful: BTreeSet<usize>,
    /// Unreadable moments, with the reason.
    pub damaged: BTreeMap<usize, String>,
    /// Moments before which frames are lost, or another recording begins.
    pub broken: BTreeSet<usize>,
    /// Whether the capture has its end and is not cut short.
    pub ended: bool,
}

impl Timeline {
    /// The earliest and the latest time; these need not be those of the first and the last moment.
    pub fn span(&self) -> Option<(i64, i64)> {
        self.times.iter().min().copied().zip(self.times.iter().max().copied())
    }

    /// Whether the moment follows a gap.
    pub fn has_gap_before(&self, place: usize) -> bool {
        let step = |before: usize| self.times[place].saturating_sub(self.times[before]);
        place < self.times.len()
            && place.checked_sub(1).is_some_and(|before| step(before) > self.longest_step)
    }

    /// Whether a moment can be compared with the moment before.
    pub fn is_comparable(&self, place: usize) -> bool {
        place > 0 && !self.has_gap_before(place) && !self.broken.contains(&place)
    }

    /// The first moment of the recording that a moment belongs to.
    pub fn series_start(&self, place: usize) -> usize {
        self.broken.range(..=place).next_back().copied().unwrap_or(0)
    }

    /// Milliseconds from the first moment to another; steps of the clock back count as zero.
    pub fn elapsed(&self, place: usize) -> i64 {
        let times = &self.times[..self.times.len().min(place.saturating_add(1))];
        times.windows(2).map(|pair| pair[1].saturating_sub(pair[0]).max(0)).fold(0, i64::saturating_add)
    }

    /// The acknowledgements that count.
    pub fn acknowledgements(&self) -> Vec<AcknowledgementRecord> {
        let record = |entry: &TimelineEntry| match &entry.event {
            TimelineEvent::Acknowledgement(record) => Some(record.clone()),
            _ => None,
        };
        AcknowledgementRecord::in_force(self.happened.iter().filter_map(record))
    }

    fn zone(&self) -> TimeZone {
        TimeZone::fixed(Offset::from_seconds(self.utc_offset_s).unwrap_or(Offset::UTC))
    }

    fn format_time(&self, time: i64, format: &str) -> String {
        let zoned = Timestamp::from_millisecond(time).map(|time| time.to_zoned(self.zone()));
        zoned.map_or_else(|_| format!("{time} ms"), |time| time.strftime(format).to_string())
    }

    /// Time of day, by the recorder's clock.
    pub fn clock_text(&self, time: i64) -> String {
        self.format_time(time, "%H:%M:%S")
    }

    /// The same with milliseconds.
    pub fn exact_clock_text(&self, time: i64) -> String {
        self.format_time(time, "%H:%M:%S%.3f")
    }

    pub fn date_text(&self, time: i64) -> String {
        self.format_time(time, "%Y-%m-%d")
    }

    /// A time in the form that `--at` accepts.
    pub fn time_spec_text(&self, time: i64) -> String {
        self.format_time(time, "%Y-%m-%dT%H:%M:%S%.3f%:z")
    }
}

/// The moment that errors are counted from at the last of these moments, and the next such moment: as for a watch that
/// began with the recording. `elapsed` has milliseconds from the first moment.
pub fn error_anchors(series: usize, elapsed: &[i64]) -> (usize, usize) {
    let (mut first, mut half) = (series, series);
    let anchor = i64::try_from(ERROR_WINDOW.as_millis()).unwrap_or(i64::MAX);
    for at in series..elapsed.len() {
        if elapsed[at].saturating_sub(elapsed[half]) >= anchor {
            (first, half) = (half, at);
        }
    }
    (first, half)
}

/// The moments of a timeline for a cursor; reading one only checks whether it is readable.
#[derive(Clone, Debug)]
pub struct TimelineMoments {
    pub timeline: Arc<Timeline>,
    /// Damage found when a moment was read.
    pub met: BTreeMap<usize, String>,
    /// Moments with events that are not in the timeline.
    pub more: BTreeSet<usize>,
}

impl TimelineMoments {
    pub fn new(timeline: Arc<Timeline>) -> Self {
        Self { timeline, met: BTreeMap::new(), more: BTreeSet::new() }
    }

    pub fn damage(&self, place: usize) -> Option<&String> {
        self.timeline.damaged.get(&place).or_else(|| self.met.get(&place))
    }
}

impl MomentStore for TimelineMoments {
    type Moment = usize;
    type Damage = String;

    fn len(&self) -> usize {
        self.timeline.times.len()
    }

    fn time(&self, at: usize) -> i64 {
        self.timeline.times[at]
    }

    fn is_eventful(&self, at: usize) -> bool {
        self.timeline.eventful.contains(&at) || self.more.contains(&at)
    }

    fn longest_step(&self) -> i64 {
        self.timeline.longest_step
    }

    fn read(&mut self, at: usize) -> Result<usize, String> {
        self.damage(at).map_or(Ok(at), |damage| Err(damage.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_counts_start_at_the_beginning_and_later_half_an_hour_to_an_hour_back() {
        let elapsed: Vec<i64> = (0..10).map(|at| at * 1_000_000).collect();
        let anchors: Vec<(usize, usize)> = (0..10).map(|at| error_anchors(0, &elapsed[..=at])).collect();
        let wanted = [(0, 0), (0, 0), (0, 2), (0, 2), (2, 4), (2, 4), (4, 6), (4, 6), (6, 8), (6, 8)];
        assert_eq!(anchors, wanted);
        // Another recording begins with the sixth moment.
        assert_eq!(error_anchors(5, &elapsed[..=6]), (5, 5));
        assert_eq!(error_anchors(5, &elapsed[..=8]), (5, 7));
    }

    #[test]
    fn gaps_breaks_and_clocks_that_step_back() {
        let timeline = Timeline {
            times: vec![1000, 2000, 1500, 2500, 90_000],
            longest_step: 3000,
            broken: [2].into(),
            utc_offset_s: 3600,
            ..Timeline::default()
        };
        assert_eq!([0, 1, 2, 3, 4].map(|at| timeline.is_comparable(at)), [false, true, false, true, false]);
        assert_eq!([0, 1, 3, 4].map(|at| timeline.series_start(at)), [0, 0, 2, 2]);
        assert_eq!([0, 1, 2, 3, 4, 9].map(|at| timeline.elapsed(at)), [0, 1000, 1000, 2000, 89_500, 89_500]);
        assert_eq!(timeline.span(), Some((1000, 90_000)));
        assert_eq!(
            (timeline.clock_text(90_000), timeline.exact_clock_text(1500)),
            ("01:01:30".into(), "01:00:01.500".into())
        );
        assert_eq!(timeline.time_spec_text(1500), "1970-01-01T01:00:01.500+01:00");
    }
}
