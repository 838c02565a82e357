//! What a discovery has found so far, in the order of the nodes.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::keys::ProvenKey;
use super::link_down_counts::LinkDownCounts;
use fabdeck_fabric::{
    Arbitration, BLOCK_LIDS, ConnectError, Fabric, FabricBuilder, Guid, LinkSpeed, NodeFacts, NodeId,
    NodeKey, NodeKind, PhysicalState, PortFacts, PortNum, Sl2Vl,
};
use fabdeck_mad::{NodeInfo, PortCapabilities, PortInfo, SwitchInfo};

/// The ports of groups, by multicast LID.
pub(crate) type Groups = BTreeMap<u16, Vec<PortNum>>;

/// What sweeps remember of a node.
#[derive(Clone, Debug, Default)]
pub struct NodeMemory {
    /// Whether the switch has PortStateChange set, which no subnet manager has cleared.
    pub state_change: bool,
    /// Whether the node did not answer the last query.
    pub silent: bool,
    /// Whether its performance agent did not answer.
    pub mute: bool,
    /// Whether it did not answer at all.
    pub hung: bool,
    /// Whether no route leads to the node.
    pub cut_off: bool,
    /// The link-down counters of each port; below, their increase since the present cable is there.
    pub falls: FxHashMap<u8, LinkDownCounts>,
    pub fallen: FxHashMap<u8, LinkDownCounts>,
    /// Tables as last read, if the snapshot does not have them: forwarding blocks; below, groups by block, lanes by
    /// ingress and egress port, arbitration by port.
    pub blocks: FxHashMap<u16, [u8; BLOCK_LIDS as usize]>,
    pub groups: FxHashMap<u16, Groups>,
    pub lanes: FxHashMap<(u8, u8), Sl2Vl>,
    pub weights: FxHashMap<u8, Arbitration>,
    /// Whether the groups come block by block, because the snapshot has none.
    pub groups_in_turns: bool,
    /// The last LID and the number of groups at the last comparison.
    pub tops: Option<(u16, u16)>,
    /// The last block with groups.
    pub last_groups: Option<u16>,
}

/// A node and the route to it.
#[derive(Clone, Debug)]
pub struct DiscoveredNode {
    pub kind: NodeKind,
    pub guid: Guid,
    pub port_count: u8,
    /// The egress ports of the route, from the local port on.
    pub route: Vec<u8>,
    /// The port at which the route arrives.
    pub ingress: u8,
    /// The routes to further ports of an adapter: each port answers only for itself.
    pub(crate) further: BTreeMap<u8, Vec<u8>>,
    /// The M_Key that the node has answered to.
    pub m_key: ProvenKey,
    pub switch_info: Option<SwitchInfo>,
    /// Number of entries of the arbitration tables (high, low) by port, if PortInfo was read.
    pub arbitration: FxHashMap<u8, (u8, u8)>,
    /// The high limit by port.
    pub high_limit: FxHashMap<u8, u8>,
    /// The number of entries of the P_Key tables, but for those of external ports of a switch.
    pub partition_capacity: u16,
    /// Ports that drop packets by their P_Key, as they come in and as they go out.
    pub enforces: FxHashMap<u8, (bool, bool)>,
    /// Ports at which a subnet manager runs, in charge or not.
    pub manages: BTreeSet<u8>,
    /// What port 0 of a switch says about the fields of all its ports; of an adapter, what its last port says.
    pub(crate) capabilities: Option<PortCapabilities>,
    /// Whether the device refuses a PortInfo query by a sender that knows extended speeds.
    pub(crate) refuses_extended_query: bool,
    pub memory: NodeMemory,
    key: NodeKey,
}

impl DiscoveredNode {
    /// The modifier of a PortInfo query for a port.
    pub fn port_info_modifier(&self, port: u8) -> u32 {
        let knows = if self.refuses_extended_query { 0 } else { PortInfo::KNOWS_EXTENDED_SPEEDS };
        knows | u32::from(port)
    }

    /// The capabilities that hold for the fields of a PortInfo of this node, once they are known.
    pub fn capabilities_of(&self, number: u8, info: &PortInfo) -> Option<PortCapabilities> {
        match self.kind == NodeKind::Switch && number != 0 {
            true => self.capabilities,
            false => Some(info.capabilities()),
        }
    }

    /// The route to the agent that answers for a port.
    pub fn route_to(&self, port: u8) -> &[u8] {
        self.further.get(&port).unwrap_or(&self.route)
    }
}

/// The nodes, their cables and ports.
#[derive(Debug, Default)]
pub struct DiscoveryState {
    pub nodes: Vec<DiscoveredNode>,
    by_identity: FxHashMap<(NodeKind, Guid), usize>,
    builder: FabricBuilder,
    /// Ports of switches that were read before port 0 and have speeds that only its capabilities confirm.
    early: FxHashMap<usize, Vec<(u8, PortInfo)>>,
    /// Whether every device refuses a PortInfo query by a sender that knows extended speeds, as those of ibsim do.
    pub refuses_extended_queries: bool,
    /// The master's LID and, below, the subnet prefix, from the local port.
    pub manager_lid: Option<u16>,
    pub subnet_prefix: Option<u64>,
}

impl DiscoveryState {
    /// Continues from a finished fabric, with the nodes at their indices.
    pub fn from_fabric(fabric: &Fabric, mut nodes: Vec<DiscoveredNode>) -> Self {
        for (node, (id, _)) in nodes.iter_mut().zip(fabric.nodes()) {
            node.key = id.into();
        }
        let by_identity = nodes.iter().enumerate().map(|(at, node)| ((node.kind, node.guid), at)).collect();
        Self { nodes, by_identity, builder: FabricBuilder::from_fabric(fabric), ..Self::default() }
    }

    pub fn has_node(&self, kind: NodeKind, info: &NodeInfo) -> bool {
        self.by_identity.contains_key(&(kind, info.guid()))
    }

    /// The index of the node in a NodeInfo, and whether it is new.
    pub fn find_or_add_node(
        &mut self,
        kind: NodeKind,
        info: &NodeInfo,
        route: &[u8],
        key: ProvenKey,
    ) -> (usize, bool) {
        let identity = (kind, info.guid());
        if let Some(known) = self.by_identity.get(&identity).copied() {
            let node = &mut self.nodes[known];
            if kind != NodeKind::Switch && info.local_port != node.ingress {
                node.further.entry(info.local_port).or_insert_with(|| route.to_vec());
            }
            return (known, false);
        }
        let facts = NodeFacts {
            vendor_id: Some(info.vendor()),
            device_id: Some(info.device_id.get().into()),
            revision: Some(info.revision.get()),
            system_image_guid: Some(info.system_image_guid.get()).filter(|guid| *guid != 0).map(Guid),
            ..NodeFacts::new(kind, info.guid(), info.port_count, "")
        };
        let entry = self.builder.add_node(facts).unwrap_or_else(|known| known);
        let at = self.nodes.len();
        self.nodes.push(DiscoveredNode {
            kind,
            guid: info.guid(),
            port_count: info.port_count,
            route: route.to_vec(),
            ingress: info.local_port,
            further: BTreeMap::new(),
            m_key: key,
            switch_info: None,
            arbitration: FxHashMap::default(),
            high_limit: FxHashMap::default(),
            partition_capacity: info.partition_capacity.get(),
            enforces: FxHashMap::default(),
            manages: BTreeSet::new(),
            capabilities: None,
            refuses_extended_query: self.refuses_extended_queries,
            memory: NodeMemory::default(),
            key: entry,
        });
        self.by_identity.insert(identity, at);
        (at, true)
    }

    pub fn set_description(&mut self, node: usize, description: String) {
        self.builder.node_mut(self.nodes[node].key).description = description;
    }

    pub fn set_switch_info(&mut self, node: usize, info: SwitchInfo) {
        self.builder.node_mut(self.nodes[node].key).enhanced_port0 = Some(info.has_enhanced_port0());
        self.nodes[node].memory.state_change = info.has_port_state_change();
        self.nodes[node].switch_info = Some(info);
    }

    /// The GUID of a port, from NodeInfo.
    pub fn set_port_guid(&mut self, node: usize, number: u8, guid: Guid) {
        self.builder.port(self.nodes[node].key, PortNum(number)).guid = Some(guid);
    }

    pub fn set_port_info(&mut self, node: usize, number: u8, info: &PortInfo) {
        let found = &mut self.nodes[node];
        found.arbitration.insert(number, (info.arbitration_high_cap, info.arbitration_low_cap));
        found.high_limit.insert(number, info.lanes_high_limit);
        match info.enforces_partitions() {
            (false, false) => found.enforces.remove(&number),
            bits => found.enforces.insert(number, bits),
        };
        match info.has_manager() {
            true => found.manages.insert(number),
            false => found.manages.remove(&number),
        };
        let switch = found.kind == NodeKind::Switch;
        if !switch || number == 0 {
            found.capabilities = Some(info.capabilities());
        }
        let known = found.capabilities_of(number, info);
        let facts = self.builder.port(found.key, PortNum(number));
        *facts = port_facts(info, (!switch || number == 0, known), facts);
        if known.is_none() && info.speed_ext2 != 0 {
            self.early.entry(node).or_default().push((number, *info));
        }
        if switch && number == 0 {
            for (number, info) in self.early.remove(&node).unwrap_or_default() {
                self.set_port_info(node, number, &info);
            }
        }
    }

    /// Sets the speed of a port that PortInfo cannot express.
    pub fn set_fdr10(&mut self, node: usize, number: u8, active: bool) {
        let facts = self.builder.port(self.nodes[node].key, PortNum(number));
        facts.speed_supported = Some(LinkSpeed::Fdr10).max(facts.speed_supported);
        if active {
            facts.speed = Some(LinkSpeed::Fdr10);
        }
    }

    /// The ports that report QDR as their best speed in use: nodes of these vendors may mean FDR10.
    pub fn qdr_ports(&self) -> Vec<(usize, u8)> {
        let mut ports = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let numbers = 1..=node.port_count;
            let qdr = |number: &u8| {
                let facts = self.builder.known_port(node.key, PortNum(*number));
                facts.is_some_and(|facts| facts.speed == Some(LinkSpeed::Qdr))
            };
            ports.extend(numbers.filter(qdr).map(|number| (at, number)));
        }
        ports
    }

    /// The kind of a device: its vendor and device number.
    pub fn device_kind(&self, node: usize) -> (u32, u32) {
        let facts = self.builder.node(self.nodes[node].key);
        (facts.vendor_id.unwrap_or(0), facts.device_id.unwrap_or(0))
    }

    /// Adds a port that did not answer.
    pub fn add_port(&mut self, node: usize, number: u8) {
        self.builder.port(self.nodes[node].key, PortNum(number));
    }

    pub fn connect(&mut self, a: (usize, u8), b: (usize, u8)) -> Result<(), ConnectError> {
        let end = |(node, port): (usize, u8)| (self.nodes[node].key, PortNum(port));
        let (a, b) = (end(a), end(b));
        self.builder.connect(a, b)
    }

    /// Whether a port has a cable and reports that its link is down.
    pub fn has_torn_cable(&mut self, node: usize, number: u8) -> bool {
        let key = self.nodes[node].key;
        let cabled = self.builder.peer(key, PortNum(number)).is_some();
        let said = |found: &mut Self| found.builder.port(key, PortNum(number)).physical_state;
        cabled
            && matches!(
                said(self),
                Some(PhysicalState::Polling | PhysicalState::Disabled | PhysicalState::Sleep)
            )
    }

    pub fn has_peer(&self, node: usize, number: u8) -> bool {
        self.peer((node, number)).is_some()
    }

    pub fn peer(&self, (node, number): (usize, u8)) -> Option<(usize, u8)> {
        let (key, number) = self.builder.peer(self.nodes[node].key, PortNum(number))?;
        Some((key.index(), number.value()))
    }

    /// Removes a cable, and returns the port at its other end.
    pub fn disconnect(&mut self, (node, number): (usize, u8)) -> Option<(usize, u8)> {
        let (key, number) = self.builder.disconnect(self.nodes[node].key, PortNum(number))?;
        Some((key.index(), number.value()))
    }

    /// Sets whether a node is silent, and marks it in the fabric if that is new.
    pub fn set_silent(&mut self, node: usize, silent: bool) {
        let found = &mut self.nodes[node];
        if std::mem::replace(&mut found.memory.silent, silent) != silent {
            self.builder.node_mut(found.key).answered = !silent;
        }
    }

    /// The fabric, and what was found of each of its nodes.
    pub fn into_fabric(self) -> (Fabric, Vec<DiscoveredNode>) {
        let fabric = self.builder.finish();
        let mut nodes = self.nodes;
        nodes.shrink_to_fit();
        nodes.sort_by_key(|node| (node.kind, node.guid));
        debug_assert!(nodes.iter().zip(fabric.nodes()).all(|(found, (_, node))| found.guid == node.guid()));
        (fabric, nodes)
    }
}

/// The id of the node at an index of the found nodes.
pub fn node_id(at: usize) -> NodeId {
    NodeId(at as u32)
}

/// The port at the other end of the cable of a port.
pub(crate) fn far_end(fabric: &Fabric, (at, port): (usize, u8)) -> Option<(usize, u8)> {
    let peer = fabric.peer(fabric.port_of(node_id(at), PortNum(port))?)?;
    let peer = fabric.port(peer);
    Some((peer.node.index(), peer.number.value()))
}

/// The facts in a PortInfo. `before` are those that were known: the GUID, which PortInfo does not hold, and FDR10, which
/// it calls QDR.
pub(crate) fn port_facts(
    info: &PortInfo,
    (addressed, known): (bool, Option<PortCapabilities>),
    before: &PortFacts,
) -> PortFacts {
    let linked = info.physical_state() == Some(PhysicalState::LinkUp);
    let with_fdr10 = |said: Option<LinkSpeed>, before: Option<LinkSpeed>| match (said, before) {
        (Some(LinkSpeed::Qdr), Some(LinkSpeed::Fdr10)) => before,
        _ => said,
    };
    PortFacts {
        guid: before.guid,
        lid: info.lid().filter(|_| addressed),
        lmc: if addressed { info.lmc() } else { Default::default() },
        state: info.state(),
        physical_state: info.physical_state(),
        // A port without a link has neither; the values are left over from its last link.
        width: info.width().filter(|_| linked),
        speed: with_fdr10(info.speed(known).filter(|_| linked), before.speed),
        width_supported: info.width_best(),
        speed_supported: with_fdr10(info.speed_best(known), before.speed_supported),
        operational_lanes: info.operational_lanes(),
        lanes_supported: info.lanes_supported(),
    }
}
