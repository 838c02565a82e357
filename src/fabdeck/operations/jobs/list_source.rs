//! The named source of a list of jobs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::job_request::JobListSource;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::operation::Operation;
use fabdeck_fabric::observe::NotePlace;
use fabdeck_files::job_lists::JobList;
use fabdeck_files::jobs::{Squeue, SqueuePoll};

/// A loaded controller answers within two minutes in 99 of 100 cases (dissertation 5.3.3.1).
const SLURM_TIMEOUT: Duration = Duration::from_secs(120);
/// Interval between two polls of a running `squeue`.
pub const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Source of the running jobs.
#[derive(Debug, Clone, Default)]
pub struct JobSource {
    pub slurm: bool,
    pub file: Option<PathBuf>,
    /// The squeue program, if it is not the one in PATH.
    pub squeue: Option<PathBuf>,
    pub slurm_timeout: Option<Duration>,
}

impl JobSource {
    /// Source of the list, for notes.
    pub fn place(&self) -> NotePlace {
        let file = self.file.as_ref().map(|file| file.display().to_string());
        NotePlace::file(file.unwrap_or_else(|| "squeue".to_owned()))
    }

    pub fn squeue(&self) -> Squeue {
        Squeue {
            program: self.squeue.clone().unwrap_or_else(|| "squeue".into()),
            timeout: self.slurm_timeout.unwrap_or(SLURM_TIMEOUT),
        }
    }

    /// Whether a source of the list is named.
    pub fn is_named(&self) -> bool {
        self.slurm || self.file.is_some()
    }

    /// This source, or the configured one if it names none.
    pub fn or_configured(&self, configured: Option<&JobListSource>) -> Self {
        let mut from = self.clone();
        match configured {
            Some(JobListSource::Slurm(squeue)) if !from.is_named() => {
                from.slurm = true;
                from.squeue.clone_from(squeue);
            }
            Some(JobListSource::File(file)) if !from.is_named() => from.file = Some(file.clone()),
            _ => {}
        }
        from
    }

    /// Refuses a request that names no source.
    pub fn refuse_unnamed(&self) -> Result<(), Failure> {
        match self.is_named() {
            true => Ok(()),
            false => Err(Failure::usage(
                "FD-7811: no source of jobs is given; use --slurm, or give a list with --file (a host and its job on each \
                 line; docs/jobs.md); [jobs] in the configuration sets a default",
            )),
        }
    }
}

/// Reads the list from the named source. A `squeue` that hangs is ended at its timeout.
pub fn read_list(operation: &mut Operation<'_>, from: &JobSource) -> Result<JobList, Failure> {
    from.refuse_unnamed()?;
    if let Some(file) = &from.file {
        return operation.env.outside.jobs(file).map_err(Failure::from_list_error);
    }
    // A signal ends the running `squeue`, and the command with it.
    let stop = operation.listen_to_stop();
    let failed =
        |trouble: fabdeck_files::jobs::SqueueError| Failure::new(Exit::Unreachable, trouble.to_string());
    let since = Instant::now();
    let mut poll = SqueuePoll::start(&from.squeue(), since.elapsed()).map_err(failed)?;
    loop {
        if let Some(list) = poll.poll(since.elapsed()) {
            return list.map_err(failed);
        }
        if stop.is_requested() {
            return Err(Failure::interrupted());
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}
