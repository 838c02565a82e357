//! Who knows the jobs of a session: whoever is named, or a recording at the moment that it shows; of a simulated fabric
//! nobody does.

use std::sync::Arc;

use super::known::Known;
use super::running_jobs::{Heard, JobsFrom};
use super::timeline::Playback;
use crate::session::RecordedJobs;
use fabdeck_fabric::observe::JobsHeard;

#[derive(Clone, Copy, Debug)]
pub enum Knower<'k> {
    Named(&'k JobsFrom),
    /// What was heard by the moment shown.
    Recorded(&'k Arc<JobsHeard>),
    Nobody,
}

/// Who that is now. What was recorded is of the moment shown, and whoever is named knows only what is now; so he counts
/// over a capture alone, and there only where somebody named him in this session.
pub fn knower(known: &Known) -> Knower<'_> {
    let recorded = known.look.as_ref().and_then(|look| look.observation.jobs.as_ref());
    let pauses = known.playback.as_ref().is_some_and(|playback| playback.live.is_some());
    match (recorded, &known.jobs.settings.from) {
        (Some(said), Some(_)) if pauses || !known.jobs.named => Knower::Recorded(said),
        (Some(said), None) => Knower::Recorded(said),
        (_, Some(from)) => Knower::Named(from),
        (None, None) => Knower::Nobody,
    }
}

/// What was heard, of whoever knows it. Of a recording that was silent from the beginning nothing.
pub fn heard(known: &Known) -> Option<&Arc<Heard>> {
    match knower(known) {
        Knower::Recorded(said) => {
            let held = known.jobs.recorded.as_ref().filter(|(of, _)| Arc::ptr_eq(of, said));
            held.map(|(_, heard)| heard).filter(|_| said.heard.is_some())
        }
        _ => known.jobs.heard.as_ref().map(|(heard, _)| heard),
    }
}

/// The list of a recording, ready to be weighed.
pub fn take_recorded(known: &mut Known) {
    let Knower::Recorded(said) = knower(known) else { return };
    let said = said.clone();
    if known.jobs.recorded.as_ref().is_none_or(|(of, _)| !Arc::ptr_eq(of, &said)) {
        known.jobs.recorded = Some((said.clone(), Arc::new(Heard::Recorded(said))));
    }
}

/// Why nothing newer is known.
pub fn trouble(known: &Known) -> Option<String> {
    let Knower::Recorded(said) = knower(known) else { return known.jobs.trouble.clone() };
    let since = if said.heard.is_some() { "since then" } else { "was heard by then" };
    said.silent.as_ref().map(|why| format!("no list of jobs {since}: {why}"))
}

/// How old a recorded list was at the moment shown.
pub fn recorded_words(known: &Known, said: &JobsHeard) -> String {
    let shown = known.playback.as_ref().map(Playback::time);
    let seconds = shown.zip(said.heard).map(|(shown, heard)| shown.saturating_sub(heard).max(0) / 1000);
    let look = || Some(RecordedJobs::of(known.look.as_ref()?)?.age_seconds()?.cast_signed());
    match seconds.or_else(look) {
        Some(seconds) => format!("jobs recorded {seconds} s before"),
        None => "jobs recorded".to_owned(),
    }
}
