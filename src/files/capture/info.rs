//! Summary of a capture, with each frame read and checked.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

use super::capture_file::{FileBytes, open};
use super::cursor::MomentStore;
use super::moments::Moments;
use crate::capture_format::{
    AcknowledgementRecord, Annotation, ByteSource, CaptureHeader, CaptureReader, CaptureRecord, Damage, Hole,
    flags,
};
use fabdeck_fabric::observe::Observation;
use fabdeck_mad::access::{ReadObserver, ReadProgress, SourceError};

#[derive(Debug)]
pub struct CaptureInfo {
    pub header: CaptureHeader,
    /// Times of the earliest and the latest sweep, by the recorder's clock.
    pub from: Option<String>,
    pub to: Option<String>,
    pub sweeps: usize,
    /// Number of sweeps that cannot be shown, because they or frames that they depend on are damaged.
    pub lost: usize,
    pub frames: usize,
    pub records: u64,
    /// Size of the file, and of the uncompressed lines in it, in bytes.
    pub bytes: u64,
    pub raw: u64,
    /// Number of moments with changes of the fabric or its tables, notes or news.
    pub events: usize,
    /// Number of operators' notes, and the first ones, each with its time and first words.
    pub noted: usize,
    pub first_noted: Vec<(String, String)>,
    /// Number of operators' bookmarks, and the first ones, each with its time and its user.
    pub bookmarked: usize,
    pub first_bookmarked: Vec<(String, String)>,
    /// Number of problems that operators acknowledged, and the first ones, each with its time and its words.
    pub acknowledged: usize,
    pub first_acknowledged: Vec<(String, String)>,
    /// Number of job lists that differ from the one before, and number of times that job lists stopped coming.
    pub job_lists: usize,
    pub job_silences: usize,
    pub gaps: Vec<(String, String)>,
    /// Number of times that the clock was set back.
    pub set_back: usize,
    pub damage: Vec<Damage>,
    pub ended: bool,
    /// The last readable moment.
    pub last: Observation,
}

/// Which moments of a range are readable.
#[derive(Debug, Default)]
pub struct CaptureSurvey {
    /// Readable moments, as ranges of neighbours.
    pub runs: Vec<RangeInclusive<usize>>,
    /// Number of unreadable moments.
    pub lost: usize,
    /// Why, and which records between moments are unreadable.
    pub damage: Vec<Damage>,
    /// Bytes between their frames that belong to no frame.
    pub holes: Vec<Hole>,
}

/// Reads a range of moments, with the records between them and after the last.
pub fn survey<B: ByteSource>(moments: &mut Moments<B>, places: RangeInclusive<usize>) -> CaptureSurvey {
    let mut found = CaptureSurvey::default();
    places.clone().for_each(|at| found.read_moment(moments, at));
    found.read_other_records(moments, &places);
    found
}

/// The same, with an observer of its progress, which may cancel it.
pub fn survey_observed<B: ByteSource>(
    moments: &mut Moments<B>,
    places: RangeInclusive<usize>,
    observer: &mut dyn ReadObserver,
) -> Result<CaptureSurvey, SourceError> {
    let mut found = CaptureSurvey::default();
    let known = places.clone().count() as u64;
    for (at, done) in places.clone().zip(0..) {
        report_or_cancel(observer, ReadProgress { phase: "checking sweeps", done, known })?;
        found.read_moment(moments, at);
    }
    found.read_other_records(moments, &places);
    Ok(found)
}

/// Reports progress, and ends the work with an error where the observer has cancelled it.
pub fn report_or_cancel(observer: &mut dyn ReadObserver, progress: ReadProgress) -> Result<(), SourceError> {
    observer.report_progress(progress);
    if observer.is_cancelled() { Err(SourceError::Cancelled) } else { Ok(()) }
}

impl CaptureSurvey {
    fn read_moment<B: ByteSource>(&mut self, moments: &mut Moments<B>, at: usize) {
        match (moments.read(at), self.runs.last_mut()) {
            (Ok(()), Some(run)) if *run.end() + 1 == at => *run = *run.start()..=at,
            (Ok(()), _) => self.runs.push(at..=at),
            (Err(damage), _) => {
                self.lost += 1;
                if self.damage.last() != Some(&damage) {
                    self.damage.push(damage);
                }
            }
        }
    }

    /// Reads what belongs to no sweep: notes, news and the end.
    fn read_other_records<B: ByteSource>(
        &mut self,
        moments: &mut Moments<B>,
        places: &RangeInclusive<usize>,
    ) {
        let ends = moments.reader.moments();
        let first =
            places.start().checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |slot| slot + 1);
        let slots = moments.reader.index().slots.len();
        let behind = ends.get(places.end() + 1).copied().unwrap_or(slots);
        let mut known: BTreeSet<Damage> = self.damage.iter().cloned().collect();
        for slot in first..behind {
            let lead = moments.reader.frame_slot(slot).lead;
            if lead.flags & (flags::EVENT | flags::END) != 0
                && let Err(damage) = moments.reader.read_lines(slot, flags::EVENT | flags::END)
                && known.insert(damage.clone())
            {
                self.damage.push(damage);
            }
        }
        self.damage.sort_by_key(|damage| damage.offset);
        let index = moments.reader.index();
        let from = if first == 0 { 0 } else { index.slots[first].offset };
        let to = index.slots.get(behind).map_or(u64::MAX, |slot| slot.offset);
        let within = |hole: &&Hole| (from..to).contains(&hole.offset);
        self.holes = index.holes.iter().filter(within).copied().collect();
    }
}

/// Reads a whole capture.
pub fn examine(path: &Path) -> Result<CaptureInfo, SourceError> {
    let mut moments = Moments::new(open(path)?);
    let (damage, lost) = match moments.len().checked_sub(1) {
        Some(last) => {
            let found = survey(&mut moments, 0..=last);
            (found.damage, found.lost)
        }
        None => (Vec::new(), 0),
    };
    let noted = collect_notes(&mut moments.reader);
    let (job_lists, job_silences) = count_job_lists(&mut moments.reader);
    moments.reader.show_last()?;
    Ok(CaptureInfo { job_lists, job_silences, ..build_info(&moments, damage, lost, noted) })
}

/// What operators left in a capture, and the first of it.
#[derive(Debug, Default)]
struct OperatorNotes {
    noted: usize,
    first_noted: Vec<(String, String)>,
    bookmarked: usize,
    first_bookmarked: Vec<(String, String)>,
    acknowledged: usize,
    first_acknowledged: Vec<(String, String)>,
}

/// Counts notes, bookmarks and acknowledgements, with the times and first words of the first ones.
fn collect_notes<B: ByteSource>(reader: &mut CaptureReader<B>) -> OperatorNotes {
    const SHOWN: usize = 3;
    let (mut notes, mut bookmarks) = (OperatorNotes::default(), Vec::<Annotation>::new());
    let mut acknowledgements = Vec::new();
    for slot in 0..reader.index().slots.len() {
        if !reader.frame_slot(slot).lead.has_flag(flags::EVENT) {
            continue;
        }
        // The survey has reported unreadable frames.
        for (time, record) in reader.read_events(slot).unwrap_or_default() {
            let (at, text) = match record {
                CaptureRecord::Note(text) => (time, text),
                CaptureRecord::Annotation(annotation) if annotation.removed => {
                    bookmarks.retain(|bookmark| !annotation.takes_back(bookmark));
                    continue;
                }
                CaptureRecord::Annotation(Annotation { at, text: Some(text), .. }) => (at, text),
                CaptureRecord::Annotation(bookmark) => {
                    bookmarks.push(bookmark);
                    continue;
                }
                CaptureRecord::Acknowledgement(record) => {
                    acknowledgements.push(record);
                    continue;
                }
                _ => continue,
            };
            notes.noted += 1;
            if notes.first_noted.len() < SHOWN {
                notes.first_noted.push((reader.clock_text(at), first_words(&text)));
            }
        }
    }
    bookmarks.sort();
    let first = bookmarks.iter().take(SHOWN);
    notes.first_bookmarked =
        first.map(|bookmark| (reader.clock_text(bookmark.at), first_words(&bookmark.by))).collect();
    notes.bookmarked = bookmarks.len();
    let acknowledged = AcknowledgementRecord::in_force(acknowledgements);
    let words = |record: &AcknowledgementRecord| {
        let note = record.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
        first_words(&format!("{} by {}{note}", record.problem, record.by))
    };
    notes.first_acknowledged = acknowledged
        .iter()
        .take(SHOWN)
        .map(|record| (reader.clock_text(record.made), words(record)))
        .collect();
    notes.acknowledged = acknowledged.len();
    notes
}

/// The acknowledgements of a capture that count. Frames that cannot be read acknowledge nothing.
pub fn read_acknowledgements<B: ByteSource>(reader: &mut CaptureReader<B>) -> Vec<AcknowledgementRecord> {
    let mut records = Vec::new();
    for slot in 0..reader.index().slots.len() {
        if !reader.frame_slot(slot).lead.has_flag(flags::EVENT) {
            continue;
        }
        for (_, record) in reader.read_events(slot).unwrap_or_default() {
            if let CaptureRecord::Acknowledgement(record) = record {
                records.push(record);
            }
        }
    }
    AcknowledgementRecord::in_force(records)
}

/// Number of job lists that differ from the one before, and number of silences.
fn count_job_lists<B: ByteSource>(reader: &mut CaptureReader<B>) -> (usize, usize) {
    let (mut lists, mut silences, mut before) = (0, 0, None);
    let mut silent = false;
    for slot in 0..reader.index().slots.len() {
        if reader.frame_slot(slot).lead.flags & (flags::STATE_WHOLE | flags::STATE_MOVED) == 0 {
            continue;
        }
        for line in reader.read_lines(slot, flags::JOBS).unwrap_or_default() {
            let CaptureRecord::Jobs(jobs) = line.record else { continue };
            silences += usize::from(jobs.silent.is_some() && !silent);
            silent = jobs.silent.is_some();
            // A restated state repeats the list, and without an answer so far there is none.
            let other = jobs.list.filter(|list| jobs.heard.is_some() && before.as_ref() != Some(list));
            if let Some(list) = other {
                lists += 1;
                before = Some(list);
            }
        }
    }
    (lists, silences)
}

/// The first words of a text, on one line.
fn first_words(text: &str) -> String {
    const SIGNS: usize = 100;
    let line = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    match line.char_indices().nth(SIGNS) {
        Some((cut, _)) => {
            let head = &line[..cut];
            format!("{}...", head.rsplit_once(' ').map_or(head, |(whole, _)| whole))
        }
        None => line,
    }
}

fn build_info(
    moments: &Moments<FileBytes>,
    damage: Vec<Damage>,
    lost: usize,
    notes: OperatorNotes,
) -> CaptureInfo {
    let reader: &CaptureReader<FileBytes> = &moments.reader;
    let times: Vec<i64> = (0..moments.len()).map(|at| moments.time(at)).collect();
    let gap = |pair: &[i64]| pair[1].saturating_sub(pair[0]) > moments.longest_step();
    let gaps = times.windows(2).filter(|pair| gap(pair));
    let clock = |time: Option<&i64>| time.map(|time| reader.clock_text(*time));
    let slots = &reader.index().slots;
    CaptureInfo {
        header: reader.header().clone(),
        from: clock(times.iter().min()),
        to: clock(times.iter().max()),
        sweeps: times.len(),
        lost,
        frames: slots.len(),
        records: slots.iter().map(|slot| u64::from(slot.lead.records)).sum(),
        bytes: reader.bytes().size(),
        raw: slots.iter().map(|slot| u64::from(slot.lead.raw)).sum(),
        events: (0..moments.len()).filter(|at| moments.is_eventful(*at)).count(),
        noted: notes.noted,
        first_noted: notes.first_noted,
        bookmarked: notes.bookmarked,
        first_bookmarked: notes.first_bookmarked,
        acknowledged: notes.acknowledged,
        first_acknowledged: notes.first_acknowledged,
        job_lists: 0,
        job_silences: 0,
        gaps: gaps.map(|pair| (reader.clock_text(pair[0]), reader.clock_text(pair[1]))).collect(),
        set_back: times.windows(2).filter(|pair| pair[1] < pair[0]).count(),
        damage,
        ended: reader.has_end(),
        last: reader.observation(),
    }
}
