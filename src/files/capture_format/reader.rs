//! A capture, read at one moment after the other, in any order. It holds one moment at a time.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use rayon::prelude::*;

use super::super::content::ends_early;
use super::frame::{FRAME_LIMIT, LEAD_BYTES, Lead, flags, unpack};
use super::index::{Bytes, Hole, Index, Slot, Table};
use super::line::{Header, Line, Parsed, Record, body_of};
use super::links::{Links, Lost, StateFrames};
use super::state::State;
use crate::FileError;
use fabdeck_fabric::observe::{News, Notes, Observation, Place};

const STATE: u32 = flags::STATE_WHOLE | flags::STATE_MOVED;

/// Frames that are unpacked side by side, and so are in memory together: so many, and of so many bytes of lines. One
/// frame alone may have as many.
const AT_ONCE: usize = 16;
const BYTES_AT_ONCE: usize = FRAME_LIMIT;
/// Bytes of lines that are worth the trouble of sharing them among threads.
const WORTH_SHARING: usize = 1 << 18;

/// A torn tail that was dropped.
const TORN: &str = "FN-381";
/// Bytes within that cannot be read.
const DAMAGED: &str = "FN-382";
/// A recording without its end.
const ENDLESS: &str = "FN-383";
/// A table of frames that had to be made again.
const TABLE: &str = "FN-384";
/// Records of a later version.
const LATER: &str = "FN-385";
/// An earlier moment than the one that was asked for.
const EARLIER: &str = "FN-386";
/// What was noted when it was recorded.
const REMARKED: &str = "FN-387";

/// Why a moment cannot be shown.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, thiserror::Error)]
#[error("record {record} at byte {offset}: {what}")]
pub struct Damage {
    /// The frame that it lies in, by its place in the index; what builds upon it is lost too.
    pub slot: usize,
    pub offset: u64,
    pub record: u64,
    pub what: String,
}

/// A device may answer when it is asked once more; what it gave is as it is.
const READING_FAILED: &str = "reading failed: ";

fn remembered(broken: &mut BTreeMap<usize, Damage>, damage: Damage) -> Damage {
    if !damage.what.starts_with(READING_FAILED) {
        broken.entry(damage.slot).or_insert_with(|| damage.clone());
    }
    damage
}

/// Adds the records of a state among some lines; not their numbers and times.
fn imprint(print: &mut blake3::Hasher, text: &[u8]) {
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        print.update(body_of(line, STATE).unwrap_or_default());
    }
}

/// Frames in parts that may be in memory together, each of at least one.
fn together(frames: &[usize], size: impl Fn(usize) -> usize) -> Vec<&[usize]> {
    let (mut parts, mut from, mut held) = (Vec::new(), 0, 0usize);
    for (at, frame) in frames.iter().enumerate() {
        let more = size(*frame);
        if at > from && (at - from == AT_ONCE || held.saturating_add(more) > BYTES_AT_ONCE) {
            parts.push(&frames[from..at]);
            (from, held) = (at, 0);
        }
        held = held.saturating_add(more);
    }
    parts.extend(Some(&frames[from..]).filter(|rest| !rest.is_empty()));
    parts
}

/// A capture and the moment that it stands at.
#[derive(Debug)]
pub struct Reader<B> {
    name: String,
    bytes: B,
    index: Index,
    links: Links,
    moments: Vec<usize>,
    /// The first that can be read.
    header: Header,
    state: State,
    /// The frames up to which state and counters were taken in.
    state_at: Option<usize>,
    /// What the state was made of.
    print: Option<blake3::Hasher>,
    counters_at: Option<usize>,
    /// Frames that cannot be read: the state, or the counters, that build upon one are not read once more to find it again.
    broken_states: BTreeMap<usize, Damage>,
    broken_counters: BTreeMap<usize, Damage>,
    time: i64,
    notes: Notes,
}

impl<B: Bytes> Reader<B> {
    pub fn open(name: &str, bytes: B) -> Result<Self, Box<FileError>> {
        let place = |offset| Place { offset: Some(offset), ..Place::file(name) };
        let refused =
            |code, offset, what: String, hint: &str| FileError::new(code, place(offset), what, hint);
        let broken = |error: std::io::Error| {
            refused("FD-2705", 0, format!("reading failed: {error}"), "check the device that it lies on")
        };
        let head = bytes.read(0, bytes.size().min(LEAD_BYTES as u64) as usize).map_err(broken)?;
        if let Some(version) = Lead::other_version(&head) {
            let what = format!("a capture of version {version}, and this fabdeck reads version 1");
            return Err(refused(
                "FD-2702",
                8,
                what,
                "read it with the fabdeck that wrote it, or a later one",
            ));
        }
        let index = Index::load(&bytes).map_err(broken)?;
        if index.slots.is_empty() {
            let what = "no frame of a capture can be read".to_owned();
            return Err(refused("FD-2701", 0, what, "give a file that 'fabdeck record' wrote"));
        }
        let mut reader = Self::before_all(name.to_owned(), bytes, index);
        reader.find_header();
        reader.note_index();
        Ok(reader)
    }

    /// The same for somebody else; nothing of it is read yet.
    pub fn again(&self) -> Self
    where
        B: Clone,
    {
        let fresh = Self::before_all(self.name.clone(), self.bytes.clone(), self.index.clone());
        Self { header: self.header.clone(), ..fresh }
    }

    /// It stands at no moment yet.
    fn before_all(name: String, bytes: B, index: Index) -> Self {
        let slots = index.slots.iter().enumerate();
        let moments = slots.filter(|(_, slot)| slot.lead.has(flags::MOMENT)).map(|(at, _)| at).collect();
        Self {
            name,
            bytes,
            links: Links::of(&index),
            index,
            moments,
            header: Header::default(),
            state: State::default(),
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
            slots.filter(|(_, slot)| slot.lead.has(flags::STATE_WHOLE)).map(|(at, _)| at).collect();
        for slot in whole {
            let found = self.lines(slot, flags::STATE_WHOLE).unwrap_or_default();
            if let Some(Line { record: Record::Header(header), .. }) = found.into_iter().next() {
                self.header = header;
                return;
            }
        }
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    fn place(&self, offset: u64) -> Place {
        Place { offset: Some(offset), ..Place::file(self.name.as_str()) }
    }

    fn note_index(&mut self) {
        let holes: Vec<Hole> = self.index.holes.clone();
        for hole in &holes {
            let (Hole { offset, bytes, record, torn }, place) = (*hole, self.place(hole.offset));
            match torn {
                true => self.notes.add_partial(TORN, place, || {
                    format!("the file ends within record {record} at byte {offset}; its {bytes} bytes are left out")
                }),
                false => self.notes.add_partial(DAMAGED, place, || {
                    format!("{bytes} bytes from record {record} on cannot be read; what builds upon them is left out")
                }),
            }
        }
        let place = Place::file(self.name.as_str());
        let torn = holes.iter().any(|hole| hole.torn);
        match (self.index.table, self.ended()) {
            (Table::Good, _) => {}
            (_, false) if torn => {}
            (_, false) => self.notes.add(ENDLESS, place, || {
                "the recording has no end: it was cut short, or is still going on".to_owned()
            }),
            (table, true) => self.notes.add(TABLE, place, || {
                let why = if table == Table::Missing { "missing" } else { "damaged" };
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

    /// The frames with which sweeps are complete, by their place in the index.
    pub fn moments(&self) -> &[usize] {
        &self.moments
    }

    pub fn slot(&self, at: usize) -> Slot {
        self.index.slots[at]
    }

    /// Whether the recording was ended and not cut off.
    pub fn ended(&self) -> bool {
        self.index.slots.iter().any(|slot| slot.lead.has(flags::END))
    }

    pub fn notes(&mut self) -> &mut Notes {
        &mut self.notes
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn bytes(&self) -> &B {
        &self.bytes
    }

    /// A time as the recorder's clock showed it, zone included.
    pub fn clock(&self, time: i64) -> String {
        let offset = Offset::from_seconds(self.header.utc_offset_s).unwrap_or(Offset::UTC);
        let zoned = Timestamp::from_millisecond(time).map(|time| time.to_zoned(TimeZone::fixed(offset)));
        zoned.map_or_else(
            |_| format!("{time} ms"),
            |time| time.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string(),
        )
    }

    /// The text of a frame: exactly what its lead says, under its checksum.
    pub fn text(&self, slot: usize) -> Result<Vec<u8>, Damage> {
        let Slot { offset, lead } = self.slot(slot);
        let damage = |what: String| Damage { slot, offset, record: lead.first, what };
        let frame = self.bytes.read(offset, lead.packed as usize);
        let frame = frame.map_err(|error| damage(format!("{READING_FAILED}{error}")))?;
        unpack(&lead, &frame).map_err(damage)
    }

    /// The lines of a frame whose kinds are among these flags, and a kind that only a later version knows.
    fn parse(&self, slot: usize, text: &[u8], wanted: u32) -> Result<(Vec<Line>, Option<String>), Damage> {
        let Slot { offset, lead } = self.slot(slot);
        let damage = |record: u64, what: String| Damage { slot, offset, record, what };
        let (mut lines, mut record, mut later) = (Vec::new(), lead.first, None);
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            match Parsed::of(line, wanted).map_err(|what| damage(record, what))? {
                Parsed::Known(line) if line.seq != record => {
                    return Err(damage(record, format!("a record with the number {}", line.seq)));
                }
                Parsed::Known(line) => lines.push(*line),
                Parsed::Other => {}
                Parsed::Later(kind) => later = Some(kind),
            }
            record += 1;
        }
        if record != lead.next() {
            return Err(damage(
                record,
                format!("the frame has {} records and not {}", record - lead.first, lead.records),
            ));
        }
        Ok((lines, later))
    }

    /// The lines of a frame whose kinds are among these flags.
    pub fn lines(&mut self, slot: usize, wanted: u32) -> Result<Vec<Line>, Damage> {
        let text = self.text(slot)?;
        self.known_lines(slot, &text, wanted)
    }

    fn known_lines(&mut self, slot: usize, text: &[u8], wanted: u32) -> Result<Vec<Line>, Damage> {
        let (lines, later) = self.parse(slot, text, wanted)?;
        if let Some(kind) = later {
            let place = self.place(self.slot(slot).offset);
            self.notes.add(LATER, place, || format!("records '{kind}' are of a later version; passed over"));
        }
        Ok(lines)
    }

    /// Goes to the moment that is complete with a frame.
    pub fn show(&mut self, slot: usize) -> Result<(), Damage> {
        if let Err(damage) = self.settle_state(slot) {
            // Only a frame of the state is built upon.
            let is_state = self.links.is_state(damage.slot);
            return Err(if is_state { remembered(&mut self.broken_states, damage) } else { damage });
        }
        if let Err(damage) = self.settle_counters(slot) {
            return Err(remembered(&mut self.broken_counters, damage));
        }
        self.time = self.slot(slot).lead.time;
        Ok(())
    }

    fn settle_state(&mut self, slot: usize) -> Result<(), Damage> {
        let StateFrames { first, last } = self.state_frames(slot)?;
        // What builds upon a frame that cannot be read cannot be shown.
        if let Some((_, damage)) = self.broken_states.range(first..=last).next() {
            return Err(damage.clone());
        }
        let (at, print) = (self.state_at.take(), self.print.take());
        let known = at.filter(|at| print.is_some() && (first..=last).contains(at));
        let mut print = match (known, print) {
            (Some(_), Some(print)) => print,
            // A recorder says everything again from time to time. Where nothing of it is new nothing has to be read.
            (None, Some(print)) if self.print_of(first, last)?.finalize() == print.finalize() => {
                (self.state_at, self.print) = (Some(last), Some(print));
                return Ok(());
            }
            _ => blake3::Hasher::new(),
        };
        let frames: Vec<usize> =
            self.links.state_between(known.map_or(first, |known| known + 1), last).collect();
        for frame in frames {
            let text = self.text(frame)?;
            imprint(&mut print, &text);
            for line in self.known_lines(frame, &text, STATE)? {
                self.take_in(frame, line)?;
            }
        }
        (self.state_at, self.print) = (Some(last), Some(print));
        Ok(())
    }

    /// What tells the state that some frames make from any other.
    fn print_of(&self, first: usize, last: usize) -> Result<blake3::Hasher, Damage> {
        let mut print = blake3::Hasher::new();
        for frame in self.links.state_between(first, last) {
            imprint(&mut print, &self.text(frame)?);
        }
        Ok(print)
    }

    fn take_in(&mut self, frame: usize, line: Line) -> Result<(), Damage> {
        let (record, offset) = (line.seq, self.slot(frame).offset);
        self.state.apply(line.record).map_err(|what| Damage { slot: frame, offset, record, what })
    }

    /// The frames that make the state at a frame, from the last whole one on. Each names the one before it.
    fn state_frames(&self, slot: usize) -> Result<StateFrames, Damage> {
        self.links.state(slot).map_err(|Lost { slot: lost, record }| {
            let offset = self.hole_of(record).unwrap_or(self.index.slots[slot].offset);
            let what = "the state of the fabric stood there, and it cannot be read".to_owned();
            Damage { slot: lost, offset, record, what }
        })
    }

    fn hole_of(&self, record: u64) -> Option<u64> {
        self.links.hole_before(record).map(|hole| self.index.holes[hole].offset)
    }

    /// The first of the frames that the counters at a frame are told by; those behind it say what moved.
    fn whole_counters(&self, slot: usize) -> Result<usize, Damage> {
        self.links.counters(slot).map_err(|Lost { slot: torn, record }| {
            let offset = self.hole_of(record).unwrap_or(self.index.slots[torn].offset);
            let what = "sweeps are missing, and those after them say only what moved".to_owned();
            Damage { slot: torn, offset, record, what }
        })
    }

    /// The frames that a moment is made of, as far as they are there; what is in them is not read.
    pub fn needs(&self, slot: usize) -> Result<Vec<usize>, Damage> {
        let chain = self.state_frames(slot)?;
        let mut frames: Vec<usize> = self.links.state_between(chain.first, chain.last).collect();
        frames.extend(self.whole_counters(slot)?..=slot);
        Ok(frames)
    }

    /// The frame in which the state that is shown stands.
    pub fn state_at(&self) -> Option<usize> {
        self.state_at
    }

    fn settle_counters(&mut self, slot: usize) -> Result<(), Damage> {
        let whole = self.whole_counters(slot)?;
        if let Some((_, damage)) = self.broken_counters.range(whole..=slot).next() {
            return Err(damage.clone());
        }
        let known = self.counters_at.take().filter(|known| (whole..=slot).contains(known));
        let frames = known.map_or(whole, |known| known + 1)..=slot;
        let frames: Vec<usize> = frames.filter(|frame| self.slot(*frame).lead.has(flags::COUNTERS)).collect();
        let size = |frame: usize| self.slot(frame).lead.raw as usize;
        for some in together(&frames, size) {
            // Each sweep builds upon the one before; to unpack them they need not wait for each other.
            let parse = |frame: usize| self.parse(frame, &self.text(frame)?, flags::COUNTERS);
            let read = |frame: &usize| (*frame, parse(*frame));
            let raw: usize = some.iter().map(|frame| self.slot(*frame).lead.raw as usize).sum();
            let parsed: Vec<_> = match raw > WORTH_SHARING {
                true => some.par_iter().map(read).collect(),
                false => some.iter().map(read).collect(),
            };
            for (frame, parsed) in parsed {
                for line in parsed?.0 {
                    self.take_in(frame, line)?;
                }
            }
        }
        self.counters_at = Some(slot);
        Ok(())
    }

    /// Goes to the last moment up to `most` (a place among the moments) that can be read; a note says where it is not
    /// that one. `None` where there is no such moment, with the damage of the latest.
    pub fn show_until(&mut self, most: usize) -> Result<usize, Option<Damage>> {
        let (mut first, mut next) = (None, most.checked_add(1));
        while let Some(at) = next.and_then(|next| next.checked_sub(1)) {
            let Some(slot) = self.moments.get(at).copied() else { return Err(first) };
            match self.show(slot) {
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
        let (place, shown) = (self.place(damage.offset), self.clock(self.time));
        self.notes
            .add_partial(EARLIER, place, || format!("{damage}; this is {shown}, the last moment before it"));
    }

    /// Goes to the end, or to the last moment before it that can be read.
    pub fn show_last(&mut self) -> Result<usize, Box<FileError>> {
        let last = self.moments.len().checked_sub(1);
        let shown = last.map_or(Err(None), |last| self.show_until(last));
        shown.map_err(|damage| self.unreadable(damage))
    }

    /// That no moment can be shown.
    pub fn unreadable(&self, damage: Option<Damage>) -> Box<FileError> {
        let (offset, what) = match damage {
            Some(damage) => (damage.offset, damage.to_string()),
            None => {
                let hole = self.index.holes.first().map(|hole| hole.offset);
                (hole.unwrap_or(self.bytes.size()), "no sweep was written to its end".to_owned())
            }
        };
        let hint = "nothing before it can be read either: give another copy of the file";
        FileError::new("FD-2703", self.place(offset), what, hint)
    }

    /// What was seen at the moment shown.
    pub fn observation(&self) -> Observation {
        let state = &self.state;
        let mut notes = self.notes.clone();
        for remark in &state.remarks {
            let text = || format!("when it was recorded: {}: {}", remark.code, remark.text);
            let place = Place::file(self.name.as_str());
            match remark.partial {
                true => notes.add_partial(REMARKED, place, text),
                false => notes.add(REMARKED, place, text),
            }
        }
        let partial = state.remarks.iter().filter(|one| one.partial);
        Observation {
            time: Some(self.clock(self.time)),
            fabric: state.fabric.clone(),
            tables: state.tables.clone(),
            counters: state.base.sweep().samples,
            growth: None,
            names: state.names.clone(),
            subnet_manager: state.manager.clone(),
            notes,
            adaptive: state.adaptive,
            policy: state.policy.clone(),
            cut: ends_early(&state.fabric, partial.map(|one| (one.code.as_str(), one.text.as_str()))),
            ticks: state.ticks.clone(),
            reading: None,
            jobs: state.jobs.clone(),
        }
    }

    /// What sweeps found to be different, in the frames behind one and up to another. Words of a later version are none.
    pub fn news(&mut self, behind: usize, to: usize) -> Result<Vec<News>, Damage> {
        let mut news = Vec::new();
        for slot in behind + 1..=to {
            if self.slot(slot).lead.has(flags::EVENT) {
                let events = self.events(slot)?;
                news.extend(events.into_iter().filter_map(|(_, record)| match record {
                    Record::News(value) => serde_json::from_value(value).ok(),
                    _ => None,
                }));
            }
        }
        Ok(news)
    }

    /// What was said of a moment besides what was seen.
    pub fn events(&mut self, slot: usize) -> Result<Vec<(i64, Record)>, Damage> {
        let lines = self.lines(slot, flags::EVENT)?;
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
            let parts = together(&frames, |frame| sizes[frame]);
            assert_eq!(parts.concat(), frames);
            parts.into_iter().map(<[usize]>::len).collect()
        };
        let most = BYTES_AT_ONCE;
        assert_eq!(lengths(&[most; 3]), [1, 1, 1]);
        assert_eq!(lengths(&[most / 2, most / 2, 1, most + 9, 0, 5]), [2, 1, 1, 2]);
        assert_eq!(lengths(&[1; 2 * AT_ONCE + 1]), [AT_ONCE, AT_ONCE, 1]);
        assert_eq!(lengths(&[]), [0; 0]);
    }
}
