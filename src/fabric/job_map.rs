//! Which job runs on which hosts.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fabric, NodeId, PortId};

/// The ports of the hosts that each job runs on, by the name of the job.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobMap {
    jobs: BTreeMap<String, BTreeSet<PortId>>,
    /// Ports whose host is not their node alone: the first adapter of it.
    of_host: BTreeMap<PortId, NodeId>,
}

impl JobMap {
    /// Adds a port to a job.
    pub fn add(&mut self, job: &str, port: PortId) {
        match self.jobs.get_mut(job) {
            Some(ports) => drop(ports.insert(port)),
            None => drop(self.jobs.insert(job.to_owned(), BTreeSet::from([port]))),
        }
    }

    /// States that an adapter port belongs to the host of the adapter `first`. A host may have several adapters;
    /// its first one represents it.
    pub fn join_host(&mut self, port: PortId, first: NodeId) {
        self.of_host.entry(port).or_insert(first);
    }

    /// The host of a port, as its first adapter. An adapter that was not joined with others is a host of its own.
    pub fn host(&self, fabric: &Fabric, port: PortId) -> NodeId {
        self.of_host.get(&port).copied().unwrap_or_else(|| fabric.port(port).node)
    }

    /// Whether there is no job.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The jobs in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&String, &BTreeSet<PortId>)> {
        self.jobs.iter()
    }
}
