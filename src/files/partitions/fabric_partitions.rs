//! Matches partitions of a file with a fabric, ports by GUID as OpenSM does.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::DEFAULT_KEY;
use crate::content::{PartitionFile, PartitionPorts};
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Fabric, Guid, NodeKind, Partitions, PortId, PortNum};

/// A member that the fabric lacks.
const UNKNOWN_PORT: &str = "FN-374";
/// The subnet manager's port is unknown.
const NO_MANAGER: &str = "FN-375";

impl PartitionFile {
    /// The members of all partitions on a fabric. Of two statements about one port the later counts. By default all
    /// ports are limited members of the default partition, and the subnet manager's port is a full one.
    pub fn bind_to(
        &self,
        file: &str,
        fabric: &Fabric,
        manager: Option<Guid>,
        notes: &mut Notes,
    ) -> Partitions {
        let ends = MemberPorts::new(fabric);
        let manager = manager.and_then(|guid| ends.find(fabric, guid));
        let mut by_key: BTreeMap<u16, BTreeMap<PortId, bool>> = BTreeMap::new();
        let default = by_key.entry(DEFAULT_KEY).or_default();
        default.extend(ends.all.iter().map(|(port, _)| (*port, false)));
        default.extend(manager.map(|port| (port, true)));
        if manager.is_none() {
            notes.add(NO_MANAGER, NotePlace::file(file), || {
                "the subnet manager's port is unknown: it is only in partitions of all ports".to_owned()
            });
        }
        for statement in &self.statements {
            let members = by_key.entry(statement.key).or_default();
            for member in &statement.members {
                let of = |kind: Option<NodeKind>| {
                    ends.all.iter().filter(move |(_, own)| kind.is_none_or(|kind| kind == *own))
                };
                match member.who {
                    PartitionPorts::All => members.extend(of(None).map(|(port, _)| (*port, member.full))),
                    PartitionPorts::Of(kind) => {
                        members.extend(of(Some(kind)).map(|(port, _)| (*port, member.full)));
                    }
                    PartitionPorts::Manager => members.extend(manager.map(|port| (port, member.full))),
                    PartitionPorts::Port(guid) => {
                        let port = ends.find(fabric, guid);
                        members.extend(port.map(|port| (port, member.full)));
                        if port.is_none() {
                            notes.add(UNKNOWN_PORT, NotePlace::line(file, member.line), || {
                                format!("{guid} is no port of this fabric")
                            });
                        }
                    }
                }
            }
        }
        by_key.retain(|_, members| !members.is_empty());
        Partitions::new(fabric.ports().len(), &by_key)
    }
}

/// Ports that can be members: port 0 of switches, all ports of other nodes.
struct MemberPorts {
    all: Vec<(PortId, NodeKind)>,
    by_guid: FxHashMap<Guid, PortId>,
}

impl MemberPorts {
    fn new(fabric: &Fabric) -> Self {
        let (mut all, mut by_guid) = (Vec::new(), FxHashMap::default());
        for (id, port) in fabric.ports() {
            let facts = &fabric.node(port.node).facts;
            let switch = facts.kind == NodeKind::Switch;
            if switch != (port.number == PortNum::MANAGEMENT) {
                continue;
            }
            all.push((id, facts.kind));
            // Without a stated GUID, that of a port is usually the node's plus the port number.
            let counted = Guid(facts.guid.0.wrapping_add(u64::from(port.number.value())));
            by_guid.entry(port.facts.guid.unwrap_or(counted)).or_insert(id);
        }
        Self { all, by_guid }
    }

    /// Finds a port by GUID; a switch matches the GUID of any of its ports.
    fn find(&self, fabric: &Fabric, guid: Guid) -> Option<PortId> {
        let switch = || {
            let node = match fabric.port_by_guid(guid) {
                Some(port) => fabric.port(port).node,
                None => fabric.node_by_guid(guid)?,
            };
            fabric.node(node).is_switch().then(|| fabric.port_of(node, PortNum::MANAGEMENT)).flatten()
        };
        self.by_guid.get(&guid).copied().or_else(switch)
    }
}
