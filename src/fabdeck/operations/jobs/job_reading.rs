//! The running jobs on the fabric: those of a named list, those of a recording, and generated ones for a simulated fabric.

use super::job_comparison::SIMULATED_JOBS_SEED;
use super::job_request::JobListSource;
use super::list_source::{JobSource, read_list};
use super::source_jobs::{SourceJobs, is_capture, place_source_jobs};
use super::summary::{note_judged_lids, place_jobs};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::operation::Operation;
use fabdeck_files::jobs::JobPlacement;
use fabdeck_mad::access::ReadOptions;

/// The source of a list of jobs.
#[derive(Clone, Debug, Default)]
pub struct JobOrigin {
    pub from: String,
    /// Source and time of the list in words, if they are not obvious.
    pub words: Option<String>,
    /// For a recording: the time at which the list was read, and its age at the moment shown.
    pub read_at: Option<String>,
    pub age_seconds: Option<u64>,
}

/// The running jobs, placed on a snapshot with tables.
pub struct PlacedJobs {
    pub snapshot: Snapshot,
    pub placed: JobPlacement,
    pub origin: JobOrigin,
}

/// Jobs of the named source, otherwise of the fabric's source itself, otherwise of the configured source.
pub fn read_jobs(
    operation: &mut Operation<'_>,
    from: &JobSource,
    configured: Option<&JobListSource>,
) -> Result<PlacedJobs, Failure> {
    if !from.is_named() {
        return read_source_jobs(operation, from, configured);
    }
    read_named_jobs(operation, from)
}

fn read_snapshot(operation: &mut Operation<'_>) -> Result<Snapshot, Failure> {
    let mut snapshot = operation.read_snapshot(ReadOptions { tables: true, ..ReadOptions::default() })?;
    operation.env.assume(&mut snapshot)?;
    Ok(snapshot)
}

/// Jobs of the named source.
fn read_named_jobs(operation: &mut Operation<'_>, from: &JobSource) -> Result<PlacedJobs, Failure> {
    // The list comes first, because it arrives or fails within a known time.
    let list = read_list(operation, from)?;
    let mut snapshot = read_snapshot(operation)?;
    let placed = place_jobs(&mut snapshot, &list, &from.place());
    let origin = JobOrigin { from: from.place().file, ..JobOrigin::default() };
    Ok(PlacedJobs { snapshot, placed, origin })
}

/// Jobs of the source itself if it is a capture, otherwise of the configured source.
fn read_source_jobs(
    operation: &mut Operation<'_>,
    from: &JobSource,
    configured: Option<&JobListSource>,
) -> Result<PlacedJobs, Failure> {
    let source = operation.env.named_source()?.to_owned();
    let (from, is_capture) = (&from.or_configured(configured), is_capture(&source));
    if from.is_named() && !is_capture {
        return read_named_jobs(operation, from);
    }
    if source.split(':').next() == Some("umad") {
        // An adapter has no list of jobs, so the missing argument is reported before the long reading.
        from.refuse_unnamed()?;
    }
    let mut snapshot = read_snapshot(operation)?;
    match place_source_jobs(&mut snapshot, &source) {
        Some(SourceJobs::NotReceived(why)) => {
            return Err(Failure::new(
                Exit::Failed,
                format!(
                    "FD-7815: {source}: jobs at this moment: {why}; give a list with --file, or a later --at"
                ),
            ));
        }
        Some(SourceJobs::Recorded { placed, words, read_at, age_seconds }) => {
            let origin = JobOrigin { from: "recorded".to_owned(), words: Some(words), read_at, age_seconds };
            return Ok(PlacedJobs { snapshot, placed, origin });
        }
        Some(SourceJobs::Simulated(placed)) => {
            note_judged_lids(&mut snapshot);
            let words = Some(format!(
                "SIMULATED: these jobs are generated (seed {SIMULATED_JOBS_SEED}); the simulator runs none"
            ));
            let origin = JobOrigin { from: "SIMULATED".to_owned(), words, ..JobOrigin::default() };
            return Ok(PlacedJobs { snapshot, placed, origin });
        }
        None => {}
    }
    if is_capture && from.is_named() {
        return read_named_jobs(operation, from);
    }
    if is_capture {
        return Err(Failure::usage(format!(
            "FD-7822: {source} has no jobs at that time: it was recorded without --slurm and --jobs, or before the first \
             list; give a list with --file (a host and its job on each line; docs/jobs.md)"
        )));
    }
    // No source of jobs is named, so this is always a refusal.
    from.refuse_unnamed().map(|()| PlacedJobs {
        snapshot,
        placed: JobPlacement::default(),
        origin: JobOrigin::default(),
    })
}
