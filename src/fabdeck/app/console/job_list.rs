//! Reads the list of running jobs: from a file, or from Slurm's `squeue`, for which only this thread waits.

use std::time::{Duration, Instant};

use crate::operations::jobs::job_request::JobListSource;
use crate::operations::jobs::list_source::JobSource;
use crate::system::access::SystemAccess;
use crate::system::local_access::LocalSystemAccess;
use fabdeck_files::job_lists::JobList;
use fabdeck_files::jobs::SqueuePoll;

/// Interval between two polls of a running `squeue`.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Returns `None` when the request was cancelled.
pub fn list_jobs(
    machine: &LocalSystemAccess,
    from: &JobListSource,
    cancelled: impl Fn() -> bool,
) -> Option<Result<JobList, String>> {
    let squeue = match from {
        JobListSource::File(file) => return Some(machine.jobs(file).map_err(|error| error.to_string())),
        JobListSource::Slurm(squeue) => JobSource { squeue: squeue.clone(), ..JobSource::default() }.squeue(),
    };
    let since = Instant::now();
    let mut poll = match SqueuePoll::start(&squeue, since.elapsed()) {
        Ok(poll) => poll,
        Err(trouble) => return Some(Err(trouble.to_string())),
    };
    while !cancelled() {
        if let Some(list) = poll.poll(since.elapsed()) {
            return Some(list.map_err(|trouble| trouble.to_string()));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    None
}
