//! Runs the cells of a study that have no result yet, on several threads, into a segment of this process.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::cell_plan::{CellGroup, CellId, Shard, StudyCell, StudyPlan};
use super::cell_runner::CellRunner;
use super::result_record::{CellStates, ResultRecord};
use super::study_folder::{SegmentReader, SegmentWriter, StudyFolder};
use super::study_row::{CellStatus, StudyRow};
use super::study_status::time_words;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::json_type;
use crate::operations::operation::Operation;
use crate::operations::progress::ProgressLine;
use crate::system::stop_flag::StopFlag;
use fabdeck_fabric::observe::digits_in_groups;

/// Interval between two lines of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);
/// Interval between two readings of the segments of other processes.
const REFRESH_INTERVAL: Duration = Duration::from_secs(5);

/// How a study is run.
#[derive(Clone, Copy, Debug)]
pub struct StudyRunOptions {
    pub shard: Shard,
    pub threads: usize,
    /// No cell begins after this time.
    pub limit: Option<Duration>,
    /// Whether cells that failed run again.
    pub again: bool,
}

json_type! {
    /// The end of a run.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct StudyRunReport {
        pub study: String,
        /// Cells of the study, and of this shard that --only leaves.
        pub cells: u64,
        pub shard_cells: u64,
        /// Cells that had a result before.
        pub found: u64,
        /// Cells that this process ran, by status.
        pub ran: u64,
        pub statuses: BTreeMap<String, u64>,
        /// The commonest reason of cells that ended without figures.
        pub common_reason: Option<String>,
        /// Cells of the shard without a result.
        pub left: u64,
        /// Whether a signal or --limit ended the run.
        pub stopped: bool,
    }
}

/// What the workers share.
struct SharedRun<'p> {
    plan: &'p StudyPlan,
    /// The groups with work, and where the next one is.
    groups: Vec<&'p CellGroup>,
    next: AtomicUsize,
    results: Mutex<RunResults>,
    options: StudyRunOptions,
    deadline: Option<Instant>,
    /// Set by a signal, and by a failed write.
    stop: StopFlag,
    signal: StopFlag,
}

struct RunResults {
    states: CellStates,
    writer: SegmentWriter,
    statuses: BTreeMap<String, u64>,
    /// Why cells ended without figures.
    reasons: BTreeMap<String, u64>,
    ran: u64,
    failure: Option<Failure>,
}

/// Runs the rest of a shard.
pub fn run_study(
    operation: &mut Operation<'_>,
    plan: &StudyPlan,
    folder: &StudyFolder,
    options: StudyRunOptions,
) -> Result<StudyRunReport, Failure> {
    let signal = operation.listen_to_stop();
    let mut reader = SegmentReader::new(folder);
    let mut states = CellStates::default();
    reader.refresh(&mut |json| states.add_json(json))?;
    let own: Vec<&CellGroup> = plan.groups.iter().filter(|group| options.shard.has(group)).collect();
    let shard_cells: usize = own.iter().map(|group| group.cells.len()).sum();
    let open = |states: &CellStates, group: &CellGroup| {
        group.cells.iter().filter(|cell| !states.is_finished(cell.id, options.again)).count()
    };
    let open_cells: usize = own.iter().map(|group| open(&states, group)).sum();
    let mut groups: Vec<&CellGroup> = own.iter().copied().filter(|group| open(&states, group) > 0).collect();
    spread_starts(&mut groups, reader.summary().segments);
    let run = SharedRun {
        plan,
        groups,
        next: AtomicUsize::new(0),
        results: Mutex::new(RunResults {
            states,
            writer: SegmentWriter::new(folder),
            statuses: BTreeMap::new(),
            reasons: BTreeMap::new(),
            ran: 0,
            failure: None,
        }),
        options,
        deadline: options.limit.map(|limit| Instant::now() + limit),
        stop: StopFlag::default(),
        signal,
    };
    run.work(operation.reporter.begin_progress(), &mut reader, open_cells);
    let stopped = run.is_over_time() || run.stop.is_requested();
    let results = run.results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let RunResults { states, mut writer, statuses, reasons, ran, failure } = results;
    let common_reason = reasons.into_iter().max_by_key(|(_, count)| *count).map(|(why, _)| why);
    // The first failure says more than that of the last sync.
    let synced = writer.sync();
    failure.map_or(synced, Err)?;
    let left: usize = own.iter().map(|group| open(&states, group)).sum();
    Ok(StudyRunReport {
        study: plan.study.name.clone(),
        cells: plan.cell_count() as u64,
        shard_cells: shard_cells as u64,
        found: (shard_cells - open_cells) as u64,
        ran,
        statuses,
        common_reason,
        left: left as u64,
        stopped: stopped && left > 0,
    })
}

/// Processes that share a folder begin at different places: each goes round from the golden section of those before it.
fn spread_starts(groups: &mut [&CellGroup], segments: u64) {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let at = (segments as f64 * GOLDEN).fract() * groups.len() as f64;
    if !groups.is_empty() {
        groups.rotate_left(at as usize % groups.len());
    }
}

impl SharedRun<'_> {
    fn work(&self, mut line: Box<dyn ProgressLine + '_>, reader: &mut SegmentReader, open: usize) {
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let threads = self.options.threads.min(self.groups.len());
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| self.run_worker())).collect();
            let mut refreshed = Instant::now();
            while workers.iter().any(|worker| !worker.is_finished()) {
                std::thread::park_timeout(PROGRESS_INTERVAL.min(Duration::from_millis(20)));
                if self.signal.is_requested() {
                    self.stop.request();
                }
                let mut found = Vec::new();
                // No other process runs cells of this shard.
                if self.options.shard == Shard::WHOLE && refreshed.elapsed() >= REFRESH_INTERVAL {
                    // A folder that cannot be read now is read again later; cells then run twice.
                    let _ = reader.refresh(&mut |json| found.push(json.to_owned()));
                    refreshed = Instant::now();
                }
                let Ok(mut results) = self.results.lock() else { break };
                found.iter().for_each(|json| results.states.add_json(json));
                if let Err(failure) = results.writer.sync_when_due() {
                    results.failure.get_or_insert(failure);
                    self.stop.request();
                }
                let ran = results.ran;
                drop(results);
                line.show_line(&|| progress_words(ran, open as u64, begun.elapsed()));
            }
        });
    }

    fn run_worker(&self) {
        let mut runner = CellRunner::new(self.plan, &self.stop, self.options.shard == Shard::WHOLE);
        while !self.stop.is_requested() && !self.is_over_time() {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(group) = self.groups.get(at) else { return };
            let cells = self.open_cells(group);
            if !cells.is_empty() {
                runner.run_group(group, &cells, &mut |cell, row, seconds| {
                    self.store(self.plan.text_of(group, cell), row, seconds);
                });
            }
        }
    }

    fn is_over_time(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The cells of a group that no process has finished by now.
    fn open_cells(&self, group: &CellGroup) -> Vec<StudyCell> {
        let Ok(results) = self.results.lock() else { return Vec::new() };
        let is_open = |cell: &&StudyCell| !results.states.is_finished(cell.id, self.options.again);
        group.cells.iter().filter(is_open).copied().collect()
    }

    fn store(&self, text: String, row: StudyRow, seconds: f64) {
        let Ok(mut results) = self.results.lock() else { return };
        if results.failure.is_some() {
            return;
        }
        let status = row.status;
        let record =
            ResultRecord { cell: row.cell.clone(), text, seconds: (seconds * 1000.0).round() / 1000.0, row };
        let written = serde_json::to_string(&record)
            .map_err(|error| Failure::new(Exit::Bug, error.to_string()))
            .and_then(|json| results.writer.append(&json));
        match written {
            Ok(()) => {
                results.ran += 1;
                *results.statuses.entry(status.word().to_owned()).or_default() += 1;
                if let (CellStatus::Refused | CellStatus::Failed, Some(why)) = (status, record.row.why) {
                    *results.reasons.entry(why).or_default() += 1;
                }
                if let Some(id) = CellId::parse(&record.cell) {
                    results.states.add(id, status);
                }
            }
            Err(failure) => {
                results.failure = Some(failure);
                self.stop.request();
            }
        }
    }
}

fn progress_words(ran: u64, open: u64, since: Duration) -> String {
    let rate = ran as f64 / since.as_secs_f64().max(0.001);
    let left = match ran {
        0 => String::new(),
        _ => format!(", {} left", time_words(open.saturating_sub(ran) as f64 / rate.max(1e-9))),
    };
    format!("{} of {} cells, {rate:.1} a second{left}", digits_in_groups(ran), digits_in_groups(open))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_says_the_rate_and_the_time_left() {
        assert_eq!(progress_words(0, 4941, Duration::from_secs(1)), "0 of 4,941 cells, 0.0 a second");
        let words = progress_words(100, 4941, Duration::from_secs(10));
        assert_eq!(words, "100 of 4,941 cells, 10.0 a second, 8 min left");
    }
}
