//! `capture cut`, `capture anonymize` and `capture note`: captures made from captures.

use std::io;
use std::path::Path;

use super::args::{OutputFileArgs, StretchArgs};
use super::context::Context;
use super::json::{Object, ObjectHead};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::count_words;
use crate::operations::record::recording_output::StdoutSink;
use crate::system::output_file::{is_stdout, write_with};
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_files::capture::{
    Aliases, CaptureRange, FileBytes, Moments, RewriteError, RewriteOptions, RewriteSummary, TimeSpec,
    fits_note, open, rewrite,
};
use fabdeck_files::capture_format::CaptureRecord;
use fabdeck_mad::access::SourceError;

pub fn cut(
    context: &mut Context<'_, '_>,
    file: &Path,
    stretch: &StretchArgs,
    made: &OutputFileArgs,
) -> Result<Exit, Failure> {
    context.refuse_filter("capture cut")?;
    let mut moments = Moments::new(open(file)?);
    let stretch = resolve_stretch(&moments, stretch)?;
    let written = write(context, &mut moments, &stretch, RewriteOptions::default(), made)?;
    report(context, "capture-cut", file, &made.output, &written)
}

pub fn anonymize(
    context: &mut Context<'_, '_>,
    file: &Path,
    keep_notes: bool,
    made: &OutputFileArgs,
) -> Result<Exit, Failure> {
    context.refuse_filter("capture anonymize")?;
    let mut moments = Moments::new(open(file)?);
    let stretch = CaptureRange::all(&moments)?;
    let aliases = Aliases::from_capture(&mut moments);
    let mut edit = |record: CaptureRecord| aliases.anonymize(record, keep_notes);
    let changes = RewriteOptions { edit: Some(&mut edit), note: None };
    let written = write(context, &mut moments, &stretch, changes, made)?;
    report(context, "capture-anonymize", file, &made.output, &written)
}

/// Adds a note: writes the capture again beside itself, and replaces it once the copy is complete.
pub fn note(context: &mut Context<'_, '_>, file: &Path, text: &str) -> Result<Exit, Failure> {
    context.refuse_filter("capture note")?;
    let text = text.trim();
    if text.is_empty() || !fits_note(text) {
        let bytes = text.len();
        return Err(Failure::usage(format!(
            "FD-7967: a note has from 1 character to 64 KiB in its JSON form, and this text has {bytes} bytes"
        )));
    }
    if is_stdout(file) {
        return Err(Failure::usage(
            "FD-7970: a note is written to the capture itself, which stdin does not permit; give the file of the capture",
        ));
    }
    let mut moments = Moments::new(open(file)?);
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
    let at = context.globals.at.as_deref().map(TimeSpec::parse).transpose()?;
    let time = match at {
        Some(at) => moments.resolve_beginning(at)?,
        None => moments.bounds().map_or(0, |(_, last)| last),
    };
    let stretch = CaptureRange::all(&moments)?;
    let made = OutputFileArgs { output: file.to_owned(), force: true };
    let changes = RewriteOptions { edit: None, note: Some((time, text.to_owned())) };
    let written = write_with(&made.output, true, |sink| {
        let written = rewrite(&mut moments, &stretch, changes, sink).map_err(|e| rewrite_failure(file, e))?;
        match written.damage.first() {
            // A damaged capture is not replaced.
            Some(damage) => Err(Failure::new(
                Exit::BadInput,
                format!("FD-7969: {name} is damaged and was not changed: {damage}"),
            )),
            None => Ok(written),
        }
    })?;
    report(context, "capture-note", file, file, &written)
}

/// The requested stretch of a capture.
pub fn resolve_stretch(
    moments: &Moments<FileBytes>,
    asked: &StretchArgs,
) -> Result<CaptureRange, SourceError> {
    let time = |text: &Option<String>| text.as_deref().map(TimeSpec::parse).transpose();
    CaptureRange::between(moments, time(&asked.from)?, time(&asked.to)?)
}

fn write(
    context: &mut Context<'_, '_>,
    moments: &mut Moments<FileBytes>,
    stretch: &CaptureRange,
    changes: RewriteOptions<'_>,
    made: &OutputFileArgs,
) -> Result<RewriteSummary, Failure> {
    if is_stdout(&made.output) {
        refuse_two_outputs(context)?;
        let sink = StdoutSink(&mut *context.output.out);
        return rewrite(moments, stretch, changes, sink).map_err(|e| rewrite_failure(&made.output, e));
    }
    write_with(&made.output, made.force, |sink| {
        rewrite(moments, stretch, changes, sink).map_err(|e| rewrite_failure(&made.output, e))
    })
}

/// Refuses `--json` with output to stdout.
pub fn refuse_two_outputs(context: &Context<'_, '_>) -> Result<(), Failure> {
    match context.output.json {
        true => Err(Failure::usage("FD-7501: --json and '-o -' both write to stdout; leave one out")),
        false => Ok(()),
    }
}

fn rewrite_failure(file: &Path, error: RewriteError) -> Failure {
    match error {
        RewriteError::Read(error) => error.into(),
        RewriteError::Write(error) => write_failure(file, &error),
    }
}

pub fn write_failure(file: &Path, error: &io::Error) -> Failure {
    Failure::writing(&file.display().to_string(), error)
}

fn report(
    context: &mut Context<'_, '_>,
    schema: &str,
    file: &Path,
    made: &Path,
    written: &RewriteSummary,
) -> Result<Exit, Failure> {
    let (name, made) = (file.display().to_string(), made.display().to_string());
    let notes = damage_notes(&name, &written.damage);
    if context.output.json {
        let head = ObjectHead {
            schema,
            source: Some(&name),
            time: None,
            assumed: None,
            partial: notes.is_partial(),
            notes: &notes,
        };
        let mut object = Object::begin(context.output.out, &head)?;
        object.field("file", &made)?;
        object.field("sweeps", &written.recorded.sweeps)?;
        object.field("unreadable", &written.lost)?;
        object.end()?;
    } else {
        let sweeps = count_words(written.recorded.sweeps as usize, "sweep", "sweeps");
        context.output.print_message(&match made.as_str() {
            "-" => format!("{sweeps} of {name} written to stdout"),
            made if made == name && schema == "capture-note" => {
                format!("the note was added to {name}, which has {sweeps} as before")
            }
            made if made == name => format!("{name} was rewritten, with {sweeps}"),
            made => format!("{sweeps} of {name} written to {made}"),
        });
        if written.lost > 0 {
            let lost = count_words(written.lost, "sweep", "sweeps");
            context.output.print_message(&format!("unreadable and left out: {lost}"));
        }
    }
    Ok(report_damage(context, &notes))
}

/// Notes about unreadable parts.
pub fn damage_notes(name: &str, damage: &[String]) -> Notes {
    let mut notes = Notes::new();
    for what in damage {
        notes.add_partial("FN-382", NotePlace::file(name), || {
            format!("{what}; sweeps that depend on it are left out")
        });
    }
    notes
}

pub fn report_damage(context: &mut Context<'_, '_>, notes: &Notes) -> Exit {
    context.output.print_notes(notes);
    match notes.is_partial() && context.globals.strict {
        true => Exit::Findings,
        false => Exit::Done,
    }
}
