//! A fabric with planes (XDR): each plane is a simulated fabric of its own, with the same adapters and the same LIDs. Its
//! switches are chips of the same systems, and its devices answer subnet management by directed route alone.

use fabdeck_fabric::{Fabric, FabricBuilder, Guid, NodeId, PortNum};

use super::label_profile::LabelProfile;
use super::simulated_fabric::SimulatedFabric;

/// Distance between the GUIDs of the chips of a system.
const CHIP_STEP: u64 = 1 << 40;

/// One plane of a fabric. The first has the switches of the fabric itself.
pub fn plane_of(fabric: &Fabric, plane: u8) -> Fabric {
    let shift = |guid: Guid| Guid(guid.0.wrapping_add(u64::from(plane.saturating_sub(1)) * CHIP_STEP));
    let mut builder = FabricBuilder::new();
    let mut keys = Vec::new();
    for (_, node) in fabric.nodes() {
        let mut facts = node.facts.clone();
        facts.system_image_guid = Some(facts.guid);
        if node.is_switch() {
            facts.guid = shift(facts.guid);
        }
        keys.push(builder.add_node(facts).unwrap_or_else(|known| known));
    }
    for (_, port) in fabric.ports() {
        let node = port.node;
        let mut facts = port.facts.clone();
        if fabric.node(node).is_switch() {
            facts.guid = facts.guid.map(shift);
        }
        *builder.port(keys[node.index()], port.number) = facts;
        if let Some(peer) = port.peer.map(|peer| fabric.port(peer)) {
            let end = |node: NodeId, number: PortNum| (keys[node.index()], number);
            // The other end may have connected them already.
            let _ = builder.connect(end(node, port.number), end(peer.node, peer.number));
        }
    }
    builder.finish()
}

impl SimulatedFabric {
    /// Makes the fabric one of several planes: all devices state the planes of their ports, and no device answers subnet
    /// management by LID.
    pub fn set_plane(&mut self, plane: u8, planes: u8) {
        self.directed_only = true;
        let profile = LabelProfile::Plane { plane, planes };
        self.devices.iter_mut().for_each(|device| device.labels = profile);
    }
}
