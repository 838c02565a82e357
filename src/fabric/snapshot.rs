//! The immutable snapshot. Nodes lie in canonical order (switches, adapters, routers; each by GUID), ports in the
//! order of their node and number, links in the order of their first end: two readers that saw the same fabric
//! hold equal values.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::{Guid, Lid, NodeFacts, NodeKind, PortFacts, PortNum};

/// The index of a node in its fabric. For a switch it is the index among the switches too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// The index of a port in its fabric.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct PortId(pub u32);

/// The index of a cable in its fabric.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub u32);

impl NodeId {
    /// The index as `usize`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl PortId {
    /// The index as `usize`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkId {
    /// The index as `usize`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node of a fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Its properties.
    pub facts: NodeFacts,
    pub(super) ports: Range<u32>,
}

impl Node {
    /// Whether the node is a switch.
    pub fn is_switch(&self) -> bool {
        self.facts.kind == NodeKind::Switch
    }

    /// The node GUID.
    pub fn guid(&self) -> Guid {
        self.facts.guid
    }
}

/// A port of a fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// Its node.
    pub node: NodeId,
    /// Its number on the node.
    pub number: PortNum,
    /// Its properties.
    pub facts: PortFacts,
    /// Its cable.
    pub link: Option<LinkId>,
    /// The port at the other end of its cable.
    pub peer: Option<PortId>,
}

/// A cable between two ports, the lower port first. Both ends may be on one node (a switch cabled to itself); a
/// loop-back plug has the same port at both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The lower port.
    pub a: PortId,
    /// The higher port.
    pub b: PortId,
}

/// An immutable snapshot of a subnet: nodes, ports and links in canonical order, so that equal fabrics are equal
/// values. Ports that the source does not mention are not in it: ibnetdiscover leaves out ports without a cable.
#[derive(Clone, Default)]
pub struct Fabric {
    pub(super) nodes: Vec<Node>,
    pub(super) ports: Vec<Port>,
    pub(super) links: Vec<Link>,
    pub(super) switch_count: u32,
    /// The number of aggregation nodes.
    pub(super) aggregation_count: u32,
    /// The nodes that did not answer.
    pub(super) silent_count: u32,
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
    /// All nodes: switches, then adapters, then routers, each in the order of their GUIDs.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (NodeId, &Node)> + Clone {
        self.nodes.iter().enumerate().map(|(i, node)| (NodeId(i as u32), node))
    }

    /// All ports, in the order of nodes and port numbers.
    pub fn ports(&self) -> impl ExactSizeIterator<Item = (PortId, &Port)> + Clone {
        self.ports.iter().enumerate().map(|(i, port)| (PortId(i as u32), port))
    }

    /// Whether every node and every port has the same id in another snapshot.
    pub fn is_numbered_like(&self, other: &Self) -> bool {
        let node = |node: &Node| (node.facts.kind, node.guid());
        let port = |port: &Port| (port.node, port.number);
        self.nodes.iter().map(node).eq(other.nodes.iter().map(node))
            && self.ports.iter().map(port).eq(other.ports.iter().map(port))
    }

    /// All links, in the order of their lower ports.
    pub fn links(&self) -> impl ExactSizeIterator<Item = (LinkId, &Link)> + Clone {
        self.links.iter().enumerate().map(|(i, link)| (LinkId(i as u32), link))
    }

    /// All switches: the first `switch_count` nodes.
    pub fn switches(&self) -> impl ExactSizeIterator<Item = (NodeId, &Node)> + Clone {
        self.nodes().take(self.switch_count as usize)
    }

    /// The number of switches.
    pub fn switch_count(&self) -> usize {
        self.switch_count as usize
    }

    /// The number of hosts: channel adapters that are no aggregation nodes of switches.
    pub fn host_count(&self) -> usize {
        self.count(NodeKind::ChannelAdapter).saturating_sub(self.aggregation_count())
    }

    /// The number of aggregation nodes, which are part of switches.
    pub fn aggregation_count(&self) -> usize {
        self.aggregation_count as usize
    }

    /// The number of nodes of a type.
    pub fn count(&self, kind: NodeKind) -> usize {
        // Nodes are in the order of their types.
        let before =
            |wanted: &dyn Fn(NodeKind) -> bool| self.nodes.partition_point(|node| wanted(node.facts.kind));
        before(&|of| of <= kind) - before(&|of| of < kind)
    }

    /// Whether every node answered.
    pub fn has_answered(&self) -> bool {
        self.silent_count == 0
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A node by its id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// A port by its id.
    pub fn port(&self, id: PortId) -> &Port {
        &self.ports[id.index()]
    }

    /// A link by its id.
    pub fn link(&self, id: LinkId) -> &Link {
        &self.links[id.index()]
    }

    /// The ports of a node, by number.
    pub fn ports_of(&self, id: NodeId) -> impl ExactSizeIterator<Item = (PortId, &Port)> + Clone {
        let range = self.nodes[id.index()].ports.clone();
        let first = range.start;
        let ports = &self.ports[range.start as usize..range.end as usize];
        ports.iter().enumerate().map(move |(i, port)| (PortId(first + i as u32), port))
    }

    /// The port of a node with a number.
    pub fn port_of(&self, id: NodeId, number: PortNum) -> Option<PortId> {
        let range = self.nodes[id.index()].ports.clone();
        let ports = &self.ports[range.start as usize..range.end as usize];
        let at = ports.binary_search_by_key(&number, |port| port.number).ok()?;
        Some(PortId(range.start + at as u32))
    }

    /// The port at the other end of a port's cable.
    pub fn peer(&self, id: PortId) -> Option<PortId> {
        self.port(id).peer
    }

    /// The first node with a GUID. A switch and an adapter in one box may share theirs; [`Self::node_of`] separates
    /// them.
    pub fn node_by_guid(&self, guid: Guid) -> Option<NodeId> {
        self.by_guid.get(&guid).copied()
    }

    /// The node of a type with a GUID. The two identify a node.
    pub fn node_of(&self, kind: NodeKind, guid: Guid) -> Option<NodeId> {
        let at =
            self.nodes.binary_search_by_key(&(kind, guid), |node| (node.facts.kind, node.guid())).ok()?;
        Some(NodeId(at as u32))
    }

    /// The text that identifies a node: `switch 0x0000000000000001`.
    pub fn node_key(&self, id: NodeId) -> String {
        let node = self.node(id);
        format!("{} {}", node.facts.kind.word(), node.guid())
    }

    /// The node that such a text identifies.
    pub fn node_by_key(&self, key: &str) -> Option<NodeId> {
        let (word, guid) = key.split_once(' ')?;
        let kind = NodeKind::ALL.into_iter().find(|kind| kind.word() == word)?;
        self.node_of(kind, Guid::from_hex(guid).ok()?)
    }

    /// The port with a GUID.
    pub fn port_by_guid(&self, guid: Guid) -> Option<PortId> {
        self.by_port_guid.get(&guid).copied()
    }

    /// The port that owns a LID, whichever of its 2^LMC LIDs it is. For a switch that is port 0.
    pub fn port_by_lid(&self, lid: Lid) -> Option<PortId> {
        self.by_lid.get(lid.index()).copied().filter(|id| *id != u32::MAX).map(PortId)
    }

    /// The LID and LMC that address a port: its own, or those of port 0 for a port of a switch.
    pub fn address_of(&self, id: PortId) -> Option<(Lid, super::Lmc)> {
        let port = self.port(id);
        let owner = match self.node(port.node).facts.kind {
            NodeKind::Switch => self.port(self.port_of(port.node, PortNum::MANAGEMENT)?),
            _ => port,
        };
        owner.facts.lid.map(|lid| (lid, owner.facts.lmc))
    }

    /// The highest LID in use, further LIDs of a port included.
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
    pub fn is_between_switches(&self, id: LinkId) -> bool {
        self.ends(id).iter().all(|(node, _)| node.0 < self.switch_count)
    }

    /// Whether a link runs below what both of its ends support; `None` when that is unknown.
    pub fn is_degraded(&self, id: LinkId) -> Option<bool> {
        let link = self.link(id);
        let (a, b) = (&self.port(link.a).facts, &self.port(link.b).facts);
        let speed = is_below_best(a.speed.or(b.speed), a.speed_supported, b.speed_supported);
        let lanes = |width: Option<super::LinkWidth>| width.map(super::LinkWidth::lanes);
        let width =
            is_below_best(lanes(a.width.or(b.width)), lanes(a.width_supported), lanes(b.width_supported));
        match (speed, width) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (None, None) => None,
            _ => Some(false),
        }
    }
}

/// What is in use against the lesser of what two ends support.
fn is_below_best<T: Ord>(used: Option<T>, a: Option<T>, b: Option<T>) -> Option<bool> {
    let possible = a?.min(b?);
    used.map(|used| used < possible)
}
