//! Writes a capture while it happens. After every sweep all that was seen so far is in the file: whoever kills the
//! recorder loses no more than the sweep under way.

use std::io;

use crate::capture_format::{
    Acted, Base, End, Header, JOBS_LIMIT, JobsRecord, Packer, Record, TEXT_LIMIT, changes, encode, said_size,
    whole,
};
use crate::job_lists::JobList;
use fabdeck_fabric::observe::{HostsOfJobs, JobsHeard, News, Observation, Sweep};

/// Where a capture is written to.
pub trait Sink {
    /// All of the bytes behind those that are there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Takes away what was written behind a length: half a frame.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Sees to it that what was written outlives the machine's fall.
    fn sync(&mut self) -> io::Result<()>;
}

/// Sweeps between two that stand whole, and what their lines may come to: reading any moment begins at a whole one.
const SWEEPS: u64 = 60;
/// The same of a sweep of few ports. There it costs next to nothing, and what is damaged takes fewer sweeps with it.
const SWEEPS_OF_FEW: u64 = 9;
const FEW: usize = 512;
const LINES: usize = 24 << 20;
/// The state stands whole again when the rest has come to so many times its size, and to no less than this.
const STATES: u64 = 16;
const LEAST: u64 = 32 << 10;

/// Whether an operator's words are few enough to be read again: 64 KiB as they are written down.
pub fn fits_note(text: &str) -> bool {
    said_size(Record::Note(text.to_owned())) <= TEXT_LIMIT
}

/// What is written down of a list of jobs, or of why there is none, so that it can be read again.
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

/// What an operator puts into a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    Note(String),
    Action(Acted),
}

/// Of why there is no list of jobs so many signs are written down.
const WHY: usize = 500;
/// A text that would be too long is cut to so many signs.
const SHORT: usize = 4096;

/// What of a recording is in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    pub sweeps: u64,
    pub bytes: u64,
    /// Of the first and the last sweep, in milliseconds since 1970 began.
    pub from: Option<i64>,
    pub to: Option<i64>,
}

/// A write that failed. What was kept before it is a whole capture but for its end.
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
    /// The last look that was written.
    known: Option<Observation>,
    kept: Kept,
    /// In place of what is usual.
    whole_every: Option<u64>,
    state_every: Option<u64>,
    /// Since counters stood whole.
    sweeps: u64,
    lines: usize,
    /// Bytes of the last whole state, and of all since then.
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

    /// Counters stand whole again after so many sweeps, and the state after so many bytes.
    pub fn whole_every(mut self, sweeps: u64, bytes: u64) -> Self {
        (self.whole_every, self.state_every) = (Some(sweeps), Some(bytes));
        self
    }

    pub fn kept(&self) -> Kept {
        self.kept
    }

    /// One sweep, and what else of the look changed since the one before.
    pub fn sweep(&mut self, time: i64, look: &Observation, sweep: &Sweep) -> Result<(), RecordError> {
        let of_jobs =
            jobs_news(self.known.as_ref().and_then(|known| known.jobs.as_deref()), look.jobs.as_deref());
        let due = self.since_state > self.state_every.unwrap_or(LEAST.max(STATES * self.state_bytes));
        let changed = self.known.as_ref().map(|before| changes(before, look));
        // What changes is told as a change first: readers look for those.
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

    /// Something that happened, as whoever saw it says it.
    pub fn news(&mut self, time: i64, news: serde_json::Value) -> Result<(), RecordError> {
        self.write(time, vec![Record::News(news)], false).map(drop)
    }

    /// An operator's words; whoever takes them in refuses more than `fits_note` allows, and here they are cut.
    pub fn note(&mut self, time: i64, text: &str) -> Result<(), RecordError> {
        let text = if fits_note(text) { text.to_owned() } else { text.chars().take(SHORT).collect() };
        self.write(time, vec![Record::Note(text)], false).map(drop)
    }

    /// What an operator put into it. An action that is too long loses its command line.
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

    /// Bytes written, and bytes of the lines in them.
    fn write(&mut self, time: i64, records: Vec<Record>, moment: bool) -> Result<(u64, usize), RecordError> {
        let packed = self.packer.pack(time, records, moment).map_err(|error| self.failed(error))?;
        self.append(&packed.bytes)?;
        Ok((packed.bytes.len() as u64, packed.raw))
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        if let Err(error) = self.sink.append(bytes) {
            // Readers drop half a frame too; without it nobody has to wonder.
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

/// What is otherwise of jobs, for whoever looks at the times of a recording. That they are heard of for the first time is
/// none.
fn jobs_news(before: Option<&JobsHeard>, now: Option<&JobsHeard>) -> Option<News> {
    let (before, now) = (before?, now?);
    let but = |of: &JobsHeard, other: &JobsHeard| {
        of.jobs.keys().filter(|job| !other.jobs.contains_key(*job)).count() as u64
    };
    match &now.silent {
        // The words of a silence may differ each time.
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
