//! Differences between two fabrics. Nodes are matched by kind and GUID, ports by number, cables by their ends.

use std::collections::BTreeMap;
use std::fmt;

use super::{Fabric, Guid, NodeFacts, NodeId, NodeKind, PortFacts, PortNum};

type Identity = (NodeKind, Guid);
type LinkEnd = (Guid, PortNum);

/// One difference from the fabric before to the fabric after.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FabricDifference {
    /// A node is missing.
    NodeGone {
        /// The GUID of the node.
        node: Guid,
        /// The description of the node.
        name: String,
    },
    /// A node is new.
    NodeCame {
        /// The GUID of the node.
        node: Guid,
        /// The description of the node.
        name: String,
    },
    /// A fact about a node differs.
    NodeChanged {
        /// The GUID of the node.
        node: Guid,
        /// The fact that differs.
        what: &'static str,
        /// Its value before.
        before: String,
        /// Its value after.
        after: String,
    },
    /// A fact about a port differs.
    PortChanged {
        /// The GUID of the node.
        node: Guid,
        /// The port on it.
        port: PortNum,
        /// The fact that differs.
        what: &'static str,
        /// Its value before.
        before: String,
        /// Its value after.
        after: String,
    },
    /// A cable is missing.
    LinkGone {
        /// One end of the cable.
        a: LinkEnd,
        /// The other end.
        b: LinkEnd,
    },
    /// A cable is new.
    LinkCame {
        /// One end of the cable.
        a: LinkEnd,
        /// The other end.
        b: LinkEnd,
    },
}

/// All differences between two fabrics in a fixed order: nodes, then ports, then links.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FabricDiff {
    /// The differences.
    pub changes: Vec<FabricDifference>,
}

impl FabricDiff {
    /// Compares two fabrics.
    pub fn between(before: &Fabric, after: &Fabric) -> Self {
        let mut changes = Vec::new();
        let (old, new) = (identities(before), identities(after));
        for (identity, id) in &old {
            match new.get(identity) {
                Some(other) => compare_nodes(before, *id, after, *other, &mut changes),
                None => changes
                    .push(FabricDifference::NodeGone { node: identity.1, name: describe_node(before, *id) }),
            }
        }
        for (identity, id) in new.iter().filter(|(identity, _)| !old.contains_key(*identity)) {
            changes.push(FabricDifference::NodeCame { node: identity.1, name: describe_node(after, *id) });
        }
        let (old, new) = (cables(before), cables(after));
        changes.extend(old.difference(&new).map(|(a, b)| FabricDifference::LinkGone { a: *a, b: *b }));
        changes.extend(new.difference(&old).map(|(a, b)| FabricDifference::LinkCame { a: *a, b: *b }));
        changes.sort();
        Self { changes }
    }

    /// Whether the two fabrics are equal.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The differences in facts that both fabrics state. Formats hold different facts, so a fact that only one of
    /// them has is no contradiction; no format but a dump holds the LMC.
    pub fn contradictions(&self) -> impl Iterator<Item = &FabricDifference> {
        self.changes.iter().filter(|change| match change {
            FabricDifference::NodeChanged { what, before, after, .. }
            | FabricDifference::PortChanged { what, before, after, .. } => {
                let known = before != UNKNOWN_VALUE && after != UNKNOWN_VALUE;
                known && !matches!(*what, "answered" | "LMC" | "ports")
            }
            _ => true,
        })
    }
}

/// The text for a fact that the source does not state.
const UNKNOWN_VALUE: &str = "unknown";

fn identities(fabric: &Fabric) -> BTreeMap<Identity, NodeId> {
    fabric.nodes().map(|(id, node)| ((node.facts.kind, node.guid()), id)).collect()
}

fn cables(fabric: &Fabric) -> std::collections::BTreeSet<(LinkEnd, LinkEnd)> {
    let end = |(node, number): (NodeId, PortNum)| (fabric.node(node).guid(), number);
    let ends = fabric.links().map(|(id, _)| fabric.ends(id).map(end));
    ends.map(|[a, b]| if a <= b { (a, b) } else { (b, a) }).collect()
}

fn describe_node(fabric: &Fabric, id: NodeId) -> String {
    fabric.node(id).facts.description.trim().to_owned()
}

fn compare_nodes(
    before: &Fabric,
    id: NodeId,
    after: &Fabric,
    other: NodeId,
    changes: &mut Vec<FabricDifference>,
) {
    let node = before.node(id).guid();
    let (old, new) = (&before.node(id).facts, &after.node(other).facts);
    for ((what, before), (_, after)) in node_facts(old).into_iter().zip(node_facts(new)) {
        if before != after {
            changes.push(FabricDifference::NodeChanged { node, what, before, after });
        }
    }
    let mut numbers: Vec<PortNum> = before.ports_of(id).map(|(_, port)| port.number).collect();
    numbers.extend(after.ports_of(other).map(|(_, port)| port.number));
    numbers.sort_unstable();
    numbers.dedup();
    let unknown = PortFacts::default();
    for port in numbers {
        let facts = |fabric: &'_ Fabric, id| fabric.port_of(id, port).map(|id| fabric.port(id).facts.clone());
        let old = facts(before, id).unwrap_or_else(|| unknown.clone());
        let new = facts(after, other).unwrap_or_else(|| unknown.clone());
        if old == new {
            continue;
        }
        for ((what, before), (_, after)) in port_facts(&old).into_iter().zip(port_facts(&new)) {
            if before != after {
                changes.push(FabricDifference::PortChanged { node, port, what, before, after });
            }
        }
    }
}

fn show_value<T: fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(|| UNKNOWN_VALUE.to_owned(), |value| value.to_string())
}

fn node_facts(facts: &NodeFacts) -> [(&'static str, String); 8] {
    [
        ("description", facts.description.clone()),
        ("ports", facts.port_count.to_string()),
        ("vendor", show_value(facts.vendor_id)),
        ("device", show_value(facts.device_id)),
        ("revision", show_value(facts.revision)),
        ("system image", show_value(facts.system_image_guid)),
        ("enhanced port 0", show_value(facts.enhanced_port0)),
        ("answered", facts.answered.to_string()),
    ]
}

fn port_facts(facts: &PortFacts) -> [(&'static str, String); 11] {
    [
        ("GUID", show_value(facts.guid)),
        ("LID", show_value(facts.lid)),
        ("LMC", facts.lmc.to_string()),
        ("state", show_value(facts.state)),
        ("physical state", show_value(facts.physical_state)),
        ("width", show_value(facts.width)),
        ("speed", show_value(facts.speed)),
        ("width supported", show_value(facts.width_supported)),
        ("speed supported", show_value(facts.speed_supported)),
        ("operational lanes", show_value(facts.operational_lanes)),
        ("lanes supported", show_value(facts.lanes_supported)),
    ]
}

impl fmt::Display for FabricDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NodeGone { node, name } => write!(f, "node {node} '{name}' is gone"),
            Self::NodeCame { node, name } => write!(f, "node {node} '{name}' is new"),
            Self::NodeChanged { node, what, before, after } => {
                write!(f, "node {node}: {what} was '{before}', is '{after}'")
            }
            Self::PortChanged { node, port, what, before, after } => {
                write!(f, "port {node}[{port}]: {what} was {before}, is {after}")
            }
            Self::LinkGone { a, b } => write!(f, "link {}[{}] - {}[{}] is gone", a.0, a.1, b.0, b.1),
            Self::LinkCame { a, b } => write!(f, "link {}[{}] - {}[{}] is new", a.0, a.1, b.0, b.1),
        }
    }
}
