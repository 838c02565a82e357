//! Names of ports where there is little room.

use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::PortId;

/// The name of a host with one cabled port; of other nodes, that of the port.
pub fn short_port_name(look: &Snapshot, port: PortId) -> String {
    let fabric = look.fabric();
    let node = fabric.port(port).node;
    let cabled = || fabric.ports_of(node).filter(|(_, port)| port.peer.is_some()).count();
    match !fabric.node(node).is_switch() && cabled() == 1 {
        true => look.unique_name(node).split(' ').next().unwrap_or_default().to_owned(),
        false => look.port_name(port),
    }
}
