//! `whatif`.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::context::Context;
use super::json::Object;
use super::route_args::{FailArgs, RouteArgs, WhatifArgs};
use super::table::write_pairs;
use super::{check, jobs};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::query::Query;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::check::certificate_text::{adaptive_words, group_names, groups_line};
use crate::operations::check::loads::{JobFigures, job_figures_in_force};
use crate::operations::jobs::job_table::JobTable;
use crate::operations::jobs::summary::note_judged_lids;
use crate::operations::lanes::lanes_in_force;
use crate::operations::preview::assume::assume_lids;
use crate::operations::preview::comparison::NO_TABLES;
use crate::operations::preview::engine_names::engines;
use crate::operations::preview::whatif::{
    Cost, EngineComparison, EngineRow, ProposalOptions, cut_off_words, drawn_words, mark_cost, mark_random,
    parse_marks, propose, supposed_words,
};
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{ElementId, Faults, Guid, JobMap, PortNum};
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::analysis::{CutOffPairs, GroupDamage, PathLosses, group_damage};
use fabdeck_routing::{DEGRADED_REMARK, Request, UPDOWN_REMARK};

pub fn run(context: &mut Context<'_, '_>, args: &WhatifArgs) -> Result<Exit, Failure> {
    context.refuse_filter("whatif")?;
    if args.partitions.is_some() {
        return Err(Failure::usage(
            "FD-7914: 'whatif' counts the paths of all pairs and ignores partitions; leave out --partitions, and use \
             `check --partitions` for the tables",
        ));
    }
    let engines = engines(&args.engine)?;
    let wanted = ReadOptions { tables: true, multicast: true, ..ReadOptions::default() };
    // Without an option only tables are read, because lane tables take many times longer and the costs are wanted at
    // once.
    let (mut snapshot, in_force) = match args.route.lanes_in_force {
        None => lanes_in_force::read_snapshot_without_lanes(&mut context.operation(), wanted)?,
        choice => {
            lanes_in_force::read_snapshot(&mut context.operation(), wanted, (choice, args.route.switches))?
        }
    };
    let faults = read_faults(context, &snapshot, &args.fail)?;
    let request = route_request(context, &mut snapshot, &args.route)?;
    let tables = snapshot.observation.tables.clone();
    let has_tables = tables.has_forwarding();
    if !has_tables {
        assume_lids(&mut snapshot);
    }
    let cost = match has_tables {
        true => MarkLoss::Counted(Box::new(mark_cost(&snapshot, &tables, &faults, args.expect)?)),
        false => MarkLoss::ByCables(CutOffPairs::count(snapshot.fabric(), &faults)),
    };
    let jobs = job_figures_in_force(&snapshot, &tables, &faults, &request.jobs);
    let times = !context.globals.no_times;
    let rows = engines.into_iter().map(|engine| {
        let begun = Instant::now();
        let asked =
            ProposalOptions { request: &request, switches: args.route.switches, sent: in_force.sent() };
        let outcome = context.operation().run_with_progress(engine.id, |progress| {
            propose(&snapshot, &tables, &faults, engine, asked, progress)
        });
        let row = EngineRow::new(engine.id, outcome.as_ref(), times.then(|| begun.elapsed().as_secs_f64()));
        if has_tables { row } else { row.without_tables() }
    });
    let comparison = EngineComparison::new(rows.collect());
    write(context, &snapshot, (&faults, jobs.as_ref()), &cost, &comparison)?;
    let concluded = context.conclude(&snapshot);
    let faults = comparison.defect_words();
    faults.iter().for_each(|fault| context.output.print_message(fault));
    let none = comparison.rows().iter().all(|row| row.refused.is_some());
    if none {
        context.output.print_message("no engine found routes");
    }
    Ok(if faults.is_empty() && !none { concluded } else { Exit::Findings })
}

/// Loss that the marks cause.
enum MarkLoss {
    /// Paths lost under the tables in force.
    Counted(Box<Cost>),
    /// Pairs that are cut off, because there are no tables in force.
    ByCables(CutOffPairs),
}

/// The elements that are marked as failed.
pub fn read_faults(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    args: &FailArgs,
) -> Result<Faults, Failure> {
    let mut faults = context.operation().explain_missing(snapshot, parse_marks(snapshot, &args.fail))?;
    let fabric = snapshot.fabric();
    for marked in faults.iter() {
        let ElementId::Port(port) = marked else { continue };
        // Port 0 of a switch needs no cable.
        if fabric.peer(port).is_none() && fabric.port(port).number != PortNum::MANAGEMENT {
            let name = snapshot.port_name(port);
            context
                .output
                .print_message(&format!("port:{name} has no cable, so its failure affects no path"));
        }
    }
    if let Some(count) = args.fail_random {
        let drawn = mark_random(snapshot, &mut faults, count, args.seed);
        if drawn < count {
            context.output.print_message(&drawn_words(drawn, count));
        }
    }
    Ok(faults)
}

/// Options of the engines.
pub fn route_request(
    context: &Context<'_, '_>,
    snapshot: &mut Snapshot,
    args: &RouteArgs,
) -> Result<Request, Failure> {
    let mut list = |file: &Option<std::path::PathBuf>| match file {
        Some(file) => read_guids(context, snapshot, file),
        None => Ok(Vec::new()),
    };
    let (roots, compute_nodes, io_nodes) =
        (list(&args.roots)?, list(&args.compute_nodes)?, list(&args.io_nodes)?);
    if let Some(both) = compute_nodes.iter().find(|guid| io_nodes.contains(guid)) {
        return Err(Failure::usage(format!(
            "FD-7916: {both} is in both lists, --compute-nodes and --io-nodes; take it out of one"
        )));
    }
    let manager = snapshot.observation.subnet_manager.as_ref().map(|manager| manager.guid);
    let jobs = match &args.jobs {
        Some(file) => {
            let jobs = jobs::read_job_map(context, snapshot, file, args.missing)?;
            note_judged_lids(snapshot);
            jobs
        }
        None => JobMap::default(),
    };
    let (jobs, lanes_by) = (Arc::new(jobs), args.lanes_by.into());
    let request = Request { roots, compute_nodes, io_nodes, jobs, lanes_by, manager, ..Request::default() };
    Ok(request.with_lanes(args.lanes, context.config.supposed_lanes))
}

/// Reads a list of nodes. A node that the fabric does not have is a mistake, because no engine should silently ignore
/// it.
fn read_guids(context: &Context<'_, '_>, snapshot: &mut Snapshot, file: &Path) -> Result<Vec<Guid>, Failure> {
    let read = context.outside.guids(file).map_err(Failure::from_list_error)?;
    let wrong = |line: Option<u64>, what: &str| {
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        Failure::new(Exit::BadInput, format!("{}{line}: {what}", file.display()))
    };
    if read.cut.is_some() {
        return Err(wrong(
            read.cut,
            "FD-7917: the file ends within this line, so the GUID may be incomplete; write all 16 digits, or end the line",
        ));
    }
    if read.guids.is_empty() {
        return Err(wrong(
            None,
            "FD-7918: there is no GUID in this list; leave the option out, or name some nodes",
        ));
    }
    let fabric = snapshot.fabric();
    let is_unknown = |(guid, _): &(&Guid, &u64)| {
        fabric.node_by_guid(**guid).is_none() && fabric.port_by_guid(**guid).is_none()
    };
    if let Some((guid, line)) = read.guids.iter().zip(&read.lines).find(is_unknown) {
        let what = format!("FD-7915: no node or port of this fabric has the GUID {guid}; correct the list");
        return Err(wrong(Some(*line), &what));
    }
    snapshot.observation.notes.extend(read.notes);
    Ok(read.guids)
}

fn write(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    (faults, jobs): (&Faults, Option<&JobFigures>),
    loss: &MarkLoss,
    comparison: &EngineComparison,
) -> Result<(), Failure> {
    let groups = group_damage(snapshot.fabric(), &snapshot.observation.tables, faults);
    let failed: Vec<String> =
        faults.elements(snapshot.fabric(), &snapshot.names).iter().map(ToString::to_string).collect();
    if context.output.json {
        return write_json(context, snapshot, &failed, (loss, jobs), groups.as_ref(), comparison);
    }
    let mut lines = check::premises(snapshot);
    lines.push(("failed", if failed.is_empty() { "nothing".to_owned() } else { first_elements(&failed) }));
    lines.extend(loss_lines(snapshot, &failed, loss, context.output.verbose));
    lines.extend(groups.filter(|groups| groups.known > 0).map(|groups| ("groups", groups_line(&groups))));
    lines.extend(supposed_words(comparison.rows()).map(|words| ("lanes", words)));
    write_pairs(context.output.out, (context.output.paint, context.output.page), &lines)?;
    writeln!(context.output.out)?;
    let selection = Query::default().select(comparison, crate::catalogue::query::Columns::Shown)?;
    context.output.write_table(comparison, selection, false)?;
    let rows = comparison.rows();
    if let Some(table) = JobTable::new(jobs, rows) {
        writeln!(context.output.out)?;
        let selection = Query::default().select(&table, crate::catalogue::query::Columns::Shown)?;
        context.output.write_table(&table, selection, false)?;
    }
    // Engines with the same credit loop are printed together.
    for (at, row) in rows.iter().enumerate() {
        if rows[..at].iter().all(|earlier| earlier.transition != row.transition) {
            let alike = rows.iter().filter(|other| other.transition == row.transition);
            write_transition(context, row, alike)?;
        }
    }
    for row in comparison.rows() {
        // Remarks on routes without a search and on worse routes are always shown.
        let shown = |remark: &&String| {
            context.output.verbose || remark.starts_with(UPDOWN_REMARK) || remark.starts_with(DEGRADED_REMARK)
        };
        let remarks = row.remarks.iter().filter(shown);
        let texts: Vec<&String> = row.refused.iter().chain(remarks).collect();
        texts.into_iter().for_each(|words| context.output.print_message(&format!("{}: {words}", row.engine)));
    }
    // Options that several engines ignored share a line.
    let mut unused: Vec<(&[&str], Vec<&str>)> = Vec::new();
    for row in comparison.rows().iter().filter(|row| !row.not_used.is_empty()) {
        match unused.iter_mut().find(|(options, _)| *options == row.not_used) {
            Some((_, engines)) => engines.push(row.engine),
            None => unused.push((&row.not_used, vec![row.engine])),
        }
    }
    unused.iter().for_each(|(options, engines)| {
        context.output.print_message(&unused_option_note(&engines.join(", "), options))
    });
    Ok(())
}

fn write_json(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    failed: &[String],
    (loss, jobs): (&MarkLoss, Option<&JobFigures>),
    groups: Option<&GroupDamage>,
    comparison: &EngineComparison,
) -> Result<(), Failure> {
    let mut object = context.object("whatif", snapshot)?;
    object.field("failed", &failed)?;
    object.field("tables_in_force", &matches!(loss, MarkLoss::Counted(_)))?;
    match loss {
        MarkLoss::Counted(cost) => write_cost(&mut object, snapshot, failed, cost)?,
        MarkLoss::ByCables(cut) => COST_KEYS.iter().try_for_each(|key| match *key {
            "cut_off_pairs" => object.field(key, &cut.pairs),
            "failed_end_pairs" => object.field(key, &cut.ended),
            _ => object.field(key, &serde_json::Value::Null),
        })?,
    }
    object.field("groups_cut", &groups.map(groups_object))?;
    object.field("jobs", &jobs)?;
    object.list("engines", comparison.rows().iter())?;
    Ok(object.end()?)
}

fn write_cost(
    object: &mut Object<'_>,
    snapshot: &Snapshot,
    failed: &[String],
    cost: &Cost,
) -> io::Result<()> {
    let Cost { lost, expected, pairs, .. } = cost;
    object.field("pairs", pairs)?;
    object.field("lost_until_reroute", &cost.lost_pairs())?;
    object.field("at_least", &cost.is_lower_bound())?;
    object.field("without_path_before", &cost.without_path_before)?;
    object.field("unread_tables", &cost.unread_tables)?;
    object.field("adaptive_routing", &cost.adaptive_routing)?;
    object.field("adaptive_unknown", &cost.adaptive_unknown)?;
    object.field("lost_share", &cost.lost_share())?;
    object.field("lost_lids", &lost.lids)?;
    let partly = serde_json::json!({ "count": lost.partial, "first": partly_lost_names(snapshot, lost) });
    object.field("partly_reached", &partly)?;
    object.field("elements", &elements(failed, lost))?;
    object.field("cut_off_pairs", &lost.critical)?;
    object.field("failed_end_pairs", &lost.ended)?;
    object.field("cut_off_without_path", &lost.critical_without_path)?;
    object.field(
        "expected", &serde_json::json!({
            "faults": expected.faults, "unit": "link", "mean": expected.mean, "linear": expected.linear,
            "one_channel": expected.one_channel,
            "best": expected.best, "worst": expected.worst, "counts": cost.expected_counts(),
}),
        )
}

/// Message in place of the costs if there are no tables in force.
fn no_tables_words() -> String {
    format!(
        "{NO_TABLES}, so the loss until the fabric is rerouted is unknown; assume some with --assume ENGINE"
    )
}

/// Keys of the costs, in their order; without tables in force only those that cables decide are not null.
const COST_KEYS: [&str; 15] = [
    "pairs",
    "lost_until_reroute",
    "at_least",
    "without_path_before",
    "unread_tables",
    "adaptive_routing",
    "adaptive_unknown",
    "lost_share",
    "lost_lids",
    "partly_reached",
    "elements",
    "cut_off_pairs",
    "failed_end_pairs",
    "cut_off_without_path",
    "expected",
];

/// Lines about the loss that the marks cause, as far as it is known.
fn loss_lines(
    snapshot: &Snapshot,
    failed: &[String],
    loss: &MarkLoss,
    verbose: bool,
) -> Vec<(&'static str, String)> {
    let cost = match loss {
        MarkLoss::Counted(cost) => cost,
        MarkLoss::ByCables(cut) => {
            return vec![("lost", no_tables_words()), ("for good", cut_off_words(*cut))];
        }
    };
    let mut lines = cost_lines(snapshot, failed, cost);
    if verbose {
        let (one, what) = (cost.expected.one_channel, cost.expected_counts());
        lines.push(("", format!("{one:.1} {what} for one channel of one link")));
    }
    lines
}

/// Lost pairs, and the loss that random links would cause.
fn cost_lines(snapshot: &Snapshot, failed: &[String], cost: &Cost) -> Vec<(&'static str, String)> {
    let Cost { lost, expected, several_lids, .. } = cost;
    let mut lines = vec![("lost", cost.lost_words())];
    lines.extend(uncounted_note(cost).map(|why| ("", why)));
    lines.push(("for good", cost.cut_off_words()));
    lines.extend(loss_of_each_mark(failed, lost));
    lines.extend(several_lids.then(|| ("some LIDs", partly_lost_line(snapshot, lost))));
    let usual = format!(
        "{} {} for {}; a single link costs {} to {}",
        digits_in_groups(format_args!("{:.1}", expected.mean)),
        cost.expected_counts(),
        count_words(expected.faults, "random link", "random links"),
        digits_in_groups(expected.best),
        digits_in_groups(expected.worst)
    );
    lines.push(("expected", usual));
    lines
}

/// Reasons why more pairs may be lost than are counted, and the paths that were missing before.
fn uncounted_note(cost: &Cost) -> Option<String> {
    let unread = match cost.unread_tables {
        0 => None,
        some => {
            Some(format!("the tables of {} were not read", count_words(some as usize, "switch", "switches")))
        }
    };
    let adaptive = cost
        .adaptive_routing
        .map(|_| format!("{}, so tables do not determine the paths", adaptive_words(cost.adaptive_unknown)));
    let before = match cost.without_path_before {
        0 => None,
        some => Some(format!(
            "before any failure: {} missing, counted only between ends that are cut off",
            count_words(some as usize, "path to a LID", "paths to a LID")
        )),
    };
    let all: Vec<String> = unread.into_iter().chain(adaptive).chain(before).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Message about options that engines ignored.
pub fn unused_option_note(engines: &str, options: &[&str]) -> String {
    format!("{engines}: options without effect: {}", options.join(", "))
}

/// The loss of each mark alone, if there are several.
fn loss_of_each_mark(failed: &[String], lost: &PathLosses) -> Vec<(&'static str, String)> {
    const SHOWN: usize = 4;
    if failed.len() < 2 {
        return Vec::new();
    }
    let mut most: Vec<(&String, u64)> =
        failed.iter().zip(lost.elements.iter().map(|element| element.pairs)).collect();
    most.sort_by_key(|(_, pairs)| std::cmp::Reverse(*pairs));
    let alone = |(name, pairs): (&String, u64)| ("  alone", format!("{name}: {}", digits_in_groups(pairs)));
    most.into_iter().take(SHOWN).map(alone).collect()
}

fn elements(failed: &[String], lost: &PathLosses) -> Vec<serde_json::Value> {
    let each = failed.iter().zip(&lost.elements);
    each.map(|(name, element)| serde_json::json!({ "element": name, "pairs": element.pairs })).collect()
}

fn partly_lost_names(snapshot: &Snapshot, lost: &PathLosses) -> Vec<String> {
    lost.partial_ports.iter().map(|port| snapshot.unique_port_name(*port)).collect()
}

/// A line such as `12 pairs keep some LIDs only, such as of host1[1]; 40 paths to a LID are lost`.
fn partly_lost_line(snapshot: &Snapshot, lost: &PathLosses) -> String {
    let such_as = match lost.partial {
        0 => String::new(),
        _ => format!(", such as to {}", partly_lost_names(snapshot, lost).join(", ")),
    };
    let pairs = count_words(lost.partial as usize, "pair keeps", "pairs keep");
    let paths = count_words(lost.lids as usize, "path to a LID is lost", "paths to a LID are lost");
    format!("{pairs} some LIDs only{such_as}; {paths}")
}

/// Prints the transition of `row` unless it is safe. `alike` are the rows with the same transition, `row` included: it is
/// printed once, under the names of their engines.
fn write_transition<'r>(
    context: &mut Context<'_, '_>,
    row: &EngineRow,
    alike: impl Iterator<Item = &'r EngineRow>,
) -> Result<(), Failure> {
    let report = row.transition.as_ref();
    let Some(transition) = report.filter(|report| report.safe != Some(true)) else { return Ok(()) };
    let engines: Vec<&str> = alike.map(|row| row.engine).collect();
    let mut lines = vec![("transition", engines.join(", "))];
    lines.extend(transition.lines());
    writeln!(context.output.out)?;
    Ok(write_pairs(context.output.out, (context.output.paint, context.output.page), &lines)?)
}

fn groups_object(groups: &GroupDamage) -> serde_json::Value {
    serde_json::json!({ "known": groups.known, "count": groups.cut.len(), "first": group_names(groups) })
}

fn first_elements(failed: &[String]) -> String {
    const SHOWN: usize = 4;
    let more =
        if failed.len() > SHOWN { format!(" and {} more", failed.len() - SHOWN) } else { String::new() };
    format!("{}{more}", failed[..failed.len().min(SHOWN)].join(", "))
}
