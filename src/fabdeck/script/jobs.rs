//! `jobs` and `show jobs`, and the list of `--jobs` of other commands.

use serde_json::{Value, json};

use super::check::premises;
use super::context::Context;
use super::row_args::RowArgs;
use super::rows::FIELDS_HELP;
use super::schema_parts::{closed, list, nullable, number, text};
use super::table::write_pairs;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::jobs::job_channels::{JobChannelRows, job_channels};
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::jobs::list_source::{JobSource, read_list};
use crate::operations::jobs::rows::JobRows;
use crate::operations::jobs::summary::{JobSummary, JobTotals, place_jobs, summarize_jobs};
use crate::operations::view_id::ViewId;
use crate::script::jobs::job_args::{JobRowArgs, JobsAction, JobsArgs};
use crate::script::jobs::source_jobs::{JobOrigin, read_source_jobs};
use fabdeck_fabric::Faults;
use fabdeck_files::jobs::JobPlacement;
use fabdeck_mad::access::ReadOptions;

mod event;
pub(crate) mod job_args;
mod source_jobs;
mod watch;

pub fn run(context: &mut Context<'_, '_>, args: &JobsArgs) -> Result<Exit, Failure> {
    match &args.action {
        Some(JobsAction::Channels(args)) => show_channels(context, args),
        Some(JobsAction::Watch(args)) => watch::run(context, args),
        None => report_jobs(context, &args.shown, true),
    }
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
    let (snapshot, placed, origin) = read_jobs(context, &JobSource::from(&args.from))?;
    let (summaries, all) = summarize_jobs(&snapshot, &placed);
    if totals && !context.output.json {
        let source = origin.words.iter().map(|words| ("list", words.clone())).collect();
        let missing = if context.output.verbose { all.missing_lines() } else { Vec::new() };
        let lines = [premises(&snapshot), source, all.lines(), missing].concat();
        write_pairs(context.output.out, (context.output.paint, context.output.page), &lines)?;
        if !summaries.is_empty() {
            writeln!(context.output.out)?;
        }
    }
    write(context, &snapshot, (&summaries, &all), &args.rows, &origin)?;
    Ok(context.conclude(&snapshot))
}

/// Runs `jobs channels`.
fn show_channels(context: &mut Context<'_, '_>, args: &JobRowArgs) -> Result<Exit, Failure> {
    if args.rows.fields.as_deref() == Some(FIELDS_HELP) {
        context.write_fields(ViewId::JobChannels)?;
        return Ok(Exit::Done);
    }
    let (snapshot, placed, origin) = read_jobs(context, &JobSource::from(&args.from))?;
    let (_, all) = summarize_jobs(&snapshot, &placed);
    let comparison = JobComparison::new(&snapshot, placed, &Faults::default(), None);
    let Some(rows) = job_channels(&snapshot, &comparison) else {
        let what = "FD-7821: the source has no forwarding tables, so the channels of paths are unknown; assume some with --assume ENGINE";
        return Err(context.refuse_with_notes(&snapshot, Failure::new(Exit::BadInput, what)));
    };
    let query = context.query(&args.rows);
    context.write_rows(ViewId::JobChannels.id(), &snapshot, &JobChannelRows(&rows), &query, |object| {
        origin.fields(object, &all)
    })?;
    Ok(context.conclude(&snapshot))
}

/// Jobs of the named source, otherwise of the fabric's source itself.
fn read_jobs(
    context: &mut Context<'_, '_>,
    from: &JobSource,
) -> Result<(Snapshot, JobPlacement, JobOrigin), Failure> {
    if !from.is_named() {
        return read_source_jobs(context, from);
    }
    read_named_jobs(context, from)
}

/// Jobs of the named source.
fn read_named_jobs(
    context: &mut Context<'_, '_>,
    from: &JobSource,
) -> Result<(Snapshot, JobPlacement, JobOrigin), Failure> {
    // The list comes first, because it arrives or fails within a known time.
    let list = read_list(&mut context.operation(), from)?;
    let mut snapshot =
        context.operation().read_snapshot(ReadOptions { tables: true, ..ReadOptions::default() })?;
    context.env().assume(&mut snapshot)?;
    let placed = place_jobs(&mut snapshot, &list, &from.place());
    Ok((snapshot, placed, JobOrigin { from: from.place().file, ..JobOrigin::default() }))
}

fn write(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    (summaries, totals): (&[JobSummary], &JobTotals),
    rows: &RowArgs,
    origin: &JobOrigin,
) -> Result<(), Failure> {
    let query = context.query(rows);
    context.write_rows(ViewId::Jobs.id(), snapshot, &JobRows(summaries), &query, |object| {
        origin.fields(object, totals)
    })
}

/// Schema of what JSON has beside the rows.
pub fn schema() -> Vec<(&'static str, Value)> {
    let any = || nullable(json!({ "type": "number" }));
    let counts = [
        "listed",
        "placed",
        "multi_switch",
        "hosts",
        "shared",
        "not_found",
        "ambiguous",
        "missing_hosts_more",
    ];
    let mut totals: Vec<(&str, Value)> = counts.map(|key| (key, number())).to_vec();
    totals.extend(["links", "max", "lost"].map(|key| (key, nullable(number()))));
    let missing = closed(vec![("host", text()), ("jobs", list(text())), ("fits", list(text()))]);
    totals.push(("missing_hosts", list(missing)));
    totals.extend(["mean", "mean_max", "mean_links", "dark_fiber"].map(|key| (key, any())));
    vec![
        ("from", text()),
        ("heard", nullable(text())),
        ("age_seconds", nullable(number())),
        ("totals", closed(totals)),
    ]
}
