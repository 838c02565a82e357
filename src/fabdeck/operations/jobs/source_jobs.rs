//! The jobs that the source of a fabric has itself: those of a recording, and generated ones for a simulated fabric.

use std::path::Path;

use super::job_comparison::simulated_jobs;
use super::recorded_jobs::RecordedJobs;
use super::summary::place_jobs;
use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::observe::NotePlace;
use fabdeck_files::capture::find_capture;
use fabdeck_files::job_lists::JobList;
use fabdeck_files::jobs::JobPlacement;

/// Jobs of a source, placed on its snapshot.
pub enum SourceJobs {
    Recorded {
        placed: JobPlacement,
        words: String,
        /// The time at which the list was read, and its age at the moment shown.
        read_at: Option<String>,
        age_seconds: Option<u64>,
    },
    /// No list was recorded by then, for this reason.
    NotReceived(String),
    Simulated(JobPlacement),
}

/// Whether a source is a capture, which may have recorded jobs.
pub fn is_capture(source: &str) -> bool {
    !is_simulated(source) && find_capture(Path::new(source)).is_some()
}

/// Places the jobs that a source has itself; `None` where it has none.
pub fn place_source_jobs(snapshot: &mut Snapshot, source: &str) -> Option<SourceJobs> {
    let Some(recorded) = RecordedJobs::from_snapshot(snapshot) else {
        return is_simulated(source).then(|| SourceJobs::Simulated(simulated_jobs(snapshot.fabric())));
    };
    let words = recorded.words();
    if recorded.said.read_at.is_none() {
        return Some(SourceJobs::NotReceived(words));
    }
    let (read_at, age_seconds) = (recorded.heard_time(), recorded.age_seconds());
    let list = JobList::from_recording(&recorded.said.jobs);
    let placed = place_jobs(snapshot, &list, &NotePlace::file(source));
    Some(SourceJobs::Recorded { placed, words, read_at, age_seconds })
}

fn is_simulated(source: &str) -> bool {
    source.starts_with("sim:")
}
