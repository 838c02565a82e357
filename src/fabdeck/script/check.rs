//! `check`.

use crate::session::{
    CertificateReport, LoadOptions, Snapshot, check_in_force, compute_loads, report_lines, undecided_finding,
};
use fabdeck_fabric::{Faults, Tables};
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::NoProgress;

use super::args::CheckArgs;
use super::context::Context;
use super::lanes_in_force::LanesInForce;
use super::route_args::LaneChoice;
use super::table::write_pairs;
use super::{Exit, Failure, jobs, lanes_in_force};

pub fn run(context: &mut Context<'_, '_>, args: &CheckArgs) -> Result<Exit, Failure> {
    context.refuse_filter("check")?;
    let own = args.tables.is_none();
    if !own && matches!(args.lanes, Some(LaneChoice::Sampled | LaneChoice::Exact)) {
        return Err(Failure::usage(
            "FD-7902: path records are about the tables in force, so '--tables FILE' goes with --lanes one or unknown",
        ));
    }
    let mut source = context.open_source(context.named_source()?)?;
    let mut look = context.read_snapshot_through(
        source.as_mut(),
        ReadOptions { tables: own, adaptive: true, ..ReadOptions::default() },
    )?;
    if let Some(file) = &args.tables {
        let (tables, notes) = context.outside.tables(file, look.fabric())?;
        look.observation.notes.extend(notes);
        // Lanes that the fabric itself reported stay, unless the file has its own.
        merge(&mut look.observation.tables, tables);
    }
    context.assume(&mut look)?;
    if let Some(file) = &args.partitions {
        let manager = look.observation.subnet_manager.as_ref().map(|manager| manager.guid);
        let (partitions, notes) = context.outside.partitions(file, look.fabric(), manager)?;
        look.observation.notes.extend(notes);
        look.partitions = Some(partitions);
    }
    if look.fabric().switches().next().is_none() {
        let refusal = Failure::usage(
            "FD-7901: the source tells of no switch, so there are no tables to check; give the fabric's topology \
             too (ibnetdiscover > net.txt), in one folder with what else there is",
        );
        return Err(context.refuse_with_notes(&look, refusal));
    }
    if !look.observation.tables.has_forwarding() {
        let refusal = Failure::usage(
            "FD-7901: there are no forwarding tables to check; give some with --tables FILE (opensm-lfts.dump, \
             opensm.fdbs, what dump_lfts prints), or --assume ENGINE those that an engine computes",
        );
        return Err(context.refuse_with_notes(&look, refusal));
    }
    // Path records tell the levels of tables in force; a file says by itself what it knows.
    let in_force = match own || args.lanes.is_some() {
        true => lanes_in_force::read_lanes_in_force(
            context,
            source.as_mut(),
            &mut look,
            (args.lanes, args.switches),
        )?,
        false => LanesInForce::of_choice(None),
    };
    let jobs = args
        .jobs
        .as_ref()
        .map(|file| jobs::read_job_map(context, &mut look, file, args.missing))
        .transpose()?;
    let (tables, faults) = (&look.observation.tables, Faults::default());
    let report = check_in_force(&look, tables, &faults, args.switches, in_force.sent(), &NoProgress)?;
    let wanted = LoadOptions { patterns: args.loads, jobs: jobs.as_ref() };
    let (patterns, jobs) = match (args.loads, wanted.jobs) {
        (false, None) => (None, None),
        _ => compute_loads(&look, &look.observation.tables, wanted),
    };
    let report = CertificateReport { loads: patterns, jobs, ..report };
    let mut findings = report.defect_words();
    // Under `--strict` an undecided verdict ends with 2, and a finding says why.
    findings.extend(undecided_finding(&report).filter(|_| context.globals.strict));
    write(context, &look, &report, &findings)?;
    let concluded = context.conclude(&look);
    Ok(if findings.is_empty() { concluded } else { Exit::Findings })
}

/// Replaces the forwarding tables by those of a file, and the lanes of each node for which the file has any.
fn merge(held: &mut Tables, read: Tables) {
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
    look: &Snapshot,
    report: &CertificateReport,
    findings: &[String],
) -> Result<(), Failure> {
    if context.output.json {
        let mut object = context.object("check", look)?;
        object.fields(report)?;
        object.field("findings", &findings)?;
        return Ok(object.end()?);
    }
    let found = finding_lines(findings);
    let pairs: Vec<_> = premises(look).into_iter().chain(report_lines(report)).chain(found).collect();
    write_pairs(context.output.out, (context.output.paint, context.output.page), &pairs)?;
    Ok(())
}

/// Lines that say why a command ends with 2, one a reason.
pub fn finding_lines(findings: &[String]) -> Vec<(&'static str, String)> {
    findings.iter().map(|found| ("finding", found.clone())).collect()
}

/// What the following lines depend on: tables that are assumed, and parts of the fabric that are unknown.
pub fn premises(look: &Snapshot) -> Vec<(&'static str, String)> {
    let assumed = look
        .assumed
        .map(|engine| ("assumed", format!("the tables are those of {engine}; the source has none")));
    let partial = look.observation.is_partial().then(|| {
        (
            "partial",
            "not all of the fabric could be read: what follows is about what could (-v, notes)".to_owned(),
        )
    });
    assumed.into_iter().chain(partial).collect()
}
