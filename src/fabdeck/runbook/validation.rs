//! Checks the order of steps: decisions without a change, windows that end before a decision, guards over values that
//! no step sets.

use std::collections::BTreeSet;
use std::time::Duration;

use super::fields::RunbookFault;
use super::guard::StepGuard;
use super::steps::{ExpectTask, Runbook, RunbookStep, StepTask};
use super::value_names;
use fabdeck_fabric::{similar_words, suggest};

pub fn find_faults(book: &Runbook) -> Vec<RunbookFault> {
    let mut found = Vec::new();
    check_changes(book, &mut found);
    check_values(book, &mut found);
    found
}

/// Checks changes: a plan comes before an apply, each change is decided once and within its window.
fn check_changes(book: &Runbook, found: &mut Vec<RunbookFault>) {
    let mut fault = |line, what: String| found.push(RunbookFault { line, what });
    let mut planned = false;
    // The step that applied, its window, and how long the steps since then can last.
    let mut pending: Option<(&RunbookStep, Duration, Duration)> = None;
    for step in &book.steps {
        if let Some((_, _, lasts)) = &mut pending {
            *lasts = lasts.saturating_add(step.task.max_duration());
        }
        match (&step.task, pending) {
            (StepTask::Apply(apply), None) => {
                if apply.plan.is_none() && !planned {
                    fault(step.line, no_plan_message());
                }
                pending = Some((step, apply.window, Duration::ZERO));
                planned = false;
            }
            (StepTask::Apply(_), Some((other, ..))) => fault(
                step.line,
                format!(
                    "FD-9211: the change of line {} is still pending; confirm it or roll it back before another apply",
                    other.line
                ),
            ),
            (StepTask::Confirm | StepTask::Rollback, None) => fault(
                step.line,
                format!("FD-9211: {} without apply: no change is pending here", step.task.kind()),
            ),
            (StepTask::Confirm, Some((other, window, lasts))) => {
                if lasts >= window {
                    fault(other.line, short_window_message(window, lasts, step.line));
                }
                pending = None;
            }
            (StepTask::Rollback, Some(_)) => pending = None,
            (task, _) => planned |= task.makes_plan(),
        }
    }
    if let Some((step, ..)) = pending {
        let what = "FD-9211: apply without confirm or rollback: no step decides about the change";
        fault(step.line, what.to_owned());
    }
    for step in &book.on_failure {
        if matches!(step.task, StepTask::Apply(_) | StepTask::Confirm) {
            let kind = step.task.kind();
            fault(
                step.line,
                format!(
                    "FD-9211: {kind} on failure: the failed change is rolled back, and no other is permitted"
                ),
            );
        }
    }
}

fn no_plan_message() -> String {
    "FD-9211: apply without a plan: give 'plan', or an earlier step that makes one (route, disable, enable, lanes)".to_owned()
}

fn short_window_message(window: Duration, lasts: Duration, line: usize) -> String {
    format!(
        "FD-9212: the window of {} s is too short: the steps up to confirm (line {line}) may last {} s; give a longer 'window'",
        window.as_secs(),
        lasts.as_secs()
    )
}

/// Checks that guards and conditions use values of their own step or of an earlier one.
fn check_values(book: &Runbook, found: &mut Vec<RunbookFault>) {
    let mut known: BTreeSet<String> = BTreeSet::new();
    let refuse = |guards: &[StepGuard],
                  known: &BTreeSet<String>,
                  found: &mut Vec<RunbookFault>,
                  who: &str| {
        for guard in guards {
            for name in guard.names().into_iter().filter(|name| !known.contains(*name)) {
                found.push(RunbookFault { line: guard.line, what: missing_value_message(name, known, who) });
            }
        }
    };
    let mut jobs = false;
    for step in book.steps.iter().chain(&book.on_failure) {
        jobs |= matches!(step.task, StepTask::Jobs(_));
        if let StepTask::Expect(ExpectTask::Values(guards)) = &step.task {
            refuse(guards, &known, found, "no earlier step sets");
        }
        // Values about jobs exist only after a step that names the jobs.
        for name in value_names::names_of_task(&step.task)
            .into_iter()
            .filter(|name| jobs || !value_names::is_job_value(name))
        {
            known.extend(step.id.as_ref().map(|id| format!("{id}.{name}")));
            known.insert(name);
        }
        refuse(&step.guards, &known, found, "neither this step nor an earlier one sets");
    }
    refuse(&book.guards, &known, found, "no step sets");
}

fn missing_value_message(name: &str, known: &BTreeSet<String>, who: &str) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    let all = value_names::names();
    match all.contains(&name) || all.contains(&last) {
        true => format!("FD-9210: {who} the value '{name}'"),
        false => {
            let names: BTreeSet<&str> = known.iter().map(String::as_str).chain(all.iter().copied()).collect();
            let meant = suggest(&similar_words(name, names.into_iter()));
            format!("FD-9210: {who} the value '{name}', which does not exist{meant}")
        }
    }
}
