//! `report`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::jobs::list_source::JobSource;
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
     how many rows there are in all. Nothing is cleared or written to the fabric.",
)
.needs_fabric()
.danger(Danger::WritesFile)
.examples(&[
    "fabdeck --source sim:demo report -o demo.html",
    "fabdeck --source capture/ report -o incident.html",
    "fabdeck --source umad report --interval 10s --intervals 30 --slurm -o today.html",
])
.runs(&CommandFunction(run))
.at(OptionUse::Used)
.assume(OptionUse::Used)
.traps(OptionUse::Used)
.json(&[JsonSchema::answer::<ReportAnswer>("report")]);

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// New output file; `-` is stdout
    #[arg(short, long, value_name = "FILE", default_value = "fabdeck-report.html")]
    pub output: PathBuf,
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
    let is_stdout = output_file::is_stdout(&args.output);
    if context.output.json && is_stdout {
        return Err(Failure::usage("FD-7342: --json and '-o -' both write to stdout; leave one out"));
    }
    output_file::refuse_unless_forced(&args.output, args.force)?;
    let request = ReportRequest {
        interval: args.interval,
        intervals: args.intervals,
        jobs: JobSource::from(&args.jobs),
        configured_jobs: context.config.jobs.settings.from.clone(),
    };
    let report = make_report(&mut context.operation(), &request)?;
    let bytes = write_page(&report).into_bytes();
    output_file::write(context.output.out, &args.output, &bytes)?;
    let (look, ranked) = (&report.facts.look, &report.facts.ranked);
    if context.output.json {
        let answer = ReportAnswer {
            file: args.output.display().to_string(),
            bytes: bytes.len(),
            critical: ranked.critical,
            warnings: ranked.warnings,
            acknowledged: ranked.acknowledged,
            events: report.facts.events.count,
        };
        context.write_answer("report", look, answer)?;
    } else if !is_stdout {
        let file = args.output.display();
        context.output.print_message(&format!("{file} is written; any browser opens it"));
    }
    Ok(context.conclude(look))
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
