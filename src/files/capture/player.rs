//! A recording for replay: its timeline, and any of its moments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::capture_file::FileBytes;
use super::capture_source::CaptureSource;
use super::cursor::MomentStore;
use super::moments::Moments;
use super::time_spec::TimeSpec;
use super::timeline::{Timeline, TimelineEntry, TimelineEvent};
use crate::capture_format::{Annotation, ByteSource, CaptureReader, CaptureRecord, Damage, flags};
use fabdeck_fabric::observe::{FabricEvent, Observation, Sweep, Ticks};
use fabdeck_fabric::{Fabric, Tables};
use fabdeck_mad::access::{NoObserver, ReadOptions, Source, SourceError};

/// Largest recording, in uncompressed bytes, whose frames are all checked before replay. In a larger one damage within
/// frames shows when they are read.
const MAX_CHECKED_BYTES: u64 = 64 << 20;

/// Most bytes of notes, actions and news in a timeline; events beyond are only counted.
const MAX_EVENT_BYTES: usize = 32 << 20;

/// Events of a recording, up to a limited size.
struct TimelineBuilder {
    happened: Vec<TimelineEntry>,
    room: usize,
    /// Number of notes, actions and news of the current moment beyond the limit.
    left_out: usize,
}

impl TimelineBuilder {
    /// Adds an event with the bytes of its text. After the first event beyond the limit all later ones are left out,
    /// so the list has no holes.
    fn add(&mut self, happened: TimelineEntry, words: usize) {
        let size = size_of::<TimelineEntry>() + words;
        self.room = self.room.saturating_sub(size);
        match self.room {
            0 => self.left_out += 1,
            _ => self.happened.push(happened),
        }
    }

    /// Ends a moment, and adds an event if some were left out.
    fn end_moment(&mut self, place: usize, time: i64) {
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            self.happened.push(TimelineEntry { place, time, event: TimelineEvent::LeftOut(left_out) });
        }
    }
}

#[derive(Debug)]
pub struct RecordingPlayer<B> {
    moments: Moments<B>,
}

impl RecordingPlayer<FileBytes> {
    /// Opens a capture on disk; returns the index of the moment at a time, otherwise of the last moment.
    pub fn open(path: &Path, at: Option<TimeSpec>) -> Result<(Self, usize), SourceError> {
        let mut source = CaptureSource::open(path, at)?;
        source.observe(ReadOptions::default(), &mut NoObserver)?;
        let (moments, place) = source.into_moments();
        Ok((Self { moments }, place))
    }
}

impl<B: ByteSource> RecordingPlayer<B> {
    pub fn from_reader(reader: CaptureReader<B>) -> Self {
        Self { moments: Moments::new(reader) }
    }

    /// Another view of the same recording, with a position of its own.
    pub fn reopen(&self) -> Self
    where
        B: Clone,
    {
        Self::from_reader(self.moments.reader.reopen())
    }

    fn reader(&mut self) -> &mut CaptureReader<B> {
        &mut self.moments.reader
    }

    /// Shows a moment.
    pub fn show_moment(&mut self, place: usize) -> Result<(), Damage> {
        self.moments.read(place)
    }

    /// Shows a moment, or the last readable one before it; returns its index and the first damage met.
    pub fn show_until(&mut self, place: usize) -> Result<(usize, Option<Damage>), Option<Damage>> {
        let (mut at, mut first) = (place, None);
        loop {
            match self.show_moment(at) {
                Ok(()) => return Ok((at, first)),
                Err(damage) => first = first.or(Some(damage)),
            }
            let Some(before) = at.checked_sub(1) else { return Err(first) };
            at = before;
        }
    }

    /// All counters at the moment shown.
    pub fn sweep(&mut self) -> Sweep {
        self.reader().state().last_sweep()
    }

    pub fn fabric(&mut self) -> &Fabric {
        &self.reader().state().fabric
    }

    /// The fabric with its tables at the moment shown; `None` where switches choose ports themselves.
    pub fn forwarding(&mut self) -> Option<(&Fabric, &Tables)> {
        let state = self.reader().state();
        state.adaptive.is_none().then_some((&state.fabric, &state.tables))
    }

    /// The ticks in which ports count waiting, at the moment shown.
    pub fn ticks(&mut self) -> &Ticks {
        &self.reader().state().ticks
    }

    /// The snapshot at the moment shown, without its time and counters.
    pub fn observation(&mut self) -> Observation {
        Observation { time: None, counters: Vec::new(), ..self.reader().observation() }
    }

    /// The frame in which everything but the counters changed last. Moments with the same frame have the same state.
    pub fn state(&mut self) -> Option<usize> {
        self.reader().state_frame()
    }

    pub fn timeline(&mut self) -> Timeline {
        let (times, longest_step) =
            ((0..self.moments.len()).map(|at| self.moments.time(at)).collect(), self.moments.longest_step());
        let mut happened = self.collect_events();
        drop_taken_back(&mut happened);
        happened.sort_by_key(|entry| entry.place);
        let (damaged, broken) = (self.damaged_moments(), self.broken_moments());
        let reader = &self.moments.reader;
        let header = reader.header();
        Timeline {
            name: reader.name().to_owned(),
            source: header.source.clone(),
            interval_ms: header.interval_ms,
            utc_offset_s: header.utc_offset_s,
            times,
            longest_step,
            eventful: happened.iter().map(|happened| happened.place).collect(),
            happened,
            damaged,
            broken,
            ended: reader.has_end(),
        }
    }

    /// Events of each moment; events after the last moment belong to it.
    fn collect_events(&mut self) -> Vec<TimelineEntry> {
        let slots: Vec<usize> = self.moments.reader.moments().to_vec();
        let mut builder = TimelineBuilder { happened: Vec::new(), room: MAX_EVENT_BYTES, left_out: 0 };
        let mut behind = None;
        for (place, slot) in slots.iter().copied().enumerate() {
            let time = self.moments.time(place);
            if let Some(before) = place.checked_sub(1).map(|before| self.moments.time(before))
                && before > time
            {
                let set_back = TimelineEvent::SetBack(before.saturating_sub(time));
                builder.happened.push(TimelineEntry { place, time, event: set_back });
            }
            let from = behind.map_or(0, |behind: usize| behind + 1);
            let to =
                if place + 1 == slots.len() { self.moments.reader.index().slots.len() } else { slot + 1 };
            self.collect_moment_events(place, from..to, &mut builder);
            builder.end_moment(place, time);
            behind = Some(slot);
        }
        builder.happened
    }

    fn collect_moment_events(
        &mut self,
        place: usize,
        slots: std::ops::Range<usize>,
        all: &mut TimelineBuilder,
    ) {
        let (mut moved, mut explained) = (None, false);
        for slot in slots {
            let lead = self.moments.reader.frame_slot(slot).lead;
            if lead.has_moved() {
                moved = Some(lead.time);
            }
            if !lead.has_flag(flags::EVENT) {
                continue;
            }
            // Damage is reported when the moment is read.
            for (time, record) in self.reader().read_events(slot).unwrap_or_default() {
                let (words, event) = match record {
                    CaptureRecord::Note(text) => (text.len(), TimelineEvent::Note(text)),
                    CaptureRecord::Action(acted) => {
                        let words = acted.what.len() + acted.command.as_ref().map_or(0, String::len);
                        (words, TimelineEvent::Action(acted))
                    }
                    CaptureRecord::Annotation(annotation) => {
                        let words = annotation.by.len() + annotation.text.as_ref().map_or(0, String::len);
                        let time = annotation.at;
                        let place = self.place_of(time, place);
                        let event = TimelineEvent::Annotation(annotation);
                        all.add(TimelineEntry { place, time, event }, words);
                        continue;
                    }
                    CaptureRecord::Acknowledgement(record) => {
                        let note = record.note.as_ref().map_or(0, String::len);
                        let words = record.problem.len() + record.by.len() + note;
                        (words, TimelineEvent::Acknowledgement(record))
                    }
                    // The JSON has at least as many bytes as the event made of it.
                    CaptureRecord::News(value) => (value.to_string().len(), parse_news(value)),
                    _ => continue,
                };
                explained |= !matches!(
                    event,
                    TimelineEvent::Note(_) | TimelineEvent::Action(_) | TimelineEvent::Acknowledgement(_)
                );
                all.add(TimelineEntry { place, time, event }, words);
            }
        }
        if let (Some(time), false) = (moved, explained) {
            all.happened.push(TimelineEntry { place, time, event: TimelineEvent::Changed });
        }
    }

    /// The last moment up to a time, at most this one: an annotation may be about an earlier moment.
    fn place_of(&self, time: i64, most: usize) -> usize {
        (0..=most).rev().find(|place| self.moments.time(*place) <= time).unwrap_or(0)
    }

    /// Moments whose frames, or frames that they depend on, are missing or unreadable.
    fn damaged_moments(&mut self) -> BTreeMap<usize, String> {
        let reader = self.reader();
        let slots = reader.index().slots.len();
        let raw: u64 = (0..slots).map(|slot| u64::from(reader.frame_slot(slot).lead.raw)).sum();
        let checked = if raw <= MAX_CHECKED_BYTES { slots } else { 0 };
        let bad: BTreeMap<usize, String> = (0..checked)
            .filter_map(|slot| Some((slot, reader.read_lines(slot, 0).err()?.to_string())))
            .collect();
        if bad.is_empty() && reader.index().holes.is_empty() {
            return BTreeMap::new();
        }
        let moments: Vec<usize> = reader.moments().to_vec();
        let damage = |(place, slot): (usize, usize)| match reader.needed_frames(slot) {
            Err(damage) => Some((place, damage.to_string())),
            Ok(frames) => frames.iter().find_map(|frame| Some((place, bad.get(frame)?.clone()))),
        };
        moments.into_iter().enumerate().filter_map(damage).collect()
    }

    /// Moments whose records do not follow those of the moment before.
    fn broken_moments(&self) -> BTreeSet<usize> {
        (1..self.moments.len()).filter(|place| !self.moments.is_unbroken(*place)).collect()
    }
}

/// Drops bookmarks that were taken back later.
fn drop_taken_back(happened: &mut Vec<TimelineEntry>) {
    let annotation = |entry: &TimelineEntry| match &entry.event {
        TimelineEvent::Annotation(annotation) => Some(annotation.clone()),
        _ => None,
    };
    let removals: Vec<(usize, Annotation)> = happened
        .iter()
        .enumerate()
        .filter_map(|(at, entry)| Some((at, annotation(entry).filter(|annotation| annotation.removed)?)))
        .collect();
    if removals.is_empty() {
        return;
    }
    let mut at = 0;
    happened.retain(|entry| {
        let own = at;
        at += 1;
        let Some(annotation) = annotation(entry) else { return true };
        !annotation.removed
            && !removals.iter().any(|(later, removal)| *later > own && removal.takes_back(&annotation))
    });
}

fn parse_news(value: serde_json::Value) -> TimelineEvent {
    let word = value.as_object().and_then(|object| object.keys().next().cloned());
    match serde_json::from_value::<FabricEvent>(value) {
        Ok(news) => TimelineEvent::News(news),
        Err(_) => TimelineEvent::Later(word.unwrap_or_default()),
    }
}
