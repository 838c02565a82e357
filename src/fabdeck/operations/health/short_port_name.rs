//! Names of ports where there is little room.

use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::PortId;

/// The name of a host with one adapter and one cable; of other nodes, that of the port.
pub fn short_port_name(look: &Snapshot, port: PortId) -> String {
    match is_only_port(look, port) {
        true => look.host_name(look.fabric().port(port).node).into_owned(),
        false => look.port_name(port),
    }
}

/// Whether a port is the only one of an adapter that has a cable.
pub fn is_only_port(look: &Snapshot, port: PortId) -> bool {
    let fabric = look.fabric();
    let node = fabric.port(port).node;
    let mut cabled = fabric.ports_of(node).filter(|(_, port)| port.peer.is_some());
    !fabric.node(node).is_switch() && cabled.next().is_some() && cabled.next().is_none()
}
