//! Reads the list of running jobs: from a file, or from Slurm's `squeue`, for which only this thread waits.

use std::time::{Duration, Instant};

use crate::script::{JobSource, Machine, Outside};
use crate::session::interactive::JobsFrom;
use fabdeck_files::job_lists::JobList;
use fabdeck_files::jobs::Poll;

/// Interval between two polls of a running `squeue`.
const TURN: Duration = Duration::from_millis(20);

/// Returns `None` when the request was cancelled.
pub fn list_jobs(
    machine: &Machine,
    from: &JobsFrom,
    cancelled: impl Fn() -> bool,
) -> Option<Result<JobList, String>> {
    let squeue = match from {
        JobsFrom::File(file) => return Some(machine.jobs(file).map_err(|error| error.to_string())),
        JobsFrom::Slurm(squeue) => JobSource { squeue: squeue.clone(), ..JobSource::default() }.squeue(),
    };
    let since = Instant::now();
    let mut poll = match Poll::start(&squeue, since.elapsed()) {
        Ok(poll) => poll,
        Err(trouble) => return Some(Err(trouble.to_string())),
    };
    while !cancelled() {
        if let Some(came) = poll.turn(since.elapsed()) {
            return Some(came.map_err(|trouble| trouble.to_string()));
        }
        std::thread::sleep(TURN);
    }
    None
}
