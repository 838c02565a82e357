//! Which job runs on which hosts.

use std::collections::{BTreeMap, BTreeSet};

use super::PortId;

/// Jobs by name, and the ports of the hosts that each runs on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobMap {
    jobs: BTreeMap<String, BTreeSet<PortId>>,
}

impl JobMap {
    pub fn add(&mut self, job: &str, port: PortId) {
        match self.jobs.get_mut(job) {
            Some(ports) => drop(ports.insert(port)),
            None => drop(self.jobs.insert(job.to_owned(), BTreeSet::from([port]))),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// In the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&String, &BTreeSet<PortId>)> {
        self.jobs.iter()
    }
}
