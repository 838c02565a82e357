//! Writes a capture during the recording. After each sweep the file holds all that was read so far, so a recorder that
//! is killed loses only the current sweep.

use std::io;

use crate::capture_format::{
    AcknowledgementRecord, Annotation, CaptureHeader, CaptureRecord, CounterBase, FramePacker, JobsRecord,
    MAX_JOBS_BYTES, MAX_TEXT_BYTES, OperatorAction, RecordingEnd, changed_records, encode, encoded_size,
    state_records, wire_records,
};
use crate::job_lists::JobList;
use fabdeck_fabric::observe::{
    FabricEvent, FlowLists, JobHosts, JobSnapshot, Observation, Sweep, WireHealth,
};

/// The destination of a capture.
pub trait Sink {
    /// Appends all bytes.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Truncates to a length: removes half a frame.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Makes written bytes durable, so that they survive a crash of the machine.
    fn sync(&mut self) -> io::Result<()>;
}

/// Most sweeps between two with whole counters, where reading of any moment begins.
const SWEEPS_PER_WHOLE: u64 = 60;
/// The same for sweeps of few ports. Whole counters cost almost nothing there, and damage then affects fewer sweeps.
const SMALL_SWEEPS_PER_WHOLE: u64 = 9;
/// Most samples of a sweep of few ports.
const SMALL_SWEEP_SAMPLES: usize = 512;
/// Most bytes of lines between two sweeps with whole counters.
const MAX_LINE_BYTES: usize = 24 << 20;
/// The whole state is written again when later frames reach this multiple of its size, and at least the next number of
/// bytes.
const STATE_FACTOR: u64 = 16;
const MIN_STATE_BYTES: u64 = 32 << 10;

/// Whether an operator's note is short enough to be read again: 64 KiB in its encoded form.
pub fn fits_note(text: &str) -> bool {
    encoded_size(CaptureRecord::Note(text.to_owned())) <= MAX_TEXT_BYTES
}

/// Whether an annotation is short enough to be read again.
pub fn fits_annotation(annotation: &Annotation) -> bool {
    encoded_size(CaptureRecord::Annotation(annotation.clone())) <= MAX_TEXT_BYTES
}

/// Whether an acknowledgement is short enough to be read again.
pub fn fits_acknowledgement(record: &AcknowledgementRecord) -> bool {
    encoded_size(CaptureRecord::Acknowledgement(record.clone())) <= MAX_TEXT_BYTES
}

/// The record of a job list, or of why there is none, limited to a size that can be read again.
pub fn recordable_jobs(came: Result<&JobList, &str>) -> Result<JobHosts, String> {
    let jobs = came.map_err(|why| why.chars().take(MAX_REASON_CHARS).collect::<String>())?.hosts_of_jobs();
    let record = CaptureRecord::Jobs(JobsRecord { heard: Some(0), silent: None, list: Some(jobs.clone()) });
    match encoded_size(record) <= MAX_JOBS_BYTES {
        true => Ok(jobs),
        false => Err(format!(
            "FD-2706: the list of jobs takes more than {} MiB, the most that a capture can hold",
            MAX_JOBS_BYTES >> 20
        )),
    }
}

/// An entry of an operator in a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OperatorEntry {
    Note(String),
    Action(OperatorAction),
    Acknowledgement(AcknowledgementRecord),
}

/// Most characters of a reason for a missing job list.
const MAX_REASON_CHARS: usize = 500;
/// A text that is too long is cut to this many characters.
const MAX_TEXT_CHARS: usize = 4096;

/// The extent of the recording in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordedPart {
    pub sweeps: u64,
    pub bytes: u64,
    /// Times of the first and the last sweep, in milliseconds since 1970 began.
    pub from: Option<i64>,
    pub to: Option<i64>,
}

/// A write that failed. The bytes before it are a whole capture without its end.
#[derive(Debug, thiserror::Error)]
#[error("{error}; the recording before it is kept (sweeps: {}, bytes: {})", kept.sweeps, kept.bytes)]
pub struct RecordError {
    pub error: io::Error,
    pub kept: RecordedPart,
}

#[derive(Debug)]
pub struct Recorder<S> {
    sink: S,
    header: CaptureHeader,
    packer: FramePacker,
    base: CounterBase,
    /// The last snapshot that was written.
    known: Option<Observation>,
    /// The flows of hosts as they were recorded last.
    flows: FlowLists,
    /// The last answers about the health of links that were written.
    wire: WireHealth,
    kept: RecordedPart,
    /// Limits that replace the usual ones.
    whole_every: Option<u64>,
    state_every: Option<u64>,
    /// Sweeps and bytes of lines since counters were written whole.
    sweeps: u64,
    lines: usize,
    /// Bytes of the last whole state, and of all frames since then.
    state_bytes: u64,
    since_state: u64,
}

impl<S: Sink + ?Sized> Sink for Box<S> {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        (**self).append(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        (**self).cut(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        (**self).sync()
    }
}

impl<S: Sink> Recorder<S> {
    pub fn new(sink: S, header: CaptureHeader) -> Self {
        Self {
            sink,
            header,
            packer: FramePacker::default(),
            base: CounterBase::default(),
            known: None,
            flows: FlowLists::default(),
            wire: WireHealth::default(),
            kept: RecordedPart::default(),
            whole_every: None,
            state_every: None,
            sweeps: 0,
            lines: 0,
            state_bytes: 0,
            since_state: 0,
        }
    }

    /// Sets after how many sweeps counters are written whole, and after how many bytes the state.
    pub fn with_whole_interval(mut self, sweeps: u64, bytes: u64) -> Self {
        (self.whole_every, self.state_every) = (Some(sweeps), Some(bytes));
        self
    }

    pub fn recorded(&self) -> RecordedPart {
        self.kept
    }

    /// Records a sweep, and the changes of the snapshot since the one before.
    pub fn record_sweep(
        &mut self,
        time: i64,
        snapshot: &Observation,
        sweep: &Sweep,
    ) -> Result<(), RecordError> {
        let of_jobs =
            diff_jobs(self.known.as_ref().and_then(|known| known.jobs.as_deref()), snapshot.jobs.as_deref());
        let due = self.since_state
            > self.state_every.unwrap_or(MIN_STATE_BYTES.max(STATE_FACTOR * self.state_bytes));
        let changed = self.known.as_ref().map(|before| changed_records(before, snapshot));
        // A change is written as a change first, because readers look for changes.
        let (mut records, restated) = match changed {
            Some(changed) if !due || !changed.is_empty() => (changed, false),
            _ => (state_records(&self.header, snapshot), true),
        };
        let usual = if sweep.samples.len() <= SMALL_SWEEP_SAMPLES {
            SMALL_SWEEPS_PER_WHOLE
        } else {
            SWEEPS_PER_WHOLE
        };
        let key = restated || self.sweeps >= self.whole_every.unwrap_or(usual) || self.lines > MAX_LINE_BYTES;
        if !records.is_empty() {
            self.known = Some(Observation {
                counters: Vec::new(),
                reading: None,
                wire: WireHealth::default(),
                ..snapshot.clone()
            });
        }
        // In a frame of its own, which readers can tell from a change of the fabric. A whole state holds the health of links
        // already.
        let mut beside: Vec<CaptureRecord> = Vec::new();
        if self.wire != snapshot.wire {
            beside.extend(wire_records(&self.wire, &snapshot.wire).filter(|_| !restated));
            self.wire.clone_from(&snapshot.wire);
        }
        if self.flows != sweep.flows || restated && !sweep.flows.0.is_empty() {
            beside.push(CaptureRecord::Flows((&sweep.flows).into()));
            self.flows.clone_from(&sweep.flows);
        }
        match restated {
            true => records.append(&mut beside),
            false if beside.is_empty() => {}
            false => self.since_state += self.write(time, beside, false)?.0,
        }
        let counters = encode(&mut self.base, sweep, key);
        records.extend(counters.into_iter().map(|part| CaptureRecord::Counters(Box::new(part))));
        for news in sweep.news.iter().chain(&of_jobs) {
            let value = serde_json::to_value(news).map_err(|error| self.record_error(error.into()))?;
            records.push(CaptureRecord::News(value));
        }
        let key = key
            || records.iter().any(|record| matches!(record, CaptureRecord::Counters(all) if all.is_whole()));
        let (bytes, lines) = self.write(time, records, true)?;
        if restated {
            (self.state_bytes, self.since_state) = (bytes, 0);
        } else {
            self.since_state += bytes;
        }
        (self.sweeps, self.lines) = if key { (0, 0) } else { (self.sweeps + 1, self.lines + lines) };
        self.kept.sweeps += 1;
        self.kept.from = self.kept.from.or(Some(time));
        self.kept.to = Some(time);
        if key {
            self.sink.sync().map_err(|error| self.record_error(error))?;
        }
        Ok(())
    }

    /// Records an event, in the words of the program that saw it.
    pub fn record_news(&mut self, time: i64, news: serde_json::Value) -> Result<(), RecordError> {
        self.write(time, vec![CaptureRecord::News(news)], false).map(drop)
    }

    /// Records a note. Callers refuse text that is too long; here it is cut.
    pub fn record_note(&mut self, time: i64, text: &str) -> Result<(), RecordError> {
        let text =
            if fits_note(text) { text.to_owned() } else { text.chars().take(MAX_TEXT_CHARS).collect() };
        self.write(time, vec![CaptureRecord::Note(text)], false).map(drop)
    }

    /// Records an operator's entry. An action that is too long loses its command line, and an acknowledgement its note.
    pub fn record_entry(&mut self, time: i64, entry: &OperatorEntry) -> Result<(), RecordError> {
        let acted = match entry {
            OperatorEntry::Note(text) => return self.record_note(time, text),
            OperatorEntry::Acknowledgement(record) => {
                let note = record.note.clone().filter(|_| fits_acknowledgement(record));
                let record = AcknowledgementRecord { note, ..record.clone() };
                return self.write(time, vec![CaptureRecord::Acknowledgement(record)], false).map(drop);
            }
            OperatorEntry::Action(acted) => acted,
        };
        let whole = CaptureRecord::Action(acted.clone());
        let record = match encoded_size(whole.clone()) <= MAX_TEXT_BYTES {
            true => whole,
            false => CaptureRecord::Action(OperatorAction {
                what: acted.what.chars().take(MAX_TEXT_CHARS).collect(),
                command: None,
            }),
        };
        self.write(time, vec![record], false).map(drop)
    }

    /// Ends the recording with the table of all frames.
    pub fn finish(mut self, time: i64) -> Result<RecordedPart, RecordError> {
        self.write(time, vec![CaptureRecord::End(RecordingEnd { sweeps: self.kept.sweeps })], false)?;
        let table = self.packer.to_table();
        self.append(&table)?;
        self.sink.sync().map_err(|error| self.record_error(error))?;
        Ok(self.kept)
    }

    /// Appends records as one frame. `moment`: a sweep is complete with this frame. Returns the size of the frame and the
    /// size of its lines before compression, in bytes.
    fn write(
        &mut self,
        time: i64,
        records: Vec<CaptureRecord>,
        moment: bool,
    ) -> Result<(u64, usize), RecordError> {
        let packed = self.packer.pack(time, records, moment).map_err(|error| self.record_error(error))?;
        self.append(&packed.bytes)?;
        Ok((packed.bytes.len() as u64, packed.raw))
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        if let Err(error) = self.sink.append(bytes) {
            // Readers ignore half a frame too; cutting it avoids their notes.
            let _ = self.sink.cut(self.kept.bytes);
            return Err(self.record_error(error));
        }
        self.kept.bytes += bytes.len() as u64;
        Ok(())
    }

    fn record_error(&self, error: io::Error) -> RecordError {
        RecordError { error, kept: self.kept }
    }
}

/// The news of a changed job list. The first list in a recording is no news.
fn diff_jobs(before: Option<&JobSnapshot>, now: Option<&JobSnapshot>) -> Option<FabricEvent> {
    let (before, now) = (before?, now?);
    let but = |of: &JobSnapshot, other: &JobSnapshot| {
        of.jobs.keys().filter(|job| !other.jobs.contains_key(*job)).count() as u64
    };
    match &now.failure {
        // Reasons of the same silence may differ each time.
        Some(_) if before.failure.is_some() => None,
        Some(why) => Some(FabricEvent::JobsSilent { why: why.chars().take(MAX_TEXT_CHARS).collect() }),
        None if before.jobs == now.jobs && before.failure.is_none() => None,
        None => Some(FabricEvent::JobsChanged {
            began: but(now, before),
            ended: but(before, now),
            running: now.jobs.len() as u64,
        }),
    }
}
