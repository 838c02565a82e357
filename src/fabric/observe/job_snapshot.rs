//! The running jobs as a batch system lists them, for recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The host names of each job, by the job's name in the batch system.
pub type JobHosts = BTreeMap<String, BTreeSet<String>>;

/// The jobs that run, and whether the list is current.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobSnapshot {
    /// When the batch system last sent the list, in milliseconds since 1970. A repeated equal list does not change
    /// it, unless the batch system is silent since; then it is the last answer. `None` when there was no list yet.
    pub read_at: Option<i64>,
    /// The jobs and their hosts.
    pub jobs: Arc<JobHosts>,
    /// Why the batch system does not answer any more.
    pub failure: Option<String>,
}

/// Collects the answers of a batch system that is asked again and again.
#[derive(Clone, Debug, Default)]
pub struct JobListState {
    last: Option<Arc<JobSnapshot>>,
    /// When a list was heard last, be it the same one.
    read_at: Option<i64>,
}

impl JobListState {
    /// The last list.
    pub fn last(&self) -> Option<&Arc<JobSnapshot>> {
        self.last.as_ref()
    }

    /// Whether the last question had no answer.
    pub fn is_silent(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.failure.is_some())
    }

    /// Takes an answer, or why there is none. An equal list changes nothing, and a silence keeps its first reason.
    pub fn update(&mut self, at: i64, came: Result<JobHosts, String>) {
        let before = self.last.as_ref().map(|last| last.jobs.clone());
        let silent = self.is_silent();
        match came {
            Ok(jobs) => {
                let never = self.read_at.replace(at).is_none();
                let same = before.filter(|before| **before == jobs);
                if never || silent || same.is_none() {
                    let jobs = same.unwrap_or_else(|| Arc::new(jobs));
                    self.last = Some(Arc::new(JobSnapshot { read_at: Some(at), jobs, failure: None }));
                }
            }
            Err(_) if silent => {}
            Err(why) => {
                let (heard, jobs) = (self.read_at, before.unwrap_or_default());
                self.last = Some(Arc::new(JobSnapshot { read_at: heard, jobs, failure: Some(why) }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_holds_until_another_is_read_or_the_reading_fails() {
        let list = |host: &str| JobHosts::from([("7".to_owned(), [host.to_owned()].into())]);
        let silence = || Err("nobody answers".to_owned());
        let mut said = JobListState::default();
        let told = |said: &JobListState| {
            let last = said.last().unwrap();
            (last.read_at, last.jobs.len(), last.failure.is_some())
        };
        said.update(1, silence());
        assert_eq!(told(&said), (None, 0, true));
        said.update(2, Ok(JobHosts::new()));
        assert_eq!(told(&said), (Some(2), 0, false), "that nothing runs is a list");
        said.update(3, Ok(list("a")));
        let held = said.last().unwrap().clone();
        said.update(4, Ok(list("a")));
        assert!(Arc::ptr_eq(&held, said.last().unwrap()), "the same again is nothing new");
        said.update(5, silence());
        assert_eq!(told(&said), (Some(4), 1, true), "heard last when it was the same");
        let held = said.last().unwrap().clone();
        said.update(6, silence());
        assert!(Arc::ptr_eq(&held, said.last().unwrap()));
        said.update(7, Ok(list("a")));
        assert_eq!(told(&said), (Some(7), 1, false));
        said.update(8, Ok(list("b")));
        assert_eq!(told(&said), (Some(8), 1, false));
    }
}
