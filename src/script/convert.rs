//! `convert`.

use crate::access::Wanted;
use std::path::PathBuf;

use super::args::ConvertArgs;
use super::context::Context;
use super::open::{Outside, Writer};
use super::{Exit, Failure, target};
use crate::access::Source;
use crate::session::Summary;

/// Formats that the command line has a word for and that cannot be written yet.
const LATER: &[&str] = &["psl", "qos-policy"];

/// The format with this word, among those that will do.
pub fn writer<'o>(
    outside: &'o dyn Outside,
    id: &str,
    will_do: impl Fn(&Writer) -> bool,
) -> Result<&'o Writer, Failure> {
    if LATER.contains(&id) {
        return Err(Failure::usage(format!("FD-7604: the format '{id}' is not in this version yet")));
    }
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
    refuse_same_file(args)?;
    let mut look = context.look_at(open(context, &args.inputs)?, Wanted::default())?;
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
        context.output.say(&format!("{file} is written ({}) from {}", writer.id, summary.sentence()));
    }
    Ok(context.conclude(&look))
}

/// What is no file is opened as `--source` would open it. It cannot be one fabric together with others.
fn open(context: &Context<'_, '_>, inputs: &[PathBuf]) -> Result<Box<dyn Source>, Failure> {
    let words: Vec<String> = inputs.iter().map(|path| path.display().to_string()).collect();
    let no_file = |word: &String| word.starts_with("sim:") || word == "umad" || word.starts_with("umad:");
    match words.as_slice() {
        [word] if no_file(word) => context.open(word),
        words => match words.iter().find(|word| no_file(word)) {
            Some(word) => Err(Failure::usage(format!(
                "FD-7503: '{word}' is a fabric by itself; give it as the only input"
            ))),
            None => Ok(context.outside.open_files(inputs)?),
        },
    }
}

/// Converting a file onto itself would cost what the other format cannot hold.
fn refuse_same_file(args: &ConvertArgs) -> Result<(), Failure> {
    let Ok(output) = args.output.canonicalize() else { return Ok(()) };
    let same = |input: &&PathBuf| output.is_file() && input.canonicalize().is_ok_and(|input| input == output);
    match args.inputs.iter().find(same) {
        None => Ok(()),
        Some(input) => {
            let input = input.display();
            Err(Failure::usage(format!("FD-7502: '{input}' is input and output; write to another file")))
        }
    }
}
