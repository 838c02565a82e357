//! Runs the steps of a runbook one after the other.

use serde::Serialize;

use super::book::{Book, Expected, Step, Task};
use super::guard::{Guard, Verdict};
use super::report::{GuardReport, Report, RunState, StepReport, StepState};
use super::values::{Found, Values};

/// Exit code of an interrupted run, as for interrupted commands.
const INTERRUPTED: u8 = 130;
/// Exit code of a run that a guard or an expectation stopped.
const FOUND: u8 = 2;
/// Exit code of a run whose change is neither confirmed nor completely rolled back.
const INCOMPLETE: u8 = 6;

/// Result of a step that was done.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Did {
    pub words: String,
    pub values: Vec<(String, Found)>,
    pub change: Option<String>,
    /// Whether the step was only rehearsed.
    pub rehearsed: bool,
}

impl Did {
    pub fn said(words: impl Into<String>) -> Self {
        Self { words: words.into(), ..Self::default() }
    }
}

/// Why a step was not done, with the exit code for that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trouble {
    pub exit: u8,
    pub words: String,
    pub change: Option<String>,
}

impl Trouble {
    /// What the step read is not what the runbook expects.
    pub fn found(words: impl Into<String>) -> Self {
        Self { exit: FOUND, words: words.into(), change: None }
    }
}

/// Result of rolling back a change that was not confirmed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TakenBack {
    pub change: String,
    /// State as `changes` prints it; `None` if no guard answered.
    pub state: Option<String>,
    pub words: String,
    /// Whether everything is as it was before the change.
    pub complete: bool,
}

/// Entry about the course of a run, stored before the step begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark<'a> {
    Step { on_failure: bool, number: usize, kind: &'a str },
    TakingBack,
    Ended(&'a str),
}

/// What a step read, whatever its outcome.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Seen {
    /// Whether a node did not answer.
    pub partial: bool,
    /// Values that the step found before it ended the run.
    pub values: Vec<(String, Found)>,
}

/// Executes the steps of a runbook.
pub trait Crew {
    /// Whether the run is a rehearsal.
    fn dry(&self) -> bool;
    /// Whether the run was asked to end.
    fn stopped(&self) -> bool;
    /// Time of day; `None` if reports are to have no times.
    fn time(&mut self) -> Option<String>;
    /// Seconds since an arbitrary moment.
    fn seconds(&mut self) -> f64;
    fn say(&mut self, line: &str);
    /// Stores an entry; it is durable when this returns.
    fn mark(&mut self, mark: Mark<'_>) -> Result<(), Trouble>;
    /// Executes a step. Conditions over values are not among them; the interpreter judges those.
    fn carry_out(&mut self, task: &Task) -> Result<Did, Trouble>;
    /// What the last step read.
    fn seen(&mut self) -> Seen {
        Seen::default()
    }
    /// The change that was applied and is not decided yet.
    fn pending(&self) -> Option<String>;
    fn take_back(&mut self) -> TakenBack;
}

/// Runs a runbook and returns its report.
pub fn walk(book: &Book, crew: &mut dyn Crew) -> Report {
    let mut report = Report::of(book, crew.dry());
    let mut values = Values::default();
    for (at, step) in book.steps.iter().enumerate() {
        let told = match crew.stopped() {
            true => Told::interrupted(at + 1, step),
            false => one(crew, step, (false, at + 1, book.steps.len()), &mut values, &book.guards),
        };
        let ended = told.ended;
        report.steps[at] = told.report;
        if let Some((state, exit)) = ended {
            report.state = state;
            report.exit = exit;
            report.why = Some(report.steps[at].words.clone());
            break;
        }
    }
    // The rollback comes first, so that the steps on failure read and report the fabric as it was.
    if crew.pending().is_some() {
        take_back(crew, &mut report);
    }
    if !matches!(report.state, RunState::Done | RunState::Interrupted) {
        fail(book, crew, &mut report, &mut values);
    }
    let ended = match report.state {
        RunState::Done => "done",
        RunState::Stopped => "stopped",
        RunState::Failed => "failed",
        RunState::Interrupted => "interrupted",
    };
    if let Err(trouble) = crew.mark(Mark::Ended(ended)) {
        crew.say(&trouble.words);
    }
    report
}

/// Runs the steps on failure. A failed step does not skip the next one.
fn fail(book: &Book, crew: &mut dyn Crew, report: &mut Report, values: &mut Values) {
    for (at, step) in book.on_failure.iter().enumerate() {
        let told = match crew.stopped() {
            true => Told::interrupted(at + 1, step),
            false => one(crew, step, (true, at + 1, book.on_failure.len()), values, &[]),
        };
        report.on_failure[at] = told.report;
    }
}

fn take_back(crew: &mut dyn Crew, report: &mut Report) {
    if let Err(trouble) = crew.mark(Mark::TakingBack) {
        crew.say(&trouble.words);
    }
    let back = crew.take_back();
    crew.say(&back.words);
    if !back.complete && report.state != RunState::Interrupted {
        report.exit = INCOMPLETE;
    }
    report.taken_back = Some(back);
}

/// Report of a step, and how the run ends if it does not go on.
struct Told {
    report: StepReport,
    ended: Option<(RunState, u8)>,
}

impl Told {
    fn interrupted(number: usize, step: &Step) -> Self {
        let words = "FD-9237: somebody ended the run here".to_owned();
        let report = StepReport { state: StepState::Interrupted, words, ..StepReport::not_run(number, step) };
        Self { report, ended: Some((RunState::Interrupted, INTERRUPTED)) }
    }
}

/// Runs a step and judges the guards after it.
fn one(
    crew: &mut dyn Crew,
    step: &Step,
    (on_failure, number, of): (bool, usize, usize),
    values: &mut Values,
    guards: &[Guard],
) -> Told {
    let mut report = StepReport::not_run(number, step);
    let kind = step.task.kind();
    let which = if on_failure { "on failure: step" } else { "step" };
    let name = step.name.as_deref().map(|name| format!(": {name}")).unwrap_or_default();
    crew.say(&format!("{which} {number} of {of}, {kind}{name}"));
    report.began = crew.time();
    let began = crew.seconds();
    let marked = crew.mark(Mark::Step { on_failure, number, kind });
    let mut seen = Seen::default();
    let did = marked.and_then(|()| match &step.task {
        Task::Expect(Expected::Values(expected)) => expects(expected, values),
        task => {
            let did = crew.carry_out(task);
            seen = crew.seen();
            did
        }
    });
    report.partial = seen.partial;
    if did.is_err() {
        values.take(&seen.values, step.id.as_deref());
        report.values = seen.values.into_iter().collect();
    }
    report.seconds = report.began.as_ref().map(|_| crew.seconds() - began);
    let ended = match did {
        Ok(did) => {
            values.take(&did.values, step.id.as_deref());
            report.values = did.values.into_iter().collect();
            report.state = if did.rehearsed { StepState::Rehearsed } else { StepState::Done };
            (report.words, report.change) = (did.words, did.change);
            guarded(&mut report, step.guards.iter().chain(guards), values)
        }
        Err(trouble) if crew.stopped() => {
            (report.state, report.words, report.change) =
                (StepState::Interrupted, trouble.words, trouble.change);
            Some((RunState::Interrupted, INTERRUPTED))
        }
        Err(trouble) => {
            let stopped = trouble.exit == FOUND;
            report.state = if stopped { StepState::Stopped } else { StepState::Failed };
            (report.words, report.change) = (trouble.words, trouble.change);
            Some((if stopped { RunState::Stopped } else { RunState::Failed }, trouble.exit))
        }
    };
    let words = &report.words;
    crew.say(&format!("  {}{}{words}", report.state.word(), if words.is_empty() { "" } else { ": " }));
    Told { report, ended }
}

/// Judges what the runbook expects of known values.
fn expects(expected: &[Guard], values: &Values) -> Result<Did, Trouble> {
    let mut rehearsed = false;
    for guard in expected {
        let verdict = guard.judge(values);
        rehearsed |= verdict == Verdict::NotRehearsed;
        if verdict.stops() {
            return Err(Trouble::found(format!(
                "FD-9232: expected '{}' {}: {}",
                guard.text,
                verdict.word(),
                guard.found(values)
            )));
        }
    }
    let words = expected.iter().map(|guard| guard.found(values)).collect::<Vec<_>>().join("; ");
    Ok(Did { rehearsed, ..Did::said(words) })
}

/// Judges guards; the first that does not hold ends the run.
fn guarded<'g>(
    report: &mut StepReport,
    guards: impl Iterator<Item = &'g Guard>,
    values: &Values,
) -> Option<(RunState, u8)> {
    for guard in guards {
        let verdict = guard.judge(values);
        let found = guard.found(values);
        if verdict.stops() {
            report.state = StepState::Stopped;
            report.words = format!("FD-9231: the guard '{}' {}: {found}", guard.text, verdict.word());
        }
        report.guards.push(GuardReport { guard: guard.text.clone(), verdict, found });
        if verdict.stops() {
            return Some((RunState::Stopped, FOUND));
        }
    }
    None
}
