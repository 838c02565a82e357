//! One thing in a fabric as text: `switch:NAME`, `host:NAME`, `link:NAME[PORT]`, `port:NAME[PORT]`; a GUID serves
//! as a NAME, and `NAME/PORT` is read too because brackets are globs in a shell.

use std::fmt;
use std::str::FromStr;

use super::port_labels::PortLabel;
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
    /// No port of the node has the label.
    #[error("FD-1106: {node} has no port with the label '{label}'; {}", list_labels(.known))]
    NoLabel {
        /// The name of the node.
        node: String,
        /// The label.
        label: String,
        /// The labels of its ports.
        known: Vec<String>,
    },
    /// Several ports of the node have the label.
    #[error("FD-1107: {} ports of {node} have the label '{label}': {}; name one by its number", .ports.len(), list_guids(.ports))]
    AmbiguousLabel {
        /// The name of the node.
        node: String,
        /// The label.
        label: String,
        /// The numbers of these ports.
        ports: Vec<String>,
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

/// What a text names, and what was assumed for that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundElement {
    /// The part of the fabric.
    pub id: ElementId,
    /// A sentence about the label by which it was found, where that is a guess.
    pub guess: Option<String>,
}

impl From<ElementId> for FoundElement {
    fn from(id: ElementId) -> Self {
        Self { id, guess: None }
    }
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

fn list_labels(labels: &[String]) -> String {
    match labels.is_empty() {
        true => "no label of its ports is known: name the port by its number".to_owned(),
        false => format!("its labels: {}", list_guids(labels)),
    }
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

    /// Looks up what a text names: an element, a node by its bare name, or a cable by `NODE/PORT`. A port may be named
    /// by its label: `leaf3[1/2/1]`.
    pub fn find(fabric: &Fabric, names: &Names, text: &str) -> Result<ElementId, ElementError> {
        Self::find_noted(fabric, names, text).map(|found| found.id)
    }

    /// The same, with a sentence about a label that is a guess.
    pub fn find_noted(fabric: &Fabric, names: &Names, text: &str) -> Result<FoundElement, ElementError> {
        let text = text.trim();
        let found = match (text.parse::<Self>(), split_port(text)) {
            (Ok(element), _) => element.resolve(fabric, names),
            (Err(_), Some((name, port))) if names.nodes_named(text).is_empty() => {
                Self::Link(name, port).resolve(fabric, names)
            }
            (Err(error), _) if text.contains(':') && names.nodes_named(text).is_empty() => Err(error),
            (Err(_), _) => find_one(fabric, names, text, "node", None).map(ElementId::Node),
        };
        match found {
            Err(error @ (ElementError::Unknown { .. } | ElementError::Malformed(_))) => {
                find_by_label(fabric, names, text).unwrap_or(Err(error))
            }
            found => found.map(FoundElement::from),
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

/// Looks up `leaf3[1/2/1]`, or `leaf3/1/2/1`, with or without `link:` or `port:`. `None` where the text does not have
/// this form, or its node is not known.
fn find_by_label(fabric: &Fabric, names: &Names, text: &str) -> Option<Result<FoundElement, ElementError>> {
    let (of_port, rest) = match text.split_once(':') {
        Some(("port", rest)) => (true, rest),
        Some(("link", rest)) => (false, rest),
        _ => (false, text),
    };
    let (node, label) = split_label(fabric, names, rest)?;
    let port = match port_by_label(fabric, names, node, label) {
        Ok(port) => port,
        Err(error) => return Some(Err(error)),
    };
    let number = fabric.port(port).number;
    let name = names.unique_name(fabric, node);
    let id = match (of_port, fabric.port(port).link) {
        (true, _) => ElementId::Port(port),
        (false, Some(link)) => ElementId::Link(link),
        (false, None) => return Some(Err(ElementError::NoLink { node: name, port: number })),
    };
    let guess = names.label(port).filter(|known| known.is_guess()).map(|known| {
        format!(
            "'{text}' is taken for port {number} of {name}: the label {} is a guess by the rule of its model",
            known.text
        )
    });
    Some(Ok(FoundElement { id, guess }))
}

/// The node and the label in a text. A number in brackets is always the number of a port.
fn split_label<'t>(fabric: &Fabric, names: &Names, text: &'t str) -> Option<(NodeId, &'t str)> {
    let one = |name: &str| match names.find(fabric, name, None).as_slice() {
        [id] => Some(*id),
        _ => None,
    };
    if let Some(open) = text.strip_suffix(']') {
        let (name, label) = open.rsplit_once('[')?;
        return one(name).filter(|_| !label.trim().is_empty()).map(|node| (node, label));
    }
    let has_labels = |node: &NodeId| fabric.ports_of(*node).any(|(id, _)| names.label(id).is_some());
    let slashes = text.match_indices('/').map(|(at, _)| at);
    slashes.filter_map(|at| Some((one(&text[..at])?, &text[at + 1..]))).find(|(node, _)| has_labels(node))
}

fn port_by_label(fabric: &Fabric, names: &Names, node: NodeId, label: &str) -> Result<PortId, ElementError> {
    let (name, label) = (|| names.unique_name(fabric, node), label.trim());
    match names.ports_labelled(fabric, node, label).as_slice() {
        [port] => Ok(*port),
        [] => {
            let known = fabric.ports_of(node).filter_map(|(id, _)| names.label(id));
            let known = known.map(PortLabel::shown).collect();
            Err(ElementError::NoLabel { node: name(), label: label.to_owned(), known })
        }
        several => {
            let ports = several.iter().map(|id| fabric.port(*id).number.to_string()).collect();
            Err(ElementError::AmbiguousLabel { node: name(), label: label.to_owned(), ports })
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

    /// Two switches with a cable between their ports 3. One of the first has the labels of its model, the other a sheet.
    fn labelled() -> (Fabric, Names) {
        let mut builder = FabricBuilder::new();
        let of = |guid, name: &str| NodeFacts::new(NodeKind::Switch, Guid(guid), 65, name);
        let keys =
            [of(1, "MF0;leaf1:MQM9700/U1"), of(2, "leaf/2")].map(|facts| builder.add_node(facts).unwrap());
        builder.connect((keys[0], PortNum(3)), (keys[1], PortNum(3))).unwrap();
        builder.port(keys[0], PortNum(4));
        builder.port(keys[1], PortNum(4));
        builder.port(keys[1], PortNum(5));
        let fabric = builder.finish();
        let row = |port, label: &str| crate::SheetRow {
            device: "LEAF/2".into(),
            port: Some(PortNum(port)),
            label: Some(label.into()),
            ..Default::default()
        };
        let mut map = crate::NameMap::default();
        map.labels.sheet = vec![row(3, "1/2"), row(4, "twice"), row(5, "Twice"), row(3, "9/9"), row(7, "x")];
        let names = Names::new(&fabric, &map);
        (fabric, names)
    }

    #[test]
    fn a_port_is_found_by_its_label_and_a_guess_says_so() {
        let (fabric, names) = labelled();
        let link = Some(ElementId::Link(fabric.links().next().unwrap().0));
        let found = |text: &str| Element::find_noted(&fabric, &names, text);
        for text in
            ["leaf/2[1/2]", "link:leaf/2[1/2]", "leaf/2/1/2", "link:leaf/2/1/2", "leaf/2[3]", "0x2[1/2]"]
        {
            let found = found(text).unwrap();
            assert_eq!((Some(found.id), found.guess), (link, None), "{text}");
        }
        for text in ["MF0;leaf1:MQM9700/U1[1/2/1]", "MF0;leaf1:MQM9700/U1/1/2/1", "link:0x1[1/2/1?]"] {
            let found = found(text).unwrap();
            assert_eq!(Some(found.id), link, "{text}");
            assert!(found.guess.unwrap().contains("is a guess"), "{text}");
        }
        let port = found("port:0x1[1/2/2]").unwrap();
        assert_eq!(port.id, ElementId::Port(fabric.port_of(NodeId(0), PortNum(4)).unwrap()));
    }

    #[test]
    fn wrong_labels_say_what_there_is() {
        let (fabric, names) = labelled();
        let error = |text: &str| Element::find(&fabric, &names, text).unwrap_err().to_string();
        for (text, words) in [
            (
                "leaf/2[7/7]",
                "FD-1106: leaf/2 has no port with the label '7/7'; its labels: 1/2, twice, Twice",
            ),
            ("0x1[7/7/7]", "its labels: 1/2/1?, 1/2/2?"),
            (
                "port:leaf/2[twice]",
                "FD-1107: 2 ports of leaf/2 have the label 'twice': 4, 5; name one by its number",
            ),
            ("0x1[1/2/2]", "FD-1105: port 4 of MF0;leaf1:MQM9700/U1 has no cable"),
            ("leaf9[1/2]", "FD-1102: no node is called 'leaf9[1/2]'"),
            ("leaf/2[9]", "FD-1104: leaf/2 has no known port 9"),
        ] {
            assert!(error(text).contains(words), "{text}: {}", error(text));
        }
        let problems: Vec<&str> = names.sheet_problems().iter().map(|one| one.text.as_str()).collect();
        assert_eq!(
            problems,
            ["port 3 of LEAF/2 is '1/2' already; the first label counts", "LEAF/2 has no known port 7"]
        );
    }
}
