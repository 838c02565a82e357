//! Rewrites a capture: a part of it, an anonymous one, or one with added notes. Frames are copied line by line with
//! new numbers; only at the beginning of a part the state of the fabric is written again.

use std::collections::VecDeque;
use std::io;
use std::ops::RangeInclusive;

use super::cursor::MomentStore;
use super::info::{read_acknowledgements, report_or_cancel, survey_observed};
use super::moments::Moments;
use super::recorder::{RecordedPart, Sink};
use super::time_spec::TimeSpec;
use crate::capture_format::{
    AcknowledgementRecord, ByteSource, CaptureRecord, CounterBase, Damage, FramePacker, Hole, NoteRecord,
    PackedFrames, RecordingEnd, encode, flags,
};
use fabdeck_mad::access::{NoObserver, ReadObserver, ReadProgress, SourceError};

const STATE: u32 = flags::STATE_WHOLE | flags::STATE_MOVED;
/// The note on what is missing in a rewritten capture.
const DAMAGED: &str = "FN-382";

/// The part of a capture to write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaptureRange {
    /// Moments, by their indexes.
    moments: RangeInclusive<usize>,
    /// Records within these times belong to the part.
    since: i64,
    until: i64,
}

/// Changes a record on its way, or drops it.
pub type RecordEdit<'e> = &'e mut dyn FnMut(CaptureRecord) -> Option<CaptureRecord>;

/// Differences of the rewritten capture.
#[derive(Default)]
pub struct RewriteOptions<'e> {
    pub edit: Option<RecordEdit<'e>>,
    /// Records to add, each with the time that it is about: an operator's note, or annotations. They are in the order of
    /// these times.
    pub added: VecDeque<(i64, CaptureRecord)>,
}

impl std::fmt::Debug for RewriteOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Changes").field("added", &self.added).finish_non_exhaustive()
    }
}

/// The extent of what was written, and what could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RewriteSummary {
    pub recorded: RecordedPart,
    /// Number of sweeps that could not be read.
    pub lost: usize,
    /// Reasons, and other damage.
    pub damage: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    #[error(transparent)]
    Read(#[from] SourceError),
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl CaptureRange {
    /// The whole capture.
    pub fn all<B: ByteSource>(moments: &Moments<B>) -> Result<Self, SourceError> {
        Self::between(moments, None, None)
    }

    /// The moments from one time to another; without a time, from the first or to the last.
    pub fn between<B: ByteSource>(
        moments: &Moments<B>,
        from: Option<TimeSpec>,
        to: Option<TimeSpec>,
    ) -> Result<Self, SourceError> {
        let reader = &moments.reader;
        let Some((first, last)) = moments.bounds() else { return Err(reader.unreadable_error(None).into()) };
        let zone = reader.header().utc_offset_s;
        let since =
            from.map_or(i64::MIN, |at| at.resolve_within(first, last, zone).saturating_sub(at.slack()));
        let until = to.map_or(i64::MAX, |at| at.resolve_within(first, last, zone));
        let begins = (0..moments.len()).find(|at| moments.time(*at) >= since);
        let ends = (0..moments.len()).rfind(|at| moments.time(*at) <= until);
        match begins.zip(ends).filter(|(begins, ends)| begins <= ends) {
            Some((begins, ends)) => Ok(Self { moments: begins..=ends, since, until }),
            None => Err(SourceError::Name {
                code: "FD-5066",
                what: format!("{}: no sweep was recorded between these times", reader.name()),
                hint: format!(
                    "give times between {} and {}, --from before --to",
                    reader.clock_text(first),
                    reader.clock_text(last)
                ),
            }),
        }
    }

    /// The moments of a range of indexes, with all records from the first moment on.
    pub fn from_places<B: ByteSource>(moments: &Moments<B>, places: RangeInclusive<usize>) -> Self {
        let first = places.start().checked_sub(1).map_or(i64::MIN, |_| moments.time(*places.start()));
        Self { moments: places, since: first, until: i64::MAX }
    }

    pub fn places(&self) -> RangeInclusive<usize> {
        self.moments.clone()
    }

    /// Whether records of the capture lie outside.
    fn is_part<B: ByteSource>(&self, moments: &Moments<B>) -> bool {
        let all = 0..=moments.len().saturating_sub(1);
        self.moments != all || self.since > i64::MIN || self.until < i64::MAX
    }
}

/// Writes a part into a sink: all runs of readable moments, one after the other.
pub fn rewrite<B: ByteSource, S: Sink>(
    moments: &mut Moments<B>,
    stretch: &CaptureRange,
    changes: RewriteOptions<'_>,
    sink: S,
) -> Result<RewriteSummary, RewriteError> {
    rewrite_observed(moments, stretch, changes, sink, &mut NoObserver)
}

/// The same, with an observer of its progress, which may cancel it before any frame. The sink then holds a part of the
/// file.
pub fn rewrite_observed<B: ByteSource, S: Sink>(
    moments: &mut Moments<B>,
    stretch: &CaptureRange,
    changes: RewriteOptions<'_>,
    sink: S,
    observer: &mut dyn ReadObserver,
) -> Result<RewriteSummary, RewriteError> {
    let survey = survey_observed(moments, stretch.places(), observer)?;
    if survey.runs.is_empty() {
        return Err(SourceError::from(moments.reader.unreadable_error(survey.damage.first().cloned())).into());
    }
    let mut damage: Vec<String> = survey.holes.iter().map(Hole::to_string).collect();
    damage.extend(survey.damage.iter().map(Damage::to_string));
    let remark = damage.first().map(|first| NoteRecord {
        code: DAMAGED.into(),
        text: format!(
            "{} {} could not be read when this part was written: {first}",
            survey.lost,
            if survey.lost == 1 { "sweep" } else { "sweeps" }
        ),
        count: damage.len() as u64,
        partial: true,
    });
    let packer = FramePacker::default();
    let (kept, sweeps) = (RecordedPart::default(), survey.runs.iter().map(|run| run.clone().count()).sum());
    // A part lacks the records that take acknowledgements back or make them, and they count at every moment.
    let in_force = stretch.is_part(moments).then(|| read_acknowledgements(&mut moments.reader));
    let (is_part, in_force) = (in_force.is_some(), in_force.unwrap_or_default());
    let mut writer = Writer {
        moments,
        stretch,
        options: changes,
        sink,
        packer,
        remark,
        kept,
        sweeps,
        is_part,
        in_force,
        observer,
    };
    for run in survey.runs {
        writer.write_run(run)?;
    }
    let recorded = writer.finish()?;
    Ok(RewriteSummary { recorded, lost: survey.lost, damage })
}

struct Writer<'a, 'e, B, S> {
    moments: &'a mut Moments<B>,
    stretch: &'a CaptureRange,
    options: RewriteOptions<'e>,
    sink: S,
    packer: FramePacker,
    remark: Option<NoteRecord>,
    kept: RecordedPart,
    /// Number of sweeps to write.
    sweeps: usize,
    /// Whether the acknowledgements where they stand are left out, and those of the next field are written after the first
    /// moment.
    is_part: bool,
    in_force: Vec<AcknowledgementRecord>,
    observer: &'a mut dyn ReadObserver,
}

impl<B: ByteSource, S: Sink> Writer<'_, '_, B, S> {
    fn slot_of(&self, moment: usize) -> usize {
        self.moments.reader.moments()[moment]
    }

    /// The first frame of a moment: the one after the moment before.
    fn first_of(&self, moment: usize) -> usize {
        moment.checked_sub(1).map_or(0, |before| self.slot_of(before) + 1)
    }

    /// Writes a run of readable moments.
    fn write_run(&mut self, run: RangeInclusive<usize>) -> Result<(), RewriteError> {
        let (begin, shown) = (self.first_of(*run.start()), self.slot_of(*run.start()));
        let end = self.tail_of(*run.end());
        let (mut next, mut base) = (begin, None);
        if !self.is_self_contained(begin..=shown) {
            base = Some(self.begin_run(begin..=shown)?);
            self.write_in_force()?;
            next = shown + 1;
        }
        for slot in next..=end {
            if self.moments.reader.frame_slot(slot).lead.has_flag(flags::COUNTERS_WHOLE) {
                base = None;
            }
            self.write_added(slot)?;
            self.copy_frame(slot, base.as_mut())?;
            self.write_in_force()?;
        }
        Ok(())
    }

    /// Whether the frames of a moment need nothing from earlier frames, and hold nothing outside the requested times.
    fn is_self_contained(&self, frames: RangeInclusive<usize>) -> bool {
        let leads = || frames.clone().map(|slot| self.moments.reader.frame_slot(slot).lead);
        let whole = |flag| leads().any(|lead| lead.has_flag(flag));
        self.remark.is_none()
            && whole(flags::STATE_WHOLE)
            && whole(flags::COUNTERS_WHOLE)
            && leads()
                .all(|lead| lead.time >= self.stretch.since && lead.flags & (STATE | flags::MOMENT) != 0)
    }

    /// The last frame of a moment, with the notes and news after it and before the next moment.
    fn tail_of(&self, moment: usize) -> usize {
        let mut last = self.slot_of(moment);
        let slots = &self.moments.reader.index().slots;
        while let Some(slot) = slots.get(last + 1)
            && slot.lead.flags & (STATE | flags::COUNTERS) == 0
            && slot.lead.time <= self.stretch.until
        {
            last += 1;
        }
        last
    }

    /// Writes the first moment of a run with the whole state at that time; returns the counters that later moments are
    /// encoded against.
    fn begin_run(&mut self, frames: RangeInclusive<usize>) -> Result<CounterBase, RewriteError> {
        let reader = &mut self.moments.reader;
        let (slot, mut base) = (*frames.end(), CounterBase::default());
        let time = reader.frame_slot(slot).lead.time;
        reader
            .show_moment(slot)
            .map_err(|damage| SourceError::from(reader.unreadable_error(Some(damage))))?;
        let mut records = reader.state().to_records();
        if let Some(remark) = &self.remark {
            match records.last_mut() {
                // Only the first remark is shown.
                Some(CaptureRecord::Remarks(remarks)) => remarks.insert(0, remark.clone()),
                _ => records.push(CaptureRecord::Remarks(vec![remark.clone()])),
            }
        }
        let counters = encode(&mut base, &reader.state().base.last_sweep(), true);
        records.extend(counters.into_iter().map(|part| CaptureRecord::Counters(Box::new(part))));
        let mut lines: Vec<(i64, CaptureRecord)> = records.into_iter().map(|record| (time, record)).collect();
        for slot in frames {
            if reader.frame_slot(slot).lead.has_flag(flags::EVENT) {
                // The survey has reported unreadable frames.
                lines.extend(reader.read_events(slot).unwrap_or_default());
            }
        }
        lines.retain(|(time, _)| *time >= self.stretch.since);
        self.drop_acknowledgements(&mut lines);
        self.write(time, lines, true)?;
        Ok(base)
    }

    /// Copies a frame.
    fn copy_frame(&mut self, slot: usize, base: Option<&mut CounterBase>) -> Result<(), RewriteError> {
        let reader = &mut self.moments.reader;
        let lead = reader.frame_slot(slot).lead;
        if lead.flags == flags::END {
            return Ok(());
        }
        let remarked = self.remark.is_some() && lead.flags & STATE != 0;
        let has_events = self.is_part && lead.has_flag(flags::EVENT);
        if self.options.edit.is_none() && base.is_none() && !remarked && !has_events {
            let Ok(text) = reader.frame_text(slot) else { return self.count_lost_frame(slot) };
            let packed = self.packer.copy_frame(&lead, &text)?;
            return self.append(&packed, lead.has_flag(flags::MOMENT).then_some(lead.time));
        }
        let Ok(lines) = reader.read_lines(slot, u32::MAX) else { return self.count_lost_frame(slot) };
        let mut lines: Vec<(i64, CaptureRecord)> =
            lines.into_iter().map(|line| (line.time, line.record)).collect();
        if let Some(base) = base.filter(|_| lead.has_flag(flags::COUNTERS)) {
            let moment = reader.moments().partition_point(|moment| *moment < slot);
            let moment = reader.moments()[moment];
            reader
                .show_moment(moment)
                .map_err(|damage| SourceError::from(reader.unreadable_error(Some(damage))))?;
            let counters = encode(base, &reader.state().base.last_sweep(), false);
            lines.retain(|(_, record)| !matches!(record, CaptureRecord::Counters(_)));
            lines.extend(
                counters.into_iter().map(|part| (lead.time, CaptureRecord::Counters(Box::new(part)))),
            );
        }
        if has_events && !self.drop_acknowledgements(&mut lines) {
            return Ok(());
        }
        for (_, record) in &mut lines {
            if let (CaptureRecord::Remarks(remarks), Some(remark)) = (record, &self.remark) {
                remarks.insert(0, remark.clone());
            }
        }
        self.write(lead.time, lines, lead.has_flag(flags::MOMENT))
    }

    /// Removes the acknowledgements of a part; false if they were all that the frame had.
    fn drop_acknowledgements(&self, lines: &mut Vec<(i64, CaptureRecord)>) -> bool {
        let before = lines.len();
        lines.retain(|(_, record)| !self.is_part || !matches!(record, CaptureRecord::Acknowledgement(_)));
        before == lines.len() || !lines.is_empty()
    }

    /// Writes the acknowledgements in force, once a part has its first moment.
    fn write_in_force(&mut self) -> Result<(), RewriteError> {
        let Some(time) = self.kept.from else { return Ok(()) };
        for record in std::mem::take(&mut self.in_force) {
            self.write(time, vec![(time, CaptureRecord::Acknowledgement(record))], false)?;
        }
        Ok(())
    }

    /// Skips an unreadable frame. In a readable moment it can only hold notes and news.
    fn count_lost_frame(&self, slot: usize) -> Result<(), RewriteError> {
        let reader = &self.moments.reader;
        match reader.frame_slot(slot).lead.flags & (STATE | flags::COUNTERS) {
            0 => Ok(()),
            _ => Err(SourceError::from(reader.unreadable_error(None)).into()),
        }
    }

    fn write(
        &mut self,
        time: i64,
        lines: Vec<(i64, CaptureRecord)>,
        moment: bool,
    ) -> Result<(), RewriteError> {
        let lines = match &mut self.options.edit {
            Some(edit) => {
                lines.into_iter().filter_map(|(time, record)| Some((time, edit(record)?))).collect()
            }
            None => lines,
        };
        let packed = self.packer.pack_lines(time, lines, moment)?;
        self.append(&packed, moment.then_some(time))
    }

    fn append(&mut self, packed: &PackedFrames, moment: Option<i64>) -> Result<(), RewriteError> {
        let (done, known) = (self.kept.sweeps, self.sweeps as u64);
        report_or_cancel(self.observer, ReadProgress { phase: "writing sweeps", done, known })?;
        self.sink.append(&packed.bytes)?;
        self.kept.bytes += packed.bytes.len() as u64;
        if let Some(time) = moment {
            self.kept.sweeps += 1;
            self.kept.from = self.kept.from.or(Some(time));
            self.kept.to = Some(time);
        }
        Ok(())
    }

    /// Writes added records before the first frame of a later time, never between the frames of one moment.
    fn write_added(&mut self, next: usize) -> Result<(), RewriteError> {
        let reader = &self.moments.reader;
        let before = next.checked_sub(1).map(|before| reader.frame_slot(before).lead);
        let within = before
            .is_some_and(|lead| lead.flags & (STATE | flags::COUNTERS) != 0 && !lead.has_flag(flags::MOMENT));
        let lead = reader.frame_slot(next).lead;
        while let Some((time, _)) = self.options.added.front()
            && !within
            && (*time < lead.time || lead.flags == flags::END)
        {
            self.write_next_added()?;
        }
        Ok(())
    }

    fn write_next_added(&mut self) -> Result<(), RewriteError> {
        match self.options.added.pop_front() {
            Some((time, record)) => self.write(time, vec![(time, record)], false),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<RecordedPart, RewriteError> {
        while !self.options.added.is_empty() {
            self.write_next_added()?;
        }
        let time = self.kept.to.unwrap_or_default();
        let end = CaptureRecord::End(RecordingEnd { sweeps: self.kept.sweeps });
        self.write(time, vec![(time, end)], false)?;
        let table = self.packer.to_table();
        self.sink.append(&table)?;
        self.kept.bytes += table.len() as u64;
        self.sink.sync()?;
        Ok(self.kept)
    }
}
