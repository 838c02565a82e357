//! One look at a fabric, with the names in use: what every table, trace and screen reads.

use crate::fabric::{Fabric, NameMap, Names, NodeId, PortId};
use crate::observe::Observation;

/// An observation, how its source is called, and the names of its nodes.
#[derive(Debug, Clone)]
pub struct Look {
    /// The source as the operator wrote it.
    pub source: String,
    pub observation: Observation,
    pub names: Names,
}

impl Look {
    /// `own` are the operator's names; they win over those that came with the source.
    pub fn new(source: impl Into<String>, observation: Observation, own: &NameMap) -> Self {
        let mut map = observation.names.clone();
        map.by_guid.extend(own.by_guid.iter().map(|(guid, name)| (*guid, name.clone())));
        let names = Names::new(&observation.fabric, &map);
        Self { source: source.into(), observation, names }
    }

    pub fn fabric(&self) -> &Fabric {
        &self.observation.fabric
    }

    pub fn name(&self, node: NodeId) -> &str {
        self.names.of(node)
    }

    /// `leaf0[3]`, as elements write a port.
    pub fn port_name(&self, port: PortId) -> String {
        let port = self.fabric().port(port);
        format!("{}[{}]", self.name(port.node), port.number)
    }
}
