//! The running jobs, with the waits of their hosts and the problems that hit them.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::{FabricProblem, ProblemKind};
use super::short_port_name::short_port_name;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_fabric::{ElementId, NodeId, PortId};

/// Most rows of a list of jobs that are hit; the count has all.
const MAX_HIT_ROWS: usize = 1000;

/// A job: how long its hosts wait, and what hits it.
#[derive(Clone, PartialEq, Debug)]
pub struct JobHit {
    pub job: String,
    pub hosts: usize,
    /// Number of its hosts that wait, and in the next field the longest of their waits.
    pub waiting: usize,
    pub worst: Option<f64>,
    /// The wait of each of its ports as a share of the time, `None` where it is not known.
    pub shares: Vec<Option<f64>>,
    /// The problems that hit it, as indexes of the ranked list.
    pub problems: Vec<usize>,
    /// The same problems in short: kind and first element of the worst one, and the number of the others.
    pub reason: String,
}

/// The jobs. Those that problems hit come first, and of them those with the most waiting hosts.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JobHits {
    pub rows: Vec<JobHit>,
    /// Number of jobs that are hit, and in the next field of their hosts.
    pub hit: usize,
    pub hosts: usize,
}

impl JobHits {
    pub(super) fn new(
        look: &Snapshot,
        jobs: &JobComparison,
        reading: Option<&WatchVerdict>,
        problems: &[FabricProblem],
    ) -> Self {
        let fabric = look.fabric();
        let mut hit: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, problem) in problems.iter().enumerate() {
            for job in problem.hits.jobs.iter().flatten() {
                hit.entry(&job.job).or_default().push(at);
            }
        }
        let reasons: Vec<String> = problems.iter().map(|problem| reason_words(look, problem)).collect();
        let waiting: BTreeSet<NodeId> = reading
            .iter()
            .flat_map(|reading| &reading.watched.verdict.congested_adapters)
            .map(|held| fabric.port(held.at.port).node)
            .collect();
        let share = |port: &PortId| reading?.port_row_of(ElementId::Port(*port))?.time_waited;
        let row = |(job, ports): (&String, &BTreeSet<PortId>)| {
            let problems = hit.get(job.as_str()).cloned().unwrap_or_default();
            let hosts: BTreeSet<NodeId> = ports.iter().map(|port| fabric.port(*port).node).collect();
            let shares: Vec<Option<f64>> = ports.iter().map(share).collect();
            JobHit {
                job: job.clone(),
                hosts: hosts.len(),
                waiting: hosts.intersection(&waiting).count(),
                worst: shares.iter().copied().flatten().reduce(f64::max),
                shares,
                reason: match problems.as_slice() {
                    [] => "none".to_owned(),
                    [worst] => reasons[*worst].clone(),
                    [worst, others @ ..] => format!("{} + {}", reasons[*worst], others.len()),
                },
                problems,
            }
        };
        let mut rows: Vec<JobHit> = jobs.jobs.iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse((!row.problems.is_empty(), row.waiting, row.hosts)));
        let hit = rows.iter().take_while(|row| !row.problems.is_empty()).count();
        let hosts = rows[..hit].iter().map(|row| row.hosts).sum();
        Self { rows, hit, hosts }
    }

    /// The jobs that are hit, as many as a list shows.
    pub fn hit_rows(&self) -> &[JobHit] {
        &self.rows[..self.hit.min(MAX_HIT_ROWS)]
    }
}

/// A problem in short: `hot-spot storage01`.
fn reason_words(look: &Snapshot, problem: &FabricProblem) -> String {
    let element = problem.elements.first().map(|element| match element {
        ElementId::Node(node) => look.unique_name(*node).into_owned(),
        ElementId::Port(port) => short_port_name(look, *port),
        ElementId::Link(link) => short_port_name(look, look.fabric().link(*link).a),
    });
    // A word of JSON has hyphens; of the words of the field, one has.
    let kind = match problem.kind {
        ProblemKind::HotSpot => problem.kind.word().to_owned(),
        kind => kind.word().replace('-', " "),
    };
    element.map_or_else(|| kind.clone(), |element| format!("{kind} {element}"))
}
