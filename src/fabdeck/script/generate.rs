//! `generate`.

use std::path::Path;

use super::args::GenerateArgs;
use super::context::Context;
use super::convert::find_writer;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::FabricSummary;
use crate::system::access::FormatOptions;
use crate::system::output_file;

pub fn run(context: &mut Context<'_, '_>, args: &GenerateArgs) -> Result<Exit, Failure> {
    context.refuse_filter("generate")?;
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
        let mut object = context.object("generate", snapshot)?;
        object.field("file", &file)?;
        object.field("format", &file.as_ref().map(|_| format))?;
        for (key, number) in summary.numbers() {
            object.field(key, &number)?;
        }
        object.end()?;
    } else if let Some(file) = file.filter(|file| file != "-") {
        context.output.print_message(&format!("{file} is written ({format}): {}", summary.sentence()));
    }
    Ok(())
}
