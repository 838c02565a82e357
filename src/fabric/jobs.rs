//! Which job runs on which hosts.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fabric, NodeId, PortId};

/// Jobs by name, and the ports of the hosts that each runs on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobMap {
    jobs: BTreeMap<String, BTreeSet<PortId>>,
    /// Ports whose host is not their node alone: the first adapter of it.
    of_host: BTreeMap<PortId, NodeId>,
}

impl JobMap {
    pub fn add(&mut self, job: &str, port: PortId) {
        match self.jobs.get_mut(job) {
            Some(ports) => drop(ports.insert(port)),
            None => drop(self.jobs.insert(job.to_owned(), BTreeSet::from([port]))),
        }
    }

    /// A host may have several adapters: the first of them stands for it.
    pub fn join(&mut self, port: PortId, first: NodeId) {
        self.of_host.entry(port).or_insert(first);
    }

    /// The host of a port; every adapter is one of its own where nobody joined it with others.
    pub fn host(&self, fabric: &Fabric, port: PortId) -> NodeId {
        self.of_host.get(&port).copied().unwrap_or_else(|| fabric.port(port).node)
    }

    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// In the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&String, &BTreeSet<PortId>)> {
        self.jobs.iter()
    }
}
