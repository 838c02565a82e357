//! `record`.

use super::args::RecordArgs;
use super::context::Context;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::record::recording::{RecordRequest, Recording, record, refuse_conflicts};
use crate::system::output_file::is_stdout;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_files::capture::{RecordedPart, RotationLimits};

pub fn run(context: &mut Context<'_, '_>, args: &RecordArgs) -> Result<Exit, Failure> {
    context.refuse_filter("record")?;
    let mut request = RecordRequest {
        output: &args.output,
        stdout: None,
        interval: args.interval,
        time: args.time,
        rotation: RotationLimits { size: args.rotate_size, every: args.rotate_every },
        keep: args.keep,
        notes: args.notes,
        jobs: args.running_jobs.list(),
        explains: !context.output.json,
    };
    refuse_conflicts(context.env(), &request, context.output.json)?;
    if is_stdout(&args.output) {
        request.stdout = Some(context.output.take_stdout());
    }
    let Recording { snapshot, files, recorded, ended } = record(&mut context.operation(), request)?;
    report(context, &snapshot, &files, recorded)?;
    ended?;
    Ok(context.conclude(&snapshot))
}

fn report(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    files: &[String],
    recorded: RecordedPart,
) -> Result<(), Failure> {
    let file = files.last().map_or("", String::as_str);
    if context.output.json {
        let times = !context.globals.no_times;
        let mut object = context.object("record", snapshot)?;
        object.field("file", &file)?;
        object.field("files", &files)?;
        object.field("sweeps", &recorded.sweeps)?;
        if times {
            object.field("bytes", &recorded.bytes)?;
            object.field("from_ms", &recorded.from)?;
            object.field("to_ms", &recorded.to)?;
        }
        return Ok(object.end()?);
    }
    let (sweeps, bytes) =
        (count_words(recorded.sweeps as usize, "sweep", "sweeps"), digits_in_groups(recorded.bytes));
    context.output.print_message(&match files {
        [_] if file == "-" => format!("{sweeps} written to stdout, {bytes} bytes"),
        [_] => format!("{sweeps} in {file}, {bytes} bytes; --source {file} shows it"),
        files => {
            let count = files.len();
            format!(
                "{sweeps} in {count} files, the last of them {file}, {bytes} bytes; --source FILE shows one"
            )
        }
    });
    Ok(())
}
