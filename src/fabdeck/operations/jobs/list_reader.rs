//! Reads lists of jobs repeatedly, from a file or from Slurm, each within a timeout.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::list_source::{JobSource, POLL_INTERVAL};
use crate::system::stop_flag::StopFlag;
use fabdeck_files::job_lists::{JobList, read};
use fabdeck_files::jobs::{JobPoller, PollOutcome};
use fabdeck_live::read_as;

type ListOrError = Result<JobList, String>;

/// The source of the lists.
pub enum JobListReader {
    Slurm(Box<JobPoller>),
    File(ListFile),
}

impl JobListReader {
    pub fn of(from: &JobSource) -> Self {
        let squeue = from.squeue();
        match &from.file {
            Some(file) => Self::File(ListFile::new(file.clone(), squeue.timeout)),
            None => Self::Slurm(Box::new(JobPoller::new(squeue))),
        }
    }

    /// Reads the next list, or returns why there is none; `now` is a monotonic clock.
    pub fn next(&mut self, stop: &StopFlag, now: impl Fn() -> Duration) -> ListOrError {
        let poller = match self {
            Self::File(file) => return file.next(stop),
            Self::Slurm(poller) => poller,
        };
        poller.start_poll(now()).map_err(|trouble| trouble.to_string())?;
        loop {
            let now = now();
            match poller.poll(now) {
                PollOutcome::Failed(trouble) => return Err(trouble.to_string()),
                PollOutcome::Pending if stop.is_requested() => return Err("interrupted".to_owned()),
                PollOutcome::Pending => std::thread::sleep(POLL_INTERVAL),
                PollOutcome::NewList => {
                    let last = poller.last_list(now).map(|(list, _)| list.clone());
                    return last.ok_or_else(|| "no list arrived".to_owned());
                }
            }
        }
    }
}

/// A list in a file. Another thread reads it, because the read can hang on a lost disk or on a pipe without a writer.
pub struct ListFile {
    file: PathBuf,
    timeout: Duration,
    /// A read that still hangs; no second one is started while it does.
    under_way: Option<Receiver<ListOrError>>,
}

impl ListFile {
    fn new(file: PathBuf, timeout: Duration) -> Self {
        Self { file, timeout, under_way: None }
    }

    fn next(&mut self, stop: &StopFlag) -> ListOrError {
        let receiver = self.under_way.take().unwrap_or_else(|| start_reading(&self.file));
        let since = Instant::now();
        loop {
            match receiver.recv_timeout(POLL_INTERVAL) {
                Ok(list) => return list,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!(
                        "FD-7820: the thread that reads {} ended without a list",
                        self.file.display()
                    ));
                }
                Err(RecvTimeoutError::Timeout) if stop.is_requested() => {
                    return Err("interrupted".to_owned());
                }
                Err(RecvTimeoutError::Timeout) if since.elapsed() < self.timeout => {}
                Err(RecvTimeoutError::Timeout) => {
                    self.under_way = Some(receiver);
                    let (file, time) = (self.file.display(), self.timeout.as_secs());
                    return Err(format!(
                        "FD-7819: timeout: {file} was not read within {time} s; check that it is a file and that its disk answers"
                    ));
                }
            }
        }
    }
}

fn start_reading(file: &Path) -> Receiver<ListOrError> {
    let (send, receiver) = channel();
    let file = file.to_owned();
    // A thread that hangs blocks nothing and ends with the process.
    std::thread::spawn(move || send.send(read_as(&file, read).map_err(|error| error.to_string())));
    receiver
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_pipe_without_a_writer_times_out_and_is_read_once_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let (mut list, stop) = (ListFile::new(pipe.clone(), Duration::from_millis(100)), StopFlag::default());
        for _ in 0..2 {
            assert!(list.next(&stop).unwrap_err().contains("FD-7819"));
        }
        std::fs::write(&pipe, "node0 7\n").unwrap();
        list.timeout = Duration::from_secs(60);
        assert_eq!(list.next(&stop).unwrap().lines.len(), 1);
        stop.request();
        assert_eq!(list.next(&stop).unwrap_err(), "interrupted");
    }
}
