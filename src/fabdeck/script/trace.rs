//! `trace`.

use crate::session::{LidChoice, Snapshot, Trace, TraceEndpoint, TraceEnds, ViewId, parse_trace_ends};
use fabdeck_fabric::observe::NotePlace;

use super::args::TraceArgs;
use super::context::Context;
use super::{Exit, Failure, check, plan};
use fabdeck_mad::access::ReadOptions;

#[derive(serde::Serialize)]
struct TraceEnd {
    node: String,
    guid: String,
    port: Option<u8>,
    lid: Option<u16>,
}

impl TraceEnd {
    fn new(look: &Snapshot, end: TraceEndpoint) -> Self {
        Self {
            node: look.name(end.node).to_owned(),
            guid: look.fabric().node(end.node).guid().to_string(),
            port: end.port.map(|port| look.fabric().port(port).number.value()),
            lid: end.address(look).map(|(lid, _)| lid.value()),
        }
    }
}

pub fn run(context: &mut Context<'_, '_>, args: &TraceArgs) -> Result<Exit, Failure> {
    let mut source = context.open_source(context.named_source()?)?;
    let plan = args.tables.as_deref().filter(|file| plan::is_plan(file)).map(plan::read).transpose()?;
    // Assuming tables, and judging a plan as stale, need all tables.
    let whole = plan.is_some() || context.globals.assume.is_some() && args.tables.is_none();
    let lanes = plan.as_ref().is_some_and(plan::plan_has_lanes);
    let wanted = ReadOptions { tables: whole, lanes, ..ReadOptions::default() };
    let mut look = context.read_snapshot_through(source.as_mut(), wanted)?;
    if let Some(plan) = &plan {
        plan::apply_to_snapshot(context, &mut look, plan)?;
    } else if let Some(file) = &args.tables {
        let (tables, notes) = context.outside.tables(file, look.fabric())?;
        look.observation.notes.extend(notes);
        look.observation.tables = tables;
    }
    context.assume(&mut look)?;
    let TraceEnds { from, to, choice } =
        context.explain_missing(&look, parse_trace_ends(&look, &args.from, &args.to))?;
    if let Some(choice) = choice {
        look.observation.notes.add("FN-603", NotePlace::file(look.source.clone()), || choice);
    }
    let choice = args.lid.map_or(LidChoice::Base, LidChoice::One);
    let lid = context.explain_missing(&look, to.lid(&look, choice))?;
    if args.tables.is_none() && !whole {
        context.read_tables_toward(source.as_mut(), &mut look, &[lid])?;
    }
    let tables = &look.observation.tables;
    if !tables.has_forwarding() {
        let failure = Failure::usage(
            "FD-7401: there are no forwarding tables to follow; give some with --tables FILE \
             (opensm-lfts.dump, opensm.fdbs, what dump_lfts prints), or --assume ENGINE those that an engine computes",
        );
        let refusal = match look.observation.reading {
            Some(_) => failure,
            None => context.refuse_with_notes(&look, failure),
        };
        return context.explain_missing(&look, Err(refusal));
    }
    let trace = Trace::follow(&look, tables, from, to, choice)?;
    write(context, &look, &trace)?;
    let concluded = context.conclude(&look);
    Ok(if trace.has_arrived() { concluded } else { Exit::Findings })
}

fn write(context: &mut Context<'_, '_>, look: &Snapshot, trace: &Trace) -> Result<(), Failure> {
    let query = context.query(&Default::default());
    let listing = trace.listing(look);
    let verdict = trace.verdict(look);
    for end in [trace.from, trace.to] {
        let others = end.other_ports(look);
        if others > 0 && !context.output.json {
            let taken = end.name(look);
            context.output.print_message(&format!(
                "{taken} is taken of {} cabled ports; port:NAME[PORT] names another",
                others + 1
            ));
        }
    }
    context.write_rows(ViewId::Hops.id(), look, listing.as_ref(), &query, |object| {
        object.field("from", &TraceEnd::new(look, trace.from))?;
        object.field("to", &TraceEnd::new(look, trace.to))?;
        object.field("lid", &trace.lid.value())?;
        object.field("found", &trace.has_arrived())?;
        object.field("reason", &trace.ending.word())?;
        object.field("verdict", &verdict)?;
        object.field("links", &trace.link_count())
    })?;
    if !context.output.json {
        for (word, what) in check::premises(look) {
            writeln!(context.output.out, "{word}: {what}")?;
        }
        writeln!(context.output.out, "{verdict}")?;
    }
    Ok(())
}
