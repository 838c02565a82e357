//! `check`.

use std::path::Path;

use crate::access::{LanesRead, Source, Wanted};
use crate::fabric::{Faults, JobMap, Tables};
use crate::observe::{PathLevels, Place};
use crate::routing::NoPulse;
use crate::routing::certificate::{LaneKnowledge, Scope};
use crate::session::{LoadsWanted, Look, Report, Sent, check_in_force, judged, loads, report_lines, run_on};

use super::args::{CheckArgs, LaneChoice};
use super::context::Context;
use super::table::write_pairs;
use super::{Exit, Failure, levels};

pub fn run(context: &mut Context<'_, '_>, args: &CheckArgs) -> Result<Exit, Failure> {
    context.refuse_filter("check")?;
    let own = args.tables.is_none();
    let choice = args.lanes.unwrap_or(if own { LaneChoice::Sampled } else { LaneChoice::Unknown });
    if !own && matches!(choice, LaneChoice::Sampled | LaneChoice::Exact) {
        return Err(Failure::usage(
            "FD-7902: path records are about the tables in force, so '--tables FILE' goes with --lanes one or unknown",
        ));
    }
    // Of the tables in force what they tell by themselves comes first.
    let later = own && args.lanes.is_none();
    let lanes = choice != LaneChoice::Unknown && !later;
    let mut source = context.open(context.named_source()?)?;
    let mut look =
        context.look_through(source.as_mut(), Wanted { tables: own, lanes, ..Wanted::default() })?;
    if let Some(file) = &args.tables {
        let (tables, notes) = context.outside.tables(file, look.fabric())?;
        look.observation.notes.extend(notes);
        // What the fabric said of lanes stands; a file may tell them too.
        merge(&mut look.observation.tables, tables);
    }
    context.assume(&mut look)?;
    if let Some(file) = &args.partitions {
        let manager = look.observation.subnet_manager.as_ref().map(|manager| manager.guid);
        let (partitions, notes) = context.outside.partitions(file, look.fabric(), manager)?;
        look.observation.notes.extend(notes);
        look.partitions = Some(partitions);
    }
    if !look.observation.tables.has_forwarding() {
        return Err(Failure::usage(
            "FD-7901: there are no forwarding tables to check; give some with --tables FILE (opensm-lfts.dump, \
             opensm.fdbs, what dump_lfts prints), or --assume ENGINE those that an engine computes",
        ));
    }
    let choice = match later && look.routes.is_none() {
        true => lanes_that_matter(context, source.as_mut(), &mut look, choice, args)?,
        false => choice,
    };
    let records = match choice {
        // Assumed tables bring their own lanes.
        _ if look.routes.is_some() => None,
        LaneChoice::Sampled | LaneChoice::Exact => {
            let asked_for = args.lanes.is_some();
            levels::records(context, source.as_mut(), &mut look, choice, (asked_for, args.switches))?
        }
        LaneChoice::One | LaneChoice::Unknown => None,
    };
    let jobs = args.jobs.as_ref().map(|file| jobs(context, &look, file)).transpose()?;
    let report = verdict(&look, choice, records.as_ref(), args.switches)?;
    let wanted = LoadsWanted { patterns: args.loads, jobs: jobs.as_ref() };
    let (patterns, jobs) = match (args.loads, wanted.jobs) {
        (false, None) => (None, None),
        _ => loads(&look, &look.observation.tables, wanted),
    };
    let report = Report { loads: patterns, jobs, ..report };
    write(context, &look, &report)?;
    let concluded = context.conclude(&look);
    Ok(if report.findings() { Exit::Findings } else { concluded })
}

/// Jobs by the ports of their hosts. A host that the fabric does not have is a mistake in the file.
fn jobs(context: &Context<'_, '_>, look: &Look, file: &Path) -> Result<JobMap, Failure> {
    let mut jobs = JobMap::default();
    for line in context.outside.jobs(file).map_err(Failure::of_list)? {
        run_on(look, &line.host, &line.job, &mut jobs).map_err(|error| {
            let place = format!("{}:{}", file.display(), line.number);
            Failure::new(Exit::BadInput, format!("{place}: FD-7903: {error}; mend the line"))
        })?;
    }
    Ok(jobs)
}

fn verdict(
    look: &Look,
    choice: LaneChoice,
    records: Option<&PathLevels>,
    switches: bool,
) -> Result<Report, Failure> {
    let faults = Faults::default();
    // Assumed tables bring their own lanes, unless somebody wants to see them without.
    let own = !matches!(choice, LaneChoice::One | LaneChoice::Unknown);
    if let Some(routes) = look.routes.as_ref().filter(|_| own) {
        let scope = Scope { switches, lanes: LaneKnowledge::Known };
        return Ok(Report { lanes_from: "assumed", ..judged(look, routes, &faults, &scope)? });
    }
    let sent = match (choice, records) {
        (LaneChoice::One, _) => Sent::One,
        (_, Some(read)) => Sent::Records { levels: &read.levels, every: read.every },
        _ => Sent::Unknown,
    };
    let tables = &look.observation.tables;
    Ok(check_in_force(look, tables, &faults, switches, sent, &NoPulse)?)
}

/// Reads the tables of lanes, unless there are many and the forwarding tables decide without them that there is no
/// deadlock.
fn lanes_that_matter(
    context: &mut Context<'_, '_>,
    source: &mut dyn Source,
    look: &mut Look,
    choice: LaneChoice,
    args: &CheckArgs,
) -> Result<LaneChoice, Failure> {
    let LanesRead::TooMany(count) = context.read_lanes(source, look, Some(levels::UNASKED))? else {
        return Ok(choice);
    };
    let early = verdict(look, LaneChoice::Unknown, None, args.switches)?;
    if early.deadlock_free != Some(true) {
        context.read_lanes(source, look, None)?;
        return Ok(choice);
    }
    look.observation.notes.add("FN-705", Place::file(look.source.clone()), || {
        format!(
            "{count} tables of lanes were not read: no circle can close, whatever lanes are used (--lanes sampled reads \
             them, and finds packets that are dropped for want of a lane)"
        )
    });
    Ok(LaneChoice::Unknown)
}

/// The forwarding tables of a file, and its lanes where it has any for a node.
fn merge(held: &mut Tables, read: Tables) {
    held.only = read.only;
    held.nodes.values_mut().for_each(|node| (node.lft, node.mft) = (None, None));
    held.nodes.values_mut().for_each(|node| node.unread.clear());
    for (id, node) in read.nodes {
        let here = held.entry(id);
        (here.lft, here.mft, here.unread) = (node.lft, node.mft, node.unread);
        if !node.sl2vl.is_empty() {
            here.sl2vl = node.sl2vl;
        }
    }
}

fn write(context: &mut Context<'_, '_>, look: &Look, report: &Report) -> Result<(), Failure> {
    if context.output.json {
        let mut object = context.object("check", look)?;
        object.fields(report)?;
        return Ok(object.end()?);
    }
    let pairs: Vec<_> = assumed(look).into_iter().chain(report_lines(report)).collect();
    write_pairs(context.output.out, (context.output.paint, context.output.page), &pairs)?;
    Ok(())
}

/// The line that says whose tables are assumed, where the source has none.
pub fn assumed(look: &Look) -> Option<(&'static str, String)> {
    let engine = look.assumed?;
    Some(("assumed", format!("the tables are those of {engine}; the source has none")))
}
