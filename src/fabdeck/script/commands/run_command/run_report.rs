//! Prints the report of a run.

use std::collections::BTreeMap;
use std::path::Path;

use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::runbook::execute::PendingRollback;
use crate::runbook::report::{RunReport, RunState, StepReport, StepState};
use crate::runbook::step_runner::run_journal::InterruptedRun;
use crate::script::answer::{Lines, json_answer};
use crate::script::context::Context;
use fabdeck_fabric::observe::NotePlace;

/// Marks the run as partial if a reading of one of its steps was partial.
pub fn mark_partial(snapshot: &mut Snapshot, report: &RunReport) {
    for step in report.steps.iter().chain(&report.on_failure).filter(|step| step.partial) {
        let place = NotePlace::file(snapshot.source.clone());
        snapshot.observation.notes.add_partial("FN-706", place, || {
            format!("part of the fabric did not answer during the step {} (line {})", step.kind, step.line)
        });
    }
}

json_answer! {
    pub struct RunAnswer<'a> {
        runbook: String,
        name: &'a str,
        dry_run: bool,
        vars: &'a BTreeMap<String, String>,
        state: RunState,
        exit: u8,
        why: Option<&'a str>,
        steps: Lines<'a, &'a StepReport>,
        on_failure: Lines<'a, &'a StepReport>,
        taken_back: Option<&'a PendingRollback>,
        interrupted_before: Option<&'a InterruptedRun>,
    }
}

pub fn write(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    file: &Path,
    report: &RunReport,
    before: Option<&InterruptedRun>,
) -> Result<(), Failure> {
    if context.output.json {
        let answer = RunAnswer {
            runbook: file.display().to_string(),
            name: &report.name,
            dry_run: report.dry_run,
            vars: &report.vars,
            state: report.state,
            exit: report.exit,
            why: report.why.as_deref(),
            steps: Lines::of(&report.steps),
            on_failure: Lines::of(&report.on_failure),
            taken_back: report.taken_back.as_ref(),
            interrupted_before: before,
        };
        return context.write_answer("run", snapshot, answer);
    }
    let mut lines = vec![("runbook", report.name.clone())];
    if report.dry_run {
        lines.push(("dry run", "nothing was written: no change, no file, no program, no message".to_owned()));
    }
    lines.extend(report.steps.iter().map(step_line));
    lines.extend(report.taken_back.iter().map(|back| ("rolled back", back.words.clone())));
    lines.extend(
        report.on_failure.iter().map(|step| ("on failure", format!("{}: {}", step.kind, step_line(step).1))),
    );
    lines.push((
        "ended",
        match &report.why {
            None => "done".to_owned(),
            Some(why) => format!("exit code {}: {why}", report.exit),
        },
    ));
    Ok(context.output.write_pairs(&lines)?)
}

fn step_line(step: &StepReport) -> (&'static str, String) {
    let name = step.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    let words = if step.words.is_empty() { String::new() } else { format!(": {}", step.words) };
    let words = if step.state == StepState::NotRun { String::new() } else { words };
    (step.kind, format!("{}{name}{words}", step.state.word()))
}
