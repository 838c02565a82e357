//! `jobs` and `show jobs`, and the list of `--jobs` of other commands.

mod applying;
mod asked;
mod event;
mod lists;
mod mark;
mod unnamed;
mod watch;

use std::path::Path;

use serde_json::{Value, json};

use crate::session::{
    Browse, JobChannelRows, JobRows, JobSeen, JobTotals, Look, WeighedJobs, job_channels, jobs_seen,
    note_judged_lids,
};
use fabdeck_fabric::observe::Place;
use fabdeck_fabric::{ElementError, Faults, JobMap};
use fabdeck_files::job_lists::{JobLine, JobList};
use fabdeck_files::jobs::{Hosts, Placed};
use fabdeck_mad::access::Wanted;

use super::args::RowArgs;
use super::asking::MissingHosts;
use super::check::premises;
use super::context::Context;
use super::rows::HELP;
use super::schemas::{closed, list, nullable, number, text};
use super::table::write_pairs;
use super::{Exit, Failure};

use asked::JobsAction;
pub use asked::{JobRowArgs, JobSource, JobsArgs, listed};
use unnamed::{Said, own};

/// The engine that routes for jobs.
const ENGINE: &str = "sar";

/// Reads the jobs of `--jobs` as ports of their hosts. In a list by hand, an unknown host is a mistake. Slurm lists
/// hosts that no fabric has, but a list without any known host belongs to another fabric.
pub fn read(
    context: &Context<'_, '_>,
    look: &mut Look,
    file: &Path,
    missing: MissingHosts,
) -> Result<JobMap, Failure> {
    let list = context.outside.jobs(file).map_err(Failure::of_list)?;
    let placed = Hosts::new(look.fabric(), &look.names).place(&list);
    if !list.by_slurm() && missing == MissingHosts::Refuse {
        all_there(look, &list, &placed, file)?;
    }
    if placed.is_elsewhere() {
        let what = format!("{}: FD-7904: {}", file.display(), placed.elsewhere());
        return Err(Failure::new(Exit::BadInput, what));
    }
    let place = Place::file(file.display().to_string());
    look.observation.notes.extend(placed.idle(&place));
    look.observation.notes.extend(placed.notes(&place));
    Ok(placed.jobs)
}

/// Number of missing hosts that a message names with their lines.
const MISSING_NAMED: usize = 100;

/// Checks that the fabric has each host of a list by hand; the message names all missing ones.
fn all_there(look: &Look, list: &JobList, placed: &Placed, file: &Path) -> Result<(), Failure> {
    let mut missing: Vec<&JobLine> = Vec::new();
    for line in &list.lines {
        let absent = placed.unknown.contains(&line.host) || placed.ambiguous.contains_key(&line.host);
        if absent && missing.iter().all(|known| known.host != line.host) {
            missing.push(line);
        }
    }
    let Some(first) = missing.first() else { return Ok(()) };
    let why = match missing.as_slice() {
        [one] => format!(
            "{}; mend the line, or leave the host out with --missing skip",
            absence(look, placed, one)
        ),
        all => {
            let each =
                all.iter().take(MISSING_NAMED).map(|line| format!("{} (line {})", line.host, line.number));
            let each: Vec<String> = each.collect();
            let more = match all.len().saturating_sub(MISSING_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "{} hosts of the list are not in the fabric: {}{more}; mend the lines, or leave these hosts out with \
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
fn absence(look: &Look, placed: &Placed, line: &JobLine) -> String {
    match placed.ambiguous.get(&line.host) {
        Some(bearers) => format!("'{}' fits several hosts: {}", line.host, bearers.join(", ")),
        None => {
            let like = look.names.resembling(&line.host).into_iter().map(str::to_owned).collect();
            ElementError::Unknown { kind: "host", name: line.host.clone(), like }.to_string()
        }
    }
}

/// Places the jobs of a list on a fabric and adds notes about missing hosts.
pub fn placed(look: &mut Look, list: &JobList, place: &Place) -> Placed {
    let placed = Hosts::new(look.fabric(), &look.names).place(list);
    look.observation.notes.extend(placed.notes(place));
    note_judged_lids(look);
    placed
}

pub fn run(context: &mut Context<'_, '_>, args: &JobsArgs) -> Result<Exit, Failure> {
    match &args.action {
        Some(JobsAction::Channels(args)) => channels(context, args),
        Some(JobsAction::Watch(args)) => watch::run(context, args),
        None => tell(context, &args.shown, true),
    }
}

/// Runs `show jobs`.
pub fn rows(context: &mut Context<'_, '_>, args: &JobRowArgs) -> Result<Exit, Failure> {
    tell(context, args, false)
}

fn tell(context: &mut Context<'_, '_>, args: &JobRowArgs, totals: bool) -> Result<Exit, Failure> {
    if args.rows.fields.as_deref() == Some(HELP) {
        context.write_fields(Browse::Jobs)?;
        return Ok(Exit::Done);
    }
    let (look, placed, said) = on_fabric(context, &args.from)?;
    let (seen, all) = jobs_seen(&look, &placed);
    if totals && !context.output.json {
        let who = said.words.iter().map(|words| ("list", words.clone())).collect();
        let missing = if context.output.verbose { all.missing_lines() } else { Vec::new() };
        let lines = [premises(&look), who, all.lines(), missing].concat();
        write_pairs(context.output.out, (context.output.paint, context.output.page), &lines)?;
        if !seen.is_empty() {
            writeln!(context.output.out)?;
        }
    }
    write(context, &look, (&seen, &all), &args.rows, &said)?;
    Ok(context.conclude(&look))
}

/// Runs `jobs channels`.
fn channels(context: &mut Context<'_, '_>, args: &JobRowArgs) -> Result<Exit, Failure> {
    if args.rows.fields.as_deref() == Some(HELP) {
        context.write_fields(Browse::JobChannels)?;
        return Ok(Exit::Done);
    }
    let (look, placed, said) = on_fabric(context, &args.from)?;
    let (_, all) = jobs_seen(&look, &placed);
    let weighed = WeighedJobs::new(&look, placed, &Faults::default(), None);
    let Some(rows) = job_channels(&look, &weighed) else {
        let what = "FD-7821: which channels paths cross is not known: the source has no forwarding tables (--assume ENGINE)";
        return Err(context.refuse_with_notes(&look, Failure::new(Exit::BadInput, what)));
    };
    let query = context.query(&args.rows);
    context.write_rows(Browse::JobChannels.id(), &look, &JobChannelRows(&rows), &query, |object| {
        said.fields(object, &all)
    })?;
    Ok(context.conclude(&look))
}

/// Jobs of the named source, otherwise of the fabric's source itself.
fn on_fabric(context: &mut Context<'_, '_>, from: &JobSource) -> Result<(Look, Placed, Said), Failure> {
    if !from.is_named() {
        return own(context, from);
    }
    named(context, from)
}

/// Jobs of the named source.
fn named(context: &mut Context<'_, '_>, from: &JobSource) -> Result<(Look, Placed, Said), Failure> {
    // The list comes first, because it arrives or fails within a known time.
    let list = listed(context, from)?;
    let mut look = context.look(Wanted { tables: true, ..Wanted::default() })?;
    context.assume(&mut look)?;
    let placed = placed(&mut look, &list, &from.place());
    Ok((look, placed, Said { from: from.place().file, ..Said::default() }))
}

fn write(
    context: &mut Context<'_, '_>,
    look: &Look,
    (seen, totals): (&[JobSeen], &JobTotals),
    rows: &RowArgs,
    said: &Said,
) -> Result<(), Failure> {
    let query = context.query(rows);
    context.write_rows(Browse::Jobs.id(), look, &JobRows(seen), &query, |object| said.fields(object, totals))
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
