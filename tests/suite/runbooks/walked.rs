//! The course of a book with nobody but a crew that says what it was asked for.

use fabdeck::runbook::{Crew, Did, Found, Mark, RunState, Seen, StepState, TakenBack, Task, Trouble, walk};

use super::{book, read_book};

/// Does what it is told to, and writes down that it was asked.
#[derive(Default)]
struct Told {
    asked: Vec<String>,
    pending: bool,
    /// The kind of step that cannot be done, and the code that says so.
    fails: Option<(&'static str, u8)>,
    /// The kind behind which somebody wants the run to end.
    stops: Option<&'static str>,
    stopped: bool,
    back: bool,
    /// What a step saw that was not done.
    saw: Seen,
}

impl Crew for Told {
    fn dry(&self) -> bool {
        false
    }

    fn stopped(&self) -> bool {
        self.stopped
    }

    fn time(&mut self) -> Option<String> {
        None
    }

    fn seconds(&mut self) -> f64 {
        0.0
    }

    fn say(&mut self, _: &str) {}

    fn mark(&mut self, mark: Mark<'_>) -> Result<(), Trouble> {
        if let Mark::Ended(how) = mark {
            self.asked.push(how.to_owned());
        }
        Ok(())
    }

    fn carry_out(&mut self, task: &Task) -> Result<Did, Trouble> {
        let kind = task.kind();
        self.asked.push(kind.to_owned());
        if let Some((_, exit)) = self.fails.filter(|(fails, _)| *fails == kind) {
            return Err(Trouble { exit, words: "it does not go".to_owned(), change: None });
        }
        match task {
            Task::Apply(_) => self.pending = true,
            Task::Confirm | Task::Rollback => self.pending = false,
            _ => {}
        }
        self.stopped = self.stops == Some(kind);
        let values = match task {
            Task::Verify { .. } => vec![("lost_pairs".to_owned(), Found::count(3))],
            _ => Vec::new(),
        };
        Ok(Did { values, ..Did::default() })
    }

    fn seen(&mut self) -> Seen {
        std::mem::take(&mut self.saw)
    }

    fn pending(&self) -> Option<String> {
        self.pending.then(|| "12345678".to_owned())
    }

    fn take_back(&mut self) -> TakenBack {
        self.asked.push("take back".to_owned());
        self.pending = false;
        TakenBack { change: "12345678".into(), state: None, words: String::new(), complete: self.back }
    }
}

const STEPS: &str = "[[step]]\nroute = { engine = \"updn\" }\n[[step]]\napply = {}\n[[step]]\nverify = true\nguards = [GUARD]\n\
                     [[step]]\nconfirm = true\n[[on_failure]]\nnotify = \"x\"\n[[on_failure]]\nfail = \"a\"\n";

fn walked(guard: &str, mut told: Told) -> (fabdeck::runbook::Report, Vec<String>) {
    told.back = true;
    let book = read_book(&book(&STEPS.replace("GUARD", guard))).unwrap();
    let report = walk(&book, &mut told);
    (report, told.asked)
}

#[test]
fn steps_are_done_in_their_order() {
    let (report, asked) = walked("\"lost_pairs <= 3\"", Told::default());
    assert_eq!(asked, ["route", "apply", "verify", "confirm", "done"]);
    assert_eq!((report.state, report.exit, report.taken_back), (RunState::Done, 0, None));
}

#[test]
fn the_first_guard_that_fails_ends_it_and_what_is_pending_goes_back() {
    let (report, asked) =
        walked("\"lost_pairs >= 0\", \"lost_pairs <= 2\", \"lost_pairs <= 1\"", Told::default());
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
        let (report, asked) =
            walked("\"lost_pairs >= 0\"", Told { fails: Some((kind, exit)), ..Told::default() });
        assert_eq!((report.state, report.exit), (RunState::Failed, exit), "{kind}");
        assert_eq!(asked.contains(&"take back".to_owned()), !after.is_empty(), "{kind}: {asked:?}");
        assert_eq!(asked.last().unwrap(), "failed");
    }
    // What is done on failure may fail too, and keeps nothing else from being done.
    let told = Told { fails: Some(("notify", 1)), ..Told::default() };
    let (report, asked) = walked("\"lost_pairs < 0\"", told);
    assert_eq!(asked, ["route", "apply", "verify", "take back", "notify", "fail", "stopped"]);
    assert_eq!((report.exit, report.on_failure[0].state), (2, StepState::Failed));
}

#[test]
fn whoever_ends_it_gets_what_is_pending_back_and_nothing_else() {
    for (kind, back) in [("route", false), ("apply", true), ("verify", true)] {
        let (report, asked) = walked("\"lost_pairs >= 0\"", Told { stops: Some(kind), ..Told::default() });
        assert_eq!(report.state, RunState::Interrupted, "{kind}");
        assert_eq!(asked.contains(&"take back".to_owned()), back, "{kind}: {asked:?}");
        assert!(!asked.contains(&"notify".to_owned()), "{kind}: {asked:?}");
    }
    let (report, _) = walked("\"lost_pairs >= 0\"", Told { stops: Some("confirm"), ..Told::default() });
    assert_eq!(report.state, RunState::Done, "all was done when somebody wanted it to end");
}

#[test]
fn guards_of_the_book_are_judged_once_there_is_something_to_judge() {
    let text = format!("guards = [\"lost_pairs <= 2\"]\n{}", STEPS.replace("guards = [GUARD]", ""));
    let mut told = Told { back: false, ..Told::default() };
    let report = walk(&read_book(&book(&text)).unwrap(), &mut told);
    assert_eq!(report.steps[0].guards[0].found, "lost_pairs is not given yet");
    assert_eq!((report.steps[2].state, report.steps[2].guards.len()), (StepState::Stopped, 1));
    // What could not be taken back matters more than why.
    assert_eq!(report.exit, 6);
}

#[test]
fn what_a_step_saw_is_told_even_where_it_was_not_done() {
    let drifted = ("drifted".to_owned(), Found::Flag(true));
    let saw = Seen { partial: true, values: vec![drifted.clone()] };
    // The first step is the one that fails: what it saw is judged by what is done on failure.
    let text = "[[step]]\nid = \"there\"\nverify = true\n[[on_failure]]\nexpect = [\"not there.drifted\"]\n";
    let mut told = Told { fails: Some(("verify", 3)), back: true, saw, ..Told::default() };
    let report = walk(&read_book(&book(text)).unwrap(), &mut told);
    assert_eq!((report.exit, report.steps[0].partial), (3, true));
    assert_eq!(report.steps[0].values.get("drifted"), Some(&drifted.1));
    assert_eq!(report.on_failure[0].state, StepState::Stopped, "{}", report.on_failure[0].words);
    assert!(report.on_failure[0].words.contains("drifted is true"), "{}", report.on_failure[0].words);
}
