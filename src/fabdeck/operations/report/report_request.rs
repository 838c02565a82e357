//! Makes a report of a source.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Zoned;

use super::fabric_report::{FabricReport, ReportCheck, ReportFacts};
use super::recorded_readings::read_recording;
use super::report_readings::{ReportReadings, read_source};
use crate::catalogue::failure::Failure;
use crate::catalogue::shell_words::quote_for_shell;
use crate::catalogue::summary::count_words;
use crate::operations::check::known_partitions::add_partition_tables;
use crate::operations::event_store::ledger_reader::LedgerCache;
use crate::operations::health::acknowledgements::AcknowledgedCapture;
use crate::operations::health::health_check::{place_known_jobs, read_running_jobs};
use crate::operations::health::ranked_problems::{RankedProblems, RankingRequest};
use crate::operations::health::table_certificate::{certify_tables, uncertified_reason};
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::jobs::job_request::JobListSource;
use crate::operations::jobs::list_source::JobSource;
use crate::operations::jobs::source_jobs::is_capture;
use crate::operations::operation::Operation;
use crate::operations::preview::path_preview::Preview;
use crate::operations::progress::StopOnlyProgress;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_fabric::Faults;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_files::capture::find_capture;
use fabdeck_routing::NoProgress;

/// What to report on.
#[derive(Clone, Debug)]
pub struct ReportRequest {
    /// Time between two sweeps; a source that cannot be swept twice is refused only if it is given.
    pub interval: Option<Duration>,
    /// Number of intervals. A capture has its own.
    pub intervals: u32,
    /// Source of the running jobs that was named for this report, if any.
    pub jobs: JobSource,
    /// The source that is used otherwise, but not for a capture.
    pub configured_jobs: Option<JobListSource>,
}

/// Reads the named source and makes its report.
pub fn make_report(operation: &mut Operation<'_>, request: &ReportRequest) -> Result<FabricReport, Failure> {
    let source = operation.env.named_source()?.to_owned();
    let (list, from) = read_running_jobs(operation, &request.jobs, request.configured_jobs.as_ref())?;
    let capture = is_capture(&source).then(|| find_capture(Path::new(&source))).flatten();
    let mut readings = match capture {
        Some(file) => read_recording(operation, &file)?,
        None => read_source(operation, request.interval, request.intervals)?,
    };
    add_partition_tables(&mut readings.look, false);
    let (placed, jobs) = place_known_jobs(&mut readings.look, list, &from);
    let look = Arc::new(readings.look.clone());
    let placed = placed.map(|placed| Arc::new(JobComparison::new(&look, placed, &Faults::new(), None)));
    let tables = look.observation.tables.has_forwarding();
    let certificate = certify_tables(&look, &NoProgress).map_err(|refusal| refusal.to_string());
    let kept_apart = certificate.as_ref().ok().and_then(|found| found.as_ref()?.kept_apart);
    let certified = match &certificate {
        Ok(certificate) => Ok(certificate.as_ref().and_then(uncertified_reason)),
        Err(why) => Err(why.clone()),
    };
    let paths = tables.then(|| Preview::new(&look, &look.observation.tables, &NoProgress)).transpose()?;
    let paths = paths.map(|paths| paths.paths().clone());
    let given = operation.env.given;
    let ranking = RankingRequest {
        look: look.clone(),
        at: given.reach.at.clone(),
        reading: readings.reading.clone(),
        news: readings.news.clone(),
        certificate: Some(Arc::new(certificate)),
        paths: paths.clone(),
        jobs: placed,
        recorded: Arc::new(AcknowledgedCapture::recorded_in_source(operation.env)?),
        acknowledgements: 0,
        write: None,
    };
    let stored = LedgerCache::default().find(operation.env, &look);
    let ranked = Arc::new(ranking.run(Some(operation.env.outside), stored.as_deref()));
    let tables = match (certified, tables) {
        (Ok(Some(why)), _) => Err(why),
        (Ok(None), true) => Ok(match kept_apart {
            Some(apart) => format!("certified; partitions keep {} pairs apart", digits_in_groups(apart)),
            None => "certified".to_owned(),
        }),
        (Ok(None), false) => Err("the source has none (--assume ENGINE)".to_owned()),
        (Err(why), _) => Err(why),
    };
    let ReportReadings { reading, uncounted, history, clock, read_at, events, .. } = readings;
    let times = !given.no_times;
    let mut checks = vec![counters_check(reading.as_deref(), uncounted)];
    checks.extend(checks_of(&ranked, tables, jobs));
    if let Some(read_at) = read_at.filter(|_| times) {
        checks.insert(0, ReportCheck { label: "read at", words: Ok(read_at) });
    }
    let at = given.reach.at.as_deref().map(|at| format!("--at {} ", quote_for_shell(at))).unwrap_or_default();
    let facts = ReportFacts {
        command: format!("fabdeck --source {} {at}report", quote_for_shell(&source)),
        written: times.then(|| Zoned::now().strftime("%Y-%m-%d %H:%M:%S %:z").to_string()),
        look,
        ranked,
        reading,
        paths,
        history,
        clock,
        events,
        checks,
    };
    let progress = StopOnlyProgress(operation.stop.as_ref());
    FabricReport::new(facts, &progress).ok_or_else(Failure::interrupted)
}

/// What is known of the counters.
pub fn counters_check(reading: Option<&WatchVerdict>, uncounted: Option<String>) -> ReportCheck {
    let words = match reading {
        Some(reading) => {
            let ports = count_words(reading.watched.ports, "port", "ports");
            let unknown = reading.watched.verdict.unknown_ports.len();
            let unknown = match unknown {
                0 => String::new(),
                some => format!("; the waiting of {} is not known", count_words(some, "port", "ports")),
            };
            Ok(format!("{ports}, compared over {:.1} s{unknown}", reading.watched.seconds))
        }
        None => Err(uncounted.unwrap_or_else(|| "not compared".to_owned())),
    };
    ReportCheck { label: "counters", words }
}

/// What is known of cables, tables, jobs and acknowledgements.
pub fn checks_of(
    ranked: &RankedProblems,
    tables: Result<String, String>,
    jobs: Result<String, String>,
) -> Vec<ReportCheck> {
    let (cables, ports) =
        (count_words(ranked.links, "cable", "cables"), count_words(ranked.ports, "port", "ports"));
    let mut checks = vec![
        ReportCheck { label: "cables", words: Ok(format!("{cables}, {ports}")) },
        ReportCheck { label: "tables", words: tables },
        ReportCheck { label: "jobs", words: jobs },
    ];
    if let Some(why) = &ranked.unacknowledged {
        checks.push(ReportCheck { label: "acknowledgements", words: Err(why.clone()) });
    }
    checks
}
