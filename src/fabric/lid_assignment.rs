//! LIDs for a fabric that has none, or that has others.

use super::{Fabric, FabricBuilder, Guid, Lid, Lmc, NodeId, NodeKind, PortNum};

impl Fabric {
    /// Returns the fabric with new LIDs from 1 on, in the order in which OpenSM gives them to a fabric that never
    /// had any: the subnet manager's port first, then the ports in OpenSM's order of their GUIDs, which compares
    /// the swapped bytes.
    pub fn with_fresh_lids(&self, manager: Option<Guid>) -> Self {
        let mut ends = self.addressable_ports();
        let of_manager =
            |guid: Guid, node: NodeId| Some(guid) == manager || Some(self.node(node).guid()) == manager;
        ends.sort_by_key(|(guid, node, port)| (!of_manager(*guid, *node), guid.0.swap_bytes(), *node, *port));
        let mut builder = FabricBuilder::new();
        // Nodes of a fabric differ in kind or GUID, so none is known already.
        let keys: Vec<_> = self
            .nodes()
            .map(|(_, node)| builder.add_node(node.facts.clone()).unwrap_or_else(|known| known))
            .collect();
        for (_, port) in self.ports() {
            *builder.port(keys[port.node.index()], port.number) = port.facts.clone();
        }
        for ((_, node, port), lid) in ends.into_iter().zip((1..).map_while(Lid::new)) {
            builder.port(keys[node.index()], port).lid = Some(lid);
        }
        for (link, _) in self.links() {
            let [a, b] = self.ends(link).map(|(node, number)| (keys[node.index()], number));
            // The cables come from a fabric, where each port has one peer: they cannot contradict.
            let _ = builder.connect(a, b);
        }
        builder.finish()
    }

    /// Returns the fabric with new LIDs: 2^LMC for each port of an adapter, one for each switch, in the order of port
    /// GUIDs. The base LID is a multiple of the number of LIDs.
    pub fn with_lmc(&self, lmc: Lmc) -> Self {
        let mut ends = self.addressable_ports();
        ends.sort_by_key(|(guid, _, port)| (*guid, *port));
        let mut next = 1u32;
        let mut builder = FabricBuilder::from_fabric(self);
        for (_, node, number) in ends {
            let own = if self.node(node).is_switch() { Lmc::default() } else { lmc };
            let lids = u32::from(own.lid_count());
            let lid = next.next_multiple_of(lids);
            next = lid + lids;
            let facts = builder.port(node.into(), number);
            // A port beyond the last LID gets none.
            let fits = lid + lids - 1 <= u32::from(Lid::MAX);
            (facts.lid, facts.lmc) = (Lid::new(lid).filter(|_| fits), own);
        }
        builder.finish()
    }

    /// Ports that get a LID: port 0 of switches, even when the source does not mention it, and the cabled ports of other
    /// nodes. A port without a known GUID has its node's plus its number.
    fn addressable_ports(&self) -> Vec<(Guid, NodeId, PortNum)> {
        let mut ends = Vec::new();
        for (id, node) in self.nodes() {
            if node.facts.kind == NodeKind::Switch {
                ends.push((node.guid(), id, PortNum::MANAGEMENT));
                continue;
            }
            for (_, port) in self.ports_of(id).filter(|(_, port)| port.peer.is_some()) {
                let counted = Guid(node.guid().0.wrapping_add(port.number.value().into()));
                ends.push((port.facts.guid.unwrap_or(counted), id, port.number));
            }
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeFacts;

    #[test]
    fn lids_follow_guids_as_opensm_keeps_them() {
        let mut b = FabricBuilder::new();
        let leaf = b.add_node(NodeFacts::new(NodeKind::Switch, Guid(0x0200), 8, "leaf")).unwrap();
        for (at, guid) in [0x0001, 0x0102, 0x0300u64].into_iter().enumerate() {
            let host = b.add_node(NodeFacts::new(NodeKind::ChannelAdapter, Guid(guid), 2, "host")).unwrap();
            b.connect((leaf, PortNum(at as u8 + 1)), (host, PortNum(1))).unwrap();
        }
        let bare = b.finish();
        let lids = |fabric: &Fabric| {
            let mut lids: Vec<(u16, u64)> = fabric
                .ports()
                .filter_map(|(_, port)| Some((port.facts.lid?.value(), fabric.node(port.node).guid().0)))
                .collect();
            lids.sort_unstable();
            lids
        };
        assert_eq!(
            lids(&bare.with_fresh_lids(None)),
            [(1, 0x0200), (2, 0x0300), (3, 0x0001), (4, 0x0102)][..].to_vec()
        );
        let managed = bare.with_fresh_lids(Some(Guid(0x0001)));
        assert_eq!(lids(&managed)[0], (1, 0x0001));
        let ids = |fabric: &Fabric| fabric.nodes().map(|(_, node)| node.guid()).collect::<Vec<_>>();
        assert_eq!((ids(&managed), managed.links().len()), (ids(&bare), bare.links().len()));
    }
}
