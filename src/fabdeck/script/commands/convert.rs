//! `convert`.

use std::path::PathBuf;

use clap::Args;

use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::FabricSummary;
use crate::operations::convert::{Conversion, ConversionRequest, convert, find_writer};
use crate::script::answer::json_answer;
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::system::access::FormatOptions;
use crate::system::output_file;

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
.json(&[JsonSchema::answer::<ConvertAnswer>("convert")]);

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
    /// With --to slurm-topology or slurm-topology-yaml: list each host at the leaf switch of its adapter N, counted
    /// from 1 (default: hosts with the same leaf switches stay together in topology.conf; topology.yaml has a tree for
    /// each rail)
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

/// The formats that list hosts at switches.
const SLURM: [&str; 2] = ["slurm-topology", "slurm-topology-yaml"];

fn run(context: &mut Context<'_, '_>, args: &ConvertArgs) -> Result<Exit, Failure> {
    let writer = find_writer(context.outside, &args.to, |_| true)?;
    if args.rail.is_some() && !SLURM.contains(&writer.id) {
        return Err(Failure::usage(format!("FD-7607: --rail needs --to {}", SLURM.join(" or "))));
    }
    if context.output.json && output_file::is_stdout(&args.output) {
        return Err(Failure::usage("FD-7501: --json and '-o -' both write to stdout; leave one out"));
    }
    refuse_same_file(args)?;
    output_file::refuse_unless_forced(&args.output, args.force)?;
    let request = ConversionRequest {
        inputs: &args.inputs,
        writer,
        options: FormatOptions { rail: args.rail, raw_cells: args.raw_cells },
        has_moment: context.globals.at.is_some(),
    };
    let Conversion { snapshot, bytes, warning } = convert(&mut context.operation(), &request)?;
    output_file::write(context.output.out, &args.output, &bytes)?;
    warning.iter().for_each(|line| context.output.print_message(line));
    let summary = FabricSummary::from_snapshot(&snapshot);
    if context.output.json {
        let answer = ConvertAnswer {
            inputs: args.inputs.iter().map(|path| path.display().to_string()).collect(),
            file: args.output.display().to_string(),
            format: writer.id,
            summary,
        };
        context.write_answer("convert", &snapshot, answer)?;
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

json_answer! {
    struct ConvertAnswer {
        inputs: Vec<String>,
        file: String,
        format: &'static str,
        summary: FabricSummary,
    }
}
