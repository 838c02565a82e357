//! `report`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::count_words;
use crate::operations::jobs::list_source::JobSource;
use crate::operations::report::hardware_report::{HardwareReport, make_hardware_report};
use crate::operations::report::page::write_page;
use crate::operations::report::report_request::{ReportRequest, make_report};
use crate::script::answer::json_answer;
use crate::script::argument_values::duration;
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::commands::jobs::job_args::JobSourceArgs;
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::system::output_file;

pub const REPORT: CommandEntry = CommandEntry::new(
    "report",
    "Write a report to hand on: one HTML page of health, map, problems and events",
    "One file for a colleague or a vendor: the ranked problems with cause, who is hit and the next step, charts of \
     traffic, waiting and errors, the map, the longest waits, jobs, cables, the timeline, and what the report \
     rests on, with versions and times. The page needs no network and no scripts, fits phones and paper, and is \
     light or dark as its reader's screen is. A live fabric is swept for the charts; of a capture they show the \
     whole recording up to --at. What is not known is not guessed: the report names it. Lists are bounded and say \
     how many rows there are in all. Nothing is cleared or written to the fabric. With --hardware the file is another \
     one: the raw answers of a live fabric as text, the first of each kind of device and question, without keys, \
     GUIDs, names and serial numbers. Read it, then send it: so readers are tested with devices that their authors \
     do not have (docs/hardware.md).",
)
.needs_fabric()
.danger(Danger::WritesFile)
.examples(&[
    "fabdeck --source sim:demo report -o demo.html",
    "fabdeck --source capture/ report -o incident.html",
    "fabdeck --source umad report --interval 10s --intervals 30 --slurm -o today.html",
    "fabdeck --source umad report --hardware -o answers.txt",
])
.runs(&CommandFunction(run))
.at(OptionUse::Used)
.assume(OptionUse::Used)
.traps(OptionUse::Used)
.json(&[
    JsonSchema::answer::<ReportAnswer>("report"),
    JsonSchema::answer::<HardwareReportAnswer>("hardware").titled("report --hardware"),
]);

const PAGE: &str = "fabdeck-report.html";
const HARDWARE: &str = "fabdeck-hardware.txt";

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// New output file; `-` is stdout (default: fabdeck-report.html, with --hardware fabdeck-hardware.txt)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write raw answers of devices instead, without keys, GUIDs, names and serial numbers, to send to the authors
    #[arg(long, conflicts_with_all = ["interval", "intervals", "slurm", "file"])]
    pub hardware: bool,
    /// Interval between two sweeps: 500ms, 2s, or seconds without a unit (default: 10s)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
    /// Number of intervals that the charts show; a capture has its own
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=900))]
    pub intervals: u32,
    #[command(flatten)]
    pub jobs: JobSourceArgs,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

fn run(context: &mut Context<'_, '_>, args: &ReportArgs) -> Result<Exit, Failure> {
    let usual = if args.hardware { HARDWARE } else { PAGE };
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(usual));
    let is_stdout = output_file::is_stdout(&output);
    if context.output.json && is_stdout {
        return Err(Failure::usage("FD-7342: --json and '-o -' both write to stdout; leave one out"));
    }
    output_file::refuse_unless_forced(&output, args.force)?;
    if args.hardware {
        return write_hardware(context, &output);
    }
    let request = ReportRequest {
        interval: args.interval,
        intervals: args.intervals,
        jobs: JobSource::from(&args.jobs),
        configured_jobs: context.config.jobs.settings.from.clone(),
    };
    let report = make_report(&mut context.operation(), &request)?;
    let bytes = write_page(&report).into_bytes();
    output_file::write(context.output.out, &output, &bytes)?;
    let (look, ranked) = (&report.facts.look, &report.facts.ranked);
    if context.output.json {
        let answer = ReportAnswer {
            file: output.display().to_string(),
            bytes: bytes.len(),
            critical: ranked.critical,
            warnings: ranked.warnings,
            acknowledged: ranked.acknowledged,
            events: report.facts.events.count,
        };
        context.write_answer("report", look, answer)?;
    } else if !is_stdout {
        let file = output.display();
        context.output.print_message(&format!("{file} is written; any browser opens it"));
    }
    Ok(context.conclude(look))
}

/// Writes the raw answers.
fn write_hardware(context: &mut Context<'_, '_>, output: &Path) -> Result<Exit, Failure> {
    let report = make_hardware_report(&mut context.operation())?;
    output_file::write(context.output.out, output, report.text.as_bytes())?;
    let HardwareReport { kinds, answered, refused, silent, look, text } = report;
    let file = output.display().to_string();
    if context.output.json {
        let answer = HardwareReportAnswer { file, bytes: text.len(), kinds, answered, refused, silent };
        context.write_answer("hardware", &look, answer)?;
    } else if !output_file::is_stdout(output) {
        let kinds = count_words(kinds, "kind of device", "kinds of device");
        context.output.print_message(&format!(
            "{file} is written: {kinds}, {answered} questions answered, {refused} refused, {silent} not answered; \
             read it before you send it"
        ));
    }
    Ok(context.conclude(&look))
}

json_answer! {
    struct HardwareReportAnswer {
        file: String,
        bytes: usize,
        kinds: usize,
        answered: usize,
        refused: usize,
        silent: usize,
    }
}

json_answer! {
    struct ReportAnswer {
        file: String,
        bytes: usize,
        critical: usize,
        warnings: usize,
        acknowledged: usize,
        events: usize,
    }
}
