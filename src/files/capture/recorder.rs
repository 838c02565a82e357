//! Writes a capture during the recording. After each sweep the file holds all that was read so far, so a recorder that
//! is killed loses only the current sweep.

use std::io;

use crate::capture_format::{
    Acted, Base, End, Header, JOBS_LIMIT, JobsRecord, Packer, Record, TEXT_LIMIT, changes, encode, said_size,
    whole,
};
use crate::job_lists::JobList;
use fabdeck_fabric::observe::{HostsOfJobs, JobsHeard, News, Observation, Sweep};

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
const SWEEPS: u64 = 60;
/// The same for sweeps of few ports. Whole counters cost almost nothing there, and damage then affects fewer sweeps.
const SWEEPS_OF_FEW: u64 = 9;
/// Most samples of a sweep of few ports.
const FEW: usize = 512;
/// Most bytes of lines between two sweeps with whole counters.
const LINES: usize = 24 << 20;
/// The whole state is written again when later frames reach this multiple of its size, and at least the next number of
/// bytes.
const STATES: u64 = 16;
const LEAST: u64 = 32 << 10;

/// Whether an operator's note is short enough to be read again: 64 KiB in its encoded form.
pub fn fits_note(text: &str) -> bool {
    said_size(Record::Note(text.to_owned())) <= TEXT_LIMIT
}

/// The record of a job list, or of why there is none, limited to a size that can be read again.
pub fn fitting_jobs(came: Result<&JobList, &str>) -> Result<HostsOfJobs, String> {
    let jobs = came.map_err(|why| why.chars().take(WHY).collect::<String>())?.hosts_of_jobs();
    let record = Record::Jobs(JobsRecord { heard: Some(0), silent: None, list: Some(jobs.clone()) });
    match said_size(record) <= JOBS_LIMIT {
        true => Ok(jobs),
        false => Err(format!(
            "FD-2706: the list takes more than {JOBS_LIMIT} bytes in a capture, which nobody would read"
        )),
    }
}

/// An entry of an operator in a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    Note(String),
    Action(Acted),
}

/// Most characters of a reason for a missing job list.
const WHY: usize = 500;
/// A text that is too long is cut to this many characters.
const SHORT: usize = 4096;

/// The extent of the recording in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    pub sweeps: u64,
    pub bytes: u64,
    /// Times of the first and the last sweep, in milliseconds since 1970 began.
    pub from: Option<i64>,
    pub to: Option<i64>,
}

/// A write that failed. The bytes before it are a whole capture without its end.
#[derive(Debug, thiserror::Error)]
#[error("{error}; {} sweeps ({} bytes) before it are kept", kept.sweeps, kept.bytes)]
pub struct RecordError {
    pub error: io::Error,
    pub kept: Kept,
}

#[derive(Debug)]
pub struct Recorder<S> {
    sink: S,
    header: Header,
    packer: Packer,
    base: Base,
    /// The last snapshot that was written.
    known: Option<Observation>,
    kept: Kept,
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
    pub fn new(sink: S, header: Header) -> Self {
        Self {
            sink,
            header,
            packer: Packer::default(),
            base: Base::default(),
            known: None,
            kept: Kept::default(),
            whole_every: None,
            state_every: None,
            sweeps: 0,
            lines: 0,
            state_bytes: 0,
            since_state: 0,
        }
    }

    /// Sets after how many sweeps counters are written whole, and after how many bytes the state.
    pub fn whole_every(mut self, sweeps: u64, bytes: u64) -> Self {
        (self.whole_every, self.state_every) = (Some(sweeps), Some(bytes));
        self
    }

    pub fn kept(&self) -> Kept {
        self.kept
    }

    /// Records a sweep, and the changes of the snapshot since the one before.
    pub fn sweep(&mut self, time: i64, look: &Observation, sweep: &Sweep) -> Result<(), RecordError> {
        let of_jobs =
            jobs_news(self.known.as_ref().and_then(|known| known.jobs.as_deref()), look.jobs.as_deref());
        let due = self.since_state > self.state_every.unwrap_or(LEAST.max(STATES * self.state_bytes));
        let changed = self.known.as_ref().map(|before| changes(before, look));
        // A change is written as a change first, because readers look for changes.
        let (mut records, restated) = match changed {
            Some(changed) if !due || !changed.is_empty() => (changed, false),
            _ => (whole(&self.header, look), true),
        };
        let usual = if sweep.samples.len() <= FEW { SWEEPS_OF_FEW } else { SWEEPS };
        let key = restated || self.sweeps >= self.whole_every.unwrap_or(usual) || self.lines > LINES;
        if !records.is_empty() {
            self.known = Some(Observation { counters: Vec::new(), reading: None, ..look.clone() });
        }
        let counters = encode(&mut self.base, sweep, key);
        records.extend(counters.into_iter().map(|part| Record::Counters(Box::new(part))));
        for news in sweep.news.iter().chain(&of_jobs) {
            let value = serde_json::to_value(news).map_err(|error| self.failed(error.into()))?;
            records.push(Record::News(value));
        }
        let key =
            key || records.iter().any(|record| matches!(record, Record::Counters(all) if all.is_whole()));
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
            self.sink.sync().map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    /// Records an event, in the words of the program that saw it.
    pub fn news(&mut self, time: i64, news: serde_json::Value) -> Result<(), RecordError> {
        self.write(time, vec![Record::News(news)], false).map(drop)
    }

    /// Records a note. Callers refuse text that is too long; here it is cut.
    pub fn note(&mut self, time: i64, text: &str) -> Result<(), RecordError> {
        let text = if fits_note(text) { text.to_owned() } else { text.chars().take(SHORT).collect() };
        self.write(time, vec![Record::Note(text)], false).map(drop)
    }

    /// Records an operator's entry. An action that is too long loses its command line.
    pub fn enter(&mut self, time: i64, entry: &Entry) -> Result<(), RecordError> {
        let acted = match entry {
            Entry::Note(text) => return self.note(time, text),
            Entry::Action(acted) => acted,
        };
        let whole = Record::Action(acted.clone());
        let record = match said_size(whole.clone()) <= TEXT_LIMIT {
            true => whole,
            false => Record::Action(Acted { what: acted.what.chars().take(SHORT).collect(), command: None }),
        };
        self.write(time, vec![record], false).map(drop)
    }

    /// Ends the recording with the table of all frames.
    pub fn end(mut self, time: i64) -> Result<Kept, RecordError> {
        self.write(time, vec![Record::End(End { sweeps: self.kept.sweeps })], false)?;
        let table = self.packer.table();
        self.append(&table)?;
        self.sink.sync().map_err(|error| self.failed(error))?;
        Ok(self.kept)
    }

    /// Returns the bytes written, and the bytes of the uncompressed lines in them.
    fn write(&mut self, time: i64, records: Vec<Record>, moment: bool) -> Result<(u64, usize), RecordError> {
        let packed = self.packer.pack(time, records, moment).map_err(|error| self.failed(error))?;
        self.append(&packed.bytes)?;
        Ok((packed.bytes.len() as u64, packed.raw))
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        if let Err(error) = self.sink.append(bytes) {
            // Readers ignore half a frame too; cutting it avoids their notes.
            let _ = self.sink.cut(self.kept.bytes);
            return Err(self.failed(error));
        }
        self.kept.bytes += bytes.len() as u64;
        Ok(())
    }

    fn failed(&self, error: io::Error) -> RecordError {
        RecordError { error, kept: self.kept }
    }
}

/// The news of a changed job list. The first list in a recording is no news.
fn jobs_news(before: Option<&JobsHeard>, now: Option<&JobsHeard>) -> Option<News> {
    let (before, now) = (before?, now?);
    let but = |of: &JobsHeard, other: &JobsHeard| {
        of.jobs.keys().filter(|job| !other.jobs.contains_key(*job)).count() as u64
    };
    match &now.silent {
        // Reasons of the same silence may differ each time.
        Some(_) if before.silent.is_some() => None,
        Some(why) => Some(News::JobsSilent { why: why.chars().take(SHORT).collect() }),
        None if before.jobs == now.jobs && before.silent.is_none() => None,
        None => Some(News::JobsChanged {
            began: but(now, before),
            ended: but(before, now),
            running: now.jobs.len() as u64,
        }),
    }
}
