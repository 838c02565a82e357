//! `check`.

use super::args::CheckArgs;
use super::context::Context;
use super::route_args::MissingHosts;
use super::table::write_pairs;
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
use fabdeck_fabric::{Faults, Tables};
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::NoProgress;

pub fn run(context: &mut Context<'_, '_>, args: &CheckArgs) -> Result<Exit, Failure> {
    context.refuse_filter("check")?;
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
