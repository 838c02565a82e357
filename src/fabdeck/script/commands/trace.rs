//! `trace`.

use std::path::PathBuf;

use clap::Args;

use super::check;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::{JsonType, json_type, words_schema};
use crate::catalogue::snapshot::Snapshot;
use crate::operations::plans::{plan_file, plan_snapshot};
use crate::operations::trace::path_trace::{LidChoice, Trace, TraceEndpoint, TraceOutcome};
use crate::operations::trace::trace_ends::{TraceEnds, parse_trace_ends};
use crate::operations::view_id::ViewId;
use crate::script::answer::json_answer;
use crate::script::command_entry::{CommandEntry, CommandFunction, FilterUse, OptionUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::NotePlace;
use fabdeck_mad::access::ReadOptions;

pub const TRACE: CommandEntry = CommandEntry::new(
    "trace",
    "Follow the forwarding tables from SRC to DST, hop by hop",
    "SRC and DST are an element (switch:NAME, host:NAME, port:NAME[PORT]), a name, a GUID or a LID. For an \
     adapter with several cabled ports, the first is taken. A loop, a dead end or a switch with an unknown \
     table is named, and the command ends with exit code 2. Where switches route adaptively, the path is that of static \
     ports, and the other ports are listed.",
)
.needs_fabric()
.examples(&[
    "fabdeck --source sim:demo trace node01 node24",
    "fabdeck --source capture/ trace port:node01/1 13",
])
.runs(&CommandFunction(run))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.assume(OptionUse::Used)
.json(&[JsonSchema::rows::<TraceAnswer<'_>>(ViewId::Hops)]);

#[derive(Debug, Args)]
pub struct TraceArgs {
    /// Where the path begins: switch:NAME, host:NAME, port:NAME[PORT], a name, a GUID or a LID
    #[arg(value_name = "SRC")]
    pub from: String,
    /// Where the path ends, written the same way
    #[arg(value_name = "DST")]
    pub to: String,
    /// Forwarding tables to follow instead of those of the source: a dump of them, or a plan
    #[arg(long, value_name = "FILE")]
    pub tables: Option<PathBuf>,
    /// Follow the path to this LID of the destination, which has 2^LMC LIDs, instead of the one that SRC sends to (its
    /// path bits: `convert --to path-bits`)
    #[arg(long, value_name = "LID")]
    pub lid: Option<u32>,
}

json_type! {
    struct TraceEnd {
        node: String,
        guid: Guid,
        port: Option<u8>,
        lid: Option<u16>,
    }
}

json_answer! {
    struct TraceAnswer<'a> {
        from: TraceEnd,
        to: TraceEnd,
        lid: u16,
        found: bool,
        reason: Option<TraceReason>,
        verdict: &'a str,
        links: usize,
        /// Whether switches of the path may send by other ports, because they route adaptively or did not say.
        by_static_ports: bool,
    }
}

/// The word for why a path ends.
#[derive(serde::Serialize)]
struct TraceReason(&'static str);

impl JsonType for TraceReason {
    fn schema() -> serde_json::Value {
        words_schema(TraceOutcome::WORDS)
    }
}

impl TraceEnd {
    fn new(snapshot: &Snapshot, end: TraceEndpoint) -> Self {
        Self {
            node: snapshot.name(end.node).to_owned(),
            guid: snapshot.fabric().node(end.node).guid(),
            port: end.port.map(|port| snapshot.fabric().port(port).number.value()),
            lid: end.address(snapshot).map(|(lid, _)| lid.value()),
        }
    }
}

fn run(context: &mut Context<'_, '_>, args: &TraceArgs) -> Result<Exit, Failure> {
    let mut source = context.env().open_named_source()?;
    let plan =
        args.tables.as_deref().filter(|file| plan_file::is_plan(file)).map(plan_file::read).transpose()?;
    // Assuming tables, and judging a plan as stale, need all tables.
    let whole = plan.is_some() || context.options.assume.is_some() && args.tables.is_none();
    let lanes = plan.as_ref().is_some_and(plan_file::plan_has_lanes);
    // Where switches route adaptively the path is one of several.
    let wanted = ReadOptions { tables: whole, lanes, adaptive: true, ..ReadOptions::default() };
    let mut snapshot = context.operation().read_snapshot_through(source.as_mut(), wanted)?;
    if let Some(plan) = &plan {
        plan_snapshot::apply_to_snapshot(&mut context.operation(), &mut snapshot, plan)?;
    } else if let Some(file) = &args.tables {
        let (tables, notes) = context.outside.tables(file, snapshot.fabric())?;
        snapshot.observation.notes.extend(notes);
        snapshot.observation.tables = tables;
    }
    context.env().assume(&mut snapshot)?;
    let TraceEnds { from, to, choice } =
        context.operation().explain_missing(&snapshot, parse_trace_ends(&snapshot, &args.from, &args.to))?;
    context.operation().report_guessed_labels(&snapshot, [args.from.as_str(), args.to.as_str()]);
    if let Some(choice) = choice {
        snapshot.observation.notes.add("FN-603", NotePlace::file(snapshot.source.clone()), || choice);
    }
    let choice = args.lid.map_or(LidChoice::Picked, LidChoice::One);
    let lid = context.operation().explain_missing(&snapshot, to.lid(&snapshot, from, choice))?;
    if args.tables.is_none() && !whole {
        context.operation().read_tables_toward(source.as_mut(), &mut snapshot, &[lid])?;
    }
    let tables = &snapshot.observation.tables;
    if !tables.has_forwarding() {
        let failure = Failure::usage(
            "FD-7401: there are no forwarding tables to follow; give some with --tables FILE \
             (opensm-lfts.dump, opensm.fdbs, output of dump_lfts), or assume those of an engine with --assume ENGINE",
        );
        let refusal = match snapshot.observation.reading {
            Some(_) => failure,
            None => context.refuse_with_notes(&snapshot, failure),
        };
        return context.operation().explain_missing(&snapshot, Err(refusal));
    }
    let trace = Trace::follow(&snapshot, tables, from, to, choice)?;
    write(context, &snapshot, &trace)?;
    let concluded = context.conclude(&snapshot);
    Ok(if trace.has_arrived() { concluded } else { Exit::Findings })
}

fn write(context: &mut Context<'_, '_>, snapshot: &Snapshot, trace: &Trace) -> Result<(), Failure> {
    let query = context.query(&Default::default());
    let listing = trace.listing(snapshot);
    let verdict = trace.verdict(snapshot);
    for end in [trace.from, trace.to] {
        let others = end.other_ports(snapshot);
        if others > 0 && !context.output.json {
            let used = end.name(snapshot);
            context.output.print_message(&format!(
                "{used} is used, one of {} cabled ports; port:NAME[PORT] selects another",
                others + 1
            ));
        }
    }
    let answer = TraceAnswer {
        from: TraceEnd::new(snapshot, trace.from),
        to: TraceEnd::new(snapshot, trace.to),
        lid: trace.lid.value(),
        found: trace.has_arrived(),
        reason: trace.ending.word().map(TraceReason),
        verdict: &verdict,
        links: trace.link_count(),
        by_static_ports: trace.choice_words().is_some(),
    };
    context.write_rows(ViewId::Hops.id(), snapshot, listing.as_ref(), &query, answer)?;
    if !context.output.json {
        for (word, what) in check::premises(snapshot) {
            writeln!(context.output.out, "{word}: {what}")?;
        }
        if let Some(choices) = trace.choice_words() {
            writeln!(context.output.out, "adaptive: {choices}")?;
        }
        writeln!(context.output.out, "{verdict}")?;
    }
    Ok(())
}
