//! Reads the running jobs during a recording, in a thread of its own. A Slurm that hangs, or a list on a disk that
//! hangs, delays no sweep.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::jobs::list_source::JobSource;
use crate::system::access::SystemAccess;
use crate::system::output_file::is_stdout;
use fabdeck_fabric::observe::{JobListState, JobSnapshot};
use fabdeck_files::capture::recordable_jobs;
use fabdeck_files::job_lists::{JobList, read};
use fabdeck_files::jobs::{JobPoller, PollOutcome, Squeue};
use fabdeck_live::read_as;

/// Default interval between two queries of Slurm.
const DEFAULT_SLURM_INTERVAL: Duration = Duration::from_secs(30);
/// Interval between two checks of a list's file.
const FILE_INTERVAL: Duration = Duration::from_secs(1);
/// Interval between two polls of a running `squeue`.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Time to wait at the end for the thread, which ends its `squeue`.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// A list, or why there is none, with the time in milliseconds since 1970.
type ReceivedList = (i64, Result<JobList, String>);

/// The running jobs as read so far.
#[derive(Debug)]
pub struct JobThread {
    received: Receiver<ReceivedList>,
    /// The first list, if the recording waited for it.
    first: Option<ReceivedList>,
    state: JobListState,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// The list of jobs that a recording follows.
#[derive(Debug, Clone, Default)]
pub struct RecordedJobList {
    pub source: JobSource,
    /// Interval between two queries of Slurm.
    pub interval: Option<Duration>,
}

/// Starts the thread. A list that cannot be read now is an error; a later one that cannot be read is recorded as
/// missing.
pub fn start_job_thread(
    outside: &dyn SystemAccess,
    RecordedJobList { source, interval }: &RecordedJobList,
) -> Result<JobThread, Failure> {
    let (send, received) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let (to, ends) = (send.clone(), stop.clone());
    let thread = match &source.file {
        Some(file) if is_stdout(file) => {
            return Err(Failure::usage(
                "FD-7973: --jobs - does not work here: stdin can be read only once, and the list is read again whenever it changes; name a file, or use --slurm to ask Slurm",
            ));
        }
        Some(file) => {
            let stamp = file_stamp(file);
            let list = outside.jobs(file).map_err(Failure::from_list_error)?;
            recordable_jobs(Ok(&list)).map_err(|why| Failure::new(Exit::BadInput, why))?;
            // The receiver exists, so sending cannot fail.
            let _ = send.send((now(), Ok(list)));
            let file = file.clone();
            std::thread::spawn(move || follow_file(&file, stamp, &to, &ends))
        }
        None => {
            let (squeue, every) = (source.squeue(), interval.unwrap_or(DEFAULT_SLURM_INTERVAL));
            std::thread::spawn(move || poll_slurm(squeue, every, &to, &ends))
        }
    };
    Ok(JobThread { received, first: None, state: JobListState::default(), stop, thread: Some(thread) })
}

fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Reads the list whenever its file changes.
fn follow_file(file: &Path, mut last: Option<FileStamp>, to: &Sender<ReceivedList>, stop: &AtomicBool) {
    let mut next = Instant::now() + FILE_INTERVAL;
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(POLL_INTERVAL);
        if Instant::now() < next {
            continue;
        }
        next = Instant::now() + FILE_INTERVAL;
        let fresh = file_stamp(file);
        if fresh.is_some() && fresh == last {
            continue;
        }
        last = fresh;
        let list = read_as(file, read).map_err(|error| error.to_string());
        if to.send((now(), list)).is_err() {
            return;
        }
    }
}

/// Identifies a version of a file: seconds and nanoseconds of its modification, length, inode.
type FileStamp = (i64, i64, u64, u64);

fn file_stamp(file: &Path) -> Option<FileStamp> {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.mtime(), metadata.mtime_nsec(), metadata.len(), metadata.ino()))
}

/// Queries Slurm repeatedly. A query that takes longer than the interval delays only the next one.
fn poll_slurm(squeue: Squeue, every: Duration, to: &Sender<ReceivedList>, stop: &AtomicBool) {
    let (since, mut poller) = (Instant::now(), JobPoller::new(squeue));
    let mut next = Duration::ZERO;
    // Dropping the poller ends a running `squeue`.
    while !stop.load(Ordering::Relaxed) {
        let time = since.elapsed();
        if time >= next {
            next = time + every;
            if let Err(trouble) = poller.start_poll(time)
                && to.send((now(), Err(trouble.to_string()))).is_err()
            {
                return;
            }
        }
        let received = match poller.poll(time) {
            PollOutcome::Pending => {
                std::thread::sleep(POLL_INTERVAL);
                continue;
            }
            PollOutcome::Failed(trouble) => Err(trouble.to_string()),
            PollOutcome::NewList => match poller.last_list(time) {
                Some((list, _)) => Ok(list.clone()),
                None => continue,
            },
        };
        if to.send((now(), received)).is_err() {
            return;
        }
    }
}

impl JobThread {
    /// Waits for the first list. In simulated time a whole recording can pass before Slurm answers, and waiting makes
    /// no sweep late.
    pub fn wait(&mut self, is_stopped: impl Fn() -> bool) {
        while self.first.is_none() && !is_stopped() {
            match self.received.recv_timeout(POLL_INTERVAL) {
                Ok(received) => self.first = Some(received),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Returns the current list and messages about it, without waiting. `time` is the time of the sweep, if time is
    /// simulated.
    pub fn take_latest(&mut self, time: Option<i64>) -> (Option<Arc<JobSnapshot>>, Vec<String>) {
        let mut messages = Vec::new();
        while let Some((at, received)) = self.first.take().or_else(|| self.received.try_recv().ok()) {
            messages.extend(self.store(time.unwrap_or(at), received));
        }
        (self.state.last().cloned(), messages)
    }

    fn store(&mut self, at: i64, received: Result<JobList, String>) -> Option<String> {
        let before = self.state.is_silent();
        let recordable = recordable_jobs(received.as_ref().map_err(String::as_str));
        let why = recordable.as_ref().err().cloned();
        self.state.update(at, recordable);
        match (before, why) {
            (false, Some(why)) => Some(format!("no list of jobs; the recording continues: {why}")),
            (true, None) => Some("the list of jobs is available again".to_owned()),
            _ => None,
        }
    }
}

impl Drop for JobThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return };
        let until = Instant::now() + SHUTDOWN_TIMEOUT;
        while !thread.is_finished() && Instant::now() < until {
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}
