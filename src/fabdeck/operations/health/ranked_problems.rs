//! The problems of a fabric under watch, ranked as `fabdeck health` ranks them, with the jobs that they hit and the ports
//! that wait longest.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::acknowledgements::mark_acknowledged;
use super::cable_overview::CableOverview;
use super::job_hits::JobHits;
use super::kept_annotations::read_annotations;
use super::link_health_coverage::LinkHealthCoverage;
use super::link_history::{LinkHistories, link_histories, mark_histories};
use super::problem::{FabricProblem, ProblemKind, ProblemSeverity};
use super::problem_list::HealthFacts;
use super::short_port_name::short_port_name;
use super::table_certificate::CertificateInForce;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::event_store::ledger_reader::StoredLedger;
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::rowset::Rowset;
use crate::operations::watch::hot_ports::{HotPort, HotRole};
use crate::operations::watch::watch_verdict::WatchVerdict;
use crate::system::access::SystemAccess;
use fabdeck_fabric::observe::{FabricEvent, PortIdentity};
use fabdeck_fabric::{ElementId, PortId};
use fabdeck_files::capture_format::{AcknowledgementRecord, Annotation};
use fabdeck_routing::analysis::PathIndex;

/// Most rows of a list beside the problems; the counts have all.
const MAX_ROWS: usize = 1000;

/// What is known when problems are ranked.
#[derive(Clone, Debug)]
pub struct RankingRequest {
    pub look: Arc<Snapshot>,
    /// The moment of a capture, for command lines.
    pub at: Option<String>,
    /// The verdict on the last interval; `None` where counters were not compared.
    pub reading: Option<Arc<WatchVerdict>>,
    /// What changed during the interval.
    pub news: Vec<FabricEvent>,
    /// `None` until it is computed.
    pub certificate: Option<Arc<CertificateInForce>>,
    pub paths: Option<Arc<PathIndex>>,
    /// The running jobs; `None` where they are not known.
    pub jobs: Option<Arc<JobComparison>>,
    /// The acknowledgements of the capture that is read.
    pub recorded: Arc<Vec<AcknowledgementRecord>>,
    /// Number of changes of acknowledgements so far.
    pub acknowledgements: u64,
    pub write: Option<RecentWrite>,
}

/// Tables were written during the interval, or in the one before it: packets that were on their way then make adapters look
/// like hot-spots for a moment.
#[derive(Clone, Debug)]
pub struct RecentWrite {
    pub at_ms: u64,
    /// The problems that were known before the write, by their ids. Other hot-spots are left out: one that stays is a
    /// problem of the next intervals.
    pub known: BTreeSet<String>,
}

impl RecentWrite {
    fn keeps(&self, problem: &FabricProblem) -> bool {
        problem.kind != ProblemKind::HotSpot || self.known.contains(&problem.id)
    }
}

impl RankingRequest {
    /// Whether another request has the same facts.
    pub fn is_same(&self, other: &Self) -> bool {
        fn same<T>(a: Option<&Arc<T>>, b: Option<&Arc<T>>) -> bool {
            match (a, b) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                (a, b) => a.is_none() && b.is_none(),
            }
        }
        Arc::ptr_eq(&self.look, &other.look)
            && self.at == other.at
            && self.news == other.news
            && self.acknowledgements == other.acknowledgements
            && self.write.as_ref().map(|write| write.at_ms) == other.write.as_ref().map(|write| write.at_ms)
            && Arc::ptr_eq(&self.recorded, &other.recorded)
            && same(self.reading.as_ref(), other.reading.as_ref())
            && same(self.certificate.as_ref(), other.certificate.as_ref())
            && same(self.paths.as_ref(), other.paths.as_ref())
            && same(self.jobs.as_ref(), other.jobs.as_ref())
    }

    /// Ranks the problems. `system` has the acknowledgements of the user, `stored` what cables did before.
    pub fn run(&self, system: Option<&dyn SystemAccess>, stored: Option<&StoredLedger>) -> RankedProblems {
        let jobs = self.jobs.as_deref();
        let facts = HealthFacts {
            look: &self.look,
            at: self.at.as_deref(),
            interval: self.reading.as_ref().map(|reading| &reading.watched),
            news: &self.news,
            certificate: self
                .certificate
                .as_ref()
                .and_then(|certificate| certificate.as_ref().as_ref().ok()?.as_ref()),
            paths: self.paths.as_deref(),
            jobs,
        };
        let lost_pairs = facts.certificate.filter(|_| self.look.assumed.is_none());
        let lost_pairs = lost_pairs.map(|certificate| certificate.unreachable);
        let annotations = system.map(|system| read_annotations(system, &self.look));
        let (annotations, unread) = match annotations {
            Some(Err(why)) => (None, Some(why)),
            other => (other.and_then(Result::ok), None),
        };
        let mut found = facts.problems();
        found.retain(|problem| self.write.as_ref().is_none_or(|write| write.keeps(problem)));
        let (mut problems, unacknowledged) = rank_problems(found, &self.look, system, &self.recorded);
        if let Some(StoredLedger { ledger, now_ms }) = stored {
            mark_histories(&mut problems, &self.look, Some(ledger), *now_ms);
        }
        let waits = self.reading.as_ref().and_then(|reading| PortWaits::new(&self.look, reading));
        let measures = problems.iter().map(|problem| self.measure(problem)).collect();
        let jobs = jobs.map(|jobs| JobHits::new(&self.look, jobs, self.reading.as_deref(), &problems));
        let fabric = self.look.fabric();
        let open = |severity| {
            let open = problems.iter().filter(|problem| problem.acknowledged.is_none());
            open.filter(|problem| problem.severity == severity).count()
        };
        let (critical, warnings) = (open(ProblemSeverity::Critical), open(ProblemSeverity::Warning));
        RankedProblems {
            critical,
            warnings,
            acknowledged: problems.len() - critical - warnings,
            problems,
            measures,
            unacknowledged: unacknowledged.or(unread),
            histories: Arc::new(stored.map(|stored| link_histories(&self.look, stored)).unwrap_or_default()),
            cables: CableOverview::new(&self.look, self.reading.as_deref()),
            waits,
            jobs,
            links: fabric.links().len(),
            ports: fabric.ports().filter(|(_, port)| port.peer.is_some()).count(),
            link_health: LinkHealthCoverage::new(&self.look),
            at_ms: self.reading.as_ref().map(|reading| reading.at_ms),
            lost_pairs,
            annotations: annotations.unwrap_or_default(),
        }
    }
}

/// A quantity over time that shows how bad a problem is.
#[derive(Clone, PartialEq, Debug)]
pub enum ProblemMeasure {
    /// The wait of the worst host, or of the port itself, as a share of the time.
    Wait { port: PortId, name: String, share: Option<f64> },
    /// The load of the busier direction of a link, in percent.
    Load { port: PortId, percent: Option<u16> },
    /// The errors at both ends of a link in the last interval.
    Errors { ports: Vec<PortIdentity>, per_s: Option<f64> },
}

impl RankingRequest {
    fn measure(&self, problem: &FabricProblem) -> Option<ProblemMeasure> {
        let reading = self.reading.as_ref()?;
        match problem.kind {
            ProblemKind::HotSpot | ProblemKind::NarrowLinks | ProblemKind::Stalled => {
                self.longest_wait(reading, problem)
            }
            ProblemKind::LinkErrors | ProblemKind::DegradedLink => {
                let Some(ElementId::Link(link)) = problem.elements.first() else { return None };
                let fabric = self.look.fabric();
                let ends = [fabric.link(*link).a, fabric.link(*link).b];
                if problem.kind == ProblemKind::LinkErrors {
                    let identity = |port: PortId| {
                        let port = fabric.port(port);
                        (fabric.node(port.node).guid(), port.number)
                    };
                    let ports = ends.map(identity).to_vec();
                    return Some(ProblemMeasure::Errors { per_s: reading.sums.errors_of(&ports), ports });
                }
                let used = |port: PortId| reading.port_row_of(ElementId::Port(port)).and_then(|row| row.used);
                let port = if used(ends[1]) > used(ends[0]) { ends[1] } else { ends[0] };
                Some(ProblemMeasure::Load { port, percent: used(port) })
            }
            _ => None,
        }
    }

    /// The wait of the host that is hit worst, or else of the first port of the problem.
    fn longest_wait(&self, reading: &WatchVerdict, problem: &FabricProblem) -> Option<ProblemMeasure> {
        let fabric = self.look.fabric();
        let worst = problem.hits.hosts.iter().find(|host| host.time_waited.is_some());
        let adapters = reading.watched.verdict.congested_adapters.iter();
        let held = worst.and_then(|worst| {
            let mut own = adapters.map(|held| held.at);
            own.find(|at| {
                at.time_waited == worst.time_waited
                    && self.look.unique_name(fabric.port(at.port).node) == worst.host
            })
        });
        let port = held.map(|at| at.port).or_else(|| {
            problem.elements.iter().rev().find_map(|element| match element {
                ElementId::Port(port) => Some(*port),
                _ => None,
            })
        })?;
        let share = reading.port_row_of(ElementId::Port(port)).and_then(|row| row.time_waited);
        Some(ProblemMeasure::Wait { port, name: short_port_name(&self.look, port), share })
    }
}

/// Ranks problems: the worst come first, and acknowledged ones last. Also returns the reason why acknowledgements are not
/// known. `system` has the acknowledgements of the user, and `recorded` are those of the capture that is read.
pub fn rank_problems(
    mut problems: Vec<FabricProblem>,
    look: &Snapshot,
    system: Option<&dyn SystemAccess>,
    recorded: &[AcknowledgementRecord],
) -> (Vec<FabricProblem>, Option<String>) {
    let why = mark_acknowledged(system, look, &mut problems, recorded);
    problems.sort_by_cached_key(FabricProblem::rank);
    (problems, why)
}

/// The problems of a fabric under watch.
#[derive(Clone, PartialEq, Debug)]
pub struct RankedProblems {
    pub problems: Vec<FabricProblem>,
    /// What shows how bad each of them is; `None` where no counter does.
    pub measures: Vec<Option<ProblemMeasure>>,
    /// Number of open critical problems, of open warnings, and of acknowledged problems.
    pub critical: usize,
    pub warnings: usize,
    pub acknowledged: usize,
    /// Why acknowledgements are not known.
    pub unacknowledged: Option<String>,
    /// The cables that the ledger of a watch has.
    pub histories: Arc<LinkHistories>,
    /// The cables, those in trouble first.
    pub cables: CableOverview,
    /// The ports by waiting; `None` where no share of time is known.
    pub waits: Option<PortWaits>,
    /// The jobs with what hits them; `None` where no job is known.
    pub jobs: Option<JobHits>,
    /// Number of links that were checked, and in the next field of ports with a cable.
    pub links: usize,
    pub ports: usize,
    /// At how many ports the health of links is known; `None` where no device has it.
    pub link_health: Option<LinkHealthCoverage>,
    /// Time of the reading that was judged.
    pub at_ms: Option<u64>,
    /// Number of pairs of hosts without a path; `None` where the tables were not checked.
    pub lost_pairs: Option<u64>,
    /// What the user left in time about this fabric.
    pub annotations: Vec<Annotation>,
}

/// A port that waits.
#[derive(Clone, PartialEq, Debug)]
pub struct PortWait {
    pub port: PortId,
    /// The name of a host with one cabled port, or that of the port.
    pub name: String,
    /// Share of the time that it waits.
    pub share: f64,
    pub role: Option<HotRole>,
}

/// The ports that wait longest.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PortWaits {
    /// Those that wait at least 1 % of the time, the longest waits first.
    pub rows: Vec<PortWait>,
    /// Number of all such ports.
    pub count: usize,
    /// Number of ports whose share of time is known, and in the next field of all ports with a cable.
    pub known: usize,
    pub ports: usize,
}

impl PortWaits {
    fn new(look: &Snapshot, reading: &WatchVerdict) -> Option<Self> {
        const MIN_SHARE: f64 = 0.01;
        let Rowset::Hot(ports) = &*reading.ports.rows else { return None };
        let known = ports.iter().filter(|port| port.time_waited.is_some()).count();
        let mut waiting: Vec<_> = ports
            .iter()
            .filter_map(|port| Some((port, port.time_waited.filter(|share| *share >= MIN_SHARE)?)))
            .collect();
        waiting.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let row = |(port, share): &(&HotPort, f64)| PortWait {
            port: port.port,
            name: short_port_name(look, port.port),
            share: *share,
            role: port.role,
        };
        let rows = waiting.iter().take(MAX_ROWS).map(row).collect();
        (known > 0).then_some(Self { rows, count: waiting.len(), known, ports: ports.len() })
    }
}
