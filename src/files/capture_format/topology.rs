//! A whole fabric as records.

use serde::{Deserialize, Serialize};

use super::record_words::parse_word;
use crate::limit::MAX_NODES;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{
    Fabric, FabricBuilder, Guid, Lid, LinkSpeed, LinkWidth, Lmc, Node, NodeFacts, NodeId, NodeKind,
    PhysicalState, Port, PortFacts, PortNum, PortState,
};

/// Most ports of one record, because a record must fit into a frame.
const PORTS_PER_RECORD: usize = 40_000;
/// Most ports of all records together. The largest subnets have several hundred thousand.
pub const MAX_PORTS: usize = 2_000_000;

/// All nodes with their ports, in canonical order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Topology {
    /// Number of nodes in all, if one record does not hold them; the following records have the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<u32>,
    nodes: Vec<NodeRecord>,
    /// Number of ports of the parts joined so far; each part is counted once.
    #[serde(skip)]
    joined_ports: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct NodeRecord {
    kind: String,
    guid: Guid,
    name: String,
    port_count: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vendor_id: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    device_id: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    system_image_guid: Option<Guid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    enhanced_port0: Option<bool>,
    answered: bool,
    ports: Vec<PortRecord>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct PortRecord {
    number: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guid: Option<Guid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lid: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lmc: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    physical_state: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    width: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    speed: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    width_supported: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    speed_supported: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    operational_lanes: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lanes_supported: Option<u8>,
    /// The node (its index in the list) and the port at the other end of the cable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    peer: Option<(u32, u8)>,
}

/// Vendor, device id and revision.
pub type DeviceModel = (Option<u32>, Option<u32>, Option<u32>);

/// A node by its kind and GUID, with its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeLabel<'t> {
    pub kind: NodeKind,
    pub guid: Guid,
    pub name: &'t str,
    /// Whether the node is the aggregation node of a switch.
    pub aggregation: bool,
}

impl Topology {
    pub fn of(fabric: &Fabric) -> Vec<Self> {
        Self::split_ports(fabric, PORTS_PER_RECORD)
    }

    /// Splits a fabric into records of at most this many ports; a node is never split.
    fn split_ports(fabric: &Fabric, ports: usize) -> Vec<Self> {
        let (mut parts, mut held) = (vec![Self::default()], 0);
        for (id, node) in fabric.nodes() {
            let record = node_record(fabric, id, node);
            if held > 0 && held + record.ports.len() > ports {
                parts.push(Self::default());
                held = 0;
            }
            // A node without ports takes room too.
            held += record.ports.len().max(1);
            if let Some(last) = parts.last_mut() {
                last.nodes.push(record);
            }
        }
        if parts.len() > 1 {
            let count = fabric.nodes().count() as u32;
            parts.iter_mut().for_each(|part| part.of = Some(count));
        }
        parts
    }

    /// Joins parts; returns the whole list when its last part is there.
    pub fn join_parts(self, parts: &mut Self) -> Result<Option<Self>, String> {
        self.join_parts_within(parts, MAX_PORTS)
    }

    fn join_parts_within(self, parts: &mut Self, most_ports: usize) -> Result<Option<Self>, String> {
        if self.of.is_none() {
            *parts = Self::default();
        }
        let ports = self.port_count() + parts.joined_ports;
        if ports > most_ports {
            return Err(format!(
                "{} ports, more than the limit of {}",
                digits_in_groups(ports),
                digits_in_groups(most_ports)
            ));
        }
        let Some(of) = self.of else { return Ok(Some(self)) };
        let (of, nodes) = (of as usize, parts.nodes.len() + self.nodes.len());
        if of > MAX_NODES || nodes > of {
            return Err(format!("{nodes} of {of} nodes; the limit is {}", digits_in_groups(MAX_NODES)));
        }
        (parts.joined_ports, parts.of) = (ports, None);
        parts.nodes.extend(self.nodes);
        Ok((parts.nodes.len() == of).then(|| Self { joined_ports: 0, ..std::mem::take(parts) }))
    }

    fn port_count(&self) -> usize {
        self.nodes.iter().map(|node| node.ports.len()).sum()
    }

    /// The names of all nodes.
    pub fn node_labels(&self) -> impl Iterator<Item = NodeLabel<'_>> {
        self.nodes.iter().filter_map(|node| {
            let facts = node.facts().ok()?;
            Some(NodeLabel {
                kind: facts.kind,
                guid: node.guid,
                name: &node.name,
                aggregation: facts.is_aggregation(),
            })
        })
    }

    /// Replaces GUIDs, names and vendors. A number replaces the vendor, so that devices of one kind can still be
    /// recognized.
    pub fn anonymize(
        &mut self,
        guid: impl Fn(Guid) -> Guid,
        name: impl Fn(NodeKind, Guid) -> String,
        device: impl Fn(DeviceModel) -> Option<u32>,
    ) {
        for node in &mut self.nodes {
            let kind = NodeKind::ALL.into_iter().find(|kind| kind.word() == node.kind);
            node.name = kind.map_or_else(String::new, |kind| name(kind, node.guid));
            node.guid = guid(node.guid);
            node.system_image_guid = node.system_image_guid.map(&guid);
            let model = device((node.vendor_id, node.device_id, node.revision));
            (node.vendor_id, node.device_id, node.revision) = (None, model, None);
            for port in &mut node.ports {
                port.guid = port.guid.map(&guid);
            }
        }
    }

    /// All kinds of devices.
    pub fn device_models(&self) -> impl Iterator<Item = DeviceModel> {
        self.nodes.iter().map(|node| (node.vendor_id, node.device_id, node.revision))
    }

    /// All GUIDs.
    pub fn guids(&self) -> impl Iterator<Item = Guid> {
        self.nodes.iter().flat_map(|node| {
            let ports = node.ports.iter().filter_map(|port| port.guid);
            [node.guid].into_iter().chain(node.system_image_guid).chain(ports)
        })
    }

    pub fn fabric(&self) -> Result<Fabric, String> {
        if self.nodes.len() > MAX_NODES {
            return Err(format!("more than {} nodes", digits_in_groups(MAX_NODES)));
        }
        let (mut builder, mut keys) = (FabricBuilder::new(), Vec::new());
        for node in &self.nodes {
            let key = builder.add_node(node.facts()?);
            keys.push(key.map_err(|_| format!("{} {} is listed twice", node.kind, node.guid))?);
        }
        for (node, key) in self.nodes.iter().zip(&keys) {
            for port in &node.ports {
                let number = port_number(port.number)?;
                *builder.port(*key, number) = port.facts()?;
                let Some((peer, peer_port)) = port.peer else { continue };
                let peer = keys
                    .get(peer as usize)
                    .ok_or_else(|| format!("a cable to node {peer} in a list of {} nodes", keys.len()))?;
                builder
                    .connect((*key, number), (*peer, self::port_number(peer_port)?))
                    .map_err(|e| e.to_string())?;
            }
        }
        Ok(builder.finish())
    }
}

fn port_number(number: u8) -> Result<PortNum, String> {
    PortNum::new(number.into()).ok_or_else(|| format!("there is no port {number}"))
}

fn node_record(fabric: &Fabric, id: NodeId, node: &Node) -> NodeRecord {
    let facts = &node.facts;
    NodeRecord {
        kind: facts.kind.word().to_owned(),
        guid: facts.guid,
        name: facts.description.clone(),
        port_count: facts.port_count,
        vendor_id: facts.vendor_id,
        device_id: facts.device_id,
        revision: facts.revision,
        system_image_guid: facts.system_image_guid,
        enhanced_port0: facts.enhanced_port0,
        answered: facts.answered,
        ports: fabric.ports_of(id).map(|(_, port)| port_record(fabric, port)).collect(),
    }
}

fn port_record(fabric: &Fabric, port: &Port) -> PortRecord {
    let facts = &port.facts;
    let peer = port.peer.map(|peer| fabric.port(peer));
    let word = |word: Option<&'static str>| word.map(str::to_owned);
    PortRecord {
        number: port.number.value(),
        guid: facts.guid,
        lid: facts.lid.map(Lid::value),
        lmc: Some(facts.lmc.value()).filter(|lmc| *lmc > 0),
        state: word(facts.state.map(PortState::word)),
        physical_state: word(facts.physical_state.map(PhysicalState::word)),
        width: word(facts.width.map(LinkWidth::word)),
        speed: word(facts.speed.map(LinkSpeed::word)),
        width_supported: word(facts.width_supported.map(LinkWidth::word)),
        speed_supported: word(facts.speed_supported.map(LinkSpeed::word)),
        operational_lanes: facts.operational_lanes,
        lanes_supported: facts.lanes_supported,
        peer: peer.map(|peer| (peer.node.0, peer.number.value())),
    }
}

impl NodeRecord {
    fn facts(&self) -> Result<NodeFacts, String> {
        let kind = NodeKind::ALL.into_iter().find(|kind| kind.word() == self.kind);
        let kind = kind.ok_or_else(|| format!("'{}' is no kind of node", self.kind))?;
        Ok(NodeFacts {
            vendor_id: self.vendor_id,
            device_id: self.device_id,
            revision: self.revision,
            system_image_guid: self.system_image_guid,
            enhanced_port0: self.enhanced_port0,
            answered: self.answered,
            ..NodeFacts::new(kind, self.guid, self.port_count, self.name.clone())
        })
    }
}

impl PortRecord {
    fn facts(&self) -> Result<PortFacts, String> {
        let lid = |lid: u16| Lid::new(lid.into()).ok_or_else(|| format!("{lid} is no unicast LID"));
        let lmc = |lmc: u8| Lmc::new(lmc.into()).ok_or_else(|| format!("{lmc} is no LMC"));
        Ok(PortFacts {
            guid: self.guid,
            lid: self.lid.map(lid).transpose()?,
            lmc: self.lmc.map(lmc).transpose()?.unwrap_or_default(),
            state: parse_word("state", self.state.as_deref(), PortState::from_word)?,
            physical_state: parse_word("state", self.physical_state.as_deref(), PhysicalState::from_word)?,
            width: parse_word("width", self.width.as_deref(), LinkWidth::from_word)?,
            speed: parse_word("speed", self.speed.as_deref(), LinkSpeed::from_word)?,
            width_supported: parse_word("width", self.width_supported.as_deref(), LinkWidth::from_word)?,
            speed_supported: parse_word("speed", self.speed_supported.as_deref(), LinkSpeed::from_word)?,
            operational_lanes: self.operational_lanes,
            lanes_supported: self.lanes_supported,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    #[test]
    fn a_fabric_in_parts_is_the_same_fabric() {
        let fabric = generate(&"kary,k=4,n=3".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let parts = Topology::split_ports(&fabric, 50);
        assert!(parts.len() > 5, "{} parts", parts.len());
        let (mut held, mut joined) = (Topology::default(), Vec::new());
        for part in parts.clone() {
            joined.extend(part.join_parts(&mut held).unwrap());
        }
        assert_eq!((joined.len(), joined[0].fabric().unwrap() == fabric), (1, true));
        assert_eq!(held, Topology::default());
        // A repeated part is one too many; a whole list discards the parts before it.
        let twice =
            parts[0].clone().join_parts(&mut held).and_then(|_| parts[0].clone().join_parts(&mut held));
        assert_eq!(twice, Ok(None));
        assert!(parts.iter().any(|part| part.clone().join_parts(&mut held).is_err()));
        // The limit counts the ports of all parts, and those of a whole list.
        let mut held = Topology::default();
        assert!(parts[0].clone().join_parts_within(&mut held, 60).is_ok());
        let more = parts[1].clone().join_parts_within(&mut held, 60);
        assert!(more.is_err_and(|what| what.contains("ports, more than the limit of 60")));
        let [whole] = <[Topology; 1]>::try_from(Topology::of(&fabric)).unwrap();
        assert!(whole.clone().join_parts_within(&mut held, 60).is_err());
        assert!(whole.of.is_none() && whole.clone().join_parts(&mut held) == Ok(Some(whole)));
    }
}
