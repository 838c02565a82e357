//! Executes the steps of a runbook and holds what they produced: marks, plans, applied changes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::run_journal::RunJournal;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::lanes::lanes_in_force;
use crate::operations::lanes::lanes_in_force::{LaneReading, LanesInForce};
use crate::operations::operation::Operation;
use crate::operations::plans::{plan_file, plan_snapshot};
use crate::operations::preview::whatif::parse_marks;
use crate::runbook::execute::{
    PendingRollback, RunMark, StepFailure, StepObservation, StepOutput, StepRunner,
};
use crate::runbook::steps::{ExpectTask, StepTask, WaitTask};
use crate::runbook::values::StepValue;
use crate::system::stop_flag::StopFlag;
use fabdeck_change::Plan;
use fabdeck_fabric::Faults;
use fabdeck_files::job_lists::JobList;
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::EngineRefusal;

/// Interval between two checks of the stop flag.
pub const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub struct Runner<'c> {
    pub operation: Operation<'c>,
    pub source: String,
    pub dry: bool,
    pub stop: StopFlag,
    began: Instant,
    /// Elements marked as failed, as the runbook names them.
    pub marks: Vec<String>,
    /// Plan of the last step that made one, until it is applied.
    pub made: Option<(Plan, String)>,
    /// Plans by the files that steps wrote; a rehearsal stores them here too.
    pub files: BTreeMap<PathBuf, (Plan, String)>,
    /// The plan that was applied last and is in force; `verify` compares with it.
    pub applied: Option<Plan>,
    /// Running jobs as the last `jobs` step read them.
    pub jobs: Option<Arc<JobList>>,
    /// Plans that a rehearsal applied, in their order; later snapshots show the fabric after them.
    pub rehearsed_plans: Vec<Plan>,
    /// Id of the change that is not decided yet.
    pub pending: Option<String>,
    /// Reason why the rehearsal of the following steps is uncertain.
    pub uncertain: Option<String>,
    pub journal: Option<RunJournal>,
    /// Values of the current step, in case it ends the run.
    pub found: Vec<(String, StepValue)>,
}

/// Result of a step, before its error is converted for the report.
pub type StepResult = Result<StepOutput, StepError>;

/// Error of a step.
pub enum StepError {
    Failure(Failure),
    Trouble(StepFailure),
}

impl From<Failure> for StepError {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<EngineRefusal> for StepError {
    fn from(refusal: EngineRefusal) -> Self {
        Self::Failure(refusal.into())
    }
}

impl From<StepFailure> for StepError {
    fn from(trouble: StepFailure) -> Self {
        Self::Trouble(trouble)
    }
}

impl<'c> Runner<'c> {
    pub fn new(operation: Operation<'c>, source: String, dry: bool, journal: Option<RunJournal>) -> Self {
        let stop = operation.env.outside.stop();
        Self {
            operation,
            source,
            dry,
            stop,
            began: Instant::now(),
            marks: Vec::new(),
            made: None,
            files: BTreeMap::new(),
            applied: None,
            jobs: None,
            rehearsed_plans: Vec::new(),
            pending: None,
            uncertain: None,
            journal,
            found: Vec::new(),
        }
    }

    /// Reads the fabric. In a rehearsal the snapshot shows it as the plans so far would have made it.
    pub fn read_snapshot(&mut self, wanted: ReadOptions) -> Result<(Snapshot, LanesInForce), Failure> {
        let read = self.read_snapshot_of_plans(wanted)?;
        *self.operation.partial |= read.0.observation.is_partial();
        Ok(read)
    }

    fn read_snapshot_of_plans(&mut self, wanted: ReadOptions) -> Result<(Snapshot, LanesInForce), Failure> {
        if !wanted.tables {
            return Ok((self.operation.read_snapshot(wanted)?, LanesInForce::of_choice(None)));
        }
        let lanes =
            wanted.lanes || self.rehearsed_plans.iter().chain(&self.applied).any(plan_file::plan_has_lanes);
        let wanted = ReadOptions { lanes, ..wanted };
        if self.rehearsed_plans.is_empty() {
            return lanes_in_force::read_snapshot(&mut self.operation, wanted, LaneReading::default());
        }
        let (mut snapshot, in_force) =
            lanes_in_force::read_snapshot_without_lanes(&mut self.operation, wanted)?;
        for rehearsed in &self.rehearsed_plans {
            plan_snapshot::apply_to_snapshot(&mut self.operation, &mut snapshot, rehearsed)?;
        }
        Ok((snapshot, in_force))
    }

    /// The marks whose elements exist in the snapshot; a missing element needs no mark.
    pub fn faults(&self, snapshot: &Snapshot) -> Faults {
        let mut faults = Faults::new();
        for element in &self.marks {
            if let Ok(marks) = parse_marks(snapshot, std::slice::from_ref(element)) {
                for marked in marks.iter() {
                    faults.mark(marked);
                }
            }
        }
        faults
    }

    /// Sleeps for a time, or until the stop flag is set.
    pub fn pause(&self, time: Duration) {
        let since = Instant::now();
        while since.elapsed() < time && !self.stop.is_requested() {
            std::thread::sleep(POLL_INTERVAL.min(time.saturating_sub(since.elapsed())));
        }
    }

    fn dispatch(&mut self, task: &StepTask) -> StepResult {
        match task {
            StepTask::Expect(ExpectTask::Rows(rows)) => self.expect(rows),
            StepTask::Expect(ExpectTask::Values(_)) => Ok(StepOutput::default()),
            StepTask::Fail(elements) => self.fail(elements),
            StepTask::Unmark(elements) => Ok(self.unmark(elements)),
            StepTask::Preview { engines } => self.preview(engines),
            StepTask::Route(route) => self.route(route),
            StepTask::Disable(element) => {
                self.service(element, crate::operations::plans::link_service::LinkService::Disable)
            }
            StepTask::Enable(element) => {
                self.service(element, crate::operations::plans::link_service::LinkService::Enable)
            }
            StepTask::Lanes(propose) => self.lanes(propose),
            StepTask::Apply(apply) => self.apply(apply),
            StepTask::Wait(WaitTask::Time(time)) => self.wait(*time),
            StepTask::Wait(WaitTask::Until { rows, timeout, every }) => {
                self.wait_until(rows, *timeout, *every)
            }
            StepTask::Wait(WaitTask::File { file, timeout, every }) => {
                self.wait_for_file(file, *timeout, *every)
            }
            StepTask::Verify { accept } => self.verify(accept),
            StepTask::Compare => self.compare(),
            StepTask::Jobs(jobs) => self.jobs(jobs),
            StepTask::Hotspots { interval, count } => self.hotspots(*interval, *count),
            StepTask::Confirm => self.confirm(),
            StepTask::Rollback => self.rollback(),
            StepTask::Record { file, time, interval } => self.record(file, *time, *interval),
            StepTask::Run(program) => self.run(program),
            StepTask::Notify { text, file } => self.notify(text, file.as_deref()),
        }
    }
}

impl StepRunner for Runner<'_> {
    fn is_dry_run(&self) -> bool {
        self.dry
    }

    fn is_stop_requested(&self) -> bool {
        self.stop.is_requested()
    }

    fn time(&mut self) -> Option<String> {
        (!self.operation.env.given.no_times).then(|| Timestamp::now().to_string())
    }

    fn seconds(&mut self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn report_line(&mut self, line: &str) {
        self.operation.reporter.report_line(line);
    }

    fn record_mark(&mut self, mark: RunMark<'_>) -> Result<(), StepFailure> {
        self.journal.as_mut().map_or(Ok(()), |journal| journal.record_mark(mark))
    }

    fn run_task(&mut self, task: &StepTask) -> Result<StepOutput, StepFailure> {
        *self.operation.partial = false;
        self.found.clear();
        self.dispatch(task).map_err(|stopped| match stopped {
            StepError::Trouble(trouble) => trouble,
            StepError::Failure(failure) => StepFailure {
                exit: failure.exit.code(),
                words: failure.message.unwrap_or_default(),
                change: self.pending.clone(),
            },
        })
    }

    fn last_observation(&mut self) -> StepObservation {
        StepObservation { partial: *self.operation.partial, values: std::mem::take(&mut self.found) }
    }

    fn pending_change(&self) -> Option<String> {
        self.pending.clone()
    }

    fn roll_back(&mut self) -> PendingRollback {
        self.roll_back_pending()
    }
}
