//! The output of a recording: a file, a series of files, or stdout.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fabdeck_files::capture::{Kept, RecordError, Recorder, Rotation, Series, Sink};
use fabdeck_files::capture_format::Header;

/// Stdout or a pipe, where written bytes cannot be removed.
pub struct Stream<'o>(pub &'o mut dyn Write);

impl Sink for Stream<'_> {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)?;
        self.0.flush()
    }

    fn cut(&mut self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A series of files.
#[derive(Debug)]
pub struct Rolling {
    pub series: Series,
    pub rotation: Rotation,
    pub keep: Option<usize>,
}

/// A failed write, with its file.
#[derive(Debug)]
pub struct Unwritten {
    pub file: String,
    pub error: RecordError,
}

/// A recorder with the file that it writes.
pub struct Reel<'o> {
    recorder: Recorder<Box<dyn Sink + 'o>>,
    header: Header,
    rolling: Option<Rolling>,
    /// All files so far; the current one is the last.
    files: Vec<String>,
    /// Size of the files before the current one.
    done: Kept,
}

impl<'o> Reel<'o> {
    pub fn stream(out: &'o mut dyn Write, header: Header) -> Self {
        Self::new(Box::new(Stream(out)), header, "-".to_owned(), None)
    }

    pub fn file(file: File, path: &Path, header: Header) -> Self {
        Self::new(Box::new(file), header, path.display().to_string(), None)
    }

    /// Begins a series of files. Returns the file of another recording if one uses the same names, because each would
    /// count and delete the other's files.
    pub fn rolling(rolling: Rolling, header: Header) -> Result<Result<Self, PathBuf>, (String, io::Error)> {
        let (path, file) = next(&rolling.series)?;
        let failed = |error| (path.display().to_string(), error);
        if let Some(rival) = rolling.series.rival(&path).map_err(failed)? {
            // The file is still empty.
            let _ = std::fs::remove_file(&path);
            return Ok(Err(rival));
        }
        Ok(Ok(Self::new(Box::new(file), header, path.display().to_string(), Some(rolling))))
    }

    fn new(sink: Box<dyn Sink + 'o>, header: Header, file: String, rolling: Option<Rolling>) -> Self {
        let recorder = Recorder::new(sink, header.clone());
        Self { recorder, header, rolling, files: vec![file], done: Kept::default() }
    }

    pub fn recorder(&mut self) -> &mut Recorder<Box<dyn Sink + 'o>> {
        &mut self.recorder
    }

    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Size of all files together.
    pub fn kept(&self) -> Kept {
        sum(self.done, self.recorder.kept())
    }

    /// Begins the next file if a sweep of this time belongs there, and returns its name.
    pub fn turn(&mut self, time: i64) -> Result<Option<&str>, Unwritten> {
        let kept = self.recorder.kept();
        let Some(rolling) = self.rolling.as_ref().filter(|rolling| rolling.rotation.due(&kept, time)) else {
            return Ok(None);
        };
        let (path, file) = next(&rolling.series).map_err(|(file, error)| self.unwritten(file, error))?;
        let fresh = Recorder::new(Box::new(file) as Box<dyn Sink + 'o>, self.header.clone());
        let full = std::mem::replace(&mut self.recorder, fresh);
        // A file ends with its last sweep.
        let ended = full.end(kept.to.unwrap_or(time));
        let ended = ended.map_err(|error| {
            // The new file is empty, and the error says why.
            let _ = std::fs::remove_file(&path);
            Unwritten { file: self.files.last().cloned().unwrap_or_default(), error }
        })?;
        self.done = sum(self.done, ended);
        self.files.push(path.display().to_string());
        Ok(self.files.last().map(String::as_str))
    }

    /// Deletes the oldest files, if `--keep` limits them, once the newest has a sweep of its own.
    pub fn tidy(&self) -> io::Result<Vec<PathBuf>> {
        match &self.rolling {
            Some(Rolling { series, keep: Some(most), .. }) if self.recorder.kept().sweeps == 1 => {
                series.keep(*most)
            }
            _ => Ok(Vec::new()),
        }
    }

    pub fn unwritten(&self, file: String, error: io::Error) -> Unwritten {
        Unwritten { file, error: RecordError { error, kept: self.kept() } }
    }

    /// Ends the recording and returns the size and the names of all files.
    pub fn end(self, time: i64) -> Result<(Kept, Vec<String>), Unwritten> {
        let file = self.files.last().cloned().unwrap_or_default();
        let last = self.recorder.end(time).map_err(|error| Unwritten { file, error })?;
        Ok((sum(self.done, last), self.files))
    }
}

fn next(series: &Series) -> Result<(PathBuf, File), (String, io::Error)> {
    series.next().map_err(|error| (series.path(1).display().to_string(), error))
}

fn sum(a: Kept, b: Kept) -> Kept {
    Kept { sweeps: a.sweeps + b.sweeps, bytes: a.bytes + b.bytes, from: a.from.or(b.from), to: b.to.or(a.to) }
}
