//! `generate`.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::FabricSummary;
use crate::operations::convert::find_writer;
use crate::script::answer::json_answer;
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::system::access::FormatOptions;
use crate::system::output_file;

pub const GENERATE: CommandEntry = CommandEntry::new(
    "generate",
    "Generate a fabric by name",
    "NAME may carry keys after commas, as in `kary,k=10,n=3,faults=1%,seed=7`; `fabdeck sources` lists names \
     and keys. The same name gives the same bytes. With --json and no file, only the numbers are printed.",
)
.danger(Danger::WritesFile)
.examples(&[
    "fabdeck generate demo",
    "fabdeck generate kary,k=4,n=2 -o tree.net",
    "fabdeck generate demo --json",
])
.runs(&CommandFunction(run))
.json(&[JsonSchema::answer::<GenerateAnswer<'_>>("generate")]);

#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// Name of a generated fabric (`fabdeck sources` lists them), with keys after commas, as in kary,k=4,n=2
    pub name: String,
    /// Output file (default: stdout, as with `-`)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The format to write: ibsim or ibnetdiscover
    #[arg(long, value_name = "FORMAT", default_value = "ibsim")]
    pub format: String,
}

fn run(context: &mut Context<'_, '_>, args: &GenerateArgs) -> Result<Exit, Failure> {
    if context.globals.source.is_some() {
        return Err(Failure::usage("FD-7504: generate reads no source; leave out --source, or use convert"));
    }
    let writer = find_writer(context.outside, &args.format, |writer| writer.topology)?;
    let to = args.output.as_deref();
    if context.output.json && to.is_some_and(output_file::is_stdout) {
        return Err(Failure::usage("FD-7501: --json and '-o -' both write to stdout; leave one out"));
    }
    let name = args.name.strip_prefix("sim:").unwrap_or(&args.name);
    let observation = context.outside.generate(name)?;
    let mut snapshot = context.env().snapshot_of(&format!("sim:{name}"), observation)?;
    if !context.output.json || to.is_some() {
        let written = (writer.write)(&snapshot, &FormatOptions::default())?;
        snapshot.observation.notes.extend(written.notes);
        output_file::write(context.output.out, to.unwrap_or(Path::new("-")), &written.bytes)?;
    }
    report(context, &snapshot, to, writer.id)?;
    Ok(context.conclude(&snapshot))
}

fn report(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    to: Option<&Path>,
    format: &str,
) -> Result<(), Failure> {
    let summary = FabricSummary::from_snapshot(snapshot);
    let file = to.map(|path| path.display().to_string());
    if context.output.json {
        let format = file.as_ref().map(|_| format);
        context.write_answer("generate", snapshot, GenerateAnswer { file, format, summary })?;
    } else if let Some(file) = file.filter(|file| file != "-") {
        context.output.print_message(&format!("{file} is written ({format}): {}", summary.sentence()));
    }
    Ok(())
}

json_answer! {
    struct GenerateAnswer<'a> {
        file: Option<String>,
        format: Option<&'a str>,
        summary: FabricSummary,
    }
}
