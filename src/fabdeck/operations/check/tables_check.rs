//! Checks forwarding tables: those in force, those of a file, or those that an engine would make.

use std::path::PathBuf;

use super::certificate_text::undecided_finding;
use super::judgement::CertificateReport;
use super::known_partitions::add_partitions;
use super::loads::{LoadOptions, compute_loads};
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::lanes::lane_choice::LaneChoice;
use crate::operations::lanes::lanes_in_force;
use crate::operations::lanes::lanes_in_force::{LaneReading, LanesInForce};
use crate::operations::lanes::levels::check_in_force;
use crate::operations::operation::Operation;
use crate::operations::preview::engine_request::read_job_map;
use fabdeck_fabric::{Faults, Tables};
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::NoProgress;

/// What to check, and what to report besides.
#[derive(Clone, Debug, Default)]
pub struct CheckRequest {
    /// File with forwarding tables to check instead of those in force.
    pub tables: Option<PathBuf>,
    /// Whether switches are sources and destinations too.
    pub switches: bool,
    pub partitions: Option<PathBuf>,
    /// Whether the loads of traffic patterns are computed.
    pub loads: bool,
    /// List of running jobs whose paths are counted, and whether its unknown hosts are left out.
    pub jobs: Option<PathBuf>,
    pub skips_missing_hosts: bool,
    pub lanes: Option<LaneChoice>,
    /// Whether an undecided verdict is a finding.
    pub strict: bool,
}

/// The certificate of the tables, and the findings in it.
pub struct CheckResult {
    pub snapshot: Snapshot,
    pub report: CertificateReport,
    pub findings: Vec<String>,
}

/// Reads the fabric and certifies its tables.
pub fn check_tables(operation: &mut Operation<'_>, request: &CheckRequest) -> Result<CheckResult, Failure> {
    let own = request.tables.is_none();
    if !own && matches!(request.lanes, Some(LaneChoice::Sampled | LaneChoice::Exact)) {
        return Err(Failure::usage(
            "FD-7902: path records describe the tables in force; with '--tables FILE' use --lanes one or unknown",
        ));
    }
    let mut source = operation.env.open_named_source()?;
    let partitions = request.partitions.is_none();
    let wanted = ReadOptions { tables: own, adaptive: true, partitions, ..ReadOptions::default() };
    let mut snapshot = operation.read_snapshot_through(source.as_mut(), wanted)?;
    add_files(operation, request, &mut snapshot)?;
    let file = request.partitions.as_deref();
    let known_partitions = add_partitions(operation, file, request.switches, &mut snapshot)?;
    if let Some(refusal) = missing_tables_failure(&snapshot) {
        // A damaged file may be the cause.
        operation.reporter.report_notes(&snapshot.observation.notes);
        return Err(refusal);
    }
    // Path records describe the levels of tables in force; a file has its own.
    let in_force = match own || request.lanes.is_some() {
        true => lanes_in_force::read_lanes_in_force(
            operation,
            source.as_mut(),
            &mut snapshot,
            LaneReading { choice: request.lanes, switches: request.switches },
        )?,
        false => LanesInForce::of_choice(None),
    };
    let env = operation.env;
    let skips = request.skips_missing_hosts;
    let list = request.jobs.as_ref().map(|file| read_job_map(env, &mut snapshot, file, skips));
    let jobs = list.transpose()?;
    let (tables, faults) = (&snapshot.observation.tables, Faults::default());
    let report = check_in_force(&snapshot, tables, &faults, request.switches, in_force.sent(), &NoProgress)?;
    let wanted = LoadOptions { patterns: request.loads, jobs: jobs.as_ref() };
    let (patterns, jobs) = match (request.loads, wanted.jobs) {
        (false, None) => (None, None),
        _ => compute_loads(&snapshot, &snapshot.observation.tables, wanted, &NoProgress)?,
    };
    let report = known_partitions.describe(CertificateReport { loads: patterns, jobs, ..report });
    let mut findings = report.defect_words();
    // Under `--strict` an undecided verdict leads to exit code 2, and a finding gives the reason.
    findings.extend(undecided_finding(&report).filter(|_| request.strict));
    Ok(CheckResult { snapshot, report, findings })
}

/// Adds the tables of files, and assumed tables.
fn add_files(
    operation: &Operation<'_>,
    request: &CheckRequest,
    snapshot: &mut Snapshot,
) -> Result<(), Failure> {
    let env = operation.env;
    if let Some(file) = &request.tables {
        let (tables, notes) = env.outside.tables(file, snapshot.fabric())?;
        snapshot.observation.notes.extend(notes);
        // Lanes that the fabric itself reported stay, unless the file has its own.
        replace_tables(&mut snapshot.observation.tables, tables);
    }
    env.assume(snapshot)?;
    Ok(())
}

fn missing_tables_failure(snapshot: &Snapshot) -> Option<Failure> {
    if snapshot.fabric().switches().next().is_none() {
        return Some(Failure::usage(
            "FD-7901: the source has no switch, so there are no tables to check; put the fabric's topology \
             (ibnetdiscover > net.txt) in one folder with the other files",
        ));
    }
    (!snapshot.observation.tables.has_forwarding()).then(|| {
        Failure::usage(
            "FD-7901: there are no forwarding tables to check; give some with --tables FILE (opensm-lfts.dump, \
             opensm.fdbs, output of dump_lfts), or assume those of an engine with --assume ENGINE",
        )
    })
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
