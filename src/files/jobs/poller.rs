//! Polls Slurm. If no new list comes, the last one stays, with its age.

use std::time::Duration;

use super::squeue_process::{Squeue, SqueueError, SqueuePoll};
use crate::job_lists::JobList;

/// The poller, and the last list.
#[derive(Debug)]
pub struct JobPoller {
    squeue: Squeue,
    under_way: Option<SqueuePoll>,
    last: Option<(JobList, Duration)>,
}

/// The result of a turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PollOutcome {
    /// No result yet, or no query is running.
    Pending,
    /// A new list came.
    NewList,
    /// The query failed; the last list stays.
    Failed(SqueueError),
}

impl JobPoller {
    pub fn new(squeue: Squeue) -> Self {
        Self { squeue, under_way: None, last: None }
    }

    /// Starts a query, unless one is running.
    pub fn start_poll(&mut self, now: Duration) -> Result<(), SqueueError> {
        if self.under_way.is_none() {
            self.under_way = Some(SqueuePoll::start(&self.squeue, now)?);
        }
        Ok(())
    }

    /// Checks the running query; never waits.
    pub fn poll(&mut self, now: Duration) -> PollOutcome {
        let Some(came) = self.under_way.as_mut().and_then(|poll| poll.poll(now)) else {
            return PollOutcome::Pending;
        };
        self.under_way = None;
        match came {
            Ok(list) => {
                self.last = Some((list, now));
                PollOutcome::NewList
            }
            Err(trouble) => PollOutcome::Failed(trouble),
        }
    }

    /// The last list, and its age.
    pub fn last_list(&self, now: Duration) -> Option<(&JobList, Duration)> {
        self.last.as_ref().map(|(list, at)| (list, now.saturating_sub(*at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_list_stays_and_grows_old() {
        let folder = tempfile::tempdir().unwrap();
        let (program, list) = (folder.path().join("squeue"), folder.path().join("list"));
        let script = format!("#!/bin/sh\ncase $1 in --json) exit 1;; esac\nexec cat {}\n", list.display());
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let mut poller = JobPoller::new(Squeue { program, timeout: Duration::from_secs(50) });
        let hear = |poller: &mut JobPoller, at: u64| {
            let now = Duration::from_secs(at);
            poller.start_poll(now).unwrap();
            // A second call while a query runs does nothing.
            poller.start_poll(now).unwrap();
            for _ in 0..10_000 {
                match poller.poll(now) {
                    PollOutcome::Pending => std::thread::sleep(Duration::from_millis(2)),
                    turn => return turn,
                }
            }
            panic!("nothing comes");
        };
        assert_eq!(poller.last_list(Duration::ZERO), None);
        std::fs::write(&list, "7 n1\n").unwrap();
        assert_eq!(hear(&mut poller, 100), PollOutcome::NewList);
        let jobs = |poller: &JobPoller, at: u64| {
            let (list, age) = poller.last_list(Duration::from_secs(at)).unwrap();
            (list.lines.len(), age.as_secs())
        };
        assert_eq!(jobs(&poller, 130), (1, 30));
        std::fs::remove_file(&list).unwrap();
        assert!(matches!(hear(&mut poller, 160), PollOutcome::Failed(SqueueError::Failed { .. })));
        assert_eq!(jobs(&poller, 160), (1, 60));
        std::fs::write(&list, "7 n1\n8 n2\n").unwrap();
        assert_eq!(hear(&mut poller, 220), PollOutcome::NewList);
        assert_eq!(jobs(&poller, 221), (2, 1));
    }
}
