//! The JSON of `health`, which `watch --serve` serves too.

use crate::catalogue::json_type::json_type;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::changes::change_row::ChangeRow;
use crate::operations::health::acknowledgements::Acknowledgement;
use crate::operations::health::health_check::{HealthChecks, HealthReport};
use crate::operations::health::link_health_coverage::LinkHealthCoverage;
use crate::operations::health::problem::{
    Certainty, FabricProblem, HitHost, HitJob, ProblemKind, ProblemSeverity,
};
use crate::script::answer::{Lines, json_answer};
use fabdeck_fabric::Element;

/// Most hosts, jobs or elements of a problem in JSON; the count has all.
const MAX_NAMED: usize = 1000;

json_answer! {
    pub struct HealthAnswer<'a> {
        worst: Option<ProblemSeverity>,
        checked: ChecksObject<'a>,
        changes: Lines<'a, &'a ChangeRow>,
        problems: Lines<'a, ProblemObject<'a>>,
    }
}

json_type! {
    struct ChecksObject<'a> {
        links: usize,
        ports: usize,
        counters: bool,
        seconds: Option<f64>,
        counters_missing: Option<&'a str>,
        tables: bool,
        /// Why the tables are not certified, although they were read.
        uncertified: Option<&'a str>,
        /// Pairs of hosts that partitions keep apart, and that are not counted; null where no P_Key table keeps any apart.
        kept_apart: Option<u64>,
        /// At how many ports the health of links is known; null where no device has it.
        link_health: Option<LinkHealthCoverage>,
        jobs: Option<&'a str>,
        jobs_missing: Option<&'a str>,
    }

    struct ProblemObject<'a> {
        id: &'a str,
        kind: ProblemKind,
        severity: ProblemSeverity,
        title: &'a str,
        cause: &'a str,
        certainty: Certainty,
        elements: Vec<String>,
        hosts: HitHostsObject<'a>,
        paths: Option<u64>,
        jobs: Option<HitJobsObject<'a>>,
        next: &'a str,
        command: &'a str,
        acknowledged: Option<AcknowledgedObject<'a>>,
        /// An acknowledgement that no longer covers the problem, which is worse than it was.
        worse_since: Option<AcknowledgedObject<'a>>,
        /// What the ledger knows of the cable; null where there is none, or nothing in it.
        history: Option<&'a str>,
    }

    struct HitHostsObject<'a> {
        count: usize,
        first: Vec<&'a HitHost>,
    }

    struct HitJobsObject<'a> {
        count: usize,
        first: Vec<&'a HitJob>,
    }

    struct AcknowledgedObject<'a> {
        by: &'a str,
        at: Option<&'a str>,
        note: Option<&'a str>,
    }
}

impl<'a> HealthAnswer<'a> {
    /// `times`: whether the answer has times.
    pub fn new(report: &'a HealthReport, snapshot: &'a Snapshot, times: bool) -> Self {
        let HealthChecks { links, ports, seconds, uncounted, tables, uncertified, link_health, jobs, .. } =
            &report.checks;
        Self {
            worst: report.worst(),
            checked: ChecksObject {
                links: *links,
                ports: *ports,
                counters: uncounted.is_none(),
                seconds: seconds.filter(|_| times),
                counters_missing: uncounted.as_deref(),
                tables: *tables,
                uncertified: uncertified.as_deref(),
                kept_apart: report.checks.kept_apart,
                link_health: *link_health,
                jobs: jobs.as_deref().ok(),
                jobs_missing: jobs.as_deref().err().map(String::as_str),
            },
            changes: Lines::of(&report.changes.rows),
            problems: Lines::of(
                report.problems.iter().map(move |problem| ProblemObject::new(snapshot, problem, times)),
            ),
        }
    }
}

impl<'a> ProblemObject<'a> {
    fn new(snapshot: &Snapshot, problem: &'a FabricProblem, times: bool) -> Self {
        let FabricProblem { id, kind, severity, elements, title, cause, hits, next, .. } = problem;
        let acknowledged = |by: &'a Acknowledgement| AcknowledgedObject {
            by: &by.by,
            at: Some(by.at.as_str()).filter(|_| times),
            note: by.note.as_deref(),
        };
        let element = |id| Element::from_id(snapshot.fabric(), &snapshot.names, id).to_string();
        Self {
            id,
            kind: *kind,
            severity: *severity,
            title,
            cause: &cause.text,
            certainty: cause.certainty,
            elements: elements.iter().take(MAX_NAMED).map(|id| element(*id)).collect(),
            hosts: HitHostsObject {
                count: hits.hosts.len(),
                first: hits.hosts.iter().take(MAX_NAMED).collect(),
            },
            paths: hits.paths,
            jobs: hits.jobs.as_ref().map(|jobs| HitJobsObject {
                count: jobs.len(),
                first: jobs.iter().take(MAX_NAMED).collect(),
            }),
            next: &next.text,
            command: &next.command,
            acknowledged: problem.acknowledged.as_ref().map(acknowledged),
            worse_since: problem.worse_since.as_ref().map(acknowledged),
            history: problem.history.as_deref(),
        }
    }
}
