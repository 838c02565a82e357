//! Prints the report of a run.

use std::path::Path;

use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::runbook::report::{RunReport, StepReport, StepState};
use crate::runbook::step_runner::run_journal::InterruptedRun;
use crate::script::context::Context;
use crate::script::table::write_pairs;
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

pub fn write(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    file: &Path,
    report: &RunReport,
    before: Option<&InterruptedRun>,
) -> Result<(), Failure> {
    if context.output.json {
        let mut object = context.object("run", snapshot)?;
        object.field("runbook", &file.display().to_string())?;
        object.field("name", &report.name)?;
        object.field("dry_run", &report.dry_run)?;
        object.field("vars", &report.vars)?;
        object.field("state", &report.state)?;
        object.field("exit", &report.exit)?;
        object.field("why", &report.why)?;
        object.list("steps", report.steps.iter())?;
        object.list("on_failure", report.on_failure.iter())?;
        object.field("taken_back", &report.taken_back)?;
        object.field("interrupted_before", &before)?;
        return Ok(object.end()?);
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
    Ok(write_pairs(context.output.out, (context.output.paint, context.output.page), &lines)?)
}

fn step_line(step: &StepReport) -> (&'static str, String) {
    let name = step.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    let words = if step.words.is_empty() { String::new() } else { format!(": {}", step.words) };
    let words = if step.state == StepState::NotRun { String::new() } else { words };
    (step.kind, format!("{}{name}{words}", step.state.word()))
}
