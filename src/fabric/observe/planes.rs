//! The planes of a fabric with XDR: networks of their own, over which the ports of one device carry its traffic together.
//! The fabric of a reading, its tables and its counters are those of one plane; the others tell which of their links are up.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::port_hierarchy::{PortHierarchies, device_labels};
use crate::{Fabric, Guid, PortNum, PortState};

/// What the discovery of a plane came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaneAnswer {
    /// All of it answered: a port without a link there is down.
    #[default]
    Read,
    /// Part of it did not answer.
    Partial,
    /// Nothing answered, or the link of this host in it is down.
    Silent,
}

impl PlaneAnswer {
    fn is_read(&self) -> bool {
        *self == Self::Read
    }
}

/// A node that a plane has.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PlaneNode {
    /// Whether it is a switch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub switch: bool,
    /// The GUID of its system, which the chips of one device share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<Guid>,
    /// What it says of itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// A port with a link that is up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlanePort {
    /// The GUID of its node, and the number of the port.
    pub node: Guid,
    /// Its number.
    pub number: PortNum,
    /// The GUID of the port, of adapters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guid: Option<Guid>,
    /// The other end.
    pub peer: (Guid, PortNum),
}

/// What one further plane stated.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PlaneReading {
    /// The number of the plane.
    pub plane: u8,
    /// Whether all of it answered.
    pub answer: PlaneAnswer,
    /// Its nodes by GUID.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<Guid, PlaneNode>,
    /// Its ports with a link that is up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PlanePort>,
    /// Nodes that another plane states otherwise: their ports are not judged.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub contradicting: BTreeSet<Guid>,
}

impl PlaneReading {
    /// A plane that did not answer.
    pub fn silent(plane: u8) -> Self {
        Self { plane, answer: PlaneAnswer::Silent, ..Self::default() }
    }

    /// What the discovery of a plane found.
    pub fn of_fabric(plane: u8, answer: PlaneAnswer, fabric: &Fabric) -> Self {
        let node = |facts: &crate::NodeFacts, switch| {
            let (system, name) = (facts.system_image_guid, facts.description.clone());
            (facts.guid, PlaneNode { switch, system, name })
        };
        let nodes = fabric.nodes().map(|(_, of)| node(&of.facts, of.is_switch())).collect();
        let end = |id| {
            let port = fabric.port(id);
            (fabric.node(port.node).guid(), port.number)
        };
        let linked = fabric.ports().filter(|(_, port)| port.facts.state != Some(PortState::Down));
        let ports = linked.filter_map(|(id, port)| {
            let (node, number) = end(id);
            Some(PlanePort { node, number, guid: port.facts.guid, peer: end(port.peer?) })
        });
        Self { plane, answer, nodes, ports: ports.collect(), contradicting: BTreeSet::new() }
    }
}

/// The planes of a reading.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Planes {
    /// The plane of the fabric, the tables and the counters; 0 for a reading without planes.
    pub main: u8,
    /// Whether all of that plane answered.
    #[serde(default, skip_serializing_if = "PlaneAnswer::is_read")]
    pub main_answer: PlaneAnswer,
    /// The other planes, in their order.
    pub readings: Vec<PlaneReading>,
}

impl Planes {
    /// Whether the fabric has one plane as far as is known.
    pub fn is_empty(&self) -> bool {
        self.readings.is_empty()
    }

    /// What is known of the plane of the fabric alone.
    pub fn without_readings(&self) -> Self {
        Self { readings: Vec::new(), ..*self }
    }
}

/// What makes ports of several planes one port: on adapters the GUID of the port, on switches a number within the system.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum AggregatedPort {
    Adapter { node: Guid, port: Guid },
    Switch { system: Guid, number: u16 },
}

/// The planes of an aggregated port, by number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PortPlanes {
    /// Planes in which its link is up: their number is the width of the aggregated port.
    pub up: Vec<u8>,
    /// Planes in which its link is down. The port is well only where there is none.
    pub down: Vec<u8>,
    /// Planes that did not answer, or whose answer contradicts another.
    pub unknown: Vec<u8>,
}

impl PortPlanes {
    /// Number of planes that the port has.
    pub fn count(&self) -> usize {
        self.up.len() + self.down.len() + self.unknown.len()
    }

    /// `3 of 4`, and how many are not known.
    pub fn words(&self) -> String {
        let (up, count) = (self.up.len(), self.count());
        match self.unknown.len() {
            0 => format!("{up} of {count}"),
            unknown => format!("{up} of {count}, {unknown} not known"),
        }
    }
}

/// A link that is up in a further plane, and not in the plane of the fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OtherPlaneLink {
    /// Its node.
    pub node: Guid,
    /// What the node says of itself.
    pub name: String,
    /// The number of its port.
    pub number: PortNum,
    /// Its planes.
    pub planes: PortPlanes,
}

/// All aggregated ports of a reading.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AggregatedPorts {
    /// Those of the fabric, by node and port.
    pub ports: BTreeMap<(Guid, PortNum), PortPlanes>,
    /// Those with links in other planes alone, an end for each link.
    pub missing: Vec<OtherPlaneLink>,
}

impl AggregatedPorts {
    /// Joins the ports of all planes. A port whose planes no answer distinguishes is none, and neither is one of a device
    /// whose answers fail the check.
    pub fn of(fabric: &Fabric, planes: &Planes, stated: &PortHierarchies) -> Self {
        if planes.is_empty() {
            return Self::default();
        }
        let (_, doubted) = device_labels(fabric, stated);
        let believed = stated.ports.iter().filter(|((node, _), _)| !doubted.contains(node));
        let stated = &PortHierarchies { ports: believed.map(|(at, answer)| (*at, *answer)).collect() };
        let join = JoinedPlanes::of(planes, stated);
        let mut found = Self::default();
        for (id, port) in fabric.ports() {
            let (node, number) = (fabric.node(port.node), port.number);
            let facts = &node.facts;
            let is_up = port.peer.is_some() && port.facts.state != Some(PortState::Down);
            let guid = port.facts.guid.filter(|_| !node.is_switch());
            let Some(key) = join.key((facts.guid, number), guid, facts.system_image_guid) else { continue };
            let is_stated = stated.planes_of(facts.guid, number).is_some_and(|(_, count)| count > 1);
            if fabric.peer(id).is_some() && (is_stated || join.is_elsewhere(key)) {
                let of_port = join.planes_of(key, is_up, facts.guid, number);
                found.ports.insert((facts.guid, number), of_port);
            }
        }
        found.missing = join.missing(fabric);
        found
    }
}

/// The ports of the further planes, by what makes them one.
struct JoinedPlanes<'p> {
    planes: &'p Planes,
    stated: &'p PortHierarchies,
    /// By plane, in the order of the readings.
    links: Vec<BTreeMap<AggregatedPort, PlanePort>>,
}

impl<'p> JoinedPlanes<'p> {
    fn of(planes: &'p Planes, stated: &'p PortHierarchies) -> Self {
        let mut join = Self { planes, stated, links: Vec::new() };
        for reading in &planes.readings {
            let is_judged = |port: &&PlanePort| !reading.contradicting.contains(&port.node);
            let keyed = reading.ports.iter().filter(is_judged).filter_map(|port| {
                let node = reading.nodes.get(&port.node)?;
                let guid = port.guid.filter(|_| !node.switch);
                Some((join.key((port.node, port.number), guid, node.system)?, *port))
            });
            let keyed = keyed.collect();
            join.links.push(keyed);
        }
        join
    }

    fn key(&self, at: (Guid, PortNum), port: Option<Guid>, system: Option<Guid>) -> Option<AggregatedPort> {
        if let Some(port) = port {
            return Some(AggregatedPort::Adapter { node: at.0, port });
        }
        let (number, _) = self.stated.planes_of(at.0, at.1)?;
        Some(AggregatedPort::Switch { system: system?, number })
    }

    fn is_elsewhere(&self, key: AggregatedPort) -> bool {
        self.links.iter().any(|links| links.contains_key(&key))
    }

    /// The planes of a port. `is_up` is of the plane of the fabric.
    fn planes_of(&self, key: AggregatedPort, is_up: bool, node: Guid, number: PortNum) -> PortPlanes {
        // Without a number that the device states, a port may have fewer planes than the reading.
        let count = self.stated.planes_of(node, number).map(|(_, count)| count);
        let mut found = PortPlanes::default();
        let own = match (is_up, self.planes.main_answer) {
            (true, _) => &mut found.up,
            (false, PlaneAnswer::Read) => &mut found.down,
            (false, _) => &mut found.unknown,
        };
        own.push(self.planes.main);
        for (reading, links) in self.planes.readings.iter().zip(&self.links) {
            let list = match (links.contains_key(&key), reading.answer) {
                (true, _) => &mut found.up,
                _ if count.is_some_and(|count| u16::from(reading.plane) > count) => continue,
                (false, PlaneAnswer::Read) if count.is_some() && !reading.contradicting.contains(&node) => {
                    &mut found.down
                }
                (false, _) => &mut found.unknown,
            };
            list.push(reading.plane);
        }
        for list in [&mut found.up, &mut found.down, &mut found.unknown] {
            list.sort_unstable();
        }
        found
    }

    /// The links that the fabric does not have: of each the end at an adapter, else the first.
    fn missing(&self, fabric: &Fabric) -> Vec<OtherPlaneLink> {
        let mut own = BTreeSet::new();
        for (_, port) in fabric.ports().filter(|(_, port)| port.peer.is_some()) {
            let node = fabric.node(port.node);
            let guid = port.facts.guid.filter(|_| !node.is_switch());
            own.extend(self.key((node.guid(), port.number), guid, node.facts.system_image_guid));
        }
        let mut found = BTreeMap::new();
        for (reading, links) in self.planes.readings.iter().zip(&self.links) {
            for (key, port) in links.iter().filter(|(key, _)| !own.contains(*key)) {
                let (Some(node), Some(peer)) =
                    (reading.nodes.get(&port.node), reading.nodes.get(&port.peer.0))
                else {
                    continue;
                };
                let is_first =
                    (node.switch, port.node, port.number) <= (peer.switch, port.peer.0, port.peer.1);
                if is_first && !found.contains_key(key) {
                    let planes = self.planes_of(*key, false, port.node, port.number);
                    let name = node.name.clone();
                    found.insert(*key, OtherPlaneLink { node: port.node, name, number: port.number, planes });
                }
            }
        }
        found.into_values().collect()
    }
}
