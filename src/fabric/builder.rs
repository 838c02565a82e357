//! Builds a canonical snapshot from stated facts.

use rustc_hash::FxHashMap;

use super::{
    Fabric, Guid, Lid, Link, LinkId, Node, NodeFacts, NodeId, NodeKind, Port, PortFacts, PortId, PortNum,
};

/// A node of a [`FabricBuilder`]. The finished fabric numbers its nodes anew, as [`NodeId`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeKey(u32);

impl NodeKey {
    /// The node's index in the order in which nodes were added.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<NodeId> for NodeKey {
    /// The key of a node of a fabric that is taken up again.
    fn from(id: NodeId) -> Self {
        Self(id.0)
    }
}

/// A cable that contradicts a cable that the builder already holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("port {port} is already connected to port {peer_port} of another record")]
pub struct ConnectError {
    /// The node whose port already has a cable.
    pub node: NodeKey,
    /// The port that already has a cable.
    pub port: PortNum,
    /// The node at the other end of the cable that the builder holds.
    pub peer: NodeKey,
    /// The port at the other end of the cable that the builder holds.
    pub peer_port: PortNum,
}

struct Draft {
    facts: NodeFacts,
    ports: Vec<DraftPort>,
}

struct DraftPort {
    number: PortNum,
    facts: PortFacts,
    peer: Option<(NodeKey, PortNum)>,
}

/// Collects nodes, ports and cables in any order and makes a [`Fabric`] of them. Its memory grows with the ports
/// that are added, never with a port count that a node states.
#[derive(Default)]
pub struct FabricBuilder {
    nodes: Vec<Draft>,
    by_identity: FxHashMap<(NodeKind, Guid), NodeKey>,
}

impl std::fmt::Debug for FabricBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FabricBuilder").field("nodes", &self.nodes.len()).finish()
    }
}

impl FabricBuilder {
    /// Makes a builder without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a builder that holds a fabric, to change it. The nodes keep their order.
    pub fn from_fabric(fabric: &Fabric) -> Self {
        let mut builder = Self::new();
        for (id, node) in fabric.nodes() {
            builder.by_identity.insert((node.facts.kind, node.guid()), id.into());
            let ports = fabric.ports_of(id).map(|(_, port)| DraftPort {
                number: port.number,
                facts: port.facts.clone(),
                peer: port.peer.map(|peer| (fabric.port(peer).node.into(), fabric.port(peer).number)),
            });
            builder.nodes.push(Draft { facts: node.facts.clone(), ports: ports.collect() });
        }
        builder
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds a node. When the builder holds a node of this kind and GUID, that one stays as it is and its key is the
    /// `Err`.
    pub fn add_node(&mut self, facts: NodeFacts) -> Result<NodeKey, NodeKey> {
        let identity = (facts.kind, facts.guid);
        if let Some(known) = self.by_identity.get(&identity) {
            return Err(*known);
        }
        let key = NodeKey(self.nodes.len() as u32);
        self.by_identity.insert(identity, key);
        self.nodes.push(Draft { facts, ports: Vec::new() });
        Ok(key)
    }

    /// The node of a kind and GUID.
    pub fn find(&self, kind: NodeKind, guid: Guid) -> Option<NodeKey> {
        self.by_identity.get(&(kind, guid)).copied()
    }

    /// The facts of a node.
    pub fn node(&self, key: NodeKey) -> &NodeFacts {
        &self.nodes[key.0 as usize].facts
    }

    /// The facts of a node, to fill in. Kind and GUID are the node's identity and must not change.
    pub fn node_mut(&mut self, key: NodeKey) -> &mut NodeFacts {
        &mut self.nodes[key.0 as usize].facts
    }

    /// The facts of a port, to fill in. Adds the port when the node does not have it yet.
    pub fn port(&mut self, key: NodeKey, number: PortNum) -> &mut PortFacts {
        &mut self.draft_port(key, number).facts
    }

    /// The facts of a port, where the builder has it.
    pub fn known_port(&self, key: NodeKey, number: PortNum) -> Option<&PortFacts> {
        let ports = &self.nodes[key.0 as usize].ports;
        let at = ports.binary_search_by_key(&number, |port| port.number).ok()?;
        Some(&ports[at].facts)
    }

    /// The port at the other end of a port's cable, where the builder holds one.
    pub fn peer(&self, key: NodeKey, number: PortNum) -> Option<(NodeKey, PortNum)> {
        let ports = &self.nodes[key.0 as usize].ports;
        let at = ports.binary_search_by_key(&number, |port| port.number).ok()?;
        ports[at].peer
    }

    /// Connects two ports by a cable. Connecting the same two again changes nothing; a contradiction is an error
    /// and changes nothing either.
    pub fn connect(&mut self, a: (NodeKey, PortNum), b: (NodeKey, PortNum)) -> Result<(), ConnectError> {
        for (end, other) in [(a, b), (b, a)] {
            match self.peer(end.0, end.1) {
                Some(peer) if peer != other => {
                    return Err(ConnectError { node: end.0, port: end.1, peer: peer.0, peer_port: peer.1 });
                }
                _ => {}
            }
        }
        self.draft_port(a.0, a.1).peer = Some(b);
        self.draft_port(b.0, b.1).peer = Some(a);
        Ok(())
    }

    /// Removes the cable of a port and returns the port at its other end.
    pub fn disconnect(&mut self, key: NodeKey, number: PortNum) -> Option<(NodeKey, PortNum)> {
        let far = self.peer(key, number)?;
        for (key, number) in [(key, number), far] {
            self.draft_port(key, number).peer = None;
        }
        Some(far)
    }

    fn draft_port(&mut self, key: NodeKey, number: PortNum) -> &mut DraftPort {
        let ports = &mut self.nodes[key.0 as usize].ports;
        let at = match ports.binary_search_by_key(&number, |port| port.number) {
            Ok(at) => at,
            Err(at) => {
                ports.insert(at, DraftPort { number, facts: PortFacts::default(), peer: None });
                at
            }
        };
        &mut ports[at]
    }

    /// Makes the fabric: switches first, then adapters, then routers, each in the order of their GUIDs.
    pub fn finish(mut self) -> Fabric {
        let order = self.canonical_order();
        let mut place = vec![0u32; self.nodes.len()];
        for (at, key) in order.iter().enumerate() {
            place[key.0 as usize] = at as u32;
        }
        let ports = self.nodes.iter().map(|draft| draft.ports.len()).sum();
        let mut fabric = Fabric::default();
        fabric.nodes.reserve_exact(order.len());
        fabric.ports.reserve_exact(ports);
        let mut peers = Vec::with_capacity(ports);
        for key in &order {
            let draft = &mut self.nodes[key.0 as usize];
            let start = fabric.ports.len() as u32;
            let node = NodeId(fabric.nodes.len() as u32);
            for port in draft.ports.drain(..) {
                peers.push(port.peer);
                fabric.ports.push(Port {
                    node,
                    number: port.number,
                    facts: port.facts,
                    link: None,
                    peer: None,
                });
            }
            let facts = std::mem::replace(&mut draft.facts, NodeFacts::new(NodeKind::Switch, Guid(0), 0, ""));
            fabric.switch_count += u32::from(facts.kind == NodeKind::Switch);
            fabric.aggregation_count += u32::from(facts.is_aggregation());
            fabric.silent_count += u32::from(!facts.answered);
            fabric.nodes.push(Node { facts, ports: start..fabric.ports.len() as u32 });
        }
        join_peers(&mut fabric, &peers, &place);
        build_index(&mut fabric);
        fabric
    }

    fn canonical_order(&self) -> Vec<NodeKey> {
        let mut order: Vec<NodeKey> = (0..self.nodes.len() as u32).map(NodeKey).collect();
        order.sort_by_key(|key| {
            let facts = &self.nodes[key.0 as usize].facts;
            (facts.kind, facts.guid)
        });
        order
    }
}

/// Turns (node key, number) into port ids and makes one link per cable.
fn join_peers(fabric: &mut Fabric, peers: &[Option<(NodeKey, PortNum)>], place: &[u32]) {
    for (at, peer) in peers.iter().enumerate() {
        let Some((key, number)) = peer else { continue };
        let node = NodeId(place[key.0 as usize]);
        let Some(peer) = fabric.port_of(node, *number) else { continue };
        let here = PortId(at as u32);
        fabric.ports[at].peer = Some(peer);
        if here <= peer {
            let link = LinkId(fabric.links.len() as u32);
            fabric.links.push(Link { a: here, b: peer });
            fabric.ports[at].link = Some(link);
            fabric.ports[peer.index()].link = Some(link);
        }
    }
}

/// Look-ups by GUID and LID. Where two claim one identifier the first in canonical order has it; readers note it.
fn build_index(fabric: &mut Fabric) {
    fabric.by_guid.reserve(fabric.nodes.len());
    for (at, node) in fabric.nodes.iter().enumerate() {
        fabric.by_guid.entry(node.facts.guid).or_insert(NodeId(at as u32));
    }
    let past_lids =
        |port: &Port| port.facts.lid.map_or(0, |lid| lid.index() + usize::from(port.facts.lmc.lid_count()));
    let past = fabric.ports.iter().map(past_lids).max().unwrap_or(0);
    let mut by_lid = vec![u32::MAX; past.min(usize::from(Lid::MAX) + 1)];
    for (at, port) in fabric.ports.iter().enumerate() {
        if let Some(guid) = port.facts.guid {
            fabric.by_port_guid.entry(guid).or_insert(PortId(at as u32));
        }
        let Some(lid) = port.facts.lid else { continue };
        for owner in by_lid.iter_mut().take(past_lids(port)).skip(lid.index()) {
            if *owner == u32::MAX {
                *owner = at as u32;
            }
        }
    }
    fabric.by_lid = by_lid;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lmc;

    fn switch(guid: u64) -> NodeFacts {
        NodeFacts::new(NodeKind::Switch, Guid(guid), 4, format!("sw{guid}"))
    }

    #[test]
    fn the_order_of_statements_does_not_matter() {
        let forward = {
            let mut b = FabricBuilder::new();
            let one = b.add_node(switch(1)).unwrap();
            let two = b.add_node(switch(2)).unwrap();
            b.connect((one, PortNum(1)), (two, PortNum(3))).unwrap();
            b.connect((one, PortNum(2)), (one, PortNum(4))).unwrap();
            b.finish()
        };
        let backward = {
            let mut b = FabricBuilder::new();
            let two = b.add_node(switch(2)).unwrap();
            let one = b.add_node(switch(1)).unwrap();
            b.connect((one, PortNum(4)), (one, PortNum(2))).unwrap();
            b.connect((two, PortNum(3)), (one, PortNum(1))).unwrap();
            b.connect((one, PortNum(1)), (two, PortNum(3))).unwrap();
            b.finish()
        };
        assert_eq!(forward, backward);
        assert_eq!(forward.links().len(), 2);
    }

    #[test]
    fn a_fabric_taken_up_again_is_the_same_until_it_is_changed() {
        let mut b = FabricBuilder::new();
        let (one, two) = (b.add_node(switch(1)).unwrap(), b.add_node(switch(2)).unwrap());
        b.connect((one, PortNum(1)), (two, PortNum(3))).unwrap();
        b.connect((one, PortNum(2)), (one, PortNum(4))).unwrap();
        let fabric = b.finish();
        let mut again = FabricBuilder::from_fabric(&fabric);
        assert_eq!(FabricBuilder::from_fabric(&fabric).finish(), fabric);
        assert_eq!(again.disconnect(two, PortNum(3)), Some((one, PortNum(1))));
        assert_eq!((again.peer(one, PortNum(1)), again.disconnect(two, PortNum(3))), (None, None));
        let changed = again.finish();
        assert!(changed.links().len() == 1 && changed.ports().len() == fabric.ports().len());
    }

    #[test]
    fn a_contradicting_cable_is_refused_and_changes_nothing() {
        let mut b = FabricBuilder::new();
        let one = b.add_node(switch(1)).unwrap();
        let two = b.add_node(switch(2)).unwrap();
        b.connect((one, PortNum(1)), (two, PortNum(1))).unwrap();
        let error = b.connect((one, PortNum(2)), (two, PortNum(1))).unwrap_err();
        assert_eq!((error.node, error.peer, error.peer_port), (two, one, PortNum(1)));
        assert_eq!(b.finish().links().len(), 1);
    }

    #[test]
    fn a_loop_back_plug_is_one_link_with_one_port() {
        let mut b = FabricBuilder::new();
        let one = b.add_node(switch(1)).unwrap();
        b.connect((one, PortNum(1)), (one, PortNum(1))).unwrap();
        let fabric = b.finish();
        let (_, link) = fabric.links().next().unwrap();
        assert_eq!(link.a, link.b);
    }

    #[test]
    fn a_port_owns_two_to_the_lmc_lids() {
        let mut b = FabricBuilder::new();
        let host = b.add_node(NodeFacts::new(NodeKind::ChannelAdapter, Guid(9), 1, "h")).unwrap();
        let port = b.port(host, PortNum(1));
        (port.lid, port.lmc) = (Lid::new(8), Lmc::new(2).unwrap());
        let fabric = b.finish();
        let owned: Vec<u32> =
            (0..20).filter(|l| Lid::new(*l).and_then(|l| fabric.port_by_lid(l)).is_some()).collect();
        assert_eq!(owned, [8, 9, 10, 11]);
        assert_eq!(fabric.top_lid(), Lid::new(11));
    }
}
