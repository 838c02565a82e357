//! `jobs` and `show jobs`, and the list of `--jobs` of other commands.

use super::check::{adaptive_line, premises};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::jobs::job_channels::{JOB_CHANNELS, job_channels};
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::jobs::job_reading::{JobOrigin, PlacedJobs, read_jobs};
use crate::operations::jobs::list_source::JobSource;
use crate::operations::jobs::rows::RUNNING_JOBS;
use crate::operations::jobs::summary::{JobSummary, JobTotals, summarize_jobs};
use crate::operations::view_id::ViewId;
use crate::script::answer::json_answer;
use crate::script::command_entry::{CommandEntry, CommandFunction, FilterUse, OptionUse};
use crate::script::commands::jobs::job_args::JobRowArgs;
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::script::row_args::RowArgs;
use crate::script::rows::FIELDS_HELP;
use fabdeck_fabric::Faults;

mod event;
pub(crate) mod job_args;
pub(crate) mod watch;

pub const JOBS: CommandEntry = CommandEntry::new(
    "jobs",
    "The running jobs, and their paths under the tables in force",
    "The running jobs come from Slurm (--slurm) or from a list (--file). Without either, a capture has the \
     recorded ones, and a simulated fabric has generated ones. For each job: its hosts, their switches, the \
     channels between switches that paths between its hosts cross, the largest number of such paths over one \
     channel (its effective edge forwarding index), and the dark fiber. Then the totals of all jobs. Hosts of \
     the list that are not in the fabric are counted, and named in a note. A Slurm that does not answer \
     within its timeout ends with exit code 8. docs/jobs.md has more.",
)
.needs_fabric()
.examples(&["fabdeck --source umad jobs --slurm", "fabdeck --source capture/ jobs --file jobs.txt --json"])
.runs(&CommandFunction(run))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.assume(OptionUse::Used);

pub const JOBS_CHANNELS: CommandEntry = CommandEntry::new(
    "jobs channels",
    "The channels between switches that paths within jobs cross",
    "A row for each directed channel: the ports at its ends, how many paths within jobs cross it under the \
     tables in force (its effective edge forwarding index), the number of these jobs, and the job with the \
     most paths there. The channels with the most paths come first. The jobs come from the same sources as \
     for `jobs`.",
)
.needs_fabric()
.examples(&["fabdeck --source umad jobs channels --slurm --top 10"])
.runs(&CommandFunction(show_channels))
.filter(FilterUse::Rows)
.json(&[JsonSchema::rows::<JobsAnswer<'_>>(ViewId::JobChannels)]);

/// Runs `jobs`.
fn run(context: &mut Context<'_, '_>, args: &JobRowArgs) -> Result<Exit, Failure> {
    report_jobs(context, args, true)
}

/// Runs `show jobs`.
pub fn show_jobs(context: &mut Context<'_, '_>, args: &JobRowArgs) -> Result<Exit, Failure> {
    report_jobs(context, args, false)
}

fn report_jobs(context: &mut Context<'_, '_>, args: &JobRowArgs, totals: bool) -> Result<Exit, Failure> {
    if args.rows.fields.as_deref() == Some(FIELDS_HELP) {
        context.write_fields(ViewId::Jobs)?;
        return Ok(Exit::Done);
    }
    let PlacedJobs { snapshot, placed, origin } = read(context, args)?;
    let (summaries, all) = summarize_jobs(&snapshot, &placed);
    if totals && !context.output.json {
        let source = origin.words.iter().map(|words| ("list", words.clone())).collect();
        let missing = if context.output.verbose { all.missing_lines() } else { Vec::new() };
        let adaptive = adaptive_line(&snapshot, "paths are counted by static ports").into_iter().collect();
        let lines = [premises(&snapshot), adaptive, source, all.lines(), missing].concat();
        context.output.write_pairs(&lines)?;
        if !summaries.is_empty() {
            writeln!(context.output.out)?;
        }
    }
    write(context, &snapshot, &summaries, &all, &args.rows, &origin)?;
    Ok(context.conclude(&snapshot))
}

/// Runs `jobs channels`.
fn show_channels(context: &mut Context<'_, '_>, args: &JobRowArgs) -> Result<Exit, Failure> {
    if args.rows.fields.as_deref() == Some(FIELDS_HELP) {
        context.write_fields(ViewId::JobChannels)?;
        return Ok(Exit::Done);
    }
    let PlacedJobs { snapshot, placed, origin } = read(context, args)?;
    let (_, all) = summarize_jobs(&snapshot, &placed);
    let comparison = JobComparison::new(&snapshot, placed, &Faults::default(), None);
    let Some(rows) = job_channels(&snapshot, &comparison) else {
        let what = "FD-7821: the source has no forwarding tables, so the channels of paths are unknown; name a source that has them (`jobs` takes --assume, `jobs channels` does not)";
        return Err(context.refuse_with_notes(&snapshot, Failure::new(Exit::BadInput, what)));
    };
    let query = context.query(&args.rows);
    let answer = jobs_answer(&origin, &all);
    context.write_rows(ViewId::JobChannels.id(), &snapshot, &JOB_CHANNELS.of(&rows), &query, answer)?;
    Ok(context.conclude(&snapshot))
}

/// Jobs of the named source, otherwise of the fabric's source itself.
fn read(context: &mut Context<'_, '_>, args: &JobRowArgs) -> Result<PlacedJobs, Failure> {
    let configured = context.config.jobs.settings.from.clone();
    read_jobs(&mut context.operation(), &JobSource::from(&args.from), configured.as_ref())
}

/// What JSON has beside the rows.
fn jobs_answer<'a>(origin: &'a JobOrigin, totals: &'a JobTotals) -> JobsAnswer<'a> {
    let heard = origin.read_at.as_deref();
    JobsAnswer { from: &origin.from, heard, age_seconds: origin.age_seconds, totals }
}

fn write(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    summaries: &[JobSummary],
    totals: &JobTotals,
    rows: &RowArgs,
    origin: &JobOrigin,
) -> Result<(), Failure> {
    let query = context.query(rows);
    let answer = jobs_answer(origin, totals);
    context.write_rows(ViewId::Jobs.id(), snapshot, &RUNNING_JOBS.of(summaries), &query, answer)
}

json_answer! {
    /// What JSON has beside the rows.
    pub struct JobsAnswer<'a> {
        from: &'a str,
        heard: Option<&'a str>,
        age_seconds: Option<u64>,
        totals: &'a JobTotals,
    }
}
