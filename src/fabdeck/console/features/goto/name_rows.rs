//! The rows of nodes, their ports and cables, and of the actions on the node that matches best.

use std::cmp::Reverse;

use super::goto_state::{GotoGroup, GotoRow, GotoTarget};
use super::name_index::NameIndex;
use super::name_search::{MAX_HITS, NameHit, NameHits};
use super::text_match::{EXACT, WORD_START, matched_places};
use crate::catalogue::danger::Danger;
use crate::catalogue::filter::parse_typed_guid;
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::features::map::health::NOT_ANSWERING;
use crate::console::model::fabric_model::Model;
use crate::console::model::line_words::quote_word;
use crate::console::model::state::SessionState;
use crate::operations::health::short_port_name::is_only_port;
use fabdeck_fabric::{Element, ElementId, Lid, LinkId, NodeId, Port, PortId};

/// What the cables of a node, and the actions on it, lose against the score of the node.
const CABLE_DISTANCE: u16 = 5;
const ACTION_DISTANCE: u16 = 25;

/// Rows of names, with the number of all that match.
#[derive(Debug, Default)]
pub struct NameRows {
    pub rows: Vec<GotoRow>,
    /// Number of all rows of each group that has more than these.
    pub counts: Vec<(GotoGroup, usize)>,
    pub matching: usize,
    pub is_least: bool,
}

/// What the rows are made for.
struct NameQuery<'s> {
    state: &'s SessionState,
    known: &'s Model,
    look: &'s Snapshot,
    words: &'s [String],
}

/// The rows for a line: of the element that it identifies, of ports in the form `leaf[7]`, or of names that match.
pub fn name_rows(
    state: &SessionState,
    index: &NameIndex,
    line: &str,
    words: &[String],
    hits: &NameHits,
) -> NameRows {
    let query = NameQuery { state, known: &state.known, look: &index.look, words };
    let line = line.trim();
    if let Some((node, about)) = query.identified(line) {
        let mut rows = query.rows_of_node(node, about);
        query.add_names_with_number(&mut rows, node, hits);
        return rows;
    }
    if let Some((name, port, closed)) = split_port(line) {
        let rows = query.rows_of_ports(index, name, port, closed);
        let is_number = port.len() <= 3 && port.bytes().all(|sign| sign.is_ascii_digit());
        // A name may have a bracket too.
        if is_number || !rows.rows.is_empty() {
            return rows;
        }
    }
    query.rows_of_hits(hits)
}

/// Splits `leaf1[3` or `leaf1[1/2/1` into the name, the number or label, and whether the bracket is closed.
fn split_port(line: &str) -> Option<(&str, &str, bool)> {
    let open = line.trim_end_matches(']');
    let (name, port) = open.rsplit_once('[')?;
    (!name.is_empty()).then_some((name, port, open.len() < line.len()))
}

impl NameQuery<'_> {
    /// The node that a GUID or a LID identifies, with the words for that.
    fn identified(&self, line: &str) -> Option<(NodeId, String)> {
        let fabric = self.look.fabric();
        let of_port = |port: PortId| fabric.port(port).node;
        if let Some(guid) = parse_typed_guid(line) {
            let node = fabric.node_by_guid(guid).or_else(|| fabric.port_by_guid(guid).map(of_port))?;
            return Some((node, format!("GUID {guid}")));
        }
        let digits = line.strip_prefix("lid ").or_else(|| line.strip_prefix("LID ")).unwrap_or(line);
        let lid = digits.trim().parse::<u32>().ok().and_then(Lid::new)?;
        Some((of_port(fabric.port_by_lid(lid)?), format!("LID {}", lid.value())))
    }

    fn element(&self, what: ElementId) -> GotoTarget {
        GotoTarget::Element(Element::from_id(self.look.fabric(), &self.look.names, what).to_string())
    }

    fn finish(&self, row: GotoRow, score: u16) -> GotoRow {
        let matched = matched_places(&row.text, self.words);
        GotoRow { matched, is_sure: score >= super::text_match::INSIDE, ..row }.scored(self.state, score)
    }

    fn node_row(&self, node: NodeId, score: u16, about: Option<String>) -> GotoRow {
        let (fabric, known) = (self.look.fabric(), self.known);
        let facts = fabric.node(node);
        let group = if facts.is_switch() { GotoGroup::Switches } else { GotoGroup::Hosts };
        let name = if facts.is_switch() { self.look.unique_name(node) } else { self.look.host_name(node) };
        let mut row = GotoRow::new(group, name, self.element(ElementId::Node(node)));
        let trouble = known.health.node(node);
        row.severity = match trouble {
            "" | "marked" | "a link is marked" => Severity::Info,
            NOT_ANSWERING => Severity::Error,
            _ => Severity::Warning,
        };
        row.about = match (about, trouble) {
            (Some(about), _) => about,
            (None, "") => self.place_words(node),
            (None, trouble) => format!("{}, {trouble}", facts.facts.kind.word()),
        };
        self.finish(row, score)
    }

    /// Number of ports of a switch that are in use, or what a host is attached to.
    fn place_words(&self, node: NodeId) -> String {
        let fabric = self.look.fabric();
        let kind = fabric.node(node).facts.kind.word();
        let mut peers = fabric.ports_of(node).filter_map(|(_, port)| port.peer);
        match (fabric.node(node).is_switch(), peers.next()) {
            (_, None) => format!("{kind}, no cable"),
            (true, Some(_)) => format!("{kind}, {} in use", count_words(1 + peers.count(), "port", "ports")),
            (false, Some(peer)) => format!("{kind} on {}", self.look.port_name(peer)),
        }
    }

    fn rows_of_node(&self, node: NodeId, about: String) -> NameRows {
        let mut rows = NameRows {
            rows: vec![self.node_row(node, EXACT, Some(about))],
            matching: 1,
            ..NameRows::default()
        };
        self.add_cables(&mut rows, node, EXACT);
        self.add_actions(&mut rows.rows, ElementId::Node(node), EXACT);
        rows
    }

    /// Adds other nodes whose names have the number that is the LID of this one.
    fn add_names_with_number(&self, rows: &mut NameRows, node: NodeId, hits: &NameHits) {
        let is_other = |hit: &&NameHit| hit.node != node && hit.score >= super::text_match::INSIDE;
        let others = hits.switches.iter().chain(&hits.hosts).filter(is_other);
        let before = rows.rows.len();
        rows.rows.extend(others.map(|hit| self.node_row(hit.node, hit.score, None)));
        if rows.rows.len() > before {
            rows.matching += hits.count();
            rows.is_least = !hits.is_complete;
            rows.counts = vec![(GotoGroup::Switches, hits.switch_count), (GotoGroup::Hosts, hits.host_count)];
        }
    }

    fn rows_of_hits(&self, hits: &NameHits) -> NameRows {
        let mut rows =
            NameRows { is_least: !hits.is_complete, matching: hits.count(), ..NameRows::default() };
        let row = |hit: &NameHit| self.node_row(hit.node, hit.score, None);
        rows.rows.extend(hits.switches.iter().chain(&hits.hosts).map(row));
        rows.counts = vec![(GotoGroup::Switches, hits.switch_count), (GotoGroup::Hosts, hits.host_count)];
        // Where one name matches best, its cables follow.
        let mut best: Vec<&NameHit> = hits.switches.iter().take(2).chain(hits.hosts.iter().take(2)).collect();
        best.sort_by_key(|hit| Reverse(hit.score));
        let single = match best.as_slice() {
            [first] => Some(*first),
            [first, second, ..] => Some(*first).filter(|first| first.score > second.score),
            [] => None,
        };
        if let Some(hit) = single.filter(|hit| hit.score >= WORD_START) {
            self.add_cables(&mut rows, hit.node, hit.score);
            self.add_actions(&mut rows.rows, ElementId::Node(hit.node), hit.score);
        }
        rows
    }

    /// Ports of the node with this name, or of the host that the name of an adapter begins with.
    fn rows_of_ports(&self, index: &NameIndex, name: &str, typed: &str, closed: bool) -> NameRows {
        let (fabric, name) = (self.look.fabric(), name.to_lowercase());
        let is_meant = |node: &NodeId| {
            let own = index.name(*node);
            own == name || own.split_whitespace().next() == Some(name.as_str())
        };
        let named = index.nodes_with_start(&name).take(self.state.goto.names_per_key).filter(is_meant);
        let nodes: Vec<NodeId> = named.take(2).collect();
        let [node] = nodes.as_slice() else { return NameRows::default() };
        let fits = |(id, port): &(PortId, &Port)| self.look.port_fits(*id, port.number, typed, closed);
        let ports: Vec<(PortId, &Port)> = fabric.ports_of(*node).filter(fits).collect();
        let mut rows = NameRows { matching: ports.len(), ..NameRows::default() };
        rows.counts.push((GotoGroup::Ports, ports.len()));
        for (id, port) in ports.iter().take(MAX_HITS) {
            rows.rows.push(self.port_row(*id, port));
        }
        if let [(id, port)] = ports.as_slice() {
            rows.rows.extend(port.link.map(|link| self.cable_row(link, EXACT - CABLE_DISTANCE)));
            rows.matching += usize::from(port.link.is_some());
            self.add_actions(&mut rows.rows, ElementId::Port(*id), EXACT);
        }
        rows
    }

    fn port_row(&self, id: PortId, port: &Port) -> GotoRow {
        let mut row = GotoRow::new(
            GotoGroup::Ports,
            self.look.labelled_port_name(id),
            self.element(ElementId::Port(id)),
        );
        let trouble = self.known.port_trouble(id);
        row.severity = trouble_severity(trouble);
        let peer = port
            .peer
            .map_or_else(|| "no cable".to_owned(), |peer| format!("to {}", self.look.port_name(peer)));
        row.about = if trouble.is_empty() { peer } else { format!("{trouble}, {peer}") };
        self.finish(row, EXACT)
    }

    /// The cables of a node: those in trouble first, then those with the most load.
    fn add_cables(&self, rows: &mut NameRows, node: NodeId, score: u16) {
        let fabric = self.look.fabric();
        let mut cables: Vec<(GotoRow, Option<u16>)> = fabric
            .ports_of(node)
            .filter_map(|(_, port)| port.link)
            .map(|link| (self.cable_row(link, score.saturating_sub(CABLE_DISTANCE)), self.load(link)))
            .collect();
        cables.sort_by_key(|(row, load)| (Reverse(row.severity), Reverse(*load)));
        rows.matching += cables.len();
        rows.counts.push((GotoGroup::Cables, cables.len()));
        rows.rows.extend(cables.into_iter().map(|(row, _)| row).take(MAX_HITS));
    }

    fn cable_row(&self, id: LinkId, score: u16) -> GotoRow {
        let link = self.look.fabric().link(id);
        // The adapter of a host that has one says nothing.
        let end = |port: PortId| match is_only_port(self.look, port) && self.look.label(port).is_none() {
            true => self.look.host_name(self.look.fabric().port(port).node).into_owned(),
            false => self.look.labelled_port_name(port),
        };
        let text = format!("{} - {}", end(link.a), end(link.b));
        let mut row = GotoRow::new(GotoGroup::Cables, text, self.element(ElementId::Link(id)));
        let trouble = self.known.port_trouble(link.a);
        row.severity = trouble_severity(trouble);
        let mut about = Vec::new();
        if !trouble.is_empty() {
            about.push(trouble.to_owned());
        } else if let Some([there, back]) = self.known.paths.as_ref().and_then(|paths| paths.load_of(id)) {
            about.push(count_words((there + back) as usize, "path", "paths"));
        }
        about.extend(self.load(id).map(|load| format!("load {load} %")));
        row.about = about.join(", ");
        self.finish(row, score)
    }

    /// The load of the busier direction of a cable, in percent.
    fn load(&self, id: LinkId) -> Option<u16> {
        let (link, reading) = (self.look.fabric().link(id), self.known.watch.reading.as_ref()?);
        let used = |port| reading.port_row_of(ElementId::Port(port)).and_then(|row| row.used);
        used(link.a).max(used(link.b))
    }

    /// The actions on an element, those that take one as their argument.
    fn add_actions(&self, rows: &mut Vec<GotoRow>, what: ElementId, score: u16) {
        let (state, fabric) = (self.state, self.look.fabric());
        let element = Element::from_id(fabric, &self.look.names, what).to_string();
        let (name, node) = match what {
            ElementId::Node(node) => (self.look.host_name(node).into_owned(), node),
            ElementId::Port(port) => (self.look.port_name(port), fabric.port(port).node),
            ElementId::Link(_) => return,
        };
        let is_port = matches!(what, ElementId::Port(_));
        for action in state.keymap.actions() {
            let (text, argument) = match action.argument {
                // An action that writes to the fabric is never a row of a name: its own row asks for the element.
                "[ELEMENT]" if action.danger == Danger::None => {
                    (format!("What if {name} fails"), element.clone())
                }
                "[FROM [TO]]" => {
                    let begin = quote_word(&self.look.names.unique_name(fabric, node));
                    (format!("Trace a path from {}", self.look.host_name(node)), begin)
                }
                "[NODE[PORT]]" if is_port => (format!("Who uses {name}"), element.clone()),
                _ => continue,
            };
            let target = GotoTarget::Action { id: action.id, argument };
            let mut row = GotoRow::new(GotoGroup::Actions, text, target).of_action(state, action);
            // The key acts on the cursor of a screen and not on this name; here it would only be typed.
            row.key.clear();
            rows.push(self.finish(row, score.saturating_sub(ACTION_DISTANCE)));
        }
    }
}

fn trouble_severity(trouble: &str) -> Severity {
    match trouble {
        "" | "marked" => Severity::Info,
        "down" | "no answer" => Severity::Error,
        _ => Severity::Warning,
    }
}
