//! Runs the steps of a runbook one after the other.

use super::guard::{GuardVerdict, StepGuard};
use super::report::{GuardReport, RunReport, RunState, StepReport, StepState};
use super::steps::{ExpectTask, Runbook, RunbookStep, StepTask};
use super::values::{StepValue, Values};
use crate::catalogue::json_type::json_type;

/// Exit code of an interrupted run, as for interrupted commands.
const EXIT_INTERRUPTED: u8 = 130;
/// Exit code of a run that a guard or an expectation stopped.
const EXIT_FOUND: u8 = 2;
/// Exit code of a run whose change is neither confirmed nor completely rolled back.
const EXIT_INCOMPLETE: u8 = 6;

/// Result of a step that was done.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StepOutput {
    pub words: String,
    pub values: Vec<(String, StepValue)>,
    pub change: Option<String>,
    /// Whether the step was only rehearsed.
    pub rehearsed: bool,
}

impl StepOutput {
    pub fn with_text(words: impl Into<String>) -> Self {
        Self { words: words.into(), ..Self::default() }
    }
}

/// Why a step was not done, with the exit code for that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StepFailure {
    pub exit: u8,
    pub words: String,
    pub change: Option<String>,
}

impl StepFailure {
    /// What the step read is not what the runbook expects.
    pub fn unexpected(words: impl Into<String>) -> Self {
        Self { exit: EXIT_FOUND, words: words.into(), change: None }
    }
}

json_type! {
    /// Result of rolling back a change that was not confirmed.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct PendingRollback {
        pub change: String,
        /// State as `changes` prints it; `None` if no guard answered.
        pub state: Option<String>,
        pub words: String,
        /// Whether the fabric is as it was before the change.
        pub complete: bool,
    }
}

/// Entry about the course of a run, stored before the step begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunMark<'a> {
    Step { on_failure: bool, number: usize, kind: &'a str },
    TakingBack,
    Ended(&'a str),
}

/// What a step read, whatever its outcome.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StepObservation {
    /// Whether a node did not answer.
    pub partial: bool,
    /// Values that the step found before it ended the run.
    pub values: Vec<(String, StepValue)>,
}

/// Executes the steps of a runbook.
pub trait StepRunner {
    /// Whether the run is a rehearsal.
    fn is_dry_run(&self) -> bool;
    /// Whether the run has to end.
    fn is_stop_requested(&self) -> bool;
    /// Time of day; `None` if reports are to have no times.
    fn time(&mut self) -> Option<String>;
    /// Seconds since an arbitrary moment.
    fn seconds(&mut self) -> f64;
    fn report_line(&mut self, line: &str);
    /// Stores an entry; it is durable when this returns.
    fn record_mark(&mut self, mark: RunMark<'_>) -> Result<(), StepFailure>;
    /// Executes a step. Conditions over values are not among them; the interpreter judges those.
    fn run_task(&mut self, task: &StepTask) -> Result<StepOutput, StepFailure>;
    /// What the last step read.
    fn last_observation(&mut self) -> StepObservation {
        StepObservation::default()
    }
    /// The change that was applied and is not decided yet.
    fn pending_change(&self) -> Option<String>;
    fn roll_back(&mut self) -> PendingRollback;
}

/// Runs a runbook and returns its report.
pub fn run_steps(book: &Runbook, runner: &mut dyn StepRunner) -> RunReport {
    let mut report = RunReport::of(book, runner.is_dry_run());
    let mut values = Values::default();
    for (at, step) in book.steps.iter().enumerate() {
        let outcome = match runner.is_stop_requested() {
            true => StepOutcome::interrupted(at + 1, step),
            false => {
                let place = StepPlace { on_failure: false, number: at + 1, of: book.steps.len() };
                run_step(runner, step, place, &mut values, &book.guards)
            }
        };
        let ended = outcome.ended;
        report.steps[at] = outcome.report;
        if let Some((state, exit)) = ended {
            report.state = state;
            report.exit = exit;
            report.why = Some(report.steps[at].words.clone());
            break;
        }
    }
    // The rollback comes first, so that the steps on failure read and report the fabric as it was.
    if runner.pending_change().is_some() {
        roll_back_pending(runner, &mut report);
    }
    if !matches!(report.state, RunState::Done | RunState::Interrupted) {
        run_failure_steps(book, runner, &mut report, &mut values);
    }
    let ended = match report.state {
        RunState::Done => "done",
        RunState::Stopped => "stopped",
        RunState::Failed => "failed",
        RunState::Interrupted => "interrupted",
    };
    if let Err(trouble) = runner.record_mark(RunMark::Ended(ended)) {
        runner.report_line(&trouble.words);
    }
    report
}

/// Runs the steps on failure. A failed step does not skip the next one.
fn run_failure_steps(
    book: &Runbook,
    runner: &mut dyn StepRunner,
    report: &mut RunReport,
    values: &mut Values,
) {
    for (at, step) in book.on_failure.iter().enumerate() {
        let outcome = match runner.is_stop_requested() {
            true => StepOutcome::interrupted(at + 1, step),
            false => {
                let place = StepPlace { on_failure: true, number: at + 1, of: book.on_failure.len() };
                run_step(runner, step, place, values, &[])
            }
        };
        report.on_failure[at] = outcome.report;
    }
}

fn roll_back_pending(runner: &mut dyn StepRunner, report: &mut RunReport) {
    if let Err(trouble) = runner.record_mark(RunMark::TakingBack) {
        runner.report_line(&trouble.words);
    }
    let back = runner.roll_back();
    runner.report_line(&back.words);
    if !back.complete && report.state != RunState::Interrupted {
        report.exit = EXIT_INCOMPLETE;
    }
    report.taken_back = Some(back);
}

/// Report of a step, and how the run ends if it does not continue.
struct StepOutcome {
    report: StepReport,
    ended: Option<(RunState, u8)>,
}

impl StepOutcome {
    fn interrupted(number: usize, step: &RunbookStep) -> Self {
        let words = "FD-9237: the run was interrupted during this step".to_owned();
        let report = StepReport { state: StepState::Interrupted, words, ..StepReport::not_run(number, step) };
        Self { report, ended: Some((RunState::Interrupted, EXIT_INTERRUPTED)) }
    }
}

/// The place of a step among the steps of a runbook, or among its steps on failure.
#[derive(Clone, Copy)]
struct StepPlace {
    on_failure: bool,
    /// From 1.
    number: usize,
    of: usize,
}

/// Runs a step and judges the guards after it.
fn run_step(
    runner: &mut dyn StepRunner,
    step: &RunbookStep,
    StepPlace { on_failure, number, of }: StepPlace,
    values: &mut Values,
    guards: &[StepGuard],
) -> StepOutcome {
    let mut report = StepReport::not_run(number, step);
    let kind = step.task.kind();
    let which = if on_failure { "on failure: step" } else { "step" };
    let name = step.name.as_deref().map(|name| format!(": {name}")).unwrap_or_default();
    runner.report_line(&format!("{which} {number} of {of}, {kind}{name}"));
    report.began = runner.time();
    let began = runner.seconds();
    let marked = runner.record_mark(RunMark::Step { on_failure, number, kind });
    let mut seen = StepObservation::default();
    let did = marked.and_then(|()| match &step.task {
        StepTask::Expect(ExpectTask::Values(expected)) => check_values(expected, values),
        task => {
            let did = runner.run_task(task);
            seen = runner.last_observation();
            did
        }
    });
    report.partial = seen.partial;
    if did.is_err() {
        values.store(&seen.values, step.id.as_deref());
        report.values = seen.values.into_iter().collect();
    }
    report.seconds = report.began.as_ref().map(|_| runner.seconds() - began);
    let ended = match did {
        Ok(did) => {
            values.store(&did.values, step.id.as_deref());
            report.values = did.values.into_iter().collect();
            report.state = if did.rehearsed { StepState::Rehearsed } else { StepState::Done };
            (report.words, report.change) = (did.words, did.change);
            check_guards(&mut report, step.guards.iter().chain(guards), values)
        }
        Err(trouble) if runner.is_stop_requested() => {
            (report.state, report.words, report.change) =
                (StepState::Interrupted, trouble.words, trouble.change);
            Some((RunState::Interrupted, EXIT_INTERRUPTED))
        }
        Err(trouble) => {
            let stopped = trouble.exit == EXIT_FOUND;
            report.state = if stopped { StepState::Stopped } else { StepState::Failed };
            (report.words, report.change) = (trouble.words, trouble.change);
            Some((if stopped { RunState::Stopped } else { RunState::Failed }, trouble.exit))
        }
    };
    let words = &report.words;
    runner.report_line(&format!(
        "  {}{}{words}",
        report.state.word(),
        if words.is_empty() { "" } else { ": " }
    ));
    StepOutcome { report, ended }
}

/// Judges what the runbook expects of known values.
fn check_values(expected: &[StepGuard], values: &Values) -> Result<StepOutput, StepFailure> {
    let mut rehearsed = false;
    for guard in expected {
        let verdict = guard.judge(values);
        rehearsed |= verdict == GuardVerdict::NotRehearsed;
        if verdict.is_stopping() {
            return Err(StepFailure::unexpected(format!(
                "FD-9232: the expectation '{}' {}: {}",
                guard.text,
                verdict.word(),
                guard.found_text(values)
            )));
        }
    }
    let words = expected.iter().map(|guard| guard.found_text(values)).collect::<Vec<_>>().join("; ");
    Ok(StepOutput { rehearsed, ..StepOutput::with_text(words) })
}

/// Judges guards; the first that does not hold ends the run.
fn check_guards<'g>(
    report: &mut StepReport,
    guards: impl Iterator<Item = &'g StepGuard>,
    values: &Values,
) -> Option<(RunState, u8)> {
    for guard in guards {
        let verdict = guard.judge(values);
        let found = guard.found_text(values);
        if verdict.is_stopping() {
            report.state = StepState::Stopped;
            report.words = format!("FD-9231: the guard '{}' {}: {found}", guard.text, verdict.word());
        }
        report.guards.push(GuardReport { guard: guard.text.clone(), verdict, found });
        if verdict.is_stopping() {
            return Some((RunState::Stopped, EXIT_FOUND));
        }
    }
    None
}
