//! The order of a runbook's steps, under a runner that records the requests.

use super::{book, read_book};
use fabdeck::runbook::execute::{
    PendingRollback, RunMark, StepFailure, StepObservation, StepOutput, StepRunner, run_steps,
};
use fabdeck::runbook::report::{RunState, StepState};
use fabdeck::runbook::steps::StepTask;
use fabdeck::runbook::values::StepValue;

/// Returns the outcome that it was given, and records the request.
#[derive(Default)]
struct ScriptedRunner {
    asked: Vec<String>,
    pending: bool,
    /// The kind of step that cannot be done, and the code that says so.
    fails: Option<(&'static str, u8)>,
    /// The kind of step after which the run is to end.
    stops: Option<&'static str>,
    stopped: bool,
    back: bool,
    /// What a step saw that was not done.
    saw: StepObservation,
}

impl StepRunner for ScriptedRunner {
    fn is_dry_run(&self) -> bool {
        false
    }

    fn is_stop_requested(&self) -> bool {
        self.stopped
    }

    fn time(&mut self) -> Option<String> {
        None
    }

    fn seconds(&mut self) -> f64 {
        0.0
    }

    fn report_line(&mut self, _: &str) {}

    fn record_mark(&mut self, mark: RunMark<'_>) -> Result<(), StepFailure> {
        if let RunMark::Ended(how) = mark {
            self.asked.push(how.to_owned());
        }
        Ok(())
    }

    fn run_task(&mut self, task: &StepTask) -> Result<StepOutput, StepFailure> {
        let kind = task.kind();
        self.asked.push(kind.to_owned());
        if let Some((_, exit)) = self.fails.filter(|(fails, _)| *fails == kind) {
            return Err(StepFailure { exit, words: "it does not go".to_owned(), change: None });
        }
        match task {
            StepTask::Apply(_) => self.pending = true,
            StepTask::Confirm | StepTask::Rollback => self.pending = false,
            _ => {}
        }
        self.stopped = self.stops == Some(kind);
        let values = match task {
            StepTask::Verify { .. } => vec![("lost_pairs".to_owned(), StepValue::count(3))],
            _ => Vec::new(),
        };
        Ok(StepOutput { values, ..StepOutput::default() })
    }

    fn last_observation(&mut self) -> StepObservation {
        std::mem::take(&mut self.saw)
    }

    fn pending_change(&self) -> Option<String> {
        self.pending.then(|| "12345678".to_owned())
    }

    fn roll_back(&mut self) -> PendingRollback {
        self.asked.push("take back".to_owned());
        self.pending = false;
        PendingRollback { change: "12345678".into(), state: None, words: String::new(), complete: self.back }
    }
}

const STEPS: &str = "[[step]]\nroute = { engine = \"updn\" }\n[[step]]\napply = {}\n[[step]]\nverify = true\nguards = [GUARD]\n\
                     [[step]]\nconfirm = true\n[[on_failure]]\nnotify = \"x\"\n[[on_failure]]\nfail = \"a\"\n";

fn run_scripted(
    guard: &str,
    mut runner: ScriptedRunner,
) -> (fabdeck::runbook::report::RunReport, Vec<String>) {
    runner.back = true;
    let book = read_book(&book(&STEPS.replace("GUARD", guard))).unwrap();
    let report = run_steps(&book, &mut runner);
    (report, runner.asked)
}

#[test]
fn steps_are_done_in_their_order() {
    let (report, asked) = run_scripted("\"lost_pairs <= 3\"", ScriptedRunner::default());
    assert_eq!(asked, ["route", "apply", "verify", "confirm", "done"]);
    assert_eq!((report.state, report.exit, report.taken_back), (RunState::Done, 0, None));
}

#[test]
fn the_first_guard_that_fails_ends_it_and_what_is_pending_goes_back() {
    let (report, asked) = run_scripted(
        "\"lost_pairs >= 0\", \"lost_pairs <= 2\", \"lost_pairs <= 1\"",
        ScriptedRunner::default(),
    );
    assert_eq!(asked, ["route", "apply", "verify", "take back", "notify", "fail", "stopped"]);
    assert_eq!((report.state, report.exit), (RunState::Stopped, 2));
    let verify = &report.steps[2];
    assert!(
        verify.words.contains("FD-9231: the guard 'lost_pairs <= 2' fails: lost_pairs is 3"),
        "{}",
        verify.words
    );
    assert_eq!((verify.state, verify.guards.len()), (StepState::Stopped, 2), "it stops at the first");
    assert_eq!(report.steps[3].state, StepState::NotRun);
    assert!(report.taken_back.is_some());
}

#[test]
fn a_step_that_fails_says_so_with_its_own_code() {
    for (kind, exit, after) in
        [("route", 1, ""), ("apply", 3, ""), ("verify", 8, "take back"), ("confirm", 5, "take back")]
    {
        let (report, asked) = run_scripted(
            "\"lost_pairs >= 0\"",
            ScriptedRunner { fails: Some((kind, exit)), ..ScriptedRunner::default() },
        );
        assert_eq!((report.state, report.exit), (RunState::Failed, exit), "{kind}");
        assert_eq!(asked.contains(&"take back".to_owned()), !after.is_empty(), "{kind}: {asked:?}");
        assert_eq!(asked.last().unwrap(), "failed");
    }
    // What is done on failure may fail too, and keeps nothing else from being done.
    let told = ScriptedRunner { fails: Some(("notify", 1)), ..ScriptedRunner::default() };
    let (report, asked) = run_scripted("\"lost_pairs < 0\"", told);
    assert_eq!(asked, ["route", "apply", "verify", "take back", "notify", "fail", "stopped"]);
    assert_eq!((report.exit, report.on_failure[0].state), (2, StepState::Failed));
}

#[test]
fn an_interrupted_run_rolls_back_what_is_pending_and_nothing_else() {
    for (kind, back) in [("route", false), ("apply", true), ("verify", true)] {
        let (report, asked) = run_scripted(
            "\"lost_pairs >= 0\"",
            ScriptedRunner { stops: Some(kind), ..ScriptedRunner::default() },
        );
        assert_eq!(report.state, RunState::Interrupted, "{kind}");
        assert_eq!(asked.contains(&"take back".to_owned()), back, "{kind}: {asked:?}");
        assert!(!asked.contains(&"notify".to_owned()), "{kind}: {asked:?}");
    }
    let (report, _) = run_scripted(
        "\"lost_pairs >= 0\"",
        ScriptedRunner { stops: Some("confirm"), ..ScriptedRunner::default() },
    );
    assert_eq!(report.state, RunState::Done, "all was done when somebody wanted it to end");
}

#[test]
fn guards_of_the_book_are_judged_once_there_is_something_to_judge() {
    let text = format!("guards = [\"lost_pairs <= 2\"]\n{}", STEPS.replace("guards = [GUARD]", ""));
    let mut told = ScriptedRunner { back: false, ..ScriptedRunner::default() };
    let report = run_steps(&read_book(&book(&text)).unwrap(), &mut told);
    assert_eq!(report.steps[0].guards[0].found, "lost_pairs has no value yet");
    assert_eq!((report.steps[2].state, report.steps[2].guards.len()), (StepState::Stopped, 1));
    // What could not be taken back matters more than why.
    assert_eq!(report.exit, 6);
}

#[test]
fn what_a_step_observed_is_reported_even_where_it_was_not_done() {
    let drifted = ("drifted".to_owned(), StepValue::Flag(true));
    let saw = StepObservation { partial: true, values: vec![drifted.clone()] };
    // The first step is the one that fails: what it saw is judged by what is done on failure.
    let text = "[[step]]\nid = \"there\"\nverify = true\n[[on_failure]]\nexpect = [\"not there.drifted\"]\n";
    let mut told =
        ScriptedRunner { fails: Some(("verify", 3)), back: true, saw, ..ScriptedRunner::default() };
    let report = run_steps(&read_book(&book(text)).unwrap(), &mut told);
    assert_eq!((report.exit, report.steps[0].partial), (3, true));
    assert_eq!(report.steps[0].values.get("drifted"), Some(&drifted.1));
    assert_eq!(report.on_failure[0].state, StepState::Stopped, "{}", report.on_failure[0].words);
    assert!(report.on_failure[0].words.contains("drifted is true"), "{}", report.on_failure[0].words);
}
