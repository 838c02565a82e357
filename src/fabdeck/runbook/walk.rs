//! The steps of a book, one after the other.

use serde::Serialize;

use super::book::{Book, Expected, Step, Task};
use super::guard::{Guard, Verdict};
use super::report::{GuardReport, Report, RunState, StepReport, StepState};
use super::values::{Found, Values};

/// Somebody ended it: the code is that of whoever does it.
const INTERRUPTED: u8 = 130;
/// A guard stopped the book.
const FOUND: u8 = 2;
/// A change is neither kept nor taken back.
const INCOMPLETE: u8 = 6;

/// What a step did.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Did {
    pub words: String,
    pub values: Vec<(String, Found)>,
    pub change: Option<String>,
    /// It was only tried.
    pub rehearsed: bool,
}

impl Did {
    pub fn said(words: impl Into<String>) -> Self {
        Self { words: words.into(), ..Self::default() }
    }
}

/// Why a step was not done, and the exit code that says so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trouble {
    pub exit: u8,
    pub words: String,
    pub change: Option<String>,
}

impl Trouble {
    /// What was looked at is not as the book expects it.
    pub fn found(words: impl Into<String>) -> Self {
        Self { exit: FOUND, words: words.into(), change: None }
    }
}

/// What became of a change that nobody confirmed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TakenBack {
    pub change: String,
    /// As `changes` says it; `None` where nobody could be asked.
    pub state: Option<String>,
    pub words: String,
    /// Everything is as it was before.
    pub complete: bool,
}

/// What is kept of the course of a run for whoever comes after it, before it happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark<'a> {
    Step { on_failure: bool, number: usize, kind: &'a str },
    TakingBack,
    Ended(&'a str),
}

/// What a step saw, whatever became of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Seen {
    /// Something did not answer.
    pub partial: bool,
    /// What it found before it ended the book.
    pub values: Vec<(String, Found)>,
}

/// Whoever does the steps.
pub trait Crew {
    /// Nothing is done, only tried.
    fn dry(&self) -> bool;
    /// Whether somebody wants the run to end.
    fn stopped(&self) -> bool;
    /// The time of day, where reports have times.
    fn time(&mut self) -> Option<String>;
    /// Seconds since whenever.
    fn seconds(&mut self) -> f64;
    fn say(&mut self, line: &str);
    /// It is kept when this returns.
    fn mark(&mut self, mark: Mark<'_>) -> Result<(), Trouble>;
    /// Conditions over values are judged by whoever walks.
    fn carry_out(&mut self, task: &Task) -> Result<Did, Trouble>;
    /// Of the step that was carried out last.
    fn seen(&mut self) -> Seen {
        Seen::default()
    }
    /// The change that was applied and that nobody decided over.
    fn pending(&self) -> Option<String>;
    fn take_back(&mut self) -> TakenBack;
}

/// Carries out a book.
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
    // Whoever is told of a failure, and whatever looks at the fabric then, finds it as it was.
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

/// What the book has for a failure. One that fails does not keep the next from being done.
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

/// A step as it is told, and how the book ends where it does not go on.
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

/// One step, and the guards behind it.
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

/// What the book expects of values that are there.
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

/// The first guard that does not hold ends the book.
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
