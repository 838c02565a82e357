//! `convert`.

use std::path::PathBuf;

use clap::Args;

use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::FabricSummary;
use crate::operations::plans::route_plan::findings_warning;
use crate::operations::plans::{plan_file, plan_snapshot};
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::json_schema::{JsonSchema, SchemaProperties};
use crate::script::numbers_schema::summary_numbers;
use crate::script::schema_parts::{list, text};
use crate::system::access::{FormatOptions, FormatWriter, SystemAccess};
use crate::system::output_file;
use fabdeck_change::Plan;
use fabdeck_fabric::{Lane, PortNum, ServiceLevel, Sl2Vl};
use fabdeck_mad::access::{ReadOptions, Source};

pub const CONVERT: CommandEntry = CommandEntry::new(
    "convert",
    "Read files and write another format",
    "Several files are one fabric: the topology may come from one, tables and names from others. The formats \
     of the input are recognized by content. One of the files may be a plan of `route`: the output is then \
     the fabric after the plan, and its lanes go to psl (ibdmchk -c), slvl and qos-policy. A plan that is \
     stale for these files is refused (exit code 3).",
)
.danger(Danger::WritesFile)
.examples(&[
    "fabdeck convert site.topo opensm-lfts.dump reroute.plan -o active.lft --to lfts",
    "fabdeck convert site.topo -o site.net --to ibsim",
    "fabdeck convert site.topo opensm-lfts.dump -o opensm.fdbs --to fdbs",
])
.runs(&CommandFunction(run))
.at(OptionUse::Used)
.json(&[JsonSchema::answer("convert", schema)]);

#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// Files of one fabric; `-` is stdin
    #[arg(value_name = "IN", required = true)]
    pub inputs: Vec<PathBuf>,
    /// New output file; `-` is stdout
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// The format to write; an unknown name lists all formats
    #[arg(long, value_name = "FORMAT")]
    pub to: String,
    /// With --to slurm-topology: list each host at the leaf switch of its adapter N, counted from 1 (default: hosts
    /// with the same leaf switches stay together)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub rail: Option<u8>,
    /// With --to csv: write cells unescaped. By default a cell that begins like a formula (=, +, -, @) gets a quote in
    /// front, and control characters are escaped
    #[arg(long)]
    pub raw_cells: bool,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

/// The format that lists hosts at switches.
const SLURM: &str = "slurm-topology";

/// Finds the writer of a format among those that are allowed here.
pub fn find_writer<'o>(
    outside: &'o dyn SystemAccess,
    id: &str,
    is_allowed: impl Fn(&FormatWriter) -> bool,
) -> Result<&'o FormatWriter, Failure> {
    let writers = || outside.writers().iter().filter(|writer| is_allowed(writer));
    writers().find(|writer| writer.id == id).ok_or_else(|| {
        let words: Vec<&str> = writers().map(|writer| writer.id).collect();
        Failure::usage(format!("FD-7601: '{id}' cannot be written here; formats: {}", words.join(", ")))
    })
}

fn run(context: &mut Context<'_, '_>, args: &ConvertArgs) -> Result<Exit, Failure> {
    let writer = find_writer(context.outside, &args.to, |_| true)?;
    if args.rail.is_some() && writer.id != SLURM {
        return Err(Failure::usage(format!("FD-7607: --rail needs --to {SLURM}")));
    }
    if context.output.json && output_file::is_stdout(&args.output) {
        return Err(Failure::usage("FD-7501: --json and '-o -' both write to stdout; leave one out"));
    }
    refuse_same_file(args)?;
    output_file::refuse_unless_forced(&args.output, args.force)?;
    let (plan, inputs) = split_off_plan(&args.inputs)?;
    let mut snapshot = read_snapshot(context, writer.id, plan.as_ref(), &inputs)?;
    let written = (writer.write)(&snapshot, &FormatOptions { rail: args.rail, raw_cells: args.raw_cells })?;
    snapshot.observation.notes.extend(written.notes);
    output_file::write(context.output.out, &args.output, &written.bytes)?;
    plan.iter().filter_map(findings_warning).for_each(|line| context.output.print_message(&line));
    let summary = FabricSummary::from_snapshot(&snapshot);
    if context.output.json {
        let inputs: Vec<String> = args.inputs.iter().map(|path| path.display().to_string()).collect();
        let mut object = context.object("convert", &snapshot)?;
        object.field("inputs", &inputs)?;
        object.field("file", &args.output.display().to_string())?;
        object.field("format", &writer.id)?;
        for (key, number) in summary.numbers() {
            object.field(key, &number)?;
        }
        object.end()?;
    } else if !output_file::is_stdout(&args.output) {
        let file = args.output.display();
        context.output.print_message(&format!(
            "{file} is written ({}) from {}",
            writer.id,
            summary.sentence()
        ));
    }
    Ok(context.conclude(&snapshot))
}

/// Separates the plan from the other inputs, by their content.
fn split_off_plan(inputs: &[PathBuf]) -> Result<(Option<Plan>, Vec<PathBuf>), Failure> {
    let (plans, others): (Vec<&PathBuf>, Vec<&PathBuf>) =
        inputs.iter().partition(|path| plan_file::is_plan(path));
    let plan = match plans.as_slice() {
        [] => None,
        [one] => Some(plan_file::read(one)?),
        [_, second, ..] => {
            let second = second.display();
            return Err(Failure::usage(format!("FD-7506: '{second}' is a second plan; give one at a time")));
        }
    };
    Ok((plan, others.into_iter().cloned().collect()))
}

/// Reads the fabric of the inputs; with a plan, the fabric after that plan.
fn read_snapshot(
    context: &mut Context<'_, '_>,
    format: &str,
    plan: Option<&Plan>,
    inputs: &[PathBuf],
) -> Result<Snapshot, Failure> {
    let lanes = ["sl2vl", "slvl"].contains(&format);
    let tables = plan.is_some() || ["lfts", "fdbs"].contains(&format);
    let lanes_asked = lanes || plan.is_some_and(plan_file::plan_has_lanes);
    let wanted = ReadOptions {
        tables,
        lanes: lanes_asked,
        counters: format == "prometheus",
        ..ReadOptions::default()
    };
    let Some(plan) = plan else {
        let source = open_inputs(context, inputs)?;
        return context.operation().read_snapshot_from(source, wanted);
    };
    let mut snapshot = match inputs {
        [] if context.options.source.as_deref().is_none() => {
            return Err(Failure::usage(
                "FD-7505: a plan needs its fabric; give the fabric's files as inputs as well, or --source",
            ));
        }
        [] => context.operation().read_snapshot(wanted)?,
        inputs => {
            let source = open_inputs(context, inputs)?;
            context.operation().read_snapshot_from(source, wanted)?
        }
    };
    plan_snapshot::apply_to_snapshot(&mut context.operation(), &mut snapshot, plan)?;
    if lanes {
        map_levels_to_lanes(&mut snapshot, plan.lanes.count);
    }
    Ok(snapshot)
}

/// Sets the SL2VL tables that a plan's lanes need: each service level on the lane of its number, the rest on lane 0.
fn map_levels_to_lanes(snapshot: &mut Snapshot, lanes: u8) {
    let mut row = Sl2Vl::default();
    for number in 0..u32::from(lanes) {
        if let (Some(level), Some(lane)) = (ServiceLevel::new(number), Lane::new(number)) {
            row.set(level, lane);
        }
    }
    let observation = &mut snapshot.observation;
    for (id, _) in observation.fabric.switches() {
        let cabled = observation.fabric.ports_of(id).filter(|(_, port)| port.peer.is_some());
        let ports: Vec<PortNum> = cabled.map(|(_, port)| port.number).collect();
        let held = observation.tables.node_mut(id);
        held.sl2vl.clear();
        for from in std::iter::once(PortNum::MANAGEMENT).chain(ports.iter().copied()) {
            held.sl2vl.extend(ports.iter().map(|to| ((from, *to), row)));
        }
    }
}

/// Opens the inputs. An input that is not a file is opened as `--source` opens it, and has to be the only one.
fn open_inputs(context: &Context<'_, '_>, inputs: &[PathBuf]) -> Result<Box<dyn Source>, Failure> {
    let words: Vec<String> = inputs.iter().map(|path| path.display().to_string()).collect();
    let no_file = |word: &String| !is_path(word);
    match words.as_slice() {
        // A capture has a past; any other single input reports that it has none.
        [word] if no_file(word) || context.globals.at.is_some() => context.env().open_source(word),
        [_, _, ..] if context.globals.at.is_some() => Err(Failure::usage(
            "FD-7507: --at needs one capture; several files are one fabric without earlier moments",
        )),
        words => match words.iter().find(|word| no_file(word)) {
            Some(word) => Err(Failure::usage(format!(
                "FD-7503: '{word}' is a complete fabric; give it as the only input"
            ))),
            None => Ok(context.outside.open_files(inputs)?),
        },
    }
}

/// Whether a source is written like a file or a folder.
pub fn is_path(word: &str) -> bool {
    !(word.starts_with("sim:") || word == "umad" || word.starts_with("umad:"))
}

/// Refuses to convert a file onto itself, which would lose what the other format cannot hold.
fn refuse_same_file(args: &ConvertArgs) -> Result<(), Failure> {
    let Ok(output) = args.output.canonicalize() else { return Ok(()) };
    let same = |input: &&PathBuf| output.is_file() && input.canonicalize().is_ok_and(|input| input == output);
    match args.inputs.iter().find(same) {
        None => Ok(()),
        Some(input) => {
            let input = input.display();
            Err(Failure::usage(format!("FD-7502: '{input}' is input and output; write to another file")))
        }
    }
}

fn schema() -> SchemaProperties {
    let written = vec![("inputs", list(text())), ("file", text()), ("format", text())];
    written.into_iter().chain(summary_numbers()).collect()
}
