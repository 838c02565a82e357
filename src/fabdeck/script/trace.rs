//! `trace`.

use crate::session::{Browse, LidChoice, Look, Trace, TraceEnds, Traced, trace_ends};
use fabdeck_fabric::observe::Place;

use super::args::TraceArgs;
use super::context::Context;
use super::{Exit, Failure, check, plan};
use fabdeck_mad::access::Wanted;

#[derive(serde::Serialize)]
struct End {
    node: String,
    guid: String,
    port: Option<u8>,
    lid: Option<u16>,
}

impl End {
    fn new(look: &Look, end: Traced) -> Self {
        Self {
            node: look.name(end.node).to_owned(),
            guid: look.fabric().node(end.node).guid().to_string(),
            port: end.port.map(|port| look.fabric().port(port).number.value()),
            lid: end.address(look).map(|(lid, _)| lid.value()),
        }
    }
}

pub fn run(context: &mut Context<'_, '_>, args: &TraceArgs) -> Result<Exit, Failure> {
    let mut source = context.open(context.named_source()?)?;
    let plan = args.tables.as_deref().filter(|file| plan::is_plan(file)).map(plan::read).transpose()?;
    // Assuming tables, and judging a plan as stale, need all tables.
    let whole = plan.is_some() || context.globals.assume.is_some() && args.tables.is_none();
    let lanes = plan.as_ref().is_some_and(plan::knows_lanes);
    let wanted = Wanted { tables: whole, lanes, ..Wanted::default() };
    let mut look = context.look_through(source.as_mut(), wanted)?;
    if let Some(plan) = &plan {
        plan::lead(context, &mut look, plan)?;
    } else if let Some(file) = &args.tables {
        let (tables, notes) = context.outside.tables(file, look.fabric())?;
        look.observation.notes.extend(notes);
        look.observation.tables = tables;
    }
    context.assume(&mut look)?;
    let TraceEnds { from, to, choice } =
        context.among_answers(&look, trace_ends(&look, &args.from, &args.to))?;
    if let Some(choice) = choice {
        look.observation.notes.add("FN-603", Place::file(look.source.clone()), || choice);
    }
    let choice = args.lid.map_or(LidChoice::Base, LidChoice::One);
    let lid = context.among_answers(&look, to.lid(&look, choice))?;
    if args.tables.is_none() && !whole {
        context.read_toward(source.as_mut(), &mut look, &[lid])?;
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
        return context.among_answers(&look, Err(refusal));
    }
    let trace = Trace::follow(&look, tables, from, to, choice)?;
    write(context, &look, &trace)?;
    let concluded = context.conclude(&look);
    Ok(if trace.found() { concluded } else { Exit::Findings })
}

fn write(context: &mut Context<'_, '_>, look: &Look, trace: &Trace) -> Result<(), Failure> {
    let query = context.query(&Default::default());
    let listing = trace.listing(look);
    let verdict = trace.verdict(look);
    for end in [trace.from, trace.to] {
        let others = end.others(look);
        if others > 0 && !context.output.json {
            let taken = end.name(look);
            context.output.say(&format!(
                "{taken} is taken of {} cabled ports; port:NAME[PORT] names another",
                others + 1
            ));
        }
    }
    context.write_rows(Browse::Hops.id(), look, listing.as_ref(), &query, |object| {
        object.field("from", &End::new(look, trace.from))?;
        object.field("to", &End::new(look, trace.to))?;
        object.field("lid", &trace.lid.value())?;
        object.field("found", &trace.found())?;
        object.field("reason", &trace.ending.word())?;
        object.field("verdict", &verdict)?;
        object.field("links", &trace.links())
    })?;
    if !context.output.json {
        for (word, what) in check::premises(look) {
            writeln!(context.output.out, "{word}: {what}")?;
        }
        writeln!(context.output.out, "{verdict}")?;
    }
    Ok(())
}
