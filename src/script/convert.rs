//! `convert`.

use super::args::ConvertArgs;
use super::context::Context;
use super::open::{Outside, Writer};
use super::{Exit, Failure, target};
use crate::session::Summary;

/// The format with this word, among those that will do.
pub fn writer<'o>(
    outside: &'o dyn Outside,
    id: &str,
    will_do: impl Fn(&Writer) -> bool,
) -> Result<&'o Writer, Failure> {
    let known = || outside.writers().iter().filter(|writer| will_do(writer));
    known().find(|writer| writer.id == id).ok_or_else(|| {
        let words: Vec<&str> = known().map(|writer| writer.id).collect();
        Failure::usage(format!("FD-7601: '{id}' cannot be written here; formats: {}", words.join(", ")))
    })
}

pub fn run(context: &mut Context<'_, '_>, args: &ConvertArgs) -> Result<Exit, Failure> {
    context.refuse_filter("convert")?;
    let writer = writer(context.outside, &args.to, |_| true)?;
    if context.output.json && target::is_stdout(&args.output) {
        return Err(Failure::usage("FD-7501: --json and '-o -' both want stdout; leave one out"));
    }
    let mut look = context.look_at(context.outside.open_files(&args.inputs)?)?;
    let written = (writer.write)(&look)?;
    look.observation.notes.extend(written.notes);
    target::write(&mut context.output, &args.output, &written.bytes)?;
    let summary = Summary::of(&look);
    if context.output.json {
        let inputs: Vec<String> = args.inputs.iter().map(|path| path.display().to_string()).collect();
        let mut object = context.object("convert", &look)?;
        object.field("inputs", &inputs)?;
        object.field("file", &args.output.display().to_string())?;
        object.field("format", &writer.id)?;
        for (key, number) in summary.numbers() {
            object.field(key, &number)?;
        }
        object.end()?;
    } else if !target::is_stdout(&args.output) {
        let file = args.output.display();
        context.output.say(&format!("{file} is written ({}): {}", writer.id, summary.sentence()));
    }
    Ok(context.conclude(&look))
}
