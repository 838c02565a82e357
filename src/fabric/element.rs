//! One thing in a fabric as text: `switch:NAME`, `host:NAME`, `link:NAME[PORT]`, `port:NAME[PORT]`; a GUID serves
//! as a NAME, and `NAME/PORT` is read too because brackets are globs in a shell.

use std::fmt;
use std::str::FromStr;

use super::{Fabric, LinkId, Names, NodeId, NodeKind, PortId, PortNum};

/// A part of a fabric as a person writes it, before it is looked up: `switch:NAME`, `host:NAME`, `link:NAME[PORT]`
/// or `port:NAME[PORT]`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Element {
    /// A switch by its name or GUID.
    Switch(String),
    /// An adapter or router by its name or GUID.
    Host(String),
    /// A cable by a node and a port at one of its ends.
    Link(String, PortNum),
    /// A port by its node and number.
    Port(String, PortNum),
}

/// A part of one fabric.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ElementId {
    /// A node.
    Node(NodeId),
    /// A cable.
    Link(LinkId),
    /// A port.
    Port(PortId),
}

impl ElementId {
    /// The same part in another snapshot, where that has it. Nodes are matched by GUID, ports by node and number,
    /// cables by both of their ends.
    pub fn translate(self, from: &Fabric, to: &Fabric) -> Option<Self> {
        let node = |id: NodeId| to.node_of(from.node(id).facts.kind, from.node(id).guid());
        let port = |id: PortId| {
            let port = from.port(id);
            to.port_of(node(port.node)?, port.number)
        };
        match self {
            Self::Node(id) => node(id).map(Self::Node),
            Self::Port(id) => port(id).map(Self::Port),
            Self::Link(id) => {
                let link = from.link(id);
                let found = to.port(port(link.a)?).link?;
                let (a, b) = (to.link(found).a, to.link(found).b);
                let same = [Some(a), Some(b)];
                (same.contains(&port(link.a)) && same.contains(&port(link.b))).then_some(Self::Link(found))
            }
        }
    }
}

/// Why a text names no part of a fabric.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ElementError {
    /// The text does not have the form of an element.
    #[error(
        "FD-1101: '{0}' is not an element; write switch:NAME, host:NAME, link:NAME[PORT] or port:NAME[PORT], or a name alone"
    )]
    Malformed(String),
    /// No node has the name.
    #[error("FD-1102: no {kind} is called '{name}'{}", similar_names_hint(.like))]
    Unknown {
        /// What was looked for: a switch, a host or a node.
        kind: &'static str,
        /// The name.
        name: String,
        /// Names that resemble it.
        like: Vec<String>,
    },
    /// Several nodes have the name.
    #[error("FD-1103: {} nodes are called '{name}'; name one by its GUID: {}", .guids.len(), list_guids(.guids))]
    Ambiguous {
        /// The name.
        name: String,
        /// The GUIDs of these nodes.
        guids: Vec<String>,
    },
    /// The node does not have the port.
    #[error("FD-1104: {node} has no known port {port}")]
    NoPort {
        /// The name of the node.
        node: String,
        /// The port number.
        port: PortNum,
    },
    /// The port has no cable.
    #[error("FD-1105: port {port} of {node} has no cable")]
    NoLink {
        /// The name of the node.
        node: String,
        /// The port number.
        port: PortNum,
    },
}

/// The advice of the program for an unknown name: the commands that list the names.
pub const LIST_COMMANDS_HINT: &str = "'show switches' and 'show hosts' list the names";

fn similar_names_hint(like: &[String]) -> String {
    match like.is_empty() {
        true => format!("; {LIST_COMMANDS_HINT}"),
        false => format!("; similar: {}", like.join(", ")),
    }
}

fn list_guids(guids: &[String]) -> String {
    const MAX_SHOWN: usize = 8;
    let more = if guids.len() > MAX_SHOWN { ", ..." } else { "" };
    format!("{}{more}", guids[..guids.len().min(MAX_SHOWN)].join(", "))
}

impl FromStr for Element {
    type Err = ElementError;

    fn from_str(text: &str) -> Result<Self, ElementError> {
        let malformed = || ElementError::Malformed(text.to_owned());
        let (kind, rest) = text.split_once(':').ok_or_else(malformed)?;
        if rest.is_empty() {
            return Err(malformed());
        }
        let with_port = || split_port(rest).ok_or_else(malformed);
        match kind {
            "switch" => Ok(Self::Switch(rest.to_owned())),
            "host" => Ok(Self::Host(rest.to_owned())),
            "link" => with_port().map(|(name, port)| Self::Link(name, port)),
            "port" => with_port().map(|(name, port)| Self::Port(name, port)),
            _ => Err(malformed()),
        }
    }
}

/// `NAME[7]` or `NAME/7`; the name itself may hold both signs (`MF0;ib5:SX6036/U1/7`).
fn split_port(text: &str) -> Option<(String, PortNum)> {
    let (name, digits) = match text.strip_suffix(']') {
        Some(open) => open.rsplit_once('[')?,
        None => text.rsplit_once('/')?,
    };
    let number = digits.parse::<u32>().ok().and_then(PortNum::new)?;
    (!name.is_empty()).then(|| (name.to_owned(), number))
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(name) => write!(f, "switch:{name}"),
            Self::Host(name) => write!(f, "host:{name}"),
            Self::Link(name, port) => write!(f, "link:{name}[{port}]"),
            Self::Port(name, port) => write!(f, "port:{name}[{port}]"),
        }
    }
}

impl Element {
    /// The text form of a part of a fabric. It resolves to that part even where several nodes have the same name.
    pub fn from_id(fabric: &Fabric, names: &Names, what: ElementId) -> Self {
        let end = |port: PortId| {
            let port = fabric.port(port);
            (names.unique_name(fabric, port.node), port.number)
        };
        match what {
            ElementId::Node(id) if fabric.node(id).is_switch() => Self::Switch(names.unique_name(fabric, id)),
            ElementId::Node(id) => Self::Host(names.unique_name(fabric, id)),
            ElementId::Port(id) => {
                let (name, number) = end(id);
                Self::Port(name, number)
            }
            ElementId::Link(id) => {
                let (name, number) = end(fabric.link(id).a);
                Self::Link(name, number)
            }
        }
    }

    /// Looks up what a text names: an element, a node by its bare name, or a cable by `NODE/PORT`.
    pub fn find(fabric: &Fabric, names: &Names, text: &str) -> Result<ElementId, ElementError> {
        let text = text.trim();
        match (text.parse::<Self>(), split_port(text)) {
            (Ok(element), _) => element.resolve(fabric, names),
            (Err(_), Some((name, port))) if names.nodes_named(text).is_empty() => {
                Self::Link(name, port).resolve(fabric, names)
            }
            (Err(error), _) if text.contains(':') && names.nodes_named(text).is_empty() => Err(error),
            (Err(_), _) => find_one(fabric, names, text, "node", None).map(ElementId::Node),
        }
    }

    /// Looks the element up in a fabric.
    pub fn resolve(&self, fabric: &Fabric, names: &Names) -> Result<ElementId, ElementError> {
        match self {
            Self::Switch(name) => {
                find_one(fabric, names, name, "switch", Some(NodeKind::Switch)).map(ElementId::Node)
            }
            Self::Host(name) => {
                let found = find_one(fabric, names, name, "host", Some(NodeKind::ChannelAdapter));
                found.or_else(|e| {
                    find_one(fabric, names, name, "router", Some(NodeKind::Router)).map_err(|_| e)
                })
            }
            .map(ElementId::Node),
            Self::Port(name, number) => find_port(fabric, names, name, *number).map(ElementId::Port),
            Self::Link(name, number) => {
                let id = find_port(fabric, names, name, *number)?;
                let node = names.unique_name(fabric, fabric.port(id).node);
                let no_link = ElementError::NoLink { node, port: *number };
                fabric.port(id).link.map(ElementId::Link).ok_or(no_link)
            }
        }
    }
}

fn find_port(fabric: &Fabric, names: &Names, name: &str, number: PortNum) -> Result<PortId, ElementError> {
    let node = find_one(fabric, names, name, "node", None)?;
    let missing = || ElementError::NoPort { node: names.unique_name(fabric, node), port: number };
    fabric.port_of(node, number).ok_or_else(missing)
}

fn find_one(
    fabric: &Fabric,
    names: &Names,
    name: &str,
    word: &'static str,
    kind: Option<NodeKind>,
) -> Result<NodeId, ElementError> {
    match names.find(fabric, name, kind).as_slice() {
        [id] => Ok(*id),
        [] => {
            let like = names.similar_names(name).into_iter().map(str::to_owned).collect();
            Err(ElementError::Unknown { kind: word, name: name.to_owned(), like })
        }
        several => {
            let guids = several.iter().map(|id| fabric.node(*id).guid().to_string()).collect();
            Err(ElementError::Ambiguous { name: name.to_owned(), guids })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FabricBuilder, Guid, NodeFacts};

    /// Three switches; the cable leads from port 1 of the first to port 1 of this one.
    fn fabric(end: usize) -> Fabric {
        let mut builder = FabricBuilder::new();
        let keys = [1, 2, 3]
            .map(|guid| builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(guid), 2, "s")).unwrap());
        builder.connect((keys[0], PortNum(1)), (keys[end], PortNum(1))).unwrap();
        builder.finish()
    }

    #[test]
    fn a_cable_is_found_again_by_both_ends() {
        let (from, elsewhere) = (fabric(1), fabric(2));
        let cable = ElementId::Link(from.links().next().unwrap().0);
        assert_eq!(cable.translate(&from, &fabric(1)), Some(cable));
        assert_eq!(cable.translate(&from, &elsewhere), None, "its other end is at another switch");
    }

    #[test]
    fn many_guids_of_one_name_are_listed_in_part() {
        let guids: Vec<String> = (0..9).map(|guid| guid.to_string()).collect();
        assert_eq!(list_guids(&guids[..8]), "0, 1, 2, 3, 4, 5, 6, 7");
        assert_eq!(list_guids(&guids), "0, 1, 2, 3, 4, 5, 6, 7, ...");
    }

    #[test]
    fn text_forms() {
        let link = |name: &str, port| Element::Link(name.into(), PortNum(port));
        assert_eq!("link:leaf0[3]".parse(), Ok(link("leaf0", 3)));
        assert_eq!("link:MF0;ib5:SX6036/U1/3".parse(), Ok(link("MF0;ib5:SX6036/U1", 3)));
        assert_eq!("switch:a[b]".parse(), Ok(Element::Switch("a[b]".into())));
        for text in
            ["leaf0", "link:leaf0", "link:leaf0[300]", "port:[1]", "node:x", "switch:", "link:leaf0[]"]
        {
            assert!(matches!(text.parse::<Element>(), Err(ElementError::Malformed(_))), "{text}");
        }
        for text in ["switch:x", "host:y HCA-1", "port:z[0]", "link:z[254]"] {
            assert_eq!(text.parse::<Element>().unwrap().to_string(), text);
        }
    }
}
