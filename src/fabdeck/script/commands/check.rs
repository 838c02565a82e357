//! `check`.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::route_args::MissingHosts;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::certificate_text::{report_lines, undecided_finding};
use crate::operations::check::judgement::CertificateReport;
use crate::operations::check::loads::{LoadOptions, compute_loads};
use crate::operations::lanes::lane_choice::LaneChoice;
use crate::operations::lanes::lanes_in_force;
use crate::operations::lanes::lanes_in_force::LanesInForce;
use crate::operations::lanes::levels::check_in_force;
use crate::operations::preview::engine_request::read_job_map;
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::json_schema::{JsonSchema, SchemaProperties};
use crate::script::schema_parts::{closed, flag, list, nullable, number, text};
use crate::script::table::write_pairs;
use fabdeck_fabric::{Faults, Tables};
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::NoProgress;

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
.json(&[JsonSchema::answer("check", schema)]);

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
    let own = args.tables.is_none();
    if !own && matches!(args.lanes, Some(LaneChoice::Sampled | LaneChoice::Exact)) {
        return Err(Failure::usage(
            "FD-7902: path records describe the tables in force; with '--tables FILE' use --lanes one or unknown",
        ));
    }
    let mut source = context.env().open_named_source()?;
    let mut snapshot = context.operation().read_snapshot_through(
        source.as_mut(),
        ReadOptions { tables: own, adaptive: true, ..ReadOptions::default() },
    )?;
    if let Some(file) = &args.tables {
        let (tables, notes) = context.outside.tables(file, snapshot.fabric())?;
        snapshot.observation.notes.extend(notes);
        // Lanes that the fabric itself reported stay, unless the file has its own.
        replace_tables(&mut snapshot.observation.tables, tables);
    }
    context.env().assume(&mut snapshot)?;
    if let Some(file) = &args.partitions {
        let manager = snapshot.observation.subnet_manager.as_ref().map(|manager| manager.guid);
        let (partitions, notes) = context.outside.partitions(file, snapshot.fabric(), manager)?;
        snapshot.observation.notes.extend(notes);
        snapshot.partitions = Some(partitions);
    }
    if snapshot.fabric().switches().next().is_none() {
        let refusal = Failure::usage(
            "FD-7901: the source has no switch, so there are no tables to check; put the fabric's topology \
             (ibnetdiscover > net.txt) in one folder with the other files",
        );
        return Err(context.refuse_with_notes(&snapshot, refusal));
    }
    if !snapshot.observation.tables.has_forwarding() {
        let refusal = Failure::usage(
            "FD-7901: there are no forwarding tables to check; give some with --tables FILE (opensm-lfts.dump, \
             opensm.fdbs, output of dump_lfts), or assume those of an engine with --assume ENGINE",
        );
        return Err(context.refuse_with_notes(&snapshot, refusal));
    }
    // Path records describe the levels of tables in force; a file has its own.
    let in_force = match own || args.lanes.is_some() {
        true => lanes_in_force::read_lanes_in_force(
            &mut context.operation(),
            source.as_mut(),
            &mut snapshot,
            (args.lanes, args.switches),
        )?,
        false => LanesInForce::of_choice(None),
    };
    let skips = args.missing == MissingHosts::Skip;
    let list = args.jobs.as_ref().map(|file| read_job_map(context.env(), &mut snapshot, file, skips));
    let jobs = list.transpose()?;
    let (tables, faults) = (&snapshot.observation.tables, Faults::default());
    let report = check_in_force(&snapshot, tables, &faults, args.switches, in_force.sent(), &NoProgress)?;
    let wanted = LoadOptions { patterns: args.loads, jobs: jobs.as_ref() };
    let (patterns, jobs) = match (args.loads, wanted.jobs) {
        (false, None) => (None, None),
        _ => compute_loads(&snapshot, &snapshot.observation.tables, wanted),
    };
    let report = CertificateReport { loads: patterns, jobs, ..report };
    let mut findings = report.defect_words();
    // Under `--strict` an undecided verdict leads to exit code 2, and a finding gives the reason.
    findings.extend(undecided_finding(&report).filter(|_| context.globals.strict));
    write(context, &snapshot, &report, &findings)?;
    let concluded = context.conclude(&snapshot);
    Ok(if findings.is_empty() { concluded } else { Exit::Findings })
}

/// Replaces the forwarding tables by those of a file, and the lanes of each node for which the file has any.
fn replace_tables(held: &mut Tables, read: Tables) {
    held.only = read.only;
    held.nodes.values_mut().for_each(|node| (node.lft, node.mft) = (None, None));
    held.nodes.values_mut().for_each(|node| node.unread.clear());
    for (id, node) in read.nodes {
        let here = held.node_mut(id);
        (here.lft, here.mft, here.unread) = (node.lft, node.mft, node.unread);
        if !node.sl2vl.is_empty() {
            here.sl2vl = node.sl2vl;
        }
    }
}

fn write(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    report: &CertificateReport,
    findings: &[String],
) -> Result<(), Failure> {
    if context.output.json {
        let mut object = context.object("check", snapshot)?;
        object.fields(report)?;
        object.field("findings", &findings)?;
        return Ok(object.end()?);
    }
    let found = finding_lines(findings);
    let pairs: Vec<_> = premises(snapshot).into_iter().chain(report_lines(report)).chain(found).collect();
    write_pairs(context.output.out, (context.output.paint, context.output.page), &pairs)?;
    Ok(())
}

/// Lines with the reasons for exit code 2, one for each reason.
pub fn finding_lines(findings: &[String]) -> Vec<(&'static str, String)> {
    findings.iter().map(|found| ("finding", found.clone())).collect()
}

/// What the following lines depend on: tables that are assumed, and parts of the fabric that are unknown.
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
    assumed.into_iter().chain(partial).collect()
}

fn schema() -> SchemaProperties {
    [vec![("findings", list(text()))], certificate_schema()].concat()
}

/// Schema of a certificate.
pub fn certificate_schema() -> SchemaProperties {
    let any = || json!({ "type": "number" });
    let counts = |keys: &[&'static str]| closed(keys.iter().map(|key| (*key, number())).collect());
    let texts = || list(text());
    let lost = closed(vec![("from", text()), ("to", text()), ("lid", number()), ("cause", text())]);
    let spread = closed(vec![("min", number()), ("mean", any()), ("max", number()), ("stddev", any())]);
    let average = || closed(vec![("mean", any()), ("patterns", number()), ("settled", flag())]);
    let loads = closed(vec![
        ("hosts", number()),
        ("lids_per_port", number()),
        ("worst_permutation", number()),
        ("worst_exact", flag()),
        ("average_bisect", average()),
        ("average_permutation", average()),
        ("average_dissemination", average()),
        ("shift_degree", number()),
        ("shift_steps", number()),
        ("shift_steps_of", number()),
    ]);
    vec![
        ("covers", text()),
        ("pairs", number()),
        ("partitions", nullable(number())),
        ("unreachable", number()),
        ("unread_pairs", number()),
        ("by_kind", counts(&["hosts", "aggregation", "switches"])),
        ("by_cause", counts(&["cut_off", "no_route", "dead_end", "in_loop"])),
        ("lost", list(lost.clone())),
        ("lost_lids", number()),
        ("partly_reached", number()),
        ("partly", list(lost)),
        ("failed_pairs", number()),
        ("loops", number()),
        ("loop_examples", list(texts())),
        ("lanes", number()),
        ("lanes_from", text()),
        ("lane_limits", texts()),
        ("limited_paths", number()),
        ("unsaid_paths", number()),
        ("untold_switches", number()),
        ("unread_tables", number()),
        ("adaptive_routing", nullable(number())),
        ("adaptive_unknown", number()),
        ("deadlock_free", nullable(flag())),
        ("cycle", nullable(texts())),
        ("cycle_paths", nullable(texts())),
        ("cycle_lane", nullable(number())),
        ("longest_path", number()),
        ("path_lengths", list(number())),
        ("mean_stretch", any()),
        ("worst_stretch", any()),
        ("edge_forwarding_index", spread),
        ("busiest", json!({ "type": "array" })),
        ("channels", number()),
        ("channels_in_use", number()),
        ("dark_fiber", any()),
        ("unused_links", number()),
        ("unused_link_examples", texts()),
        ("loads", nullable(loads)),
        ("jobs", nullable(jobs_of_check())),
        ("unaddressed", number()),
    ]
}

/// Schema of the jobs in `check`.
fn jobs_of_check() -> Value {
    let any = || json!({ "type": "number" });
    let used = || {
        let load = [("max", number()), ("mean", any()), ("dark_fiber", any())];
        [vec![("hosts", number()), ("links", number()), ("lost", number())], load.to_vec()].concat()
    };
    let job = [vec![("job", text()), ("ports", number()), ("switches", number())], used()].concat();
    let means = vec![("multi_switch", number()), ("mean_max", any()), ("mean_links", any())];
    let jobs = vec![
        ("count", number()),
        ("lids_per_port", number()),
        ("histogram", list(list(number()))),
        ("first", list(closed(job))),
    ];
    closed([jobs, means, used()].concat())
}
