//! Checks the health of a fabric: two sweeps where the source has counters, the tables, the running jobs.

use std::time::Duration;

use super::acknowledgements::{AcknowledgedCapture, change_acknowledgement};
use super::link_health_coverage::LinkHealthCoverage;
use super::link_history::mark_histories;
use super::pending_changes::{PendingChanges, find_pending_changes};
use super::problem::{FabricProblem, ProblemSeverity};
use super::problem_list::HealthFacts;
use super::ranked_problems::rank_problems;
use super::table_certificate::{certify_tables, uncertified_reason};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::judgement::CertificateReport;
use crate::operations::check::known_partitions::add_partition_tables;
use crate::operations::event_store::ledger_reader::LedgerCache;
use crate::operations::jobs::job_comparison::{JobComparison, SIMULATED_JOBS_SEED};
use crate::operations::jobs::job_request::JobListSource;
use crate::operations::jobs::list_source::{JobSource, read_list};
use crate::operations::jobs::source_jobs::{SourceJobs, is_capture, place_source_jobs};
use crate::operations::jobs::summary::place_jobs;
use crate::operations::operation::Operation;
use crate::operations::preview::path_preview::Preview;
use crate::operations::watch::counter_watch::{HotspotInterval, WatchReport, WatchRequest, watch_counters};
use fabdeck_fabric::Faults;
use fabdeck_files::capture_format::AcknowledgementRecord;
use fabdeck_files::job_lists::JobList;
use fabdeck_files::jobs::JobPlacement;
use fabdeck_mad::access::{NoObserver, ReadOptions};
use fabdeck_routing::NoProgress;

/// What to check.
#[derive(Clone, Debug)]
pub struct HealthRequest {
    /// Time between the two sweeps; a source that cannot be swept twice is refused only if it is given.
    pub interval: Option<Duration>,
    /// Source of the running jobs that was named for this check, if any. If it fails, the check fails.
    pub jobs: JobSource,
    /// The source that is used otherwise, but not for a capture. If it fails, the jobs are not known.
    pub configured_jobs: Option<JobListSource>,
    /// The acknowledgement to change before the problems are reported.
    pub change: Option<AcknowledgementRecord>,
}

/// What was checked, and what could not be.
#[derive(Clone, PartialEq, Debug)]
pub struct HealthChecks {
    pub links: usize,
    pub ports: usize,
    /// Seconds between the two sweeps.
    pub seconds: Option<f64>,
    /// Why counters were not compared.
    pub uncounted: Option<String>,
    /// Whether the tables were read.
    pub tables: bool,
    /// Why the tables are not certified, although they were read.
    pub uncertified: Option<String>,
    /// Pairs of hosts that partitions keep apart, and that are not counted; `None` where no P_Key table keeps any apart.
    pub kept_apart: Option<u64>,
    /// At how many ports the health of links is known; `None` where no device has it.
    pub link_health: Option<LinkHealthCoverage>,
    /// Where the list of jobs is from, or why none is known.
    pub jobs: Result<String, String>,
    /// Why acknowledgements are not known.
    pub unacknowledged: Option<String>,
}

/// The problems of a fabric, the worst first.
pub struct HealthReport {
    pub problems: Vec<FabricProblem>,
    pub checks: HealthChecks,
    /// The changes of this fabric that wait to be decided.
    pub changes: PendingChanges,
}

impl HealthReport {
    /// The problems that are not acknowledged.
    pub fn open_problems(&self) -> impl Iterator<Item = &FabricProblem> {
        self.problems.iter().filter(|problem| problem.acknowledged.is_none())
    }

    pub fn count(&self, severity: ProblemSeverity) -> usize {
        self.open_problems().filter(|problem| problem.severity == severity).count()
    }

    /// The severity of the worst problem that is not acknowledged.
    pub fn worst(&self) -> Option<ProblemSeverity> {
        self.open_problems().map(|problem| problem.severity).min()
    }
}

/// A checked fabric.
pub struct CheckedFabric {
    pub snapshot: Snapshot,
    pub report: HealthReport,
}

/// What the tables in force alone say. It takes long on a large fabric, and changes only with the tables.
pub struct JudgedTables {
    certificate: Option<CertificateReport>,
    preview: Option<Preview>,
}

impl JudgedTables {
    pub fn new(snapshot: &Snapshot) -> Result<Self, Failure> {
        let tables = &snapshot.observation.tables;
        let preview = tables.has_forwarding().then(|| Preview::new(snapshot, tables, &NoProgress));
        Ok(Self { certificate: certify_tables(snapshot, &NoProgress)?, preview: preview.transpose()? })
    }

    /// The certificate of the tables; `None` without tables.
    pub fn certificate(&self) -> Option<&CertificateReport> {
        self.certificate.as_ref()
    }
}

/// What was read of a fabric, before its problems are listed.
pub struct HealthReadings<'h> {
    pub snapshot: &'h Snapshot,
    /// The moment of a capture, as the operator gave it.
    pub at: Option<&'h str>,
    pub interval: Option<&'h HotspotInterval>,
    /// Why counters were not compared.
    pub uncounted: Option<String>,
    pub tables: &'h JudgedTables,
    /// The running jobs, if they are known.
    pub placed: Option<JobPlacement>,
    /// Where the list of jobs is from, or why none is known.
    pub jobs: Result<String, String>,
}

impl HealthReadings<'_> {
    /// The problems in no order, and what was checked.
    pub fn judge(self) -> (Vec<FabricProblem>, HealthChecks) {
        let Self { snapshot, at, interval, uncounted, tables, placed, jobs } = self;
        let fabric = snapshot.fabric();
        let jobs_on_paths = placed.map(|placed| JobComparison::new(snapshot, placed, &Faults::new(), None));
        let facts = HealthFacts {
            look: snapshot,
            at,
            interval: interval.map(|interval| &interval.watched),
            news: interval.map_or(&[], |interval| interval.news.as_slice()),
            certificate: tables.certificate(),
            paths: tables.preview.as_ref().map(|preview| &**preview.paths()),
            jobs: jobs_on_paths.as_ref(),
        };
        let checks = HealthChecks {
            links: fabric.links().len(),
            ports: fabric.ports().filter(|(_, port)| port.peer.is_some()).count(),
            seconds: interval.map(|interval| interval.watched.seconds),
            uncounted,
            tables: snapshot.observation.tables.has_forwarding(),
            uncertified: tables.certificate().and_then(uncertified_reason),
            kept_apart: tables.certificate().and_then(|certificate| certificate.kept_apart),
            link_health: LinkHealthCoverage::new(snapshot),
            jobs,
            unacknowledged: None,
        };
        (facts.problems(), checks)
    }
}

/// Checks the named source.
pub fn check_health(
    operation: &mut Operation<'_>,
    request: &HealthRequest,
) -> Result<CheckedFabric, Failure> {
    let (list, from) = read_running_jobs(operation, &request.jobs, request.configured_jobs.as_ref())?;
    let CounterReading { mut snapshot, interval, uncounted } = read_counters(operation, request.interval)?;
    operation.env.assume(&mut snapshot)?;
    // Sweeps can change the fabric, so this follows them.
    add_partition_tables(&mut snapshot, false);
    let (placed, jobs) = place_known_jobs(&mut snapshot, list, &from);
    let tables = JudgedTables::new(&snapshot)?;
    let readings = HealthReadings {
        snapshot: &snapshot,
        at: operation.env.given.reach.at.as_deref(),
        interval: interval.as_ref(),
        uncounted,
        tables: &tables,
        placed,
        jobs,
    };
    let (problems, checks) = readings.judge();
    let outside = operation.env.outside;
    let mut capture = AcknowledgedCapture::from_source(operation.env)?;
    let (problems, _) = rank_problems(problems, &snapshot, None, &[]);
    if let Some(change) = request.change.clone() {
        let observer = &mut NoObserver;
        let kept = change_acknowledgement(outside, &snapshot, &problems, capture.as_ref(), change, observer)?;
        if let Some(why) = &kept.refused {
            operation.reporter.report_line(&format!("acknowledged in your state folder only: {why}"));
        }
        capture = AcknowledgedCapture::from_source(operation.env)?;
    }
    let recorded = capture.map(|capture| capture.recorded).unwrap_or_default();
    let (mut problems, unacknowledged) = rank_problems(problems, &snapshot, Some(outside), &recorded);
    if let Some(stored) = LedgerCache::default().find(operation.env, &snapshot) {
        mark_histories(&mut problems, &snapshot, Some(&stored.ledger), stored.now_ms);
    }
    let changes = find_pending_changes(operation.env, &snapshot);
    let report = HealthReport { problems, checks: HealthChecks { unacknowledged, ..checks }, changes };
    Ok(CheckedFabric { snapshot, report })
}

/// Two sweeps with their verdict, or one reading where the source has no second one.
struct CounterReading {
    snapshot: Snapshot,
    interval: Option<HotspotInterval>,
    /// Why counters were not compared.
    uncounted: Option<String>,
}

/// Sweeps the source twice if it can be swept twice.
fn read_counters(
    operation: &mut Operation<'_>,
    interval: Option<Duration>,
) -> Result<CounterReading, Failure> {
    match watch_counters(operation, WatchRequest::Sweeps { interval, count: 1, whole: true }) {
        Ok(WatchReport { snapshot, mut intervals }) => {
            let interval = intervals.pop().filter(|interval| interval.watched.ports > 0);
            let uncounted = interval.is_none().then(|| "no port has counters in both readings".to_owned());
            Ok(CounterReading { snapshot, interval, uncounted })
        }
        // A file has one reading, and a short capture has no two so far apart.
        Err(Failure { exit: Exit::Usage, message, .. }) if interval.is_none() => {
            let wanted = ReadOptions { tables: true, partitions: true, ..ReadOptions::default() };
            let snapshot = operation.read_snapshot(wanted)?;
            let uncounted = Some(message.unwrap_or_default());
            Ok(CounterReading { snapshot, interval: None, uncounted })
        }
        Err(failure) => Err(failure),
    }
}

/// The list of running jobs, if a source of it is known, and that source. It is read before the fabric, because it arrives or
/// fails within a known time. A list that was named for this check has to arrive.
pub(crate) fn read_running_jobs(
    operation: &mut Operation<'_>,
    named: &JobSource,
    configured: Option<&JobListSource>,
) -> Result<(Option<Result<JobList, Failure>>, JobSource), Failure> {
    let source = operation.env.named_source()?;
    let from = match named.is_named() || is_capture(source) {
        true => named.clone(),
        false => named.or_configured(configured),
    };
    let list = match (from.is_named(), named.is_named()) {
        (false, _) => None,
        (true, true) => Some(Ok(read_list(operation, &from)?)),
        (true, false) => Some(read_list(operation, &from)),
    };
    Ok((list, from))
}

/// The running jobs on the fabric, and where they are from or why they are not known.
pub(crate) fn place_known_jobs(
    snapshot: &mut Snapshot,
    list: Option<Result<JobList, Failure>>,
    from: &JobSource,
) -> (Option<JobPlacement>, Result<String, String>) {
    match list {
        Some(Ok(list)) => {
            let place = from.place();
            return (Some(place_jobs(snapshot, &list, &place)), Ok(place.file));
        }
        Some(Err(failure)) => return (None, Err(failure.message.unwrap_or_default())),
        None => {}
    }
    let source = snapshot.source.clone();
    match place_source_jobs(snapshot, &source) {
        Some(SourceJobs::Recorded { placed, words, .. }) => (Some(placed), Ok(words)),
        Some(SourceJobs::NotReceived(why)) => (None, Err(why)),
        Some(SourceJobs::Simulated(placed)) => {
            (Some(placed), Ok(format!("SIMULATED: generated with seed {SIMULATED_JOBS_SEED}")))
        }
        None => (
            None,
            Err("no list of jobs is given (--slurm, --file, or [jobs] in the configuration)".to_owned()),
        ),
    }
}
