//! Reads a capture at its moments, in any order, and holds one moment at a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use rayon::prelude::*;

use super::super::content::ends_early;
use super::frame::{LEAD_BYTES, Lead, MAX_FRAME_BYTES, flags, unpack};
use super::index::{ByteSource, FrameSlot, Hole, Index, IndexStatus};
use super::line::{CaptureHeader, CaptureRecord, NumberedRecord, ParsedLine, line_body};
use super::links::{Links, Lost, StateFrames};
use super::state::CaptureState;
use crate::FileError;
use fabdeck_fabric::observe::{FabricEvent, NotePlace, Notes, Observation, digits_in_groups};

const STATE: u32 = flags::STATE_WHOLE | flags::STATE_MOVED;

/// Most frames that are unpacked in parallel, and most bytes of their lines, because they are in memory together. A
/// single frame may have as many bytes.
const MAX_PARALLEL_FRAMES: usize = 16;
const MAX_PARALLEL_BYTES: usize = MAX_FRAME_BYTES;
/// Fewest bytes of lines that are worth sharing among threads.
const MIN_PARALLEL_BYTES: usize = 1 << 18;

/// A torn tail, which was dropped.
const TORN_TAIL: &str = "FN-381";
/// Unreadable bytes within the file.
const DAMAGED_BYTES: &str = "FN-382";
/// A recording without its end.
const NO_END: &str = "FN-383";
/// A missing or damaged table of frames, which was rebuilt.
const TABLE_REBUILT: &str = "FN-384";
/// Records of a later version.
const LATER_RECORDS: &str = "FN-385";
/// An earlier moment than the requested one.
const EARLIER_MOMENT: &str = "FN-386";
/// A note of the recorded reading.
const RECORDED_NOTES: &str = "FN-387";

/// Why a moment cannot be shown.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, thiserror::Error)]
#[error("record {record} at byte {offset}: {what}")]
pub struct Damage {
    /// The damaged frame, by its index; frames that depend on it are lost too.
    pub slot: usize,
    pub offset: u64,
    pub record: u64,
    pub what: String,
}

/// A failed read may succeed later, so it is not remembered; damaged content stays damaged.
const READING_FAILED: &str = "reading failed: ";

fn remember_damage(broken: &mut BTreeMap<usize, Damage>, damage: Damage) -> Damage {
    if !damage.what.starts_with(READING_FAILED) {
        broken.entry(damage.slot).or_insert_with(|| damage.clone());
    }
    damage
}

/// Hashes the records of the state among some lines, without their numbers and times.
fn hash_records(print: &mut blake3::Hasher, text: &[u8]) {
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        print.update(line_body(line, STATE).unwrap_or_default());
    }
}

/// Splits frames into parts that may be in memory together, each of at least one frame.
fn split_by_memory(frames: &[usize], size: impl Fn(usize) -> usize) -> Vec<&[usize]> {
    let (mut parts, mut from, mut held) = (Vec::new(), 0, 0usize);
    for (at, frame) in frames.iter().enumerate() {
        let more = size(*frame);
        if at > from && (at - from == MAX_PARALLEL_FRAMES || held.saturating_add(more) > MAX_PARALLEL_BYTES) {
            parts.push(&frames[from..at]);
            (from, held) = (at, 0);
        }
        held = held.saturating_add(more);
    }
    parts.extend(Some(&frames[from..]).filter(|rest| !rest.is_empty()));
    parts
}

/// A capture, and the moment that it shows.
#[derive(Debug)]
pub struct CaptureReader<B> {
    name: String,
    bytes: B,
    index: Index,
    links: Links,
    moments: Vec<usize>,
    /// The first readable header.
    header: CaptureHeader,
    state: CaptureState,
    /// The frames up to which state and counters were applied.
    state_at: Option<usize>,
    /// Hash of the records that the state was made of.
    print: Option<blake3::Hasher>,
    counters_at: Option<usize>,
    /// Unreadable frames, so that states or counters that depend on one are not read again in vain.
    broken_states: BTreeMap<usize, Damage>,
    broken_counters: BTreeMap<usize, Damage>,
    time: i64,
    notes: Notes,
}

impl<B: ByteSource> CaptureReader<B> {
    pub fn open(name: &str, bytes: B) -> Result<Self, Box<FileError>> {
        let place = |offset| NotePlace { offset: Some(offset), ..NotePlace::file(name) };
        let refused =
            |code, offset, what: String, hint: &str| FileError::new(code, place(offset), what, hint);
        let broken = |error: std::io::Error| {
            refused("FD-2705", 0, format!("reading failed: {error}"), "check the disk that holds the capture")
        };
        let head = bytes.read(0, bytes.size().min(LEAD_BYTES as u64) as usize).map_err(broken)?;
        if let Some(version) = Lead::other_version_of(&head) {
            let what = format!("a capture of version {version}, and this fabdeck reads version 1");
            return Err(refused(
                "FD-2702",
                8,
                what,
                "read it with the version of fabdeck that wrote it, or a later one",
            ));
        }
        let index = Index::load(&bytes).map_err(broken)?;
        if index.slots.is_empty() {
            let what = "no frame of a capture can be read".to_owned();
            return Err(refused("FD-2701", 0, what, "give a file that 'fabdeck record' wrote"));
        }
        let mut reader = Self::unpositioned(name.to_owned(), bytes, index);
        reader.find_header();
        reader.note_index();
        Ok(reader)
    }

    /// Another reader of the same capture, which shows no moment yet.
    pub fn reopen(&self) -> Self
    where
        B: Clone,
    {
        let fresh = Self::unpositioned(self.name.clone(), self.bytes.clone(), self.index.clone());
        Self { header: self.header.clone(), ..fresh }
    }

    /// A reader that shows no moment yet.
    fn unpositioned(name: String, bytes: B, index: Index) -> Self {
        let slots = index.slots.iter().enumerate();
        let moments = slots.filter(|(_, slot)| slot.lead.has_flag(flags::MOMENT)).map(|(at, _)| at).collect();
        Self {
            name,
            bytes,
            links: Links::of(&index),
            index,
            moments,
            header: CaptureHeader::default(),
            state: CaptureState::default(),
            state_at: None,
            print: None,
            counters_at: None,
            broken_states: BTreeMap::new(),
            broken_counters: BTreeMap::new(),
            time: 0,
            notes: Notes::new(),
        }
    }

    fn find_header(&mut self) {
        let slots = self.index.slots.iter().enumerate();
        let whole: Vec<usize> =
            slots.filter(|(_, slot)| slot.lead.has_flag(flags::STATE_WHOLE)).map(|(at, _)| at).collect();
        for slot in whole {
            let found = self.read_lines(slot, flags::STATE_WHOLE).unwrap_or_default();
            if let Some(NumberedRecord { record: CaptureRecord::Header(header), .. }) =
                found.into_iter().next()
            {
                self.header = header;
                return;
            }
        }
    }

    pub fn header(&self) -> &CaptureHeader {
        &self.header
    }

    fn place(&self, offset: u64) -> NotePlace {
        NotePlace { offset: Some(offset), ..NotePlace::file(self.name.as_str()) }
    }

    fn note_index(&mut self) {
        let holes: Vec<Hole> = self.index.holes.clone();
        for hole in &holes {
            let (Hole { offset, bytes, record, torn }, place) = (*hole, self.place(hole.offset));
            let bytes = digits_in_groups(bytes);
            match torn {
                true => self.notes.add_partial(TORN_TAIL, place, || {
                    format!("the file ends within record {record} at byte {offset}; its {bytes} bytes are left out")
                }),
                false => self.notes.add_partial(DAMAGED_BYTES, place, || {
                    format!("{bytes} bytes are damaged, from record {record} on; sweeps that need them are left out")
                }),
            }
        }
        let place = NotePlace::file(self.name.as_str());
        let torn = holes.iter().any(|hole| hole.torn);
        match (self.index.table, self.has_end()) {
            (IndexStatus::Good, _) => {}
            (_, false) if torn => {}
            (_, false) => self.notes.add(NO_END, place, || {
                "the recording has no end: it was cut short, or is still running".to_owned()
            }),
            (table, true) => self.notes.add(TABLE_REBUILT, place, || {
                let why = if table == IndexStatus::Missing { "missing" } else { "damaged" };
                format!("the table of frames at the end is {why}; the frames were found one by one")
            }),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The frames that complete sweeps, by index.
    pub fn moments(&self) -> &[usize] {
        &self.moments
    }

    pub fn frame_slot(&self, at: usize) -> FrameSlot {
        self.index.slots[at]
    }

    /// Whether the recording has its regular end.
    pub fn has_end(&self) -> bool {
        self.index.slots.iter().any(|slot| slot.lead.has_flag(flags::END))
    }

    pub fn notes(&mut self) -> &mut Notes {
        &mut self.notes
    }

    pub fn state(&self) -> &CaptureState {
        &self.state
    }

    pub fn bytes(&self) -> &B {
        &self.bytes
    }

    /// A time by the recorder's clock, with its zone.
    pub fn clock_text(&self, time: i64) -> String {
        let offset = Offset::from_seconds(self.header.utc_offset_s).unwrap_or(Offset::UTC);
        let zoned = Timestamp::from_millisecond(time).map(|time| time.to_zoned(TimeZone::fixed(offset)));
        zoned.map_or_else(
            |_| format!("{time} ms"),
            |time| time.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string(),
        )
    }

    /// The unpacked text of a frame, checked against its lead and its checksum.
    pub fn frame_text(&self, slot: usize) -> Result<Vec<u8>, Damage> {
        let FrameSlot { offset, lead } = self.frame_slot(slot);
        let damage = |what: String| Damage { slot, offset, record: lead.first, what };
        let frame = self.bytes.read(offset, lead.packed as usize);
        let frame = frame.map_err(|error| damage(format!("{READING_FAILED}{error}")))?;
        unpack(&lead, &frame).map_err(damage)
    }

    /// The lines of a frame whose kinds have one of the wanted flags, and the kind of a record of a later version.
    fn parse_lines(
        &self,
        slot: usize,
        text: &[u8],
        wanted: u32,
    ) -> Result<(Vec<NumberedRecord>, Option<String>), Damage> {
        let FrameSlot { offset, lead } = self.frame_slot(slot);
        let damage = |record: u64, what: String| Damage { slot, offset, record, what };
        let (mut lines, mut record, mut later) = (Vec::new(), lead.first, None);
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            match ParsedLine::parse(line, wanted).map_err(|what| damage(record, what))? {
                ParsedLine::Known(line) if line.seq != record => {
                    return Err(damage(record, format!("a record with the number {}", line.seq)));
                }
                ParsedLine::Known(line) => lines.push(*line),
                ParsedLine::Other => {}
                ParsedLine::Later(kind) => later = Some(kind),
            }
            record += 1;
        }
        if record != lead.next_record() {
            return Err(damage(
                record,
                format!("the frame has {} records and not {}", record - lead.first, lead.records),
            ));
        }
        Ok((lines, later))
    }

    /// The lines of a frame whose kinds have one of the wanted flags.
    pub fn read_lines(&mut self, slot: usize, wanted: u32) -> Result<Vec<NumberedRecord>, Damage> {
        let text = self.frame_text(slot)?;
        self.read_known_lines(slot, &text, wanted)
    }

    fn read_known_lines(
        &mut self,
        slot: usize,
        text: &[u8],
        wanted: u32,
    ) -> Result<Vec<NumberedRecord>, Damage> {
        let (lines, later) = self.parse_lines(slot, text, wanted)?;
        if let Some(kind) = later {
            let place = self.place(self.frame_slot(slot).offset);
            self.notes.add(LATER_RECORDS, place, || {
                format!("records '{kind}' are from a later version of fabdeck; skipped")
            });
        }
        Ok(lines)
    }

    /// Shows the moment that a frame completes.
    pub fn show_moment(&mut self, slot: usize) -> Result<(), Damage> {
        if let Err(damage) = self.load_state(slot) {
            // Only frames of the state have dependents.
            let is_state = self.links.is_state(damage.slot);
            return Err(if is_state { remember_damage(&mut self.broken_states, damage) } else { damage });
        }
        if let Err(damage) = self.load_counters(slot) {
            return Err(remember_damage(&mut self.broken_counters, damage));
        }
        self.time = self.frame_slot(slot).lead.time;
        Ok(())
    }

    fn load_state(&mut self, slot: usize) -> Result<(), Damage> {
        let StateFrames { first, last } = self.state_frames(slot)?;
        // A state that depends on an unreadable frame cannot be shown.
        if let Some((_, damage)) = self.broken_states.range(first..=last).next() {
            return Err(damage.clone());
        }
        let (at, print) = (self.state_at.take(), self.print.take());
        let known = at.filter(|at| print.is_some() && (first..=last).contains(at));
        let mut print = match (known, print) {
            (Some(_), Some(print)) => print,
            // A recorder repeats the whole state from time to time. If the hash is the same, nothing has to be read.
            (None, Some(print)) if self.hash_state(first, last)?.finalize() == print.finalize() => {
                (self.state_at, self.print) = (Some(last), Some(print));
                return Ok(());
            }
            _ => blake3::Hasher::new(),
        };
        let frames: Vec<usize> =
            self.links.state_between(known.map_or(first, |known| known + 1), last).collect();
        for frame in frames {
            let text = self.frame_text(frame)?;
            hash_records(&mut print, &text);
            for line in self.read_known_lines(frame, &text, STATE)? {
                self.apply_line(frame, line)?;
            }
        }
        (self.state_at, self.print) = (Some(last), Some(print));
        Ok(())
    }

    /// Hash of the state that these frames make.
    fn hash_state(&self, first: usize, last: usize) -> Result<blake3::Hasher, Damage> {
        let mut print = blake3::Hasher::new();
        for frame in self.links.state_between(first, last) {
            hash_records(&mut print, &self.frame_text(frame)?);
        }
        Ok(print)
    }

    fn apply_line(&mut self, frame: usize, line: NumberedRecord) -> Result<(), Damage> {
        let (record, offset) = (line.seq, self.frame_slot(frame).offset);
        self.state.apply(line.record).map_err(|what| Damage { slot: frame, offset, record, what })
    }

    /// The frames that make the state at a frame, from the last whole state on. Each names the one before.
    fn state_frames(&self, slot: usize) -> Result<StateFrames, Damage> {
        self.links.state(slot).map_err(|Lost { slot: lost, record }| {
            let offset = self.find_hole(record).unwrap_or(self.index.slots[slot].offset);
            let what = "the state of the fabric in this record cannot be read".to_owned();
            Damage { slot: lost, offset, record, what }
        })
    }

    fn find_hole(&self, record: u64) -> Option<u64> {
        self.links.hole_before(record).map(|hole| self.index.holes[hole].offset)
    }

    /// The first frame that the counters at a frame depend on; the frames after it hold changes.
    fn whole_counters_frame(&self, slot: usize) -> Result<usize, Damage> {
        self.links.counters(slot).map_err(|Lost { slot: torn, record }| {
            let offset = self.find_hole(record).unwrap_or(self.index.slots[torn].offset);
            let what = "sweeps are missing, and later sweeps hold only changes since them".to_owned();
            Damage { slot: torn, offset, record, what }
        })
    }

    /// The frames that a moment depends on, as far as they exist; their content is not read.
    pub fn needed_frames(&self, slot: usize) -> Result<Vec<usize>, Damage> {
        let chain = self.state_frames(slot)?;
        let mut frames: Vec<usize> = self.links.state_between(chain.first, chain.last).collect();
        frames.extend(self.whole_counters_frame(slot)?..=slot);
        Ok(frames)
    }

    /// The last frame of the state that is shown.
    pub fn state_frame(&self) -> Option<usize> {
        self.state_at
    }

    fn load_counters(&mut self, slot: usize) -> Result<(), Damage> {
        let whole = self.whole_counters_frame(slot)?;
        if let Some((_, damage)) = self.broken_counters.range(whole..=slot).next() {
            return Err(damage.clone());
        }
        let known = self.counters_at.take().filter(|known| (whole..=slot).contains(known));
        let frames = known.map_or(whole, |known| known + 1)..=slot;
        let frames: Vec<usize> =
            frames.filter(|frame| self.frame_slot(*frame).lead.has_flag(flags::COUNTERS)).collect();
        let size = |frame: usize| self.frame_slot(frame).lead.raw as usize;
        for some in split_by_memory(&frames, size) {
            // Sweeps have to be applied in order, but unpacking them can happen in parallel.
            let parse = |frame: usize| self.parse_lines(frame, &self.frame_text(frame)?, flags::COUNTERS);
            let read = |frame: &usize| (*frame, parse(*frame));
            let raw: usize = some.iter().map(|frame| self.frame_slot(*frame).lead.raw as usize).sum();
            let parsed: Vec<_> = match raw > MIN_PARALLEL_BYTES {
                true => some.par_iter().map(read).collect(),
                false => some.iter().map(read).collect(),
            };
            for (frame, parsed) in parsed {
                for line in parsed?.0 {
                    self.apply_line(frame, line)?;
                }
            }
        }
        self.counters_at = Some(slot);
        Ok(())
    }

    /// Shows the last readable moment up to `most`, an index of moments, and adds a note if it is an earlier one.
    /// `None` if there is none, or the damage of the latest moment.
    pub fn show_until(&mut self, most: usize) -> Result<usize, Option<Damage>> {
        let (mut first, mut next) = (None, most.checked_add(1));
        while let Some(at) = next.and_then(|next| next.checked_sub(1)) {
            let Some(slot) = self.moments.get(at).copied() else { return Err(first) };
            match self.show_moment(slot) {
                Ok(()) => {
                    if let Some(damage) = first {
                        self.note_earlier(&damage);
                    }
                    return Ok(at);
                }
                Err(damage) => {
                    // No moment from the damage on can be shown.
                    next = Some(self.moments[..=at].partition_point(|slot| *slot < damage.slot).min(at));
                    first = first.or(Some(damage));
                }
            }
        }
        Err(first)
    }

    fn note_earlier(&mut self, damage: &Damage) {
        let (place, shown) = (self.place(damage.offset), self.clock_text(self.time));
        self.notes.add_partial(EARLIER_MOMENT, place, || {
            format!("{damage}; the last readable moment before it is shown: {shown}")
        });
    }

    /// Shows the last moment, or the last readable one before it.
    pub fn show_last(&mut self) -> Result<usize, Box<FileError>> {
        let last = self.moments.len().checked_sub(1);
        let shown = last.map_or(Err(None), |last| self.show_until(last));
        shown.map_err(|damage| self.unreadable_error(damage))
    }

    /// The error that no moment can be shown.
    pub fn unreadable_error(&self, damage: Option<Damage>) -> Box<FileError> {
        let (offset, what) = match damage {
            Some(damage) => (damage.offset, damage.to_string()),
            None => {
                let hole = self.index.holes.first().map(|hole| hole.offset);
                (hole.unwrap_or(self.bytes.size()), "no complete sweep was recorded".to_owned())
            }
        };
        let hint = "no earlier moment can be read either: give another copy of the file";
        FileError::new("FD-2703", self.place(offset), what, hint)
    }

    /// The snapshot at the moment shown.
    pub fn observation(&self) -> Observation {
        let state = &self.state;
        let mut notes = self.notes.clone();
        for remark in &state.remarks {
            let text = || format!("noted during the recording: {}: {}", remark.code, remark.text);
            let place = NotePlace::file(self.name.as_str());
            match remark.partial {
                true => notes.add_partial(RECORDED_NOTES, place, text),
                false => notes.add(RECORDED_NOTES, place, text),
            }
        }
        let partial = state.remarks.iter().filter(|one| one.partial);
        Observation {
            time: Some(self.clock_text(self.time)),
            fabric: state.fabric.clone(),
            tables: state.tables.clone(),
            counters: state.base.last_sweep().samples,
            growth: None,
            names: state.names.clone(),
            subnet_manager: state.manager.clone(),
            notes,
            adaptive: state.adaptive,
            policy: state.policy.clone(),
            cut: ends_early(&state.fabric, partial.map(|one| (one.code.as_str(), one.text.as_str()))),
            ticks: state.ticks.clone(),
            wire: state.wire.clone(),
            partitions: state.partitions.clone(),
            hierarchies: state.hierarchies.clone(),
            planes: state.planes.clone(),
            groups: state.groups.clone(),
            file_tables: Arc::default(),
            reading: None,
            jobs: state.jobs.clone(),
        }
    }

    /// News of sweeps in the frames after one and up to another, without those of later versions.
    pub fn read_news(&mut self, behind: usize, to: usize) -> Result<Vec<FabricEvent>, Damage> {
        let mut news = Vec::new();
        for slot in behind + 1..=to {
            if self.frame_slot(slot).lead.has_flag(flags::EVENT) {
                let events = self.read_events(slot)?;
                news.extend(events.into_iter().filter_map(|(_, record)| match record {
                    CaptureRecord::News(value) => serde_json::from_value(value).ok(),
                    _ => None,
                }));
            }
        }
        Ok(news)
    }

    /// The notes, actions and news of a frame.
    pub fn read_events(&mut self, slot: usize) -> Result<Vec<(i64, CaptureRecord)>, Damage> {
        let lines = self.read_lines(slot, flags::EVENT)?;
        Ok(lines.into_iter().map(|line| (line.time, line.record)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_in_memory_together_are_few_and_small() {
        let lengths = |sizes: &[usize]| -> Vec<usize> {
            let frames: Vec<usize> = (0..sizes.len()).collect();
            let parts = split_by_memory(&frames, |frame| sizes[frame]);
            assert_eq!(parts.concat(), frames);
            parts.into_iter().map(<[usize]>::len).collect()
        };
        let most = MAX_PARALLEL_BYTES;
        assert_eq!(lengths(&[most; 3]), [1, 1, 1]);
        assert_eq!(lengths(&[most / 2, most / 2, 1, most + 9, 0, 5]), [2, 1, 1, 2]);
        assert_eq!(lengths(&[1; 2 * MAX_PARALLEL_FRAMES + 1]), [MAX_PARALLEL_FRAMES, MAX_PARALLEL_FRAMES, 1]);
        assert_eq!(lengths(&[]), [0; 0]);
    }
}
