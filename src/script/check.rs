//! `check`.

use crate::access::Wanted;
use crate::fabric::Faults;
use crate::routing::NoPulse;
use crate::routing::certificate::{LaneKnowledge, Scope};
use crate::session::{Look, Report, check, judged};

use super::args::{CheckArgs, LaneChoice};
use super::context::Context;
use super::table::write_pairs;
use super::{Exit, Failure};

pub fn run(context: &mut Context<'_, '_>, args: &CheckArgs) -> Result<Exit, Failure> {
    context.refuse_filter("check")?;
    let mut look = context.look(Wanted { tables: args.tables.is_none(), ..Wanted::default() })?;
    if let Some(file) = &args.tables {
        let (tables, notes) = context.outside.tables(file, look.fabric())?;
        look.observation.notes.extend(notes);
        look.observation.tables = tables;
    }
    context.assume(&mut look)?;
    let tables = &look.observation.tables;
    if !tables.has_forwarding() {
        return Err(Failure::usage(
            "FD-7901: there are no forwarding tables to check; give some with --tables FILE (opensm-lfts.dump, \
             opensm.fdbs, what dump_lfts prints), or --assume ENGINE those that an engine computes",
        ));
    }
    let lanes = match args.lanes {
        LaneChoice::One => LaneKnowledge::Known,
        LaneChoice::Unknown => LaneKnowledge::Unknown,
    };
    let scope = Scope { switches: args.switches, lanes };
    let report = match &look.routes {
        Some(routes) => {
            let scope = Scope { lanes: LaneKnowledge::Known, ..scope };
            judged(&look, routes, &Faults::default(), &scope)?
        }
        None => check(&look, tables, &Faults::default(), &scope, &NoPulse)?,
    };
    write(context, &look, &report)?;
    let concluded = context.conclude(&look);
    Ok(if report.findings() { Exit::Findings } else { concluded })
}

fn write(context: &mut Context<'_, '_>, look: &Look, report: &Report) -> Result<(), Failure> {
    if context.output.json {
        let mut object = context.object("check", look)?;
        object.fields(report)?;
        return Ok(object.end()?);
    }
    let pairs: Vec<_> = assumed(look).into_iter().chain(pairs(report)).collect();
    write_pairs(context.output.out, context.output.paint, &pairs)?;
    Ok(())
}

/// The line that says whose tables are assumed, where the source has none.
pub fn assumed(look: &Look) -> Option<(&'static str, String)> {
    let engine = look.assumed?;
    Some(("assumed", format!("the tables are those of {engine}; the source has none")))
}

/// The lines of the text.
pub fn pairs(report: &Report) -> Vec<(&'static str, String)> {
    let Report { by_kind, by_cause, edge_forwarding_index: index, .. } = report;
    let mut pairs = vec![
        ("pairs", format!("{} ordered pairs", report.pairs)),
        (
            "unreachable",
            match report.unreachable {
                0 => "none".to_owned(),
                some => format!(
                    "{some}: {} of hosts, {} with an aggregation node, {} with a switch",
                    by_kind.hosts, by_kind.aggregation, by_kind.switches
                ),
            },
        ),
    ];
    if report.unreachable > 0 {
        let causes = format!(
            "{} cut off by missing cables, {} without a route, {} in dead ends, {} in loops",
            by_cause.cut_off, by_cause.no_route, by_cause.dead_end, by_cause.in_loop
        );
        pairs.push(("  why", causes));
        let first = report.lost.iter().take(5);
        pairs.extend(
            first.map(|lost| ("  such as", format!("{} to {} ({})", lost.from, lost.to, lost.cause))),
        );
    }
    pairs.push(("loops", if report.loops == 0 { "none".to_owned() } else { report.loops.to_string() }));
    pairs.extend(report.loop_examples.iter().take(3).map(|round| ("  such as", round.join(" -> "))));
    pairs.push(("deadlock", deadlock(report)));
    if let Some((channels, paths)) = report.cycle.as_ref().zip(report.cycle_paths.as_ref()) {
        let waits = channels.iter().zip(paths);
        pairs.extend(waits.map(|(channel, path)| ("  waits", format!("{channel}, by the path {path}"))));
    }
    pairs.push(("longest path", format!("{} hops between switches", report.longest_path)));
    let balance = format!(
        "{} to {}, mean {:.1}, deviation {:.1} paths a channel",
        index.min, index.max, index.mean, index.stddev
    );
    pairs.push(("balance", balance));
    pairs.extend(
        report.busiest.iter().take(3).map(|(channel, paths)| ("  busiest", format!("{channel}: {paths}"))),
    );
    if report.unaddressed > 0 {
        pairs.push(("not counted", format!("{} terminals without a LID", report.unaddressed)));
    }
    pairs
}

fn deadlock(report: &Report) -> String {
    let waiting = report.cycle.as_ref().map_or(0, Vec::len);
    match report.deadlock_free {
        Some(true) if report.lanes > 1 => {
            format!("free: no cycle of dependencies on any of its {} lanes", report.lanes)
        }
        Some(true) => "free: no cycle of dependencies, whatever lanes are used".to_owned(),
        Some(false) => {
            let lane = report.cycle_lane.unwrap_or(0);
            format!("possible: {waiting} channels of lane {lane} wait for each other")
        }
        None => {
            format!(
                "not known: {waiting} channels wait for each other if all paths share a lane (--lanes one: they do)"
            )
        }
    }
}
