//! The output of a recording: a file, a series of files, or stdout.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fabdeck_files::capture::{FileSeries, RecordError, RecordedPart, Recorder, RotationLimits, Sink};
use fabdeck_files::capture_format::CaptureHeader;

/// Stdout or a pipe, where written bytes cannot be removed.
pub struct StdoutSink<'o>(pub &'o mut dyn Write);

impl Sink for StdoutSink<'_> {
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
pub struct RollingFiles {
    pub series: FileSeries,
    pub rotation: RotationLimits,
    pub keep: Option<usize>,
}

/// A failed write, with its file.
#[derive(Debug)]
pub struct FileWriteError {
    pub file: String,
    pub error: RecordError,
}

/// A recorder with the file that it writes.
pub struct RecordingOutput<'o> {
    recorder: Recorder<Box<dyn Sink + 'o>>,
    header: CaptureHeader,
    rolling: Option<RollingFiles>,
    /// All files so far; the current one is the last.
    files: Vec<String>,
    /// Size of the files before the current one.
    done: RecordedPart,
}

impl<'o> RecordingOutput<'o> {
    pub fn stream(out: &'o mut dyn Write, header: CaptureHeader) -> Self {
        Self::new(Box::new(StdoutSink(out)), header, "-".to_owned(), None)
    }

    pub fn file(file: File, path: &Path, header: CaptureHeader) -> Self {
        Self::new(Box::new(file), header, path.display().to_string(), None)
    }

    /// Begins a series of files. Returns the file of another recording if one uses the same names, because each would
    /// count and delete the other's files.
    pub fn rolling(
        rolling: RollingFiles,
        header: CaptureHeader,
    ) -> Result<Result<Self, PathBuf>, (String, io::Error)> {
        let (path, file) = create_next(&rolling.series)?;
        let failed = |error| (path.display().to_string(), error);
        if let Some(rival) = rolling.series.find_rival(&path).map_err(failed)? {
            // The file is still empty.
            let _ = std::fs::remove_file(&path);
            return Ok(Err(rival));
        }
        Ok(Ok(Self::new(Box::new(file), header, path.display().to_string(), Some(rolling))))
    }

    fn new(
        sink: Box<dyn Sink + 'o>,
        header: CaptureHeader,
        file: String,
        rolling: Option<RollingFiles>,
    ) -> Self {
        let recorder = Recorder::new(sink, header.clone());
        Self { recorder, header, rolling, files: vec![file], done: RecordedPart::default() }
    }

    pub fn recorder(&mut self) -> &mut Recorder<Box<dyn Sink + 'o>> {
        &mut self.recorder
    }

    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Size of all files together.
    pub fn totals(&self) -> RecordedPart {
        add_totals(self.done, self.recorder.recorded())
    }

    /// Whether the current file has its first sweep and no other.
    pub fn has_one_sweep(&self) -> bool {
        self.recorder.recorded().sweeps == 1
    }

    /// Begins the next file if a sweep of this time belongs there, and returns its name.
    pub fn rotate(&mut self, time: i64) -> Result<Option<&str>, FileWriteError> {
        let recorded = self.recorder.recorded();
        let Some(rolling) = self.rolling.as_ref().filter(|rolling| rolling.rotation.is_due(&recorded, time))
        else {
            return Ok(None);
        };
        let (path, file) =
            create_next(&rolling.series).map_err(|(file, error)| self.write_error(file, error))?;
        let fresh = Recorder::new(Box::new(file) as Box<dyn Sink + 'o>, self.header.clone());
        let full = std::mem::replace(&mut self.recorder, fresh);
        // A file ends with its last sweep.
        let ended = full.finish(recorded.to.unwrap_or(time));
        let ended = ended.map_err(|error| {
            // The new file is empty, and the error says why.
            let _ = std::fs::remove_file(&path);
            FileWriteError { file: self.files.last().cloned().unwrap_or_default(), error }
        })?;
        self.done = add_totals(self.done, ended);
        self.files.push(path.display().to_string());
        Ok(self.files.last().map(String::as_str))
    }

    /// Deletes the oldest files, if `--keep` limits them, once the newest has a sweep of its own.
    pub fn remove_oldest(&self) -> io::Result<Vec<PathBuf>> {
        match &self.rolling {
            Some(RollingFiles { series, keep: Some(most), .. }) if self.has_one_sweep() => {
                series.prune(*most)
            }
            _ => Ok(Vec::new()),
        }
    }

    pub fn write_error(&self, file: String, error: io::Error) -> FileWriteError {
        FileWriteError { file, error: RecordError { error, kept: self.totals() } }
    }

    /// Ends the recording and returns the size and the names of all files.
    pub fn end(self, time: i64) -> Result<(RecordedPart, Vec<String>), FileWriteError> {
        let file = self.files.last().cloned().unwrap_or_default();
        let last = self.recorder.finish(time).map_err(|error| FileWriteError { file, error })?;
        Ok((add_totals(self.done, last), self.files))
    }
}

fn create_next(series: &FileSeries) -> Result<(PathBuf, File), (String, io::Error)> {
    series.create_next().map_err(|error| (series.path(1).display().to_string(), error))
}

fn add_totals(a: RecordedPart, b: RecordedPart) -> RecordedPart {
    RecordedPart {
        sweeps: a.sweeps + b.sweeps,
        bytes: a.bytes + b.bytes,
        from: a.from.or(b.from),
        to: b.to.or(a.to),
    }
}
