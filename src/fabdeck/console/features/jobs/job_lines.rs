//! Lines about the running jobs, and the command that lists them.

use super::current_job_source::{CurrentJobSource, current_job_source};
use super::jobs_model::JobsModel;
use crate::console::model::fabric_model::Model;
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::jobs::job_request::JobInput;
use fabdeck_fabric::observe::digits_in_groups;

/// Records that the answer of sar is about to be dropped, and why.
pub fn drop_sar_answer(known: &mut Model, changed: &'static str) {
    let answered = JobsModel::sar_engine().is_some_and(|sar| known.proposal(sar).is_some());
    if answered && !known.jobs.asked_with.is_empty() {
        known.jobs.gone = Some(changed);
    }
}

/// The line that says why sar's answer was dropped, until sar runs again.
pub fn dropped_answer_line(known: &Model) -> Option<String> {
    let asked = JobsModel::sar_engine().is_some_and(|sar| known.proposed.contains_key(sar.id));
    let changed = known.jobs.gone.filter(|_| !asked)?;
    Some(format!("{changed} since sar ran, so its figures were dropped: p runs it"))
}

/// Whether a live source is paused; a command would then show the present instead of the moment on the
/// screens.
pub(crate) fn is_paused(known: &Model) -> bool {
    known.playback.as_ref().is_some_and(|playback| playback.live.is_some())
}

/// The command that lists the same jobs.
pub fn jobs_command(known: &Model) -> Option<String> {
    let arguments = match (current_job_source(known), &known.jobs.settings.from) {
        // The command reads the jobs of a capture by itself.
        (CurrentJobSource::Recorded(_), _) if !is_paused(known) => String::new(),
        (_, Some(from)) => from.arguments(),
        (_, None) if matches!(known.jobs.received, Some((ref input, _)) if **input == JobInput::Simulated) => {
            String::new()
        }
        _ => return None,
    };
    Some(format!("jobs{arguments} --filter 'switches>1,hosts>1'"))
}

/// The line about pairs within jobs without a path, where there are any; no load figure shows them.
pub fn lost_line(comparison: &JobComparison) -> Option<String> {
    let lost = |over: &Option<crate::operations::jobs::job_comparison::JobsUnderRoutes>| {
        over.as_ref().map(|over| over.metrics.lost)
    };
    let (now, then) = (lost(&comparison.in_force), lost(&comparison.proposed));
    let some = now.unwrap_or(0) + then.unwrap_or(0) > 0;
    let now = now.map_or_else(|| "?".to_owned(), digits_in_groups);
    let then = then.map(|then| format!(" -> {}", digits_in_groups(then))).unwrap_or_default();
    some.then(|| format!("pairs within jobs without a path: {now}{then}"))
}
