//! `study run`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::listing::status_words;
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::study::cell_plan::Shard;
use crate::operations::study::open_study::{OpenStudy, open_to_run};
use crate::operations::study::planned_cells::choose_cells;
use crate::operations::study::study_run::{StudyRunOptions, StudyRunReport, run_study};
use crate::script::answer::{SortedKeys, json_answer};
use crate::script::argument_values::{long_duration, threads};
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use fabdeck_fabric::observe::digits_in_groups;

pub const STUDY_RUN: CommandEntry = CommandEntry::new(
    "study run",
    "Run the cells of a study that have no result yet",
    "STUDY is the name of a built-in study (`study list`), a file, or the folder of a study. Results go into a folder that any \
     number of processes share: each writes a file of its own there, and what has a result does not run again. A run that \
     was ended or killed continues with the same command. With --shard I/N a process takes one of N parts. A study about \
     a fabric of your own takes it from --source: a live fabric, a dump or a capture; without STUDY that is the study \
     `next-failures`. A cell that an engine refuses, that fails or takes too long is a row with its reason.",
)
.danger(Danger::WritesFile)
.examples(&[
    "fabdeck study run domke-small -o results",
    "fabdeck study run results --shard 0/4",
    "fabdeck study run nue-6.11 -o results --only engine=nue --only topology~torus",
    "fabdeck --source capture/ study run -o next-failures",
])
.runs(&CommandFunction(run))
.at(OptionUse::Used)
.json(&[JsonSchema::answer::<StudyRunAnswer>("study-run").without_source()]);

#[derive(Debug, Args)]
pub struct StudyRunArgs {
    /// Name of a built-in study, a study file, or the folder of a study (default with --source: next-failures)
    #[arg(value_name = "STUDY")]
    pub study: Option<String>,
    /// Folder of the results (default: that of the study, if STUDY is one)
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Run one of N parts, I from 0 to N-1; cells that share forwarding tables stay together
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    pub shard: Option<Shard>,
    /// Run only cells that match: FIELD=VALUE, as --filter takes it, of topology, engine, lanes, measure, link_faults and others
    /// that are known before a cell runs; may be given several times
    #[arg(long, value_name = "FILTER")]
    pub only: Vec<String>,
    /// Number of cells at a time (default: one for each core)
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Begin no cell after this time: 30m, 8h
    #[arg(long, value_name = "TIME", value_parser = long_duration)]
    pub limit: Option<Duration>,
    /// Run cells again that failed
    #[arg(long)]
    pub again: bool,
    /// Replace the study of the folder; results of cells that both have stay
    #[arg(long)]
    pub update: bool,
}

json_answer! {
    struct StudyRunAnswer {
        run: SortedKeys<StudyRunReport>,
    }
}

fn run(context: &mut Context<'_, '_>, args: &StudyRunArgs) -> Result<Exit, Failure> {
    let mut operation = context.operation();
    let OpenStudy { mut plan, folder } =
        open_to_run(&mut operation, args.study.as_deref(), args.output.as_deref(), args.update)?;
    choose_cells(&mut plan, &args.only)?;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let options = StudyRunOptions {
        shard: args.shard.unwrap_or(Shard::WHOLE),
        threads: args.threads.unwrap_or_else(cores),
        limit: args.limit,
        again: args.again,
    };
    let report = run_study(&mut operation, &plan, &folder, options)?;
    if context.output.json {
        context.write_plain_answer("study-run", StudyRunAnswer { run: SortedKeys(report) })?;
        return Ok(Exit::Done);
    }
    let number = digits_in_groups;
    let mut lines = vec![
        ("study", report.study.clone()),
        ("folder", folder.path.display().to_string()),
        ("cells", number(report.cells).to_string()),
    ];
    if options.shard != Shard::WHOLE {
        lines.push(("shard", format!("{} cells", number(report.shard_cells))));
    } else if !args.only.is_empty() {
        lines.push(("chosen", format!("{} cells", number(report.shard_cells))));
    }
    lines.push(("found", format!("{} had a result before", number(report.found))));
    lines.push(("ran", status_words(&report.statuses)));
    lines.extend(report.common_reason.map(|why| ("most often", why)));
    if report.left > 0 {
        let why = if report.stopped { "the run was ended" } else { "their real time ended" };
        lines.push(("left", format!("{}: {why}; the same command continues", number(report.left))));
    }
    context.output.write_pairs(&lines)?;
    Ok(Exit::Done)
}
