//! The current source of job lists: a named one, or a recording at the moment that is shown. A simulated
//! fabric has none.

use std::sync::Arc;

use crate::console::features::timeline::playback::Playback;
use crate::console::model::fabric_model::Model;
use crate::operations::jobs::job_request::{JobInput, JobListSource};
use crate::operations::jobs::recorded_jobs::RecordedJobs;
use fabdeck_fabric::observe::JobSnapshot;

#[derive(Clone, Copy, Debug)]
pub enum CurrentJobSource<'k> {
    Named(&'k JobListSource),
    /// The list that was recorded up to the moment that is shown.
    Recorded(&'k Arc<JobSnapshot>),
    Unknown,
}

/// Determines the current source. A named source knows only the present. So it takes precedence over a
/// recording only in a capture, and only where the operator named it in this session.
pub fn current_job_source(known: &Model) -> CurrentJobSource<'_> {
    let recorded = known.look.as_ref().and_then(|look| look.observation.jobs.as_ref());
    let pauses = known.playback.as_ref().is_some_and(|playback| playback.live.is_some());
    match (recorded, &known.jobs.settings.from) {
        (Some(list), Some(_)) if pauses || !known.jobs.named => CurrentJobSource::Recorded(list),
        (Some(list), None) => CurrentJobSource::Recorded(list),
        (_, Some(from)) => CurrentJobSource::Named(from),
        (None, None) => CurrentJobSource::Unknown,
    }
}

/// The jobs from the current source; `None` for a recording without any list so far.
pub fn current_jobs(known: &Model) -> Option<&Arc<JobInput>> {
    match current_job_source(known) {
        CurrentJobSource::Recorded(list) => {
            let held = known.jobs.recorded.as_ref().filter(|(of, _)| Arc::ptr_eq(of, list));
            held.map(|(_, input)| input).filter(|_| list.read_at.is_some())
        }
        _ => known.jobs.received.as_ref().map(|(input, _)| input),
    }
}

/// Stores the list of a recording in the form of an input.
pub fn load_recorded(known: &mut Model) {
    let CurrentJobSource::Recorded(list) = current_job_source(known) else { return };
    let list = list.clone();
    if known.jobs.recorded.as_ref().is_none_or(|(of, _)| !Arc::ptr_eq(of, &list)) {
        known.jobs.recorded = Some((list.clone(), Arc::new(JobInput::Recorded(list))));
    }
}

/// Reason why there is no newer list.
pub fn trouble_words(known: &Model) -> Option<String> {
    let CurrentJobSource::Recorded(list) = current_job_source(known) else {
        return known.jobs.trouble.clone();
    };
    let since = if list.read_at.is_some() { "since then" } else { "was received by then" };
    list.failure.as_ref().map(|why| format!("no list of jobs {since}: {why}"))
}

/// Text with the age of a recorded list, at the moment that is shown.
pub fn recorded_words(known: &Model, list: &JobSnapshot) -> String {
    let shown = known.playback.as_ref().map(Playback::time);
    let seconds = shown.zip(list.read_at).map(|(shown, read)| shown.saturating_sub(read).max(0) / 1000);
    let look = || Some(RecordedJobs::from_snapshot(known.look.as_ref()?)?.age_seconds()?.cast_signed());
    match seconds.or_else(look) {
        Some(seconds) => format!("jobs recorded {seconds} s before"),
        None => "jobs recorded".to_owned(),
    }
}
