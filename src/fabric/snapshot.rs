//! The immutable snapshot. Nodes lie in canonical order (switches, adapters, routers; each by GUID), ports in the
//! order of their node and number, links in the order of their first end: two readers that saw the same fabric
//! hold equal values.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::{Guid, Lid, NodeFacts, NodeKind, PortFacts, PortNum};

/// A node's index in its fabric. For switches it is the index among the switches too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// A port's index in its fabric.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct PortId(pub u32);

/// A cable's index in its fabric.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub u32);

impl NodeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl PortId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    pub facts: NodeFacts,
    pub(super) ports: Range<u32>,
}

impl Node {
    pub fn is_switch(&self) -> bool {
        self.facts.kind == NodeKind::Switch
    }

    pub fn guid(&self) -> Guid {
        self.facts.guid
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    pub node: NodeId,
    pub number: PortNum,
    pub facts: PortFacts,
    pub link: Option<LinkId>,
    pub peer: Option<PortId>,
}

/// A cable between two ports, the lower port first. Both ends may be on one node (a switch cabled to itself), and
/// a loop-back plug has one port at both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    pub a: PortId,
    pub b: PortId,
}

/// A fabric. Ports that nobody mentioned are not in it: a dump of ibnetdiscover leaves ports without a cable out.
#[derive(Clone, Default)]
pub struct Fabric {
    pub(super) nodes: Vec<Node>,
    pub(super) ports: Vec<Port>,
    pub(super) links: Vec<Link>,
    pub(super) switch_count: u32,
    pub(super) by_guid: FxHashMap<Guid, NodeId>,
    pub(super) by_port_guid: FxHashMap<Guid, PortId>,
    /// Dense over the unicast range, `u32::MAX` where no port owns the LID.
    pub(super) by_lid: Vec<u32>,
}

impl std::fmt::Debug for Fabric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fabric")
            .field("nodes", &self.nodes)
            .field("ports", &self.ports)
            .field("links", &self.links)
            .finish()
    }
}

/// The look-up tables follow from nodes, ports and links, so they take no part.
impl PartialEq for Fabric {
    fn eq(&self, other: &Self) -> bool {
        self.nodes == other.nodes && self.ports == other.ports && self.links == other.links
    }
}

impl Eq for Fabric {}

impl Fabric {
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (NodeId, &Node)> + Clone {
        self.nodes.iter().enumerate().map(|(i, node)| (NodeId(i as u32), node))
    }

    pub fn ports(&self) -> impl ExactSizeIterator<Item = (PortId, &Port)> + Clone {
        self.ports.iter().enumerate().map(|(i, port)| (PortId(i as u32), port))
    }

    /// Whether every node and every port has the same number in another snapshot.
    pub fn is_numbered_like(&self, other: &Self) -> bool {
        let node = |node: &Node| (node.facts.kind, node.guid());
        let port = |port: &Port| (port.node, port.number);
        self.nodes.iter().map(node).eq(other.nodes.iter().map(node))
            && self.ports.iter().map(port).eq(other.ports.iter().map(port))
    }

    pub fn links(&self) -> impl ExactSizeIterator<Item = (LinkId, &Link)> + Clone {
        self.links.iter().enumerate().map(|(i, link)| (LinkId(i as u32), link))
    }

    /// The switches: the first `switch_count` nodes.
    pub fn switches(&self) -> impl ExactSizeIterator<Item = (NodeId, &Node)> + Clone {
        self.nodes().take(self.switch_count as usize)
    }

    pub fn switch_count(&self) -> usize {
        self.switch_count as usize
    }

    pub fn count(&self, kind: NodeKind) -> usize {
        self.nodes.iter().filter(|node| node.facts.kind == kind).count()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub fn port(&self, id: PortId) -> &Port {
        &self.ports[id.index()]
    }

    pub fn link(&self, id: LinkId) -> &Link {
        &self.links[id.index()]
    }

    /// The known ports of a node, by number.
    pub fn ports_of(&self, id: NodeId) -> impl ExactSizeIterator<Item = (PortId, &Port)> + Clone {
        let range = self.nodes[id.index()].ports.clone();
        let first = range.start;
        let ports = &self.ports[range.start as usize..range.end as usize];
        ports.iter().enumerate().map(move |(i, port)| (PortId(first + i as u32), port))
    }

    pub fn port_of(&self, id: NodeId, number: PortNum) -> Option<PortId> {
        let range = self.nodes[id.index()].ports.clone();
        let ports = &self.ports[range.start as usize..range.end as usize];
        let at = ports.binary_search_by_key(&number, |port| port.number).ok()?;
        Some(PortId(range.start + at as u32))
    }

    /// The port at the other end of the cable.
    pub fn peer(&self, id: PortId) -> Option<PortId> {
        self.port(id).peer
    }

    /// The first node with a GUID. A switch and an adapter in one box may share theirs: where the kind is known,
    /// [`Self::node_of`] tells them apart.
    pub fn node_by_guid(&self, guid: Guid) -> Option<NodeId> {
        self.by_guid.get(&guid).copied()
    }

    /// The node of a kind with a GUID: the two identify it.
    pub fn node_of(&self, kind: NodeKind, guid: Guid) -> Option<NodeId> {
        let at =
            self.nodes.binary_search_by_key(&(kind, guid), |node| (node.facts.kind, node.guid())).ok()?;
        Some(NodeId(at as u32))
    }

    /// What identifies a node, in words: `switch 0x0000000000000001`.
    pub fn node_key(&self, id: NodeId) -> String {
        let node = self.node(id);
        format!("{} {}", node.facts.kind.word(), node.guid())
    }

    /// The node of such words.
    pub fn node_by_key(&self, key: &str) -> Option<NodeId> {
        let (word, guid) = key.split_once(' ')?;
        let kind = NodeKind::ALL.into_iter().find(|kind| kind.word() == word)?;
        self.node_of(kind, Guid::from_hex(guid).ok()?)
    }

    pub fn port_by_guid(&self, guid: Guid) -> Option<PortId> {
        self.by_port_guid.get(&guid).copied()
    }

    /// The port that owns a LID, whichever of its 2^LMC it is. For a switch that is port 0.
    pub fn port_by_lid(&self, lid: Lid) -> Option<PortId> {
        self.by_lid.get(lid.index()).copied().filter(|id| *id != u32::MAX).map(PortId)
    }

    /// The LID and LMC that address a port: its own, or those of port 0 for a switch port.
    pub fn address_of(&self, id: PortId) -> Option<(Lid, super::Lmc)> {
        let port = self.port(id);
        let owner = match self.node(port.node).facts.kind {
            NodeKind::Switch => self.port(self.port_of(port.node, PortNum::MANAGEMENT)?),
            _ => port,
        };
        owner.facts.lid.map(|lid| (lid, owner.facts.lmc))
    }

    /// The highest LID in use, multiple LIDs of a port included.
    pub fn top_lid(&self) -> Option<Lid> {
        let last = self.by_lid.iter().rposition(|id| *id != u32::MAX)?;
        Lid::new(last as u32)
    }

    /// Both ends of a link as (node, port number).
    pub fn ends(&self, id: LinkId) -> [(NodeId, PortNum); 2] {
        let link = self.link(id);
        [link.a, link.b].map(|port| (self.port(port).node, self.port(port).number))
    }

    /// Whether both ends of a link are switches.
    pub fn between_switches(&self, id: LinkId) -> bool {
        self.ends(id).iter().all(|(node, _)| node.0 < self.switch_count)
    }

    /// Whether a link runs below what both of its ends can do; `None` when they did not say what that is.
    pub fn degraded(&self, id: LinkId) -> Option<bool> {
        let link = self.link(id);
        let (a, b) = (&self.port(link.a).facts, &self.port(link.b).facts);
        let speed = judge(a.speed.or(b.speed), a.speed_supported, b.speed_supported);
        let lanes = |width: Option<super::LinkWidth>| width.map(super::LinkWidth::lanes);
        let width = judge(lanes(a.width.or(b.width)), lanes(a.width_supported), lanes(b.width_supported));
        match (speed, width) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (None, None) => None,
            _ => Some(false),
        }
    }
}

/// What is in use against the lesser of what two ends support.
fn judge<T: Ord>(used: Option<T>, a: Option<T>, b: Option<T>) -> Option<bool> {
    let possible = a?.min(b?);
    used.map(|used| used < possible)
}
