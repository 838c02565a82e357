//! `capture cut`, `capture anonymize` and `capture note`: captures made from captures.

use std::io;
use std::path::Path;

use super::args::{MadeArgs, StretchArgs};
use super::context::Context;
use super::json::{Head, Object};
use super::reel::Stream;
use super::target::{is_stdout, make};
use super::{Exit, Failure};
use crate::session::counted;
use fabdeck_fabric::observe::{Notes, Place};
use fabdeck_files::capture::{
    Aliases, At, Changes, FileBytes, Moments, RewriteError, Rewritten, Stretch, fits_note, open, rewrite,
};
use fabdeck_files::capture_format::Record;
use fabdeck_mad::access::SourceError;

pub fn cut(
    context: &mut Context<'_, '_>,
    file: &Path,
    stretch: &StretchArgs,
    made: &MadeArgs,
) -> Result<Exit, Failure> {
    context.refuse_filter("capture cut")?;
    let mut moments = Moments::new(open(file)?);
    let stretch = within(&moments, stretch)?;
    let written = write(context, &mut moments, &stretch, Changes::default(), made)?;
    report(context, "capture-cut", file, &made.output, &written)
}

pub fn anonymize(
    context: &mut Context<'_, '_>,
    file: &Path,
    keep_notes: bool,
    made: &MadeArgs,
) -> Result<Exit, Failure> {
    context.refuse_filter("capture anonymize")?;
    let mut moments = Moments::new(open(file)?);
    let stretch = Stretch::all(&moments)?;
    let aliases = Aliases::of(&mut moments);
    let mut edit = |record: Record| aliases.disguise(record, keep_notes);
    let changes = Changes { edit: Some(&mut edit), note: None };
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
            "FD-7967: a note takes from one sign to 64 KiB as it is written down, and this one has {bytes} bytes"
        )));
    }
    if is_stdout(file) {
        return Err(Failure::usage(
            "FD-7970: a note is written into the capture itself, and stdin is none; give its file",
        ));
    }
    let mut moments = Moments::new(open(file)?);
    let name = file.display();
    let reader = &moments.reader;
    if !reader.ended() || !reader.index().holes.is_empty() {
        return Err(Failure::new(
            Exit::Failed,
            format!(
                "FD-7969: {name} has no end or is damaged, so it may still be written, or would lose what cannot be \
                 read; `record --notes` takes notes meanwhile, and `capture cut {name} -o OUT` makes a whole one of what \
                 there is"
            ),
        ));
    }
    let at = context.globals.at.as_deref().map(At::parse).transpose()?;
    let time = match at {
        Some(at) => moments.beginning_of(at)?,
        None => moments.bounds().map_or(0, |(_, last)| last),
    };
    let stretch = Stretch::all(&moments)?;
    let made = MadeArgs { output: file.to_owned(), force: true };
    let changes = Changes { edit: None, note: Some((time, text.to_owned())) };
    let written = make(&made.output, true, |sink| {
        let written = rewrite(&mut moments, &stretch, changes, sink).map_err(|e| failed(file, e))?;
        match written.damage.first() {
            // A damaged capture is not replaced.
            Some(damage) => {
                Err(Failure::new(Exit::BadInput, format!("FD-7969: {name} is damaged: {damage}")))
            }
            None => Ok(written),
        }
    })?;
    report(context, "capture-note", file, file, &written)
}

/// The requested stretch of a capture.
pub fn within(moments: &Moments<FileBytes>, asked: &StretchArgs) -> Result<Stretch, SourceError> {
    let time = |text: &Option<String>| text.as_deref().map(At::parse).transpose();
    Stretch::between(moments, time(&asked.from)?, time(&asked.to)?)
}

fn write(
    context: &mut Context<'_, '_>,
    moments: &mut Moments<FileBytes>,
    stretch: &Stretch,
    changes: Changes<'_>,
    made: &MadeArgs,
) -> Result<Rewritten, Failure> {
    if is_stdout(&made.output) {
        refuse_both(context)?;
        let sink = Stream(&mut *context.output.out);
        return rewrite(moments, stretch, changes, sink).map_err(|e| failed(&made.output, e));
    }
    make(&made.output, made.force, |sink| {
        rewrite(moments, stretch, changes, sink).map_err(|e| failed(&made.output, e))
    })
}

/// Refuses `--json` with output to stdout.
pub fn refuse_both(context: &Context<'_, '_>) -> Result<(), Failure> {
    match context.output.json {
        true => Err(Failure::usage("FD-7501: --json and '-o -' both want stdout; leave one out")),
        false => Ok(()),
    }
}

fn failed(file: &Path, error: RewriteError) -> Failure {
    match error {
        RewriteError::Read(error) => error.into(),
        RewriteError::Write(error) => writing(file, &error),
    }
}

pub fn writing(file: &Path, error: &io::Error) -> Failure {
    Failure::writing(&file.display().to_string(), error)
}

fn report(
    context: &mut Context<'_, '_>,
    schema: &str,
    file: &Path,
    made: &Path,
    written: &Rewritten,
) -> Result<Exit, Failure> {
    let (name, made) = (file.display().to_string(), made.display().to_string());
    let notes = damage_notes(&name, &written.damage);
    if context.output.json {
        let head = Head {
            schema,
            source: Some(&name),
            time: None,
            assumed: None,
            partial: notes.partial(),
            notes: &notes,
        };
        let mut object = Object::begin(context.output.out, &head)?;
        object.field("file", &made)?;
        object.field("sweeps", &written.kept.sweeps)?;
        object.field("unreadable", &written.lost)?;
        object.end()?;
    } else {
        let sweeps = counted(written.kept.sweeps as usize, "sweep", "sweeps");
        context.output.say(&match made.as_str() {
            "-" => format!("{sweeps} of {name} written to stdout"),
            made if made == name && schema == "capture-note" => {
                format!("{name} has the note, and {sweeps} as before")
            }
            made if made == name => format!("{name} is written anew, with {sweeps}"),
            made => format!("{sweeps} of {name} written to {made}"),
        });
        if written.lost > 0 {
            let lost = counted(written.lost, "sweep", "sweeps");
            context.output.say(&format!("{lost} could not be read and are left out"));
        }
    }
    Ok(say_damage(context, &notes))
}

/// Notes about unreadable parts.
pub fn damage_notes(name: &str, damage: &[String]) -> Notes {
    let mut notes = Notes::new();
    for what in damage {
        notes.add_partial("FN-382", Place::file(name), || format!("{what}; what builds upon it is left out"));
    }
    notes
}

pub fn say_damage(context: &mut Context<'_, '_>, notes: &Notes) -> Exit {
    context.output.say_notes(notes);
    match notes.partial() && context.globals.strict {
        true => Exit::Findings,
        false => Exit::Done,
    }
}
