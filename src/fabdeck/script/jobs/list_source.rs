//! The source of a list of jobs that the command line names.

use std::time::Instant;

use super::job_args::{JobSource, POLL_INTERVAL};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::script::context::Context;
use fabdeck_files::job_lists::JobList;
use fabdeck_files::jobs::SqueuePoll;

/// Reads the list from the named source. A `squeue` that hangs is ended at its timeout.
pub fn read_list(context: &mut Context<'_, '_>, from: &JobSource) -> Result<JobList, Failure> {
    from.refuse_unnamed()?;
    if let Some(file) = &from.file {
        return context.outside.jobs(file).map_err(Failure::from_list_error);
    }
    // A signal ends the running `squeue`, and the command with it.
    let stop = context.outside.stop();
    stop.listen();
    context.stop = Some(stop.clone());
    let failed =
        |trouble: fabdeck_files::jobs::SqueueError| Failure::new(Exit::Unreachable, trouble.to_string());
    let since = Instant::now();
    let mut poll = SqueuePoll::start(&from.squeue(), since.elapsed()).map_err(failed)?;
    loop {
        if let Some(list) = poll.poll(since.elapsed()) {
            return list.map_err(failed);
        }
        if stop.is_requested() {
            return Err(Failure { exit: Exit::Interrupted, message: None });
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}
