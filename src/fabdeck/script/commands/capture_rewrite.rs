//! `capture cut`, `capture anonymize` and `capture note`: captures made from captures.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use super::capture::{CaptureFileArgs, OutputFileArgs, StretchArgs};
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::count_words;
use crate::operations::record::recording_output::StdoutSink;
use crate::script::answer::{json_answer, write_object};
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::json::ObjectHead;
use crate::script::json_schema::JsonSchema;
use crate::system::output_file::{is_stdout, write_with};
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_files::capture::{
    Aliases, CaptureRange, FileBytes, Moments, RewriteError, RewriteOptions, RewriteSummary, TimeSpec,
    fits_note, open, rewrite,
};
use fabdeck_files::capture_format::CaptureRecord;
use fabdeck_mad::access::SourceError;

pub const CAPTURE_CUT: CommandEntry = CommandEntry::new(
    "capture cut",
    "Make a capture of a part of one",
    "The sweeps from one time to another with all notes and events between them, at their times. It begins \
     with everything that was known at the first sweep. Unreadable parts are left out and reported, in the \
     new capture too; so the command also repairs a capture that was cut short.",
)
.danger(Danger::WritesFile)
.examples(&["fabdeck capture cut night.fdcap --from 02:10 --to 02:20 -o incident.fdcap"])
.runs(&CommandFunction(cut))
.json(&[JsonSchema::answer::<RewriteAnswer<'_>>("capture-cut")]);

pub const CAPTURE_ANONYMIZE: CommandEntry = CommandEntry::new(
    "capture anonymize",
    "Make an anonymous capture",
    "GUIDs and names become numbers in canonical order, so that answers stay the same. Vendors and devices, \
     names of vendors' own counters, the source, and the texts of remarks and notes are left out. Times, \
     LIDs, cabling, tables and counters stay, so an operator of the fabric may recognize it. The same capture \
     gives the same bytes.",
)
.danger(Danger::WritesFile)
.examples(&["fabdeck capture anonymize incident.fdcap -o incident-anonymous.fdcap"])
.runs(&CommandFunction(anonymize))
.json(&[JsonSchema::answer::<RewriteAnswer<'_>>("capture-anonymize")]);

pub const CAPTURE_NOTE: CommandEntry = CommandEntry::new(
    "capture note",
    "Add a note to a capture",
    "The note is added at the end or at the time of --at. The capture is written to a temporary file, which \
     replaces it once it is complete. A capture without an end may still be in use by a recorder, and is \
     refused.",
)
.danger(Danger::WritesFile)
.examples(&["fabdeck capture note night.fdcap 'cable 3 was pulled' --at 02:13:40"])
.runs(&CommandFunction(note))
.at(OptionUse::Used)
.json(&[JsonSchema::answer::<RewriteAnswer<'_>>("capture-note")]);

#[derive(Debug, Args)]
pub struct CutArgs {
    #[command(flatten)]
    capture: CaptureFileArgs,
    #[command(flatten)]
    stretch: StretchArgs,
    #[command(flatten)]
    made: OutputFileArgs,
}

#[derive(Debug, Args)]
pub struct AnonymizeArgs {
    #[command(flatten)]
    capture: CaptureFileArgs,
    /// Keep the notes of operators, but replace GUIDs and names of nodes in them: the whole name, the host in it,
    /// and the first label of that. Other spellings are not found, so read the notes before you share the capture
    #[arg(long)]
    keep_notes: bool,
    #[command(flatten)]
    made: OutputFileArgs,
}

#[derive(Debug, Args)]
pub struct NoteArgs {
    /// A capture that is complete: its recording has ended
    file: PathBuf,
    /// Text of the note; --at sets its moment (default: the end of the capture)
    text: String,
}

fn cut(context: &mut Context<'_, '_>, args: &CutArgs) -> Result<Exit, Failure> {
    let (file, made) = (args.capture.file.as_path(), &args.made);
    let mut moments = Moments::new(open(file)?);
    let stretch = resolve_stretch(&moments, &args.stretch)?;
    let written = write(context, &mut moments, &stretch, RewriteOptions::default(), made)?;
    report(context, "capture-cut", file, &made.output, &written)
}

fn anonymize(context: &mut Context<'_, '_>, args: &AnonymizeArgs) -> Result<Exit, Failure> {
    let (file, made) = (args.capture.file.as_path(), &args.made);
    let mut moments = Moments::new(open(file)?);
    let stretch = CaptureRange::all(&moments)?;
    let aliases = Aliases::from_capture(&mut moments);
    let mut edit = |record: CaptureRecord| aliases.anonymize(record, args.keep_notes);
    let changes = RewriteOptions { edit: Some(&mut edit), note: None };
    let written = write(context, &mut moments, &stretch, changes, made)?;
    report(context, "capture-anonymize", file, &made.output, &written)
}

/// Adds a note: writes the capture again beside itself, and replaces it once the copy is complete.
fn note(context: &mut Context<'_, '_>, args: &NoteArgs) -> Result<Exit, Failure> {
    let (file, text) = (args.file.as_path(), args.text.trim());
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
    let at = context.options.reach.at.as_deref().map(TimeSpec::parse).transpose()?;
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
        let answer = RewriteAnswer { file: &made, sweeps: written.recorded.sweeps, unreadable: written.lost };
        write_object(context.output.out, &head, answer)?;
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

json_answer! {
    /// A capture made from another one.
    struct RewriteAnswer<'a> {
        file: &'a str,
        sweeps: u64,
        unreadable: usize,
    }
}
