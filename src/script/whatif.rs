//! `whatif`.

use std::path::Path;
use std::time::Instant;

use crate::access::Wanted;
use crate::analysis::{GroupsCut, groups_cut};
use crate::fabric::{Faults, Guid, meant, resembling};
use crate::routing::{ENGINES, Engine, Request, engine};
use crate::session::{Comparison, Cost, EngineRow, Look, Query, cost, counted, mark_random, marks, propose};

use super::args::{FailArgs, RouteArgs, WhatifArgs};
use super::context::Context;
use super::table::{write_pairs, write_table};
use super::{Exit, Failure, check};

pub fn run(context: &mut Context<'_, '_>, args: &WhatifArgs) -> Result<Exit, Failure> {
    context.refuse_filter("whatif")?;
    if args.partitions.is_some() {
        return Err(Failure::usage(
            "FD-7914: 'whatif' counts the paths of all pairs, whatever their partitions, so with --partitions its numbers \
             would not fit each other; `check --partitions` counts those of tables",
        ));
    }
    let engines = engines(&args.engine)?;
    let mut look = context.look(Wanted { tables: true, multicast: true, ..Wanted::default() })?;
    context.assume(&mut look)?;
    let faults = faults(context, &look, &args.fail)?;
    let request = request(context, &look, &args.route)?;
    let tables = look.observation.tables.clone();
    if !tables.has_forwarding() {
        return Err(Failure::usage(
            "FD-7911: the source has no forwarding tables, so what is lost until rerouted cannot be said; put a dump of \
             them beside the topology (dump_lfts, opensm-lfts.dump), or say whose to assume: --assume ENGINE",
        ));
    }
    let cost = cost(&look, &tables, &faults)?;
    let times = !context.globals.no_times;
    let rows = engines.into_iter().map(|engine| {
        let begun = Instant::now();
        let outcome = context.watched(engine.id, |pulse| {
            propose(&look, &tables, &faults, engine, &request, args.route.switches, pulse)
        });
        EngineRow::new(engine.id, outcome.as_ref(), times.then(|| begun.elapsed().as_secs_f64()))
    });
    let comparison = Comparison::new(rows.collect());
    write(context, &look, &faults, &cost, &comparison)?;
    let concluded = context.conclude(&look);
    let faults = comparison.faults();
    faults.iter().for_each(|fault| context.output.say(fault));
    Ok(if faults.is_empty() { concluded } else { Exit::Findings })
}

/// The engines that were named, or all.
fn engines(named: &[String]) -> Result<Vec<&'static Engine>, Failure> {
    let mut named = named.iter().map(|id| id.trim()).filter(|id| !id.is_empty()).peekable();
    if named.peek().is_none() {
        return Ok(ENGINES.iter().collect());
    }
    named.map(engine_named).collect()
}

/// The engine of a name.
pub fn engine_named(id: &str) -> Result<&'static Engine, Failure> {
    engine(id).ok_or_else(|| {
        let known = || ENGINES.iter().map(|engine| engine.id);
        let meant = meant(&resembling(id, known()));
        let known = known().collect::<Vec<_>>().join(", ");
        Failure::usage(format!("FD-7912: there is no engine '{id}'{meant}; there are {known}"))
    })
}

/// What is marked as failed.
pub fn faults(context: &mut Context<'_, '_>, look: &Look, args: &FailArgs) -> Result<Faults, Failure> {
    let mut faults = context.among_answers(look, marks(look, &args.fail))?;
    if let Some(count) = args.fail_random {
        mark_random(look, &mut faults, count, args.seed);
    }
    Ok(faults)
}

/// What engines are asked for.
pub fn request(context: &Context<'_, '_>, look: &Look, args: &RouteArgs) -> Result<Request, Failure> {
    let list = |file: &Option<std::path::PathBuf>| match file {
        Some(file) => guids(context, look, file),
        None => Ok(Vec::new()),
    };
    let manager = look.observation.subnet_manager.as_ref().map(|manager| manager.guid);
    Ok(Request {
        lanes: args.lanes,
        roots: list(&args.roots)?,
        compute_nodes: list(&args.compute_nodes)?,
        io_nodes: list(&args.io_nodes)?,
        manager,
        seed: 1,
    })
}

/// A list of nodes. One that the fabric does not have is a mistake in the list, and no engine should route around it.
fn guids(context: &Context<'_, '_>, look: &Look, file: &Path) -> Result<Vec<Guid>, Failure> {
    let guids = context.outside.guids(file)?;
    let fabric = look.fabric();
    let strange = guids
        .iter()
        .find(|guid| fabric.node_by_guid(**guid).is_none() && fabric.port_by_guid(**guid).is_none());
    match strange {
        None => Ok(guids),
        Some(guid) => Err(Failure::new(
            Exit::BadInput,
            format!(
                "{}: FD-7915: no node or port of this fabric has the GUID {guid}; mend the list",
                file.display()
            ),
        )),
    }
}

fn write(
    context: &mut Context<'_, '_>,
    look: &Look,
    faults: &Faults,
    cost: &Cost,
    comparison: &Comparison,
) -> Result<(), Failure> {
    let Cost { lost, expected, pairs } = cost;
    let groups = groups_cut(look.fabric(), &look.observation.tables, faults);
    let failed: Vec<String> =
        faults.elements(look.fabric(), &look.names).iter().map(ToString::to_string).collect();
    if context.output.json {
        let mut object = context.object("whatif", look)?;
        object.field("failed", &failed)?;
        object.field("pairs", pairs)?;
        object.field("lost_until_reroute", &lost.pairs)?;
        object.field("lost_share", &lost.share)?;
        object.field("cut_off_pairs", &lost.critical)?;
        object.field(
            "expected",
            &serde_json::json!({
                "faults": expected.faults, "unit": "link", "mean": expected.mean, "linear": expected.linear,
                "best": expected.best, "worst": expected.worst,
            }),
        )?;
        object.field("groups_cut", &groups.as_ref().map(groups_object))?;
        object.list("engines", comparison.rows().iter())?;
        return Ok(object.end()?);
    }
    let mut lines: Vec<_> = check::assumed(look).into_iter().collect();
    lines.push(("failed", if failed.is_empty() { "nothing".to_owned() } else { first(&failed) }));
    lines.push((
        "lost",
        format!(
            "{} of {pairs} pairs until somebody reroutes ({:.1} %); {} cut off for good",
            lost.pairs,
            lost.share * 100.0,
            lost.critical
        ),
    ));
    lines.push((
        "expected",
        format!(
            "{:.1} pairs for {}; a single one takes {} to {}",
            expected.mean,
            counted(expected.faults, "random link", "random links"),
            expected.best,
            expected.worst
        ),
    ));
    lines.extend(groups.filter(|groups| groups.known > 0).map(|groups| ("groups", groups_line(&groups))));
    write_pairs(context.output.out, (context.output.paint, context.output.page), &lines)?;
    writeln!(context.output.out)?;
    let selection = Query::default().select(comparison, crate::session::Columns::Shown)?;
    write_table(context.output.out, context.output.paint, context.output.page, comparison, &selection)?;
    for row in comparison.rows() {
        let remarks = row.remarks.iter().filter(|_| context.output.verbose);
        let said: Vec<&String> = row.refused.iter().chain(remarks).collect();
        said.into_iter().for_each(|words| context.output.say(&format!("{}: {words}", row.engine)));
    }
    Ok(())
}

/// How many groups are named.
const GROUPS_NAMED: usize = 10;

fn group_names(groups: &GroupsCut) -> Vec<String> {
    groups.cut.iter().take(GROUPS_NAMED).map(|group| format!("0x{group:04x}")).collect()
}

fn groups_object(groups: &GroupsCut) -> serde_json::Value {
    serde_json::json!({ "known": groups.known, "count": groups.cut.len(), "first": group_names(groups) })
}

/// `2 of 7 multicast groups torn until somebody rebuilds them: 0xc001, 0xc002`.
fn groups_line(groups: &GroupsCut) -> String {
    let GroupsCut { known, cut } = groups;
    if cut.is_empty() {
        return format!("none of {} torn", counted(*known, "multicast group", "multicast groups"));
    }
    let known = counted(*known, "multicast group", "multicast groups");
    let more = if cut.len() > GROUPS_NAMED { ", ..." } else { "" };
    let names = group_names(groups).join(", ");
    format!("{} of {known} torn until somebody rebuilds them: {names}{more}", cut.len())
}

fn first(failed: &[String]) -> String {
    const SHOWN: usize = 4;
    let more =
        if failed.len() > SHOWN { format!(" and {} more", failed.len() - SHOWN) } else { String::new() };
    format!("{}{more}", failed[..failed.len().min(SHOWN)].join(", "))
}
