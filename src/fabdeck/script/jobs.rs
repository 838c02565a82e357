//! `jobs` and `show jobs`, and the list of `--jobs` of other commands.

use std::path::Path;

use serde_json::{Value, json};

use super::check::premises;
use super::context::Context;
use super::route_args::MissingHosts;
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
use fabdeck_fabric::observe::NotePlace;
use fabdeck_fabric::{ElementError, Faults, JobMap};
use fabdeck_files::job_lists::{JobLine, JobList};
use fabdeck_files::jobs::{HostIndex, JobPlacement};
use fabdeck_mad::access::ReadOptions;

mod event;
pub(crate) mod job_args;
mod source_jobs;
mod watch;

/// Reads the jobs of `--jobs` as ports of their hosts. In a hand-written list, an unknown host is a mistake. Slurm lists
/// hosts that no fabric has, but a list without any known host belongs to another fabric.
pub fn read_job_map(
    context: &Context<'_, '_>,
    snapshot: &mut Snapshot,
    file: &Path,
    missing: MissingHosts,
) -> Result<JobMap, Failure> {
    let list = context.outside.jobs(file).map_err(Failure::from_list_error)?;
    let placed = HostIndex::new(snapshot.fabric(), &snapshot.names).place_jobs(&list);
    if !list.is_from_slurm() && missing == MissingHosts::Refuse {
        check_hosts_exist(snapshot, &list, &placed, file)?;
    }
    if placed.is_on_other_fabric() {
        let what = format!("{}: FD-7904: {}", file.display(), placed.other_fabric_text());
        return Err(Failure::new(Exit::BadInput, what));
    }
    let place = NotePlace::file(file.display().to_string());
    snapshot.observation.notes.extend(placed.idle_note(&place));
    snapshot.observation.notes.extend(placed.notes(&place));
    Ok(placed.jobs)
}

/// Number of missing hosts that a message names with their lines.
const MAX_MISSING_NAMED: usize = 100;

/// Checks that the fabric has each host of a hand-written list; the message names all missing ones.
fn check_hosts_exist(
    snapshot: &Snapshot,
    list: &JobList,
    placed: &JobPlacement,
    file: &Path,
) -> Result<(), Failure> {
    let mut missing: Vec<&JobLine> = Vec::new();
    for line in &list.lines {
        let absent = placed.unknown.contains(&line.host) || placed.ambiguous.contains_key(&line.host);
        if absent && missing.iter().all(|other| other.host != line.host) {
            missing.push(line);
        }
    }
    let Some(first) = missing.first() else { return Ok(()) };
    let why = match missing.as_slice() {
        [one] => format!(
            "{}; correct the line, or leave the host out with --missing skip",
            absence_reason(snapshot, placed, one)
        ),
        all => {
            let each = all
                .iter()
                .take(MAX_MISSING_NAMED)
                .map(|line| format!("{} (line {})", line.host, line.number));
            let each: Vec<String> = each.collect();
            let more = match all.len().saturating_sub(MAX_MISSING_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "{} hosts of the list are not in the fabric: {}{more}; correct the lines, or leave these hosts out with \
                 --missing skip",
                all.len(),
                each.join(", ")
            )
        }
    };
    let what = format!("{}:{}: FD-7903: {why}", file.display(), first.number);
    Err(Failure::new(Exit::BadInput, what))
}

/// Reason why a host of a list is not found in the fabric.
fn absence_reason(snapshot: &Snapshot, placed: &JobPlacement, line: &JobLine) -> String {
    match placed.ambiguous.get(&line.host) {
        Some(bearers) => format!("'{}' matches several hosts: {}", line.host, bearers.join(", ")),
        None => {
            let like = snapshot.names.similar_names(&line.host).into_iter().map(str::to_owned).collect();
            ElementError::Unknown { kind: "host", name: line.host.clone(), like }.to_string()
        }
    }
}

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
