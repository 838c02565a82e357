//! Jobs without a named source: those of a recording, and generated ones for a simulated fabric.

use std::path::Path;

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::jobs::job_comparison::{SIMULATED_JOBS_SEED, simulated_jobs};
use crate::operations::jobs::list_source::JobSource;
use crate::operations::jobs::recorded_jobs::RecordedJobs;
use crate::operations::jobs::summary::{JobTotals, note_judged_lids, place_jobs};
use crate::script::commands::jobs::read_named_jobs;
use crate::script::context::Context;
use crate::script::json::Object;
use fabdeck_fabric::observe::NotePlace;
use fabdeck_files::capture::find_capture;
use fabdeck_files::job_lists::JobList;
use fabdeck_files::jobs::JobPlacement;
use fabdeck_mad::access::ReadOptions;

/// The source of a list of jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct JobOrigin {
    pub from: String,
    /// Source and time of the list in words, if they are not obvious.
    pub words: Option<String>,
    /// For a recording: the time at which the list was read, and its age at the moment shown.
    pub read_at: Option<String>,
    pub age_seconds: Option<u64>,
}

impl JobOrigin {
    /// Writes the fields beside the rows in JSON.
    pub(super) fn fields(&self, object: &mut Object<'_>, totals: &JobTotals) -> std::io::Result<()> {
        object.field("from", &self.from)?;
        object.field("heard", &self.read_at)?;
        object.field("age_seconds", &self.age_seconds)?;
        object.field("totals", totals)
    }
}

/// Jobs of the source itself if it is a capture, otherwise of the configured source.
pub(super) fn read_source_jobs(
    context: &mut Context<'_, '_>,
    from: &JobSource,
) -> Result<(Snapshot, JobPlacement, JobOrigin), Failure> {
    let source = context.env().named_source()?.to_owned();
    let kind = source.split(':').next().unwrap_or_default();
    let (from, is_capture) = (
        &from.or_configured(context.config.jobs.from.as_ref()),
        kind != "sim" && find_capture(Path::new(&source)).is_some(),
    );
    if from.is_named() && !is_capture {
        return read_named_jobs(context, from);
    }
    if kind == "umad" {
        // An adapter has no list of jobs, so the missing argument is reported before the long reading.
        from.refuse_unnamed()?;
    }
    let mut snapshot =
        context.operation().read_snapshot(ReadOptions { tables: true, ..ReadOptions::default() })?;
    context.env().assume(&mut snapshot)?;
    if let Some(recorded) = RecordedJobs::from_snapshot(&snapshot) {
        if recorded.said.read_at.is_none() {
            let why = recorded.words();
            return Err(Failure::new(
                Exit::Failed,
                format!(
                    "FD-7815: {source}: jobs at this moment: {why}; give a list with --file, or a later --at"
                ),
            ));
        }
        let origin = JobOrigin {
            from: "recorded".to_owned(),
            words: Some(recorded.words()),
            read_at: recorded.heard_time(),
            age_seconds: recorded.age_seconds(),
        };
        let list = JobList::from_recording(&recorded.said.jobs);
        let placed = place_jobs(&mut snapshot, &list, &NotePlace::file(source));
        return Ok((snapshot, placed, origin));
    }
    if kind == "sim" {
        let placed = simulated_jobs(snapshot.fabric());
        note_judged_lids(&mut snapshot);
        let words = Some(format!(
            "SIMULATED: these jobs are generated (seed {SIMULATED_JOBS_SEED}); the simulator runs none"
        ));
        return Ok((
            snapshot,
            placed,
            JobOrigin { from: "SIMULATED".to_owned(), words, ..JobOrigin::default() },
        ));
    }
    if is_capture && from.is_named() {
        return read_named_jobs(context, from);
    }
    if is_capture {
        return Err(Failure::usage(format!(
            "FD-7822: {source} has no jobs at that time: it was recorded without --slurm and --jobs, or before the first \
             list; give a list with --file (a host and its job on each line; docs/jobs.md)"
        )));
    }
    // No source of jobs is named, so this is always a refusal.
    from.refuse_unnamed().map(|()| (snapshot, JobPlacement::default(), JobOrigin::default()))
}
