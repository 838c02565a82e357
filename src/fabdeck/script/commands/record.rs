//! `record`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::record::recording::{RecordRequest, Recording, record, refuse_conflicts};
use crate::script::answer::{Optional, json_answer};
use crate::script::argument_values::{bytes, long_duration};
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::commands::jobs::job_args::RecordJobsArgs;
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::system::output_file::is_stdout;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_files::capture::{RecordedPart, RotationLimits};

pub const RECORD: CommandEntry = CommandEntry::new(
    "record",
    "Record a fabric over time",
    "Reads the fabric once (topology, tables, lanes), then all counters repeatedly, and writes every sweep to \
     the file at once. Whatever ends the recording, the sweeps until then can be read. `--source FILE.fdcap` \
     shows its end, and with --at any other time; check, whatif, hotspots and the console work there as on a \
     live fabric. Ctrl-C ends it. Nothing is written to the fabric, and no key to the file. --rotate-size and \
     --rotate-every continue in a new file, each a whole capture. With --notes each line of stdin is a note, \
     stored with the next sweep. With --slurm or --jobs the file has the running jobs, which `jobs` and the \
     console show. `-o -` writes to stdout, for a pipe, and ends when the reader closes it.",
)
.needs_fabric()
.danger(Danger::WritesFile)
.examples(&[
    "fabdeck --source sim:demo record -o demo.fdcap --for 1m",
    "fabdeck --source umad record -o night.fdcap --interval 5s --for 8h",
    "fabdeck --source umad record -o week.fdcap --rotate-every 1d --keep 7",
    "fabdeck --source umad record -o night.fdcap --for 8h --slurm",
    "fabdeck --source umad record -o - | ssh laptop 'cat > night.fdcap'",
])
.runs(&CommandFunction(run))
.traps(OptionUse::Used)
.json(&[JsonSchema::answer::<RecordAnswer<'_>>("record")]);

/// Arguments of `record`: what to record, and for how long.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// New file for the capture; `-` is stdout
    #[arg(short, long, value_name = "FILE.fdcap")]
    pub output: PathBuf,
    /// Interval between two sweeps: 500ms, 2s, 1h, or seconds without a unit (default: 1s)
    #[arg(long, value_name = "TIME", value_parser = long_duration, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
    /// Duration: 90s, 10m, 8h (default: until Ctrl-C)
    #[arg(long = "for", value_name = "TIME", value_parser = long_duration, allow_hyphen_values = true)]
    pub time: Option<Duration>,
    /// Begin the next file when this one reaches this size (100MB, 1GiB): FILE-000001.fdcap, FILE-000002.fdcap, ...
    #[arg(long, value_name = "BYTES", value_parser = bytes, allow_hyphen_values = true)]
    pub rotate_size: Option<u64>,
    /// Begin the next file when this one covers this time: 1h, 1d
    #[arg(long, value_name = "TIME", value_parser = long_duration, allow_hyphen_values = true)]
    pub rotate_every: Option<Duration>,
    /// Keep only the newest N of these files, those of earlier recordings with the same name included. Two recordings
    /// at the same time need different names
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep: Option<u32>,
    /// Record each line of stdin as a note, with the time of its arrival
    #[arg(long)]
    pub notes: bool,
    /// Record P_Key tables, multicast groups and their members too, as they are at the beginning
    #[arg(long)]
    pub partitions: bool,
    #[command(flatten)]
    pub running_jobs: RecordJobsArgs,
}

fn run(context: &mut Context<'_, '_>, args: &RecordArgs) -> Result<Exit, Failure> {
    let mut request = RecordRequest {
        output: &args.output,
        stdout: None,
        interval: args.interval,
        time: args.time,
        rotation: RotationLimits { size: args.rotate_size, every: args.rotate_every },
        keep: args.keep,
        notes: args.notes,
        jobs: args.running_jobs.list(),
        partitions: args.partitions,
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
        // The bytes depend on the times.
        let times = !context.options.no_times;
        let answer = RecordAnswer {
            file,
            files,
            sweeps: recorded.sweeps,
            bytes: Optional(times.then_some(recorded.bytes)),
            from_ms: Optional(times.then_some(recorded.from)),
            to_ms: Optional(times.then_some(recorded.to)),
        };
        return context.write_answer("record", snapshot, answer);
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

json_answer! {
    struct RecordAnswer<'a> {
        file: &'a str,
        files: &'a [String],
        sweeps: u64,
        bytes: Optional<u64>,
        from_ms: Optional<Option<i64>>,
        to_ms: Optional<Option<i64>>,
    }
}
