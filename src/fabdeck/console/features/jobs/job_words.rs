//! The source of job lists in words, and the jobs as an argument of commands.

use std::path::Path;
use std::sync::Arc;

use super::current_job_source::{CurrentJobSource, current_job_source};
use crate::catalogue::shell_words::quote_for_shell;
use crate::console::model::state::SessionState;
use crate::operations::jobs::job_request::JobListSource;

/// Drops jobs and loads, because port ids have changed. Jobs are matched again before engines use them.
pub fn forget_ports(state: &mut SessionState) {
    state.request.jobs = Arc::default();
    let jobs = &mut state.known.jobs;
    (jobs.asked_with, jobs.of, jobs.comparison) = (Arc::default(), None, None);
    jobs.asked_words.clear();
}

/// The argument of `jobs` that stands for the current source.
pub fn source_argument(state: &SessionState) -> String {
    match current_job_source(&state.known) {
        CurrentJobSource::Named(JobListSource::Slurm(_)) => "slurm".to_owned(),
        CurrentJobSource::Named(JobListSource::File(file)) => file.display().to_string(),
        CurrentJobSource::Recorded(_) | CurrentJobSource::Unknown => "usual".to_owned(),
    }
}

/// Text about the source at the start of the session.
pub fn default_source_words(state: &SessionState) -> String {
    match &state.known.jobs.usual {
        Some(from) => format!("as at the start: {}", from.words()),
        None if state.source.split(':').next() == Some("sim") => "the SIMULATED jobs again".to_owned(),
        None => "those of the recording, or none".to_owned(),
    }
}

/// The jobs as an argument of other commands.
pub fn jobs_argument(state: &SessionState) -> String {
    match asked_file(state).filter(|_| !state.request.jobs.is_empty()) {
        Some(file) => format!(" --jobs {}", quote_for_shell(&file.display().to_string())),
        None => String::new(),
    }
}

/// The file with the jobs in the request of engines; `None` if the source has changed since.
pub(crate) fn asked_file(state: &SessionState) -> Option<&Path> {
    let jobs = &state.known.jobs;
    let same = jobs.comparison.as_ref().is_some_and(|comparison| *comparison.jobs == *jobs.asked_with);
    match current_job_source(&state.known) {
        CurrentJobSource::Named(JobListSource::File(file)) if same => Some(file),
        _ => None,
    }
}
