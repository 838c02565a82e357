//! The cables of a fabric as they are.

use std::collections::BTreeMap;

use super::cable_end::{CableEnd, CableMap, CabledDevice, in_order};
use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::{Fabric, LinkId, NodeId, PortId, PortNum};

/// The cables that are up, those that are down, and their links.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PresentCables {
    pub found: CableMap,
    /// Cables of which an end reports that it is down.
    pub down: CableMap,
    links: BTreeMap<[CableEnd; 2], LinkId>,
}

impl PresentCables {
    /// The cables of a fabric. The link of a switch to its own aggregation node has no cable.
    pub fn new(look: &Snapshot) -> Self {
        let fabric = look.fabric();
        let mut present = Self::default();
        for (id, link) in fabric.links() {
            let ends = in_order([link.a, link.b].map(|port| end_of(fabric, port)));
            let is_inside = ends.iter().any(|end| {
                node_of(fabric, end.device).is_some_and(|node| fabric.node(node).facts.is_aggregation())
            });
            if is_inside {
                continue;
            }
            let map = if look.is_down(id) { &mut present.down } else { &mut present.found };
            if map.insert(ends) {
                present.links.insert(ends, id);
            }
        }
        present
    }

    /// The link between two ends.
    pub fn link(&self, ends: [CableEnd; 2]) -> Option<LinkId> {
        self.links.get(&in_order(ends)).copied()
    }

    /// The ends that the cable at an end has now.
    pub fn cable_at(&self, end: CableEnd) -> Option<[CableEnd; 2]> {
        self.found.peer(end).map(|peer| in_order([end, peer]))
    }
}

/// A port of a fabric as an end of a cable.
pub fn end_of(fabric: &Fabric, port: PortId) -> CableEnd {
    let port = fabric.port(port);
    CableEnd { device: CabledDevice(port.node.0), port: u16::from(port.number.value()) }
}

/// The node of a device; `None` for one that only the plan has.
pub fn node_of(fabric: &Fabric, device: CabledDevice) -> Option<NodeId> {
    ((device.0 as usize) < fabric.nodes().len()).then_some(NodeId(device.0))
}

/// The port of an end, where the fabric has it. A dump leaves out ports without a cable.
pub fn port_of(fabric: &Fabric, end: CableEnd) -> Option<PortId> {
    let number = PortNum::new(u32::from(end.port))?;
    fabric.port_of(node_of(fabric, end.device)?, number)
}
