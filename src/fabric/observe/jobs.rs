//! The running jobs as a batch system lists them, for recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The host names of each job, by the job's name in the batch system.
pub type HostsOfJobs = BTreeMap<String, BTreeSet<String>>;

/// The jobs that run, and whether the list is current.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobsHeard {
    /// When the batch system last sent the list, in milliseconds since 1970. A repeated equal list does not change
    /// it, unless the batch system is silent since; then it is the last answer. `None` when there was no list yet.
    pub heard: Option<i64>,
    /// The jobs and their hosts.
    pub jobs: Arc<HostsOfJobs>,
    /// Why the batch system does not answer any more.
    pub silent: Option<String>,
}

/// Collects the answers of a batch system that is asked again and again.
#[derive(Clone, Debug, Default)]
pub struct Hearsay {
    last: Option<Arc<JobsHeard>>,
    /// When a list was heard last, be it the same one.
    heard: Option<i64>,
}

impl Hearsay {
    /// The last list.
    pub fn last(&self) -> Option<&Arc<JobsHeard>> {
        self.last.as_ref()
    }

    /// Whether the last question had no answer.
    pub fn is_silent(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.silent.is_some())
    }

    /// Takes an answer, or why there is none. An equal list changes nothing, and a silence keeps its first reason.
    pub fn take(&mut self, at: i64, came: Result<HostsOfJobs, String>) {
        let before = self.last.as_ref().map(|last| last.jobs.clone());
        let silent = self.is_silent();
        match came {
            Ok(jobs) => {
                let never = self.heard.replace(at).is_none();
                let same = before.filter(|before| **before == jobs);
                if never || silent || same.is_none() {
                    let jobs = same.unwrap_or_else(|| Arc::new(jobs));
                    self.last = Some(Arc::new(JobsHeard { heard: Some(at), jobs, silent: None }));
                }
            }
            Err(_) if silent => {}
            Err(why) => {
                let (heard, jobs) = (self.heard, before.unwrap_or_default());
                self.last = Some(Arc::new(JobsHeard { heard, jobs, silent: Some(why) }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_stands_until_another_comes_or_nobody_says_anything() {
        let list = |host: &str| HostsOfJobs::from([("7".to_owned(), [host.to_owned()].into())]);
        let silence = || Err("nobody answers".to_owned());
        let mut said = Hearsay::default();
        let told = |said: &Hearsay| {
            let last = said.last().unwrap();
            (last.heard, last.jobs.len(), last.silent.is_some())
        };
        said.take(1, silence());
        assert_eq!(told(&said), (None, 0, true));
        said.take(2, Ok(HostsOfJobs::new()));
        assert_eq!(told(&said), (Some(2), 0, false), "that nothing runs is a list");
        said.take(3, Ok(list("a")));
        let held = said.last().unwrap().clone();
        said.take(4, Ok(list("a")));
        assert!(Arc::ptr_eq(&held, said.last().unwrap()), "the same again is nothing new");
        said.take(5, silence());
        assert_eq!(told(&said), (Some(4), 1, true), "heard last when it was the same");
        let held = said.last().unwrap().clone();
        said.take(6, silence());
        assert!(Arc::ptr_eq(&held, said.last().unwrap()));
        said.take(7, Ok(list("a")));
        assert_eq!(told(&said), (Some(7), 1, false));
        said.take(8, Ok(list("b")));
        assert_eq!(told(&said), (Some(8), 1, false));
    }
}
