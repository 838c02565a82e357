//! Which jobs ran, as whoever knows them said it, for recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The hosts of each job, by the names that the batch system has for both.
pub type HostsOfJobs = BTreeMap<String, BTreeSet<String>>;

/// A list of jobs, and whether it still holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobsHeard {
    /// When it was heard, in milliseconds since 1970 began; the same list heard again changes nothing. Where nobody says
    /// anything since: when it was heard last. `None`: no list was ever heard.
    pub heard: Option<i64>,
    pub jobs: Arc<HostsOfJobs>,
    /// Why nobody said anything since.
    pub silent: Option<String>,
}

/// What was heard so far of whoever is asked again and again.
#[derive(Clone, Debug, Default)]
pub struct Hearsay {
    last: Option<Arc<JobsHeard>>,
    /// When a list was heard last, be it the same one.
    heard: Option<i64>,
}

impl Hearsay {
    pub fn last(&self) -> Option<&Arc<JobsHeard>> {
        self.last.as_ref()
    }

    pub fn is_silent(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.silent.is_some())
    }

    /// A list, or why there is none. The same list again is nothing new, and no more a silence that goes on: its first
    /// reason counts.
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
