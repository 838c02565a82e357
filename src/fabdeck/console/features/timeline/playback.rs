//! The position in a recording, and playback.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::derivation::Derivation;
use super::pause_state::PausedWatch;
use crate::console::model::tasks::TaskId;
use crate::operations::replay::changed_words::{ComparedChange, name_changes};
use crate::operations::replay::replay_frame::SeekRequest;
use crate::operations::watch::fabric_history::FabricHistory;
use crate::operations::watch::history_clock::HistoryClock;
use fabdeck_files::capture::{Cursor, Timeline, TimelineEntry, TimelineEvent, TimelineMoments};
use fabdeck_files::capture_format::{AcknowledgementRecord, Annotation};

/// What the cursor points at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlaybackPosition {
    Moment,
    /// The cursor is in a gap between these times; the screens show the moment before.
    Gap {
        from: i64,
        to: i64,
    },
    /// The moment is damaged, for the reason given; the screens show the last readable moment before it.
    Damage(String),
}

/// The speed of playback.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Speed {
    #[default]
    X1,
    X2,
    X5,
    X10,
    X60,
    /// Each moment follows as soon as the previous one is shown.
    Most,
}

impl Speed {
    const ALL: [Self; 6] = [Self::X1, Self::X2, Self::X5, Self::X10, Self::X60, Self::Most];

    /// The factor of the speed; `None` for the highest speed.
    pub fn factor(self) -> Option<u64> {
        match self {
            Self::X1 => Some(1),
            Self::X2 => Some(2),
            Self::X5 => Some(5),
            Self::X10 => Some(10),
            Self::X60 => Some(60),
            Self::Most => None,
        }
    }

    pub fn word(self) -> String {
        self.factor().map_or_else(|| "as fast as possible".to_owned(), |times| format!("{times}x"))
    }

    /// The next faster or slower speed; `None` at the end of the list.
    pub fn next(self, faster: bool) -> Option<Self> {
        let at = Self::ALL.iter().position(|speed| *speed == self)?;
        Self::ALL.get(if faster { at + 1 } else { at.checked_sub(1)? }).copied()
    }
}

/// A moment that is being read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PendingSeek {
    pub task: TaskId,
    pub seek: SeekRequest,
}

#[derive(Debug)]
pub struct Playback {
    pub cursor: Cursor<TimelineMoments>,
    pub position: PlaybackPosition,
    /// The moment on the screens.
    pub shown: Option<usize>,
    pub(super) pending: Option<PendingSeek>,
    /// The moment to read next; only the latest request is stored.
    pub(super) wanted: Option<usize>,
    /// Time of the next moment, during playback.
    pub(super) due_ms: Option<u64>,
    pub speed: Speed,
    pub bookmarks: BTreeSet<usize>,
    /// The paused watch.
    pub live: Option<Box<PausedWatch>>,
    /// Time from the start of the session to the first moment, in milliseconds.
    pub(super) base_ms: u64,
    /// Events that are not in the recording: entries during the pause, and events derived from counters.
    more: Vec<TimelineEntry>,
    /// The event scan.
    pub derivation: Option<Derivation>,
    /// Number of changes of damage, bookmarks or events, for cached lists.
    pub changed: u64,
    /// The times of bookmarks that annotations set, by their moments.
    annotated: Vec<(usize, i64)>,
    /// The acknowledgements that count.
    acknowledged: Arc<Vec<AcknowledgementRecord>>,
    /// Milliseconds from the first moment to each one.
    elapsed: Vec<u64>,
    /// The sums of all intervals that the event scan has read.
    pub(super) totals: FabricHistory,
}

/// Number of intervals of a recording whose sums are kept one by one.
const KEPT_INTERVALS: usize = 7200;

impl Playback {
    pub fn new(timeline: Arc<Timeline>, place: usize) -> Self {
        let mut passed = 0u64;
        let mut elapsed: Vec<u64> = Vec::with_capacity(timeline.times.len());
        for (place, time) in timeline.times.iter().enumerate() {
            let before = place.checked_sub(1).map_or(*time, |before| timeline.times[before]);
            passed = passed.saturating_add(u64::try_from(time.saturating_sub(before)).unwrap_or(0));
            elapsed.push(passed);
        }
        let annotated: Vec<(usize, i64)> = timeline.happened.iter().filter_map(bookmark_of).collect();
        let acknowledged = Arc::new(timeline.acknowledgements());
        let mut cursor = Cursor::new(TimelineMoments::new(timeline));
        cursor.seek_place(place);
        Self {
            cursor,
            position: PlaybackPosition::Moment,
            shown: None,
            pending: None,
            wanted: None,
            due_ms: None,
            speed: Speed::default(),
            bookmarks: annotated.iter().map(|(place, _)| *place).collect(),
            annotated,
            acknowledged,
            live: None,
            base_ms: 0,
            more: Vec::new(),
            derivation: None,
            changed: 0,
            elapsed,
            totals: FabricHistory::with_readings(KEPT_INTERVALS),
        }
    }

    /// The time of a moment by the clock of the session.
    pub fn at_ms(&self, place: usize) -> u64 {
        self.base_ms.saturating_add(self.elapsed.get(place).copied().unwrap_or(0))
    }

    /// Time from the first moment to the last.
    pub fn span_ms(&self) -> u64 {
        self.elapsed.last().copied().unwrap_or(0)
    }

    /// The last moment up to a time of the session, or the first one.
    pub fn place_at(&self, at_ms: u64) -> usize {
        let passed = at_ms.saturating_sub(self.base_ms);
        self.elapsed.partition_point(|elapsed| *elapsed <= passed).saturating_sub(1)
    }

    /// The clock of the recorder, at the moment of the cursor.
    pub fn clock(&self) -> Option<HistoryClock> {
        let (timeline, place) = (self.timeline(), self.place());
        Some(HistoryClock {
            at_ms: i64::try_from(self.at_ms(place)).unwrap_or(i64::MAX),
            unix_ms: *timeline.times.get(place)?,
            utc_offset_s: timeline.utc_offset_s,
        })
    }

    /// The sums over the whole recording, once they are known: those of the watch before a pause, or those of the event
    /// scan.
    pub fn whole_totals(&self) -> Option<&FabricHistory> {
        let totals = match &self.live {
            Some(live) => &live.watch.totals,
            None => {
                self.derivation.as_ref().filter(|one| one.done >= self.elapsed.len()).map(|_| &self.totals)?
            }
        };
        totals.latest().map(|_| totals)
    }

    /// Adds what the ranking found at a time.
    pub fn set_problems(&mut self, at_ms: u64, lost_pairs: Option<f64>, critical: f64, warnings: f64) {
        let live = self.live.as_mut().map(|live| &mut live.watch.totals);
        live.unwrap_or(&mut self.totals).set_problems(at_ms, lost_pairs, critical, warnings);
    }

    pub fn timeline(&self) -> &Arc<Timeline> {
        &self.cursor.store().timeline
    }

    /// All known events, without bookmarks.
    pub fn entries(&self) -> impl Iterator<Item = &TimelineEntry> {
        let is_bookmark = |entry: &&TimelineEntry| bookmark_of(entry).is_some();
        self.timeline().happened.iter().filter(move |entry| !is_bookmark(entry)).chain(&self.more)
    }

    /// The times of the moments with bookmarks.
    pub(super) fn bookmark_times(&self) -> BTreeSet<i64> {
        self.bookmarks.iter().filter_map(|place| self.timeline().times.get(*place).copied()).collect()
    }

    /// Sets bookmarks at the moments with these times, if they exist.
    pub(super) fn set_bookmarks(&mut self, times: &BTreeSet<i64>) {
        let place = |time: &i64| self.timeline().times.iter().position(|other| other == time);
        let own: Vec<usize> = times.iter().filter_map(place).collect();
        self.bookmarks.extend(own);
    }

    /// The time of a bookmark at a moment, by the recorder's clock: that of the annotation that set it, or that of the
    /// moment.
    pub(super) fn bookmark_time(&self, place: usize) -> i64 {
        let own = self.annotated.iter().find(|(own, _)| *own == place).map(|(_, at)| *at);
        own.or_else(|| self.timeline().times.get(place).copied()).unwrap_or(0)
    }

    /// Adds an annotation whose time the recording has, unless it has it already.
    pub(super) fn add_annotation(&mut self, annotation: Annotation) {
        let times = &self.timeline().times;
        let is_inside = times.first().is_some_and(|first| *first <= annotation.at)
            && times
                .last()
                .is_some_and(|last| annotation.at <= last.saturating_add(self.timeline().longest_step));
        if !is_inside || annotation.removed {
            return;
        }
        let place = times.iter().rposition(|time| *time <= annotation.at).unwrap_or(0);
        if annotation.is_bookmark() {
            if self.bookmarks.insert(place) {
                self.annotated.push((place, annotation.at));
                self.changed += 1;
            }
            return;
        }
        let same = |entry: &TimelineEntry| match &entry.event {
            TimelineEvent::Annotation(other) => other.at == annotation.at && other.text == annotation.text,
            TimelineEvent::Note(text) => Some(text) == annotation.text.as_ref() && entry.place == place,
            _ => false,
        };
        if !self.entries().any(same) {
            self.add_entries([note_entry(place, annotation)]);
        }
    }

    /// The acknowledgements of the recording that count.
    pub fn acknowledged(&self) -> &Arc<Vec<AcknowledgementRecord>> {
        &self.acknowledged
    }

    /// Adds an acknowledgement, or that it is taken back, at the cursor.
    pub fn add_acknowledgement(&mut self, record: AcknowledgementRecord) {
        let known = self.acknowledged.iter().cloned();
        self.acknowledged = Arc::new(AcknowledgementRecord::in_force(known.chain([record.clone()])));
        let event = TimelineEvent::Acknowledgement(record);
        self.add_entries([TimelineEntry { place: self.place(), time: self.time(), event }]);
    }

    /// Names the changes of the recording that were compared.
    pub(super) fn name_changes(&mut self, changes: &[ComparedChange]) {
        if changes.is_empty() {
            return;
        }
        let timeline = Arc::make_mut(&mut self.cursor.store_mut().timeline);
        name_changes(&mut timeline.happened, changes);
        for change in changes.iter().filter(|change| change.text.is_none()) {
            if timeline.happened.iter().all(|entry| entry.place != change.place) {
                timeline.eventful.remove(&change.place);
            }
        }
        self.changed += 1;
    }

    pub(super) fn add_entries(&mut self, more: impl IntoIterator<Item = TimelineEntry>) {
        for happened in more {
            self.cursor.store_mut().more.insert(happened.place);
            self.more.push(happened);
            self.changed += 1;
        }
    }

    pub fn place(&self) -> usize {
        self.cursor.place()
    }

    /// Milliseconds from the previous moment to the one on the screens, where both can be compared.
    pub fn step_ms(&self) -> Option<u64> {
        let (timeline, shown) = (self.timeline(), self.shown?);
        let step = timeline.times.get(shown)?.saturating_sub(*timeline.times.get(shown.checked_sub(1)?)?);
        u64::try_from(step).ok().filter(|step| *step > 0 && timeline.is_comparable(shown))
    }

    /// Whether the session returns to live; until then, no other moment can be shown.
    pub fn is_returning(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.is_returning())
    }

    pub fn is_playing(&self) -> bool {
        self.due_ms.is_some()
    }

    /// The time at the cursor; in a gap, the time of the moment before.
    pub fn time(&self) -> i64 {
        self.timeline().times.get(self.place()).copied().unwrap_or(0)
    }
}

/// The moment and the time of a bookmark in the recording.
fn bookmark_of(entry: &TimelineEntry) -> Option<(usize, i64)> {
    match &entry.event {
        TimelineEvent::Annotation(annotation) if annotation.is_bookmark() => {
            Some((entry.place, annotation.at))
        }
        _ => None,
    }
}

/// The entry of a note at its moment.
fn note_entry(place: usize, annotation: Annotation) -> TimelineEntry {
    TimelineEntry { place, time: annotation.at, event: TimelineEvent::Annotation(annotation) }
}

/// The time of the moment on the screens, for `--at`. `None` where a clock that was set back makes it
/// ambiguous, or no file has the moment.
pub fn frame_time(known: Option<&Playback>) -> Option<String> {
    let playback = known.filter(|playback| playback.live.is_none())?;
    let (timeline, shown) = (playback.timeline(), playback.shown?);
    let time = *timeline.times.get(shown)?;
    let latest = timeline.times.iter().enumerate().filter(|(_, other)| **other <= time);
    let meant = latest.max_by_key(|(at, other)| (**other, *at)).map(|(at, _)| at);
    (meant == Some(shown)).then(|| timeline.time_spec_text(time))
}
