//! The record of P_Key tables: those that changed since the record before.

use serde::{Deserialize, Serialize};

use fabdeck_fabric::observe::{PartitionTables, PortPartitions};
use fabdeck_fabric::{Guid, PortNum};

/// Most ports of a record. A port takes up to 8 KB of it.
const MAX_PORTS: usize = 512;

/// Ports, each with its P_Keys and what it enforces.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PartitionRecord {
    pub ports: Vec<PartitionPortEntry>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartitionPortEntry {
    pub node: Guid,
    pub port: u8,
    pub said: PortPartitions,
}

impl PartitionRecord {
    /// The records of what changed. Tables are added and replaced, never taken back.
    pub fn of_changes(before: &PartitionTables, now: &PartitionTables) -> Vec<Self> {
        let changed = now.ports.iter().filter(|(at, said)| before.ports.get(at) != Some(said));
        let ports: Vec<PartitionPortEntry> = changed
            .map(|((node, port), said)| PartitionPortEntry {
                node: *node,
                port: port.value(),
                said: said.clone(),
            })
            .collect();
        ports.chunks(MAX_PORTS).map(|some| Self { ports: some.to_vec() }).collect()
    }

    pub fn apply(self, tables: &mut PartitionTables) {
        tables.ports.extend(self.ports.into_iter().map(|one| ((one.node, PortNum(one.port)), one.said)));
    }

    /// The same with other GUIDs.
    pub fn anonymize(mut self, guid: impl Fn(Guid) -> Guid) -> Self {
        for PartitionPortEntry { node, said, .. } in &mut self.ports {
            *node = guid(*node);
            said.keys.map_device(&guid);
        }
        self
    }
}
