//! `check`.

use std::path::PathBuf;

use super::route_args::MissingHosts;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::certificate_text::{adaptive_words, report_lines};
use crate::operations::check::judgement::CertificateReport;
use crate::operations::check::tables_check::{CheckRequest, CheckResult, check_tables};
use crate::operations::lanes::lane_choice::LaneChoice;
use crate::script::answer::{SortedKeys, json_answer};
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use clap::Args;
use fabdeck_fabric::observe::AdaptiveRouting;

pub const CHECK: CommandEntry = CommandEntry::new(
    "check",
    "Certify forwarding tables",
    "Reports whether every pair has a path, whether a path runs in a loop, and whether there is a credit \
     loop: packets that wait for each other forever, with the channels and paths that close it. It also \
     reports the length of paths and their balance over channels. The lanes of paths come from SL2VL tables, \
     and from path records where a subnet manager answers. Findings end with exit code 2. Where no source \
     states service levels, level 0 is judged through the SL2VL tables, and the report has \"level 0 assumed\": \
     SL2VL tables alone put no lane in use. A QoS policy of OpenSM in the folder sets service levels; where \
     its rules do not determine those of paths, deadlock freedom is not known. A list of levels of paths \
     (psl) in the folder sets the level of each path. With --strict an unknown verdict is a finding too \
     (FN-707). With --partitions only ports that share a partition are pairs, in counts, lengths and loads. \
     Deadlock freedom is judged over all pairs even then, because members change without a change of the \
     tables.",
)
.needs_fabric()
.examples(&[
    "fabdeck --source sim:demo check",
    "fabdeck --source sim:kary,k=4,n=2 check --lanes one",
    "fabdeck --source site.topo check --tables opensm-lfts.dump --switches",
    "fabdeck --source site.topo check --tables opensm-lfts.dump --partitions partitions.conf",
])
.runs(&CommandFunction(run))
.at(OptionUse::Used)
.assume(OptionUse::Used)
.json(&[JsonSchema::answer::<CheckAnswer<'_>>("check")]);

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Forwarding tables to check instead of those in force
    #[arg(long, value_name = "FILE")]
    pub tables: Option<PathBuf>,
    /// Count switches as sources and destinations too
    #[arg(long)]
    pub switches: bool,
    /// Partitions in the format of OpenSM's partitions.conf: pairs without a common partition do not count as lost
    #[arg(long, value_name = "FILE")]
    pub partitions: Option<PathBuf>,
    /// Report too how traffic patterns (permutations and shifts, docs/engines.md) load the channels; on a full subnet
    /// that takes minutes
    #[arg(long)]
    pub loads: bool,
    /// List of running jobs (a host and its job on each line, or the output of squeue): count the paths within jobs too
    #[arg(long, value_name = "FILE")]
    pub jobs: Option<PathBuf>,
    /// What to do about hosts of --jobs that the fabric does not have
    #[arg(long, value_name = "WHAT", value_enum, default_value_t, requires = "jobs")]
    pub missing: MissingHosts,
    /// How the lanes of packets are determined (default: sampled if a subnet manager answers, else service level 0)
    #[arg(long, value_name = "LANES", value_enum)]
    pub lanes: Option<LaneChoice>,
}

fn run(context: &mut Context<'_, '_>, args: &CheckArgs) -> Result<Exit, Failure> {
    let request = CheckRequest {
        tables: args.tables.clone(),
        switches: args.switches,
        partitions: args.partitions.clone(),
        loads: args.loads,
        jobs: args.jobs.clone(),
        skips_missing_hosts: args.missing == MissingHosts::Skip,
        lanes: args.lanes,
        strict: context.globals.strict,
    };
    let CheckResult { snapshot, report, findings } = check_tables(&mut context.operation(), &request)?;
    write(context, &snapshot, &report, &findings)?;
    let concluded = context.conclude(&snapshot);
    Ok(if findings.is_empty() { concluded } else { Exit::Findings })
}

fn write(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    report: &CertificateReport,
    findings: &[String],
) -> Result<(), Failure> {
    if context.output.json {
        let answer = CheckAnswer { report: SortedKeys(report), findings };
        return context.write_answer("check", snapshot, answer);
    }
    let found = finding_lines(findings);
    let pairs: Vec<_> = premises(snapshot).into_iter().chain(report_lines(report)).chain(found).collect();
    context.output.write_pairs(&pairs)?;
    Ok(())
}

/// Lines with the reasons for exit code 2, one for each reason.
pub fn finding_lines(findings: &[String]) -> Vec<(&'static str, String)> {
    findings.iter().map(|found| ("finding", found.clone())).collect()
}

/// What the following lines depend on: tables that are assumed, parts of the fabric that are unknown, and path bits that
/// a change set.
/// The line that says that tables do not determine the paths, with what follows from that; `None` where they do, as far as
/// the source states it.
pub fn adaptive_line(snapshot: &Snapshot, so: &str) -> Option<(&'static str, String)> {
    let unknown = snapshot.observation.adaptive.map(AdaptiveRouting::unknown_count)?;
    Some(("adaptive", format!("{}, so tables do not determine the paths: {so}", adaptive_words(unknown))))
}

pub fn premises(snapshot: &Snapshot) -> Vec<(&'static str, String)> {
    let assumed = snapshot
        .assumed
        .map(|engine| ("assumed", format!("the tables are those of {engine}; the source has none")));
    let partial = snapshot.observation.is_partial().then(|| {
        (
            "partial",
            "part of the fabric could not be read; the following lines are about the rest (see the notes, -v)".to_owned(),
        )
    });
    let picks = snapshot.path_bits_origin().map(|how| ("hosts pick LIDs", how));
    assumed.into_iter().chain(partial).chain(picks).collect()
}

json_answer! {
    struct CheckAnswer<'a> {
        report: SortedKeys<&'a CertificateReport>,
        findings: &'a [String],
    }
}
