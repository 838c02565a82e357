//! What is known of partitions: from a file, or from the P_Key tables of ports. `check` and `whatif` count the pairs
//! that they permit alike.

use std::path::Path;

use super::judgement::CertificateReport;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::operation::Operation;
use fabdeck_fabric::Faults;
use fabdeck_routing::Problem;
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, pairs_in_scope};

/// What is known of partitions.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownPartitions {
    /// Their source and their number; `None` if they are not known.
    stated: Option<(&'static str, usize)>,
    /// Ports whose P_Key table is not known.
    pub unknown: u64,
    /// Memberships whose packets switch ports drop.
    pub dropped: u64,
}

impl KnownPartitions {
    /// Adds it to a report. Where no pair is kept apart the certificate was made without partitions.
    pub(crate) fn describe(self, report: CertificateReport) -> CertificateReport {
        let report = CertificateReport {
            unknown_partitions: self.unknown,
            dropped_partitions: self.dropped,
            ..report
        };
        let Some((from, count)) = self.stated else { return report };
        CertificateReport {
            partitions: Some(count),
            partitions_from: Some(from),
            kept_apart: Some(report.kept_apart.unwrap_or(0)),
            ..report
        }
    }
}

/// Adds the partitions of a file to a snapshot, or those of P_Key tables where these keep a pair apart.
pub(crate) fn add_partitions(
    operation: &Operation<'_>,
    file: Option<&Path>,
    switches: bool,
    snapshot: &mut Snapshot,
) -> Result<KnownPartitions, Failure> {
    let Some(file) = file else { return Ok(add_partition_tables(snapshot, switches)) };
    let manager = snapshot.manager();
    let (partitions, notes) = operation.env.outside.partitions(file, snapshot.fabric(), manager)?;
    snapshot.observation.notes.extend(notes);
    let count = partitions.partition_count();
    snapshot.partitions = Some(partitions);
    Ok(KnownPartitions { stated: Some(("partitions.conf", count)), ..KnownPartitions::default() })
}

/// Adds the partitions of the P_Key tables that were read to a snapshot, where these keep a pair apart.
pub(crate) fn add_partition_tables(snapshot: &mut Snapshot, switches: bool) -> KnownPartitions {
    let (tables, fabric) = (&snapshot.observation.partitions, snapshot.fabric());
    let dropped = tables.dropped(fabric).len() as u64;
    let Some((partitions, unknown)) = tables.members(fabric) else {
        // Ports were asked, and no table is known.
        let unknown = if tables.ports.is_empty() {
            0
        } else {
            fabric.ports().filter(|(_, port)| port.facts.lid.is_some()).count() as u64
        };
        return KnownPartitions { stated: None, unknown, dropped };
    };
    let count = partitions.partition_count();
    let faults = Faults::default();
    let problem = Problem::new(snapshot.fabric(), &faults);
    let scope = RouteScope { switches, lanes: LaneKnowledge::Unknown };
    let pairs = |partitions| pairs_in_scope(&problem, &scope, partitions);
    let splits = pairs(Some(&partitions)) < pairs(None);
    snapshot.partitions = splits.then_some(partitions);
    KnownPartitions { stated: Some(("P_Key tables", count)), unknown, dropped }
}
