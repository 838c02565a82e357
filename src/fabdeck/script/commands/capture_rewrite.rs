//! `capture cut`, `capture anonymize` and `capture note`: captures made from captures.

use std::path::{Path, PathBuf};

use clap::Args;

use super::capture::{CaptureFileArgs, OutputFileArgs, StretchArgs};
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::count_words;
use crate::operations::record::capture_rewrite::{
    CaptureOutput, CaptureRewrite, NoteRequest, add_note, open_anonymized, open_cut,
};
use crate::script::answer::{json_answer, write_object};
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::json::ObjectHead;
use crate::script::json_schema::JsonSchema;
use crate::system::output_file::is_stdout;
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_files::capture::RewriteSummary;

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
    let file = args.capture.file.as_path();
    let cut = open_cut(file, args.stretch.request())?;
    write(context, "capture-cut", file, &args.made, cut)
}

fn anonymize(context: &mut Context<'_, '_>, args: &AnonymizeArgs) -> Result<Exit, Failure> {
    let file = args.capture.file.as_path();
    let anonymized = open_anonymized(file, args.keep_notes)?;
    write(context, "capture-anonymize", file, &args.made, anonymized)
}

fn note(context: &mut Context<'_, '_>, args: &NoteArgs) -> Result<Exit, Failure> {
    let file = args.file.as_path();
    let at = context.options.reach.at.as_deref();
    let written = add_note(&mut context.operation(), &NoteRequest { file, text: &args.text, at })?;
    report(context, "capture-note", file, file, &written)
}

/// Writes the new capture to its file or to stdout, and reports it.
fn write(
    context: &mut Context<'_, '_>,
    schema: &str,
    file: &Path,
    made: &OutputFileArgs,
    capture: CaptureRewrite,
) -> Result<Exit, Failure> {
    let output = if is_stdout(&made.output) {
        refuse_two_outputs(context)?;
        CaptureOutput::Stdout(context.output.take_stdout())
    } else {
        CaptureOutput::File { path: &made.output, force: made.force }
    };
    let written = capture.write(&mut context.operation(), output)?;
    report(context, schema, file, &made.output, &written)
}

/// Refuses `--json` with output to stdout.
pub fn refuse_two_outputs(context: &Context<'_, '_>) -> Result<(), Failure> {
    match context.output.json {
        true => Err(Failure::usage("FD-7501: --json and '-o -' both write to stdout; leave one out")),
        false => Ok(()),
    }
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
