//! The fabric of the tables NODES, SWITCHES, PORTS and LINKS.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

use super::ports::PortColumns;
use super::section::{Row, Section, SectionColumns};
use crate::FileError;
use crate::content::MergedNodes;
use crate::counters_text::parse_number;
use crate::limit::{MAX_NODES, check_node_count};
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Fabric, FabricBuilder, Guid, NodeFacts, NodeKey, NodeKind, PortFacts, PortNum};

#[derive(Default)]
pub(super) struct FabricDraft {
    builder: FabricBuilder,
    by_guid: FxHashMap<Guid, NodeKey>,
    /// Ports of nodes that are missing in NODES; the kind of these nodes is known after all of PORTS is read.
    strangers: BTreeMap<Guid, Vec<(PortNum, PortFacts, NotePlace)>>,
    /// Nodes listed in SWITCHES.
    switches: FxHashSet<Guid>,
    ports_seen: FxHashSet<(NodeKey, PortNum)>,
    /// Nodes with a later row of another name.
    pub(super) merged: Vec<MergedNodes>,
    /// The first row beyond the most nodes.
    refused: Option<NotePlace>,
}

struct NodeColumns {
    kind: Option<usize>,
    guid: Option<usize>,
    description: Option<usize>,
    port_count: Option<usize>,
    vendor: Option<usize>,
    device: Option<usize>,
    system: Option<usize>,
    port_guid: Option<usize>,
}

impl NodeColumns {
    fn find(columns: &SectionColumns) -> Self {
        Self {
            kind: columns.find(&["NodeType"]),
            guid: columns.find(&["NodeGUID"]),
            description: columns.find(&["NodeDesc", "NodeDescription"]),
            port_count: columns.find(&["NumPorts", "NumOfPorts"]),
            vendor: columns.find(&["VendorID"]),
            device: columns.find(&["DeviceID"]),
            system: columns.find(&["SystemImageGUID"]),
            port_guid: columns.find(&["PortGUID"]),
        }
    }
}

impl FabricDraft {
    pub(super) fn finish(self) -> Fabric {
        self.builder.finish()
    }

    pub(super) fn read_nodes(
        &mut self,
        section: &Section<'_>,
        notes: &mut Notes,
    ) -> Result<(), Box<FileError>> {
        let mut lacking = None;
        let pick = |columns: &SectionColumns| {
            let picked = NodeColumns::find(columns);
            lacking = match (picked.guid, picked.kind) {
                (None, _) => Some("NodeGUID"),
                (_, None) => Some("NodeType"),
                _ => None,
            };
            picked
        };
        section.read_rows(notes, Some("NodeDesc"), pick, |columns, row, notes| {
            self.add_node(columns, row, notes)
        })?;
        if let Some(column) = lacking {
            let what = format!("the table NODES has no column {column}");
            let hint = "the first line after START_NODES must name the columns";
            return Err(FileError::new("FD-2402", section.place(), what, hint));
        }
        if self.builder.is_empty() {
            let hint = "each row of NODES needs a hexadecimal NodeGUID and a NodeType of 1, 2 or 3";
            return Err(FileError::new("FD-2403", section.place(), "no node can be read", hint));
        }
        Ok(())
    }

    fn add_node(&mut self, columns: &NodeColumns, row: &Row<'_>, notes: &mut Notes) {
        let Some(guid) = parse_guid(row, columns.guid) else { return row.note_unreadable("NodeGUID", notes) };
        let kind = match row.cell(columns.kind).to_ascii_uppercase().as_str() {
            "1" | "0X1" | "CA" | "HCA" => NodeKind::ChannelAdapter,
            "2" | "0X2" | "SW" | "SWITCH" => NodeKind::Switch,
            "3" | "0X3" | "RT" | "ROUTER" => NodeKind::Router,
            _ => return row.note_unreadable("NodeType", notes),
        };
        if let Some(known) = self.by_guid.get(&guid) {
            let (first, second) = (&self.builder.node(*known).description, row.raw_cell(columns.description));
            if first != second {
                self.merged.push(MergedNodes { guid, names: [first.clone(), second.to_owned()] });
            }
            notes.add("FN-431", row.place(), || format!("node {guid} is listed again; the first row counts"));
            return;
        }
        if self.is_full(|| row.place()) {
            return;
        }
        let port_count =
            parse_number(row.cell(columns.port_count)).and_then(|count| u8::try_from(count).ok());
        if port_count.is_none() && columns.port_count.is_some() {
            notes.add("FN-433", row.place(), || "NumPorts is no count of ports: read as unknown".to_owned());
        }
        let small = |column| parse_number(row.cell(column)).and_then(|id| u32::try_from(id).ok());
        let mut facts =
            NodeFacts::new(kind, guid, port_count.unwrap_or(0), row.raw_cell(columns.description));
        facts.vendor_id = small(columns.vendor);
        facts.device_id = small(columns.device);
        facts.system_image_guid = self::parse_guid(row, columns.system);
        if let Ok(key) = self.builder.add_node(facts) {
            self.by_guid.insert(guid, key);
            if let (NodeKind::Switch, Some(guid)) = (kind, self::parse_guid(row, columns.port_guid)) {
                self.builder.port(key, PortNum::MANAGEMENT).guid = Some(guid);
            }
        }
    }

    pub(super) fn read_switches(
        &mut self,
        section: &Section<'_>,
        notes: &mut Notes,
    ) -> Result<(), Box<FileError>> {
        let pick = |columns: &SectionColumns| {
            (columns.find(&["NodeGUID"]), columns.find(&["ENP0", "EnhancedPort0"]))
        };
        section.read_rows(notes, None, pick, |(node, enhanced), row, notes| {
            let Some(guid) = parse_guid(row, *node) else { return row.note_unreadable("NodeGUID", notes) };
            self.switches.insert(guid);
            let Some(key) = self.by_guid.get(&guid) else { return };
            let facts = self.builder.node_mut(*key);
            if facts.kind == NodeKind::Switch {
                facts.enhanced_port0 = match parse_number(row.cell(*enhanced)) {
                    Some(0) => Some(false),
                    Some(1) => Some(true),
                    _ => None,
                };
            }
        })
    }

    pub(super) fn read_ports(
        &mut self,
        section: &Section<'_>,
        notes: &mut Notes,
    ) -> Result<(), Box<FileError>> {
        section.read_rows(notes, None, PortColumns::find, |columns, row, notes| {
            let Some(node) = parse_guid(row, columns.node) else {
                return row.note_unreadable("NodeGUID", notes);
            };
            let Some(number) = parse_port_number(row.cell(columns.number)) else {
                return row.note_unreadable("PortNum", notes);
            };
            let Some(key) = self.by_guid.get(&node).copied() else {
                if !self.strangers.contains_key(&node) && self.is_full(|| row.place()) {
                    return;
                }
                // Read as an adapter's port; what a switch's port must not have is removed when the kind is known.
                let facts = columns.read_facts(row, false, number, notes);
                self.strangers.entry(node).or_default().push((number, facts, row.place()));
                return;
            };
            if !self.ports_seen.insert((key, number)) {
                notes.add("FN-431", row.place(), || {
                    format!("port {number} of {node} is listed again; the first row counts")
                });
                return;
            }
            self.note_port_beyond_count(key, number, || row.place(), notes);
            let on_switch = self.builder.node(key).kind == NodeKind::Switch;
            let facts = columns.read_facts(row, on_switch, number, notes);
            self.builder.port(key, number).clone_from(&facts);
        })
    }

    /// Adds the nodes that only PORTS has. A node with a port 0 or a row in SWITCHES is a switch; all others count as
    /// adapters.
    pub(super) fn add_unlisted_nodes(&mut self, notes: &mut Notes) {
        for (guid, ports) in std::mem::take(&mut self.strangers) {
            let management = ports.iter().any(|(number, ..)| *number == PortNum::MANAGEMENT);
            let on_switch = management || self.switches.contains(&guid);
            let kind = if on_switch { NodeKind::Switch } else { NodeKind::ChannelAdapter };
            let Ok(key) = self.builder.add_node(NodeFacts::known_from_peer(kind, guid, "")) else { continue };
            self.by_guid.insert(guid, key);
            if let Some((.., place)) = ports.first() {
                notes.add_partial("FN-428", place.clone(), || {
                    format!("{guid} has ports but no row in NODES; read as a {}", kind.word())
                });
            }
            for (number, mut facts, _) in ports {
                if on_switch && number != PortNum::MANAGEMENT {
                    (facts.guid, facts.lid, facts.lmc) = (None, None, Default::default());
                }
                if self.ports_seen.insert((key, number)) {
                    self.builder.port(key, number).clone_from(&facts);
                }
            }
        }
    }

    pub(super) fn read_links(
        &mut self,
        section: &Section<'_>,
        notes: &mut Notes,
    ) -> Result<(), Box<FileError>> {
        let pick = |columns: &SectionColumns| {
            let end = |guid: &str, port: &str| (columns.find(&[guid]), columns.find(&[port]));
            [end("NodeGuid1", "PortNum1"), end("NodeGuid2", "PortNum2")]
        };
        section.read_rows(notes, None, pick, |ends, row, notes| {
            let [Some(a), Some(b)] = ends.map(|(node, port)| {
                let node = parse_guid(row, node)?;
                Some((node, parse_port_number(row.cell(port)).filter(|port| port.value() > 0)?))
            }) else {
                return row.note_unreadable("end of a link", notes);
            };
            let [Some(one), Some(two)] = [a, b].map(|(guid, port)| Some((self.link_end(guid, row)?, port)))
            else {
                // The kind of the missing node is unknown, so the link is left out.
                notes.add_partial("FN-429", row.place(), || {
                    format!(
                        "the link {}[{}] - {}[{}] leads to a node that is in no table; left out",
                        a.0, a.1, b.0, b.1
                    )
                });
                return;
            };
            for (key, number) in [one, two] {
                self.note_port_beyond_count(key, number, || row.place(), notes);
            }
            if let Err(error) = self.builder.connect(one, two) {
                notes.add_partial("FN-430", row.place(), || {
                    let taken = if error.node == one.0 { a } else { b };
                    format!(
                        "the link {}[{}] - {}[{}] is left out: an earlier row connects {}[{}] to port {} of another node",
                        a.0, a.1, b.0, b.1, taken.0, taken.1, error.peer_port
                    )
                });
            }
        })
    }

    fn note_port_beyond_count(
        &self,
        key: NodeKey,
        number: PortNum,
        place: impl FnOnce() -> NotePlace,
        notes: &mut Notes,
    ) {
        let node = self.builder.node(key);
        if node.port_count > 0 && number.value() > node.port_count {
            notes.add("FN-435", place(), || {
                format!("port {number} of {}, which has {} ports by NODES", node.guid, node.port_count)
            });
        }
    }

    /// Refuses a fabric of too many nodes; called after each table.
    pub(super) fn check_size(&self) -> Result<(), Box<FileError>> {
        self.refused.clone().map_or(Ok(()), |place| check_node_count(usize::MAX, || place))
    }

    /// Whether one more node exceeds the limit.
    fn is_full(&mut self, place: impl FnOnce() -> NotePlace) -> bool {
        let full = self.builder.len() + self.strangers.len() >= MAX_NODES;
        if full && self.refused.is_none() {
            self.refused = Some(place());
        }
        full
    }

    /// The node at an end of a link; a node that only SWITCHES lists is added.
    fn link_end(&mut self, guid: Guid, row: &Row<'_>) -> Option<NodeKey> {
        if let Some(key) = self.by_guid.get(&guid) {
            return Some(*key);
        }
        if !self.switches.contains(&guid) || self.is_full(|| row.place()) {
            return None;
        }
        let key = self.builder.add_node(NodeFacts::known_from_peer(NodeKind::Switch, guid, "")).ok()?;
        self.by_guid.insert(guid, key);
        Some(key)
    }
}

/// A GUID in a cell, unless the cell is empty or zero.
fn parse_guid(row: &Row<'_>, column: Option<usize>) -> Option<Guid> {
    Guid::from_hex(row.cell(column)).ok().filter(|guid| guid.0 != 0)
}

fn parse_port_number(text: &str) -> Option<PortNum> {
    parse_number(text).and_then(|port| u32::try_from(port).ok()).and_then(PortNum::new)
}
