//! Checks a runbook against the fabric before its first step.

use std::path::{Path, PathBuf};

use crate::runbook::{Book, Expected, Fault, RowsAre, Step, Task, Wait};
use crate::script::context::Context;
use crate::script::{Failure, plan, target};
use crate::session::{Browse, Look, marks, service_element};
use fabdeck_mad::access::Wanted;

/// Parts of the fabric that a condition over rows needs.
pub fn wanted(rows: &RowsAre) -> Wanted {
    Wanted {
        tables: rows.table == Browse::Tables || with_paths(rows),
        multicast: rows.table == Browse::Tables && rows.names("groups"),
        lanes: rows.table == Browse::Lanes,
        counters: rows.table == Browse::Counters || (rows.table == Browse::Links && rows.names("errors")),
        ..Wanted::default()
    }
}

/// Whether the condition uses the number of paths over links.
pub fn with_paths(rows: &RowsAre) -> bool {
    rows.table == Browse::Links && rows.names("efi")
}

fn rows_of(step: &Step) -> Option<&RowsAre> {
    match &step.task {
        Task::Expect(Expected::Rows(rows)) | Task::Wait(Wait::Until { rows, .. }) => Some(rows),
        _ => None,
    }
}

/// Reads the fabric once and returns what in the runbook does not fit it.
pub fn check(context: &mut Context<'_, '_>, book: &Book, dry: bool) -> Result<(Look, Vec<Fault>), Failure> {
    let all = || book.steps.iter().chain(&book.on_failure);
    let counters = all().filter_map(rows_of).any(|rows| rows.table == Browse::Counters);
    let look = context.look(Wanted { counters, ..Wanted::default() })?;
    let mut faults = Vec::new();
    let mut made: Vec<&Path> = Vec::new();
    let mut ran = false;
    for step in all() {
        // A program that runs earlier may write this file.
        let list = if ran { None } else { no_list(context, step) };
        ran |= matches!(step.task, Task::Run(_));
        if let Some(what) = list.or_else(|| wrong(&look, step, &made, dry)) {
            faults.push(Fault { line: step.line, what });
        }
        if let Task::Route(route) = &step.task {
            made.extend(route.plan.as_deref());
        }
        if let Task::Lanes(propose) = &step.task {
            made.extend(propose.plan.as_deref());
        }
    }
    Ok((look, faults))
}

fn wrong(look: &Look, step: &Step, made: &[&Path], dry: bool) -> Option<String> {
    let element = |error: String| format!("FD-9214: {error}");
    match &step.task {
        Task::Fail(elements) | Task::Unmark(elements) => {
            let marked = marks(look, elements);
            let answered = marked.map_err(|error| error.to_string());
            partial(look, answered.err()).map(element)
        }
        Task::Disable(text) | Task::Enable(text) => {
            let found = service_element(look, text).map_err(|error| error.to_string());
            partial(look, found.err()).map(element)
        }
        Task::Expect(Expected::Rows(rows)) | Task::Wait(Wait::Until { rows, .. }) => {
            let listing = rows.table.listing(look).filter(|_| rows.table == Browse::Counters);
            let checked = listing.map_or(Ok(()), |listing| rows.check(listing.as_ref()));
            checked.err().map(|what| format!("FD-9213: {what}"))
        }
        Task::Apply(apply) => apply.plan.as_deref().filter(|file| !made.contains(file)).and_then(|file| {
            plan::read(file).err().map(|failure| format!("FD-9217: {}", failure.message.unwrap_or_default()))
        }),
        Task::Route(route) => taken(route.plan.as_deref(), dry),
        Task::Lanes(propose) => taken(propose.plan.as_deref(), dry),
        Task::Record { file, .. } => taken(Some(file), dry),
        Task::Jobs(jobs) => {
            jobs.squeue.as_ref().filter(|program| !program.is_file()).map(|program| {
                format!("FD-9219: there is no program '{}' that could be run", program.display())
            })
        }
        Task::Run(program) => program_of(&program.program)
            .is_none()
            .then(|| format!("FD-9219: there is no program '{}' that could be run", program.program)),
        _ => None,
    }
}

/// Fault of a list of jobs that cannot be read. Stdin can be read only once, so it is left to the step.
fn no_list(context: &Context<'_, '_>, step: &Step) -> Option<String> {
    let Task::Jobs(jobs) = &step.task else { return None };
    let file = jobs.file.as_deref().filter(|file| file.as_os_str() != "-")?;
    context.outside.jobs(file).err().map(|error| format!("FD-9220: {error}"))
}

/// Drops an error if part of the fabric did not answer: the element may exist, and the step reads again.
fn partial(look: &Look, error: Option<String>) -> Option<String> {
    error.filter(|_| !look.observation.partial())
}

fn taken(file: Option<&Path>, dry: bool) -> Option<String> {
    let refused = file.filter(|_| !dry).and_then(|file| target::refuse_taken(file).err())?;
    Some(format!("FD-9218: {}", refused.message.unwrap_or_default()))
}

/// Finds a program by its path, or by its name in the folders of PATH.
pub fn program_of(name: &str) -> Option<PathBuf> {
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
