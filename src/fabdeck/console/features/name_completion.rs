//! Completion of names: nodes, and the ports and cables of a node once it is named.

use crate::catalogue::snapshot::Snapshot;
use crate::console::model::line_words::{quote_word, split_words};
use crate::console::model::prompt::Completion;
use crate::console::model::state::SessionState;
use fabdeck_fabric::{Element, ElementId, Node, NodeId, NodeKind, PortId, PortNum};

/// Maximum number of names that are offered.
const MAX_NAMES: usize = 50;

/// Nodes whose name contains the text; names that begin with it come first.
fn find_nodes<'l>(
    look: &'l Snapshot,
    typed: &str,
    fits: impl Fn(&Node) -> bool,
) -> Vec<(NodeId, &'l str, &'l Node)> {
    let typed = typed.trim().to_lowercase();
    if typed.is_empty() {
        return Vec::new();
    }
    let (mut begin, mut hold) = (Vec::new(), Vec::new());
    for (id, node) in look.fabric().nodes().filter(|(_, node)| fits(node)) {
        let name = look.name(id);
        match name.to_lowercase().find(&typed) {
            Some(0) if begin.len() < MAX_NAMES => begin.push((id, name, node)),
            Some(1..) if hold.len() < MAX_NAMES => hold.push((id, name, node)),
            _ => {}
        }
    }
    begin.into_iter().chain(hold).take(MAX_NAMES).collect()
}

fn node_description(name: &str, node: &Node) -> String {
    format!("{} {name}", node.facts.kind.word())
}

/// Completions for an end of a path. A name of several nodes is ambiguous, so the GUID is offered instead.
pub fn complete_nodes(state: &SessionState, typed: &str) -> Vec<Completion> {
    let Some(look) = state.snapshot() else { return Vec::new() };
    let offer = |(id, name, node)| {
        Completion::new(look.names.unique_name(look.fabric(), id), node_description(name, node))
    };
    find_nodes(look, typed, |_| true).into_iter().map(offer).collect()
}

/// Completions for the two ends of a path, each as one word.
pub fn complete_ends(state: &SessionState, typed: &str) -> Vec<Completion> {
    let words = split_words(typed);
    let Some((at, last)) = words.last().filter(|_| words.len() <= 2) else { return Vec::new() };
    let before = &typed[..*at];
    let offer =
        |offer: Completion| Completion { text: format!("{before}{}", quote_word(&offer.text)), ..offer };
    complete_nodes(state, last).into_iter().map(offer).collect()
}

/// Completions for elements that can fail: nodes, and cables and ports of a named node.
pub fn complete_elements(state: &SessionState, typed: &str) -> Vec<Completion> {
    let Some(look) = state.snapshot() else { return Vec::new() };
    let typed = typed.trim_start();
    let kind = ["switch", "host", "link", "port"]
        .into_iter()
        .find(|kind| typed.strip_prefix(kind).is_some_and(|rest| rest.starts_with(':')));
    let name = kind.map_or(typed, |kind| &typed[kind.len() + 1..]);
    if let Some((node, digits)) = node_with_port(look, name) {
        return match kind {
            Some("port") => complete_ports(look, node, digits, Element::Port, false),
            _ => complete_ports(look, node, digits, Element::Link, true),
        };
    }
    let fits = |node: &Node| match kind {
        Some("switch") => node.is_switch(),
        Some("host") => node.facts.kind != NodeKind::Switch,
        _ => true,
    };
    let nodes = find_nodes(look, name, fits);
    let one = if let [(id, ..)] = nodes.as_slice() { Some(*id) } else { None };
    let offer = |(id, name, node): (NodeId, &str, &Node)| {
        let text = match kind {
            // The port number still has to be typed.
            Some(kind @ ("link" | "port")) => {
                format!("{kind}:{}[", look.names.unique_name(look.fabric(), id))
            }
            _ => Element::from_id(look.fabric(), &look.names, ElementId::Node(id)).to_string(),
        };
        Completion::new(text, node_description(name, node))
    };
    let mut offers: Vec<Completion> = nodes.into_iter().map(offer).collect();
    if let (Some(node), None) = (one, kind) {
        offers.extend(complete_ports(look, node, "", Element::Link, true));
    }
    offers
}

/// Completions for cables, by one of their ends as `NODE[PORT]`.
pub fn complete_cables(state: &SessionState, typed: &str) -> Vec<Completion> {
    let Some(look) = state.snapshot() else { return Vec::new() };
    let typed = typed.trim_start();
    if let Some((node, digits)) = node_with_port(look, typed) {
        return complete_ports(look, node, digits, Element::Link, true);
    }
    let offer = |(id, name, node)| {
        Completion::new(
            format!("{}[", look.names.unique_name(look.fabric(), id)),
            node_description(name, node),
        )
    };
    find_nodes(look, typed, |_| true).into_iter().map(offer).collect()
}

/// Splits `leaf1[3` into the node, and what is typed of the number or the label of a port.
fn node_with_port<'t>(look: &Snapshot, typed: &'t str) -> Option<(NodeId, &'t str)> {
    let (name, digits) = typed.trim_end_matches(']').rsplit_once('[')?;
    let name = name.strip_prefix("link:").unwrap_or(name);
    match look.names.find(look.fabric(), name, None).as_slice() {
        [node] => Some((*node, digits)),
        _ => None,
    }
}

/// Completions for the ports of a node whose numbers or labels begin with what is typed, with their peers.
fn complete_ports(
    look: &Snapshot,
    node: NodeId,
    begin: &str,
    element: fn(String, PortNum) -> Element,
    linked: bool,
) -> Vec<Completion> {
    let fabric = look.fabric();
    let name = look.names.unique_name(fabric, node);
    let fits = fabric.ports_of(node).filter(|(id, port)| {
        look.port_fits(*id, port.number, begin, false) && (port.link.is_some() || !linked)
    });
    let offer = |(id, port): (PortId, &fabdeck_fabric::Port)| {
        let peer =
            port.peer.map_or_else(|| "no cable".to_owned(), |peer| format!("to {}", look.port_name(peer)));
        let about = match look.label(id) {
            Some(label) => format!("label {}, {peer}", label.shown()),
            None => peer,
        };
        Completion::new(element(name.clone(), port.number).to_string(), about)
    };
    fits.map(offer).take(2 * MAX_NAMES).collect()
}
