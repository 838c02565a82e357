//! Checks a runbook against the fabric before its first step.

use std::path::{Path, PathBuf};

use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::environment::Env;
use crate::operations::operation::Operation;
use crate::operations::plans::link_service::find_service_element;
use crate::operations::plans::plan_file;
use crate::operations::preview::whatif::parse_marks;
use crate::operations::view_id::ViewId;
use crate::runbook::fields::RunbookFault;
use crate::runbook::row_condition::RowCondition;
use crate::runbook::steps::{ExpectTask, Runbook, RunbookStep, StepTask, WaitTask};
use crate::system::output_file;
use fabdeck_mad::access::ReadOptions;

fn rows_of(step: &RunbookStep) -> Option<&RowCondition> {
    match &step.task {
        StepTask::Expect(ExpectTask::Rows(rows)) | StepTask::Wait(WaitTask::Until { rows, .. }) => Some(rows),
        _ => None,
    }
}

/// Reads the fabric once, and returns the faults of a runbook that does not fit it.
pub fn check(
    operation: &mut Operation<'_>,
    book: &Runbook,
    dry: bool,
) -> Result<(Snapshot, Vec<RunbookFault>), Failure> {
    let all = || book.steps.iter().chain(&book.on_failure);
    let counters = all().filter_map(rows_of).any(|rows| rows.table == ViewId::Counters);
    let snapshot = operation.read_snapshot(ReadOptions { counters, ..ReadOptions::default() })?;
    let mut faults = Vec::new();
    let mut made: Vec<&Path> = Vec::new();
    let mut ran = false;
    for step in all() {
        // A program that runs earlier may write this file.
        let list = if ran { None } else { job_list_problem(operation.env, step) };
        ran |= matches!(step.task, StepTask::Run(_));
        if let Some(what) = list.or_else(|| step_problem(&snapshot, step, &made, dry)) {
            faults.push(RunbookFault { line: step.line, what });
        }
        if let StepTask::Route(route) = &step.task {
            made.extend(route.plan.as_deref());
        }
        if let StepTask::Lanes(propose) = &step.task {
            made.extend(propose.plan.as_deref());
        }
    }
    Ok((snapshot, faults))
}

fn step_problem(snapshot: &Snapshot, step: &RunbookStep, made: &[&Path], dry: bool) -> Option<String> {
    let element = |error: String| format!("FD-9214: {error}");
    match &step.task {
        StepTask::Fail(elements) | StepTask::Unmark(elements) => {
            let marked = parse_marks(snapshot, elements);
            let answered = marked.map_err(|error| error.to_string());
            unless_partial(snapshot, answered.err()).map(element)
        }
        StepTask::Disable(text) | StepTask::Enable(text) => {
            let found = find_service_element(snapshot, text).map_err(|error| error.to_string());
            unless_partial(snapshot, found.err()).map(element)
        }
        StepTask::Expect(ExpectTask::Rows(rows)) | StepTask::Wait(WaitTask::Until { rows, .. }) => {
            let listing = rows.table.listing(snapshot).filter(|_| rows.table == ViewId::Counters);
            let checked = listing.map_or(Ok(()), |listing| rows.check(listing.as_ref()));
            checked.err().map(|what| format!("FD-9213: {what}"))
        }
        StepTask::Apply(apply) => {
            apply.plan.as_deref().filter(|file| !made.contains(file)).and_then(|file| {
                plan_file::read(file)
                    .err()
                    .map(|failure| format!("FD-9217: {}", failure.message.unwrap_or_default()))
            })
        }
        StepTask::Route(route) => existing_file_problem(route.plan.as_deref(), dry),
        StepTask::Lanes(propose) => existing_file_problem(propose.plan.as_deref(), dry),
        StepTask::Record { file, .. } => existing_file_problem(Some(file), dry),
        StepTask::Jobs(jobs) => jobs
            .squeue
            .as_ref()
            .filter(|program| !program.is_file())
            .map(|program| format!("FD-9219: there is no executable program '{}'", program.display())),
        StepTask::Run(program) => find_program(&program.program)
            .is_none()
            .then(|| format!("FD-9219: there is no executable program '{}'", program.program)),
        _ => None,
    }
}

/// Fault of a list of jobs that cannot be read. Stdin can be read only once, so it is left to the step.
fn job_list_problem(env: Env<'_>, step: &RunbookStep) -> Option<String> {
    let StepTask::Jobs(jobs) = &step.task else { return None };
    let file = jobs.file.as_deref().filter(|file| file.as_os_str() != "-")?;
    env.outside.jobs(file).err().map(|error| format!("FD-9220: {error}"))
}

/// Drops an error if part of the fabric did not answer: the element may exist, and the step reads again.
fn unless_partial(snapshot: &Snapshot, error: Option<String>) -> Option<String> {
    error.filter(|_| !snapshot.observation.is_partial())
}

fn existing_file_problem(file: Option<&Path>, dry: bool) -> Option<String> {
    let refused = file.filter(|_| !dry).and_then(|file| output_file::refuse_existing(file).err())?;
    Some(format!("FD-9218: {}", refused.message.unwrap_or_default()))
}

/// Finds a program by its path, or by its name in the folders of PATH.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let runs = |file: &Path| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(file).is_ok_and(|held| held.is_file() && held.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|file| runs(file));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| runs(file))
}
