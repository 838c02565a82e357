//! Checks the order of steps: decisions without a change, windows that end before a decision, guards over values that
//! no step gives.

use std::collections::BTreeSet;
use std::time::Duration;

use super::book::{Book, Expected, Step, Task};
use super::fields::Fault;
use super::given;
use super::guard::Guard;
use fabdeck_fabric::{meant, resembling};

pub fn faults(book: &Book) -> Vec<Fault> {
    let mut found = Vec::new();
    changes(book, &mut found);
    values(book, &mut found);
    found
}

/// Checks changes: a plan comes before an apply, each change is decided once and within its window.
fn changes(book: &Book, found: &mut Vec<Fault>) {
    let mut fault = |line, what: String| found.push(Fault { line, what });
    let mut planned = false;
    // The step that applied, its window, and how long the steps since then can last.
    let mut pending: Option<(&Step, Duration, Duration)> = None;
    for step in &book.steps {
        if let Some((_, _, lasts)) = &mut pending {
            *lasts = lasts.saturating_add(step.task.lasts());
        }
        match (&step.task, pending) {
            (Task::Apply(apply), None) => {
                if apply.plan.is_none() && !planned {
                    fault(step.line, no_plan());
                }
                pending = Some((step, apply.window, Duration::ZERO));
                planned = false;
            }
            (Task::Apply(_), Some((other, ..))) => fault(
                step.line,
                format!(
                    "FD-9211: the change of line {} is pending still; confirm or rollback comes before another apply",
                    other.line
                ),
            ),
            (Task::Confirm | Task::Rollback, None) => fault(
                step.line,
                format!("FD-9211: {} without apply: no change is pending here", step.task.kind()),
            ),
            (Task::Confirm, Some((other, window, lasts))) => {
                if lasts >= window {
                    fault(other.line, too_short(window, lasts, step.line));
                }
                pending = None;
            }
            (Task::Rollback, Some(_)) => pending = None,
            (task, _) => planned |= task.makes_plan(),
        }
    }
    if let Some((step, ..)) = pending {
        let what = "FD-9211: apply without confirm or rollback: nobody decides over the change";
        fault(step.line, what.to_owned());
    }
    for step in &book.on_failure {
        if matches!(step.task, Task::Apply(_) | Task::Confirm) {
            let kind = step.task.kind();
            fault(
                step.line,
                format!("FD-9211: {kind} on failure: what failed is taken back, and nothing else written"),
            );
        }
    }
}

fn no_plan() -> String {
    "FD-9211: apply without a plan: give 'plan', or a step before that makes one (route, disable, enable, lanes)".to_owned()
}

fn too_short(window: Duration, lasts: Duration, line: usize) -> String {
    format!(
        "FD-9212: the window of {} s is too short: the steps up to confirm (line {line}) may last {} s; give a longer 'window'",
        window.as_secs(),
        lasts.as_secs()
    )
}

/// Checks that guards and conditions use values of their own step or of an earlier one.
fn values(book: &Book, found: &mut Vec<Fault>) {
    let mut known: BTreeSet<String> = BTreeSet::new();
    let refuse = |guards: &[Guard], known: &BTreeSet<String>, found: &mut Vec<Fault>, who: &str| {
        for guard in guards {
            for name in guard.names().into_iter().filter(|name| !known.contains(*name)) {
                found.push(Fault { line: guard.line, what: not_given(name, known, who) });
            }
        }
    };
    let mut jobs = false;
    for step in book.steps.iter().chain(&book.on_failure) {
        jobs |= matches!(step.task, Task::Jobs(_));
        if let Task::Expect(Expected::Values(guards)) = &step.task {
            refuse(guards, &known, found, "no step before gives");
        }
        // Values about jobs exist only after a step that names the jobs.
        for name in given::by(&step.task).into_iter().filter(|name| jobs || !given::is_of_jobs(name)) {
            known.extend(step.id.as_ref().map(|id| format!("{id}.{name}")));
            known.insert(name);
        }
        refuse(&step.guards, &known, found, "neither this step nor one before gives");
    }
    refuse(&book.guards, &known, found, "no step gives");
}

fn not_given(name: &str, known: &BTreeSet<String>, who: &str) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    let all = given::names();
    match all.contains(&name) || all.contains(&last) {
        true => format!("FD-9210: {who} the value '{name}'"),
        false => {
            let names: BTreeSet<&str> = known.iter().map(String::as_str).chain(all.iter().copied()).collect();
            let meant = meant(&resembling(name, names.into_iter()));
            format!("FD-9210: {who} the value '{name}', for there is none of that name{meant}")
        }
    }
}
