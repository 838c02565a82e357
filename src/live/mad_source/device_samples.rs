//! One device of each kind, for a reading that wants the answers of every kind and not those of every device.

use std::collections::{BTreeMap, BTreeSet};

use super::discovery_state::{DiscoveredNode, node_id};
use fabdeck_fabric::{Fabric, NodeKind};

/// The nodes, of which later readings ask only one of each kind: the one with the most cables. The others stay in the list,
/// because the place in it is the number of a node; they count as cut off and not as switches.
pub fn sampled_nodes(fabric: &Fabric, nodes: &[DiscoveredNode]) -> Vec<DiscoveredNode> {
    let mut best = BTreeMap::new();
    for at in 0..nodes.len() {
        let facts = &fabric.node(node_id(at)).facts;
        let kind = (facts.vendor_id, facts.device_id, facts.revision, facts.kind == NodeKind::Switch);
        let cables = fabric.ports_of(node_id(at)).filter(|(_, port)| port.peer.is_some()).count();
        let held = best.entry(kind).or_insert((cables, at));
        if cables > held.0 {
            *held = (cables, at);
        }
    }
    let chosen: BTreeSet<usize> = best.into_values().map(|(_, at)| at).collect();
    let mut sampled = nodes.to_vec();
    for (_, node) in sampled.iter_mut().enumerate().filter(|(at, _)| !chosen.contains(at)) {
        node.kind = NodeKind::ChannelAdapter;
        node.memory.cut_off = true;
    }
    sampled
}
