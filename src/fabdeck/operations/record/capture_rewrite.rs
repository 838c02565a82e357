//! Captures made from captures: a part of one, an anonymous one, or one with a further note.

use std::io::{self, Write};
use std::path::Path;

use super::recording_output::StdoutSink;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::operation::Operation;
use crate::operations::progress::ProgressLine;
use crate::system::output_file::{is_stdout, write_with};
use crate::system::stop_flag::StopFlag;
use fabdeck_files::capture::{
    Aliases, CaptureRange, FileBytes, Moments, RewriteError, RewriteOptions, RewriteSummary, Sink, TimeSpec,
    fits_acknowledgement, fits_note, open, rewrite_observed,
};
use fabdeck_files::capture_format::{AcknowledgementRecord, Annotation, CaptureRecord};
use fabdeck_mad::access::{ReadObserver, ReadProgress, SourceError};

/// A stretch of a capture by its times; `None` is its begin or end.
#[derive(Clone, Copy, Debug, Default)]
pub struct StretchRequest<'r> {
    pub from: Option<&'r str>,
    pub to: Option<&'r str>,
}

/// A note for a capture.
#[derive(Clone, Copy, Debug)]
pub struct NoteRequest<'r> {
    pub file: &'r Path,
    pub text: &'r str,
    /// Its moment; `None` is the end of the capture.
    pub at: Option<&'r str>,
}

/// Where a capture is written.
pub enum CaptureOutput<'o> {
    File { path: &'o Path, force: bool },
    Stdout(&'o mut dyn Write),
}

/// A capture that is open and can be written again.
pub struct CaptureRewrite {
    moments: Moments<FileBytes>,
    stretch: CaptureRange,
    change: CaptureChange,
}

enum CaptureChange {
    None,
    Anonymize { keeps_notes: bool },
}

/// The line of progress of a rewrite, and the flag that ends it.
struct RewriteProgress<'p> {
    line: Box<dyn ProgressLine + 'p>,
    stop: StopFlag,
}

impl<'p> RewriteProgress<'p> {
    fn begin(operation: &'p mut Operation<'_>) -> Self {
        let stop = operation.listen_to_stop();
        Self { line: operation.reporter.begin_progress(), stop }
    }
}

impl ReadObserver for RewriteProgress<'_> {
    fn report_progress(&mut self, ReadProgress { phase, done, known }: ReadProgress) {
        self.line.show_line(&|| format!("{phase}: {done} of {known}"));
    }

    fn is_cancelled(&self) -> bool {
        self.stop.is_requested()
    }
}

/// Opens a capture to write a part of it.
pub fn open_cut(file: &Path, stretch: StretchRequest<'_>) -> Result<CaptureRewrite, Failure> {
    let moments = Moments::new(open(file)?);
    let stretch = resolve_stretch(&moments, stretch)?;
    Ok(CaptureRewrite { moments, stretch, change: CaptureChange::None })
}

/// Opens a capture to write it without names and GUIDs.
pub fn open_anonymized(file: &Path, keeps_notes: bool) -> Result<CaptureRewrite, Failure> {
    let moments = Moments::new(open(file)?);
    let stretch = CaptureRange::all(&moments)?;
    Ok(CaptureRewrite { moments, stretch, change: CaptureChange::Anonymize { keeps_notes } })
}

impl CaptureRewrite {
    /// Writes the capture. A file appears complete or not at all, also when a signal ends the operation.
    pub fn write(
        mut self,
        operation: &mut Operation<'_>,
        output: CaptureOutput<'_>,
    ) -> Result<RewriteSummary, Failure> {
        let progress = &mut RewriteProgress::begin(operation);
        match output {
            CaptureOutput::File { path, force } => {
                write_with(path, force, |sink| self.write_to(path, sink, progress))
            }
            CaptureOutput::Stdout(out) => self.write_to(Path::new("-"), StdoutSink(out), progress),
        }
    }

    fn write_to(
        &mut self,
        name: &Path,
        sink: impl Sink,
        progress: &mut RewriteProgress<'_>,
    ) -> Result<RewriteSummary, Failure> {
        let Self { moments, stretch, change } = self;
        let written = match change {
            CaptureChange::None => {
                rewrite_observed(moments, stretch, RewriteOptions::default(), sink, progress)
            }
            CaptureChange::Anonymize { keeps_notes } => {
                let aliases = Aliases::from_capture(moments, progress).map_err(read_failure)?;
                let mut edit = |record: CaptureRecord| aliases.anonymize(record, *keeps_notes);
                let changes = RewriteOptions { edit: Some(&mut edit), ..RewriteOptions::default() };
                rewrite_observed(moments, stretch, changes, sink, progress)
            }
        };
        written.map_err(|error| rewrite_failure(name, error))
    }
}

/// Adds a note: writes the capture again beside itself, and replaces it once the copy is complete.
pub fn add_note(operation: &mut Operation<'_>, request: &NoteRequest<'_>) -> Result<RewriteSummary, Failure> {
    let (file, text) = (request.file, request.text.trim());
    if text.is_empty() || !fits_note(text) {
        let bytes = text.len();
        return Err(note_size_failure(bytes));
    }
    let mut moments = open_complete(file)?;
    let time = resolve_moment(&moments, request.at)?;
    let progress = &mut RewriteProgress::begin(operation);
    replace_with_added(file, &mut moments, (time, CaptureRecord::Note(text.to_owned())), progress)
}

fn note_size_failure(bytes: usize) -> Failure {
    Failure::usage(format!(
        "FD-7967: a note has from 1 character to 64 KiB in its JSON form, and this text has {bytes} bytes"
    ))
}

/// The time of a moment for a new record; without a text, that of the last moment.
pub fn resolve_moment(moments: &Moments<FileBytes>, at: Option<&str>) -> Result<i64, SourceError> {
    match at.map(TimeSpec::parse).transpose()? {
        Some(at) => moments.resolve_beginning(at),
        None => Ok(moments.bounds().map_or(0, |(_, last)| last)),
    }
}

/// Adds an acknowledgement, or that it is taken back, in the same way.
pub fn acknowledge_in(
    file: &Path,
    time: i64,
    record: &AcknowledgementRecord,
    observer: &mut dyn ReadObserver,
) -> Result<RewriteSummary, Failure> {
    if !fits_acknowledgement(record) {
        return Err(note_size_failure(record.note.as_ref().map_or(0, String::len)));
    }
    let mut moments = open_complete(file)?;
    replace_with_added(file, &mut moments, (time, CaptureRecord::Acknowledgement(record.clone())), observer)
}

/// Adds an annotation in the same way, at the time that it is about.
pub fn annotate(
    file: &Path,
    annotation: &Annotation,
    observer: &mut dyn ReadObserver,
) -> Result<RewriteSummary, Failure> {
    let mut moments = open_complete(file)?;
    let added = (annotation.at, CaptureRecord::Annotation(annotation.clone()));
    replace_with_added(file, &mut moments, added, observer)
}

/// Opens a capture that records can be added to without a loss.
fn open_complete(file: &Path) -> Result<Moments<FileBytes>, Failure> {
    if is_stdout(file) {
        return Err(Failure::usage(
            "FD-7970: a note is written to the capture itself, which stdin does not permit; give the file of the capture",
        ));
    }
    let moments = Moments::new(open(file)?);
    let name = file.display();
    let reader = &moments.reader;
    if !reader.has_end() || !reader.index().holes.is_empty() {
        return Err(Failure::new(
            Exit::Failed,
            format!(
                "FD-7969: {name} has no end or is damaged, so it gets no note: it may still be recorded, or would lose its \
                 unreadable parts; add notes with `record --notes` during the recording, or write a complete capture of the readable part \
                 with `capture cut {name} -o OUT`"
            ),
        ));
    }
    Ok(moments)
}

/// Writes the capture with a further record beside itself, and replaces it once the copy is complete and durable. A kill
/// at any moment leaves the old capture or the new one.
fn replace_with_added(
    file: &Path,
    moments: &mut Moments<FileBytes>,
    added: (i64, CaptureRecord),
    observer: &mut dyn ReadObserver,
) -> Result<RewriteSummary, Failure> {
    let stretch = CaptureRange::all(moments)?;
    let changes = RewriteOptions { edit: None, added: [added].into() };
    write_with(file, true, |sink| {
        let written = rewrite_observed(moments, &stretch, changes, sink, observer)
            .map_err(|error| rewrite_failure(file, error))?;
        match written.damage.first() {
            // A damaged capture is not replaced.
            Some(damage) => Err(Failure::new(
                Exit::BadInput,
                format!("FD-7969: {} is damaged and was not changed: {damage}", file.display()),
            )),
            None => Ok(written),
        }
    })
}

/// The requested stretch of a capture.
pub fn resolve_stretch(
    moments: &Moments<FileBytes>,
    asked: StretchRequest<'_>,
) -> Result<CaptureRange, SourceError> {
    let time = |text: Option<&str>| text.map(TimeSpec::parse).transpose();
    CaptureRange::between(moments, time(asked.from)?, time(asked.to)?)
}

fn rewrite_failure(file: &Path, error: RewriteError) -> Failure {
    match error {
        RewriteError::Read(error) => read_failure(error),
        RewriteError::Write(error) => write_failure(file, &error),
    }
}

fn read_failure(error: SourceError) -> Failure {
    match error {
        SourceError::Cancelled => Failure::interrupted(),
        error => error.into(),
    }
}

pub fn write_failure(file: &Path, error: &io::Error) -> Failure {
    Failure::writing(&file.display().to_string(), error)
}
