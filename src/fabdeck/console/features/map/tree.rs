//! The fabric as a tree: ranks, their switches, and the ports of these; then the hosts, by rack and all
//! together. Only open items have rows.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::health::NOT_ANSWERING;
use crate::catalogue::field::{Column, ColumnContent, Listing, Tone, Tones};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::views::switches::SWITCHES;
use crate::console::model::fabric_model::Model;
use crate::operations::fabric_map::structure::map_node;
use fabdeck_fabric::{ElementId, NodeId, PortId, PortNum, PortState};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TreeItem {
    /// A rank, by its index from the top.
    Tier(usize),
    Node(NodeId),
    Port(PortId),
    Racks,
    /// A rack, by its index.
    Rack(usize),
    InRack(NodeId),
    Hosts,
    Host(NodeId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeRow {
    pub depth: u8,
    pub item: TreeItem,
}

impl TreeItem {
    /// The element of a row. The port of a switch stands for the host at its other end, where there is one.
    pub fn element(self, look: &Snapshot) -> Option<ElementId> {
        match self {
            Self::Tier(_) | Self::Racks | Self::Rack(_) | Self::Hosts => None,
            Self::Node(id) | Self::InRack(id) | Self::Host(id) => Some(ElementId::Node(id)),
            Self::Port(id) => Some(host_behind(look, id).map_or(ElementId::Port(id), ElementId::Node)),
        }
    }
}

impl TreeItem {
    /// Converts the item to another snapshot; ranks and racks are identified by their index.
    pub fn map_ids(self, again: &dyn Fn(ElementId) -> Option<ElementId>) -> Option<Self> {
        Some(match self {
            Self::Tier(_) | Self::Racks | Self::Rack(_) | Self::Hosts => self,
            Self::Node(id) => Self::Node(map_node(id, again)?),
            Self::InRack(id) => Self::InRack(map_node(id, again)?),
            Self::Host(id) => Self::Host(map_node(id, again)?),
            Self::Port(id) => match again(ElementId::Port(id))? {
                ElementId::Port(id) => Self::Port(id),
                _ => return None,
            },
        })
    }
}

fn host_behind(look: &Snapshot, port: PortId) -> Option<NodeId> {
    let fabric = look.fabric();
    let node = fabric.port(fabric.peer(port)?).node;
    (!fabric.node(node).is_switch()).then_some(node)
}

/// The items that contain a row, the nearest first.
pub fn containers(rows: &[TreeRow], row: usize) -> Vec<TreeItem> {
    let mut depth = rows.get(row).map_or(0, |row| row.depth);
    let above = rows.iter().take(row).rev().filter(|row| {
        let contains = row.depth < depth;
        depth = depth.min(row.depth);
        contains
    });
    above.map(|row| row.item).collect()
}

/// The visible rows when these items are open; with `all`, every row for a search.
pub fn tree_rows(known: &Model, look: &Snapshot, open: &BTreeSet<TreeItem>, all: bool) -> Vec<TreeRow> {
    let open = |item: &TreeItem| all || open.contains(item);
    let mut rows = Vec::new();
    for (at, tier) in known.tiers.iter().enumerate() {
        let item = TreeItem::Tier(at);
        rows.push(TreeRow { depth: 0, item });
        if !open(&item) {
            continue;
        }
        for id in &tier.switches {
            let item = TreeItem::Node(*id);
            rows.push(TreeRow { depth: 1, item });
            if open(&item) {
                let ports =
                    look.fabric().ports_of(*id).filter(|(_, port)| port.number != PortNum::MANAGEMENT);
                rows.extend(ports.map(|(port, _)| TreeRow { depth: 2, item: TreeItem::Port(port) }));
            }
        }
    }
    // A search finds a host at its switch, so the rows of racks and hosts are left out.
    if !all {
        rows.extend(hosts(known, &open));
    }
    rows
}

/// The hosts after the ranks: by rack, and all of them by name.
fn hosts(known: &Model, open: &dyn Fn(&TreeItem) -> bool) -> Vec<TreeRow> {
    let mut rows = Vec::new();
    if !known.racks.is_empty() {
        rows.push(TreeRow { depth: 0, item: TreeItem::Racks });
    }
    let racks = known.racks.iter().enumerate().filter(|_| open(&TreeItem::Racks));
    for (at, rack) in racks {
        let item = TreeItem::Rack(at);
        rows.push(TreeRow { depth: 1, item });
        if open(&item) {
            rows.extend(rack.hosts.iter().map(|id| TreeRow { depth: 2, item: TreeItem::InRack(*id) }));
        }
    }
    if !known.hosts.is_empty() {
        rows.push(TreeRow { depth: 0, item: TreeItem::Hosts });
    }
    if open(&TreeItem::Hosts) {
        rows.extend(known.hosts.iter().map(|id| TreeRow { depth: 1, item: TreeItem::Host(*id) }));
    }
    rows
}

/// The columns of the tree.
static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let column = |id: &'static str, title: &'static str, kind, about: &'static str| {
        Column::new(id.into(), title.into(), kind, about.into())
    };
    let amount = |id, title, about, rank| Column {
        largest_first: true,
        shed_rank: Some(rank),
        ..column(id, title, FieldKind::Number, about)
    };
    vec![
        column(
            "name",
            "NAME",
            FieldKind::Text,
            "rank, switch, port with its peer, rack (hosts on the same switches), or host",
        ),
        Column {
            content: ColumnContent::Identifier,
            shed_rank: Some(1),
            ..column("lid", "LID", FieldKind::Number, "base LID")
        },
        amount("hosts", "HOSTS", "hosts attached", 3),
        amount("links", "LINKS", "cables to other switches", 2),
        // The order begins with trouble, because an item without trouble has an empty text.
        Column {
            largest_first: true,
            content: ColumnContent::Status,
            tones: Tones::Words(STATE_TONES),
            ..column(
                "state",
                "STATE",
                FieldKind::Text,
                "marked, degraded, down, or with errors beyond their threshold; for a rank or rack the numbers of these; empty without trouble",
            )
        },
    ]
});

/// The states of ports, and of nodes; a summary of a rank or rack counts the nodes of each.
const STATE_TONES: &[(&str, Tone)] = &[
    (NOT_ANSWERING, Tone::Danger),
    ("down", Tone::LinkDown),
    ("a link is down", Tone::LinkDown),
    ("errors", Tone::Warning),
    ("with errors", Tone::Warning),
    ("a link has errors", Tone::Warning),
    ("degraded", Tone::LinkDegraded),
    ("a link is degraded", Tone::LinkDegraded),
    ("marked", Tone::Marked),
    ("a link is marked", Tone::Marked),
];

pub(crate) struct TreeListing<'s> {
    pub known: &'s Model,
    pub look: &'s Snapshot,
    pub rows: &'s [TreeRow],
    pub open: &'s BTreeSet<TreeItem>,
}

impl TreeListing<'_> {
    fn name(&self, row: TreeRow) -> String {
        let indent = "  ".repeat(row.depth.into());
        // The sign for an item that can be opened; ports have none.
        let sign = match (row.item, self.open.contains(&row.item)) {
            (TreeItem::Port(_) | TreeItem::InRack(_) | TreeItem::Host(_), _) => ' ',
            (_, true) => '-',
            (_, false) => '+',
        };
        let text = match row.item {
            TreeItem::Tier(at) => self.known.tiers.get(at).map_or_else(String::new, |tier| {
                format!("{} ({})", tier.name, count_words(tier.switches.len(), "switch", "switches"))
            }),
            TreeItem::Node(id) | TreeItem::InRack(id) | TreeItem::Host(id) => self.look.name(id).to_owned(),
            TreeItem::Racks => {
                format!("racks ({}, by switch)", self.known.racks.len())
            }
            TreeItem::Rack(at) => self.known.racks.get(at).map_or_else(String::new, |rack| rack.name.clone()),
            TreeItem::Hosts => {
                let all = self.known.hosts.len();
                let aggregation =
                    self.known.look.as_ref().map_or(0, |look| look.fabric().aggregation_count());
                let hosts = count_words(all.saturating_sub(aggregation), "host", "hosts");
                match aggregation {
                    0 => format!("hosts ({hosts})"),
                    some => format!("hosts ({}, {some} SHARP)", all.saturating_sub(some)),
                }
            }
            TreeItem::Port(id) => {
                let port = self.look.fabric().port(id);
                // A port that is up has a peer, even if the peer did not answer.
                let up = port.facts.state.is_some_and(|state| state > PortState::Down);
                let none = if up { "no answer" } else { "no cable" };
                let peer = port.peer.map_or_else(|| none.to_owned(), |peer| self.look.port_name(peer));
                format!("{:>3}  {peer}", port.number.value())
            }
        };
        format!("{indent}{sign} {text}")
    }

    /// Number of hosts of a rank or rack.
    fn hosts(&self, item: TreeItem) -> Option<u64> {
        match item {
            TreeItem::Tier(at) => self.known.tiers.get(at).map(|tier| tier.hosts),
            TreeItem::Rack(at) => self.known.racks.get(at).map(|rack| rack.hosts.len() as u64),
            TreeItem::Racks => Some(self.known.racks.iter().map(|rack| rack.hosts.len() as u64).sum()),
            TreeItem::Hosts => Some(self.known.hosts.len() as u64),
            _ => None,
        }
    }

    fn peers(&self, id: NodeId, switches: bool) -> u64 {
        let fabric = self.look.fabric();
        let is_switch = |peer: PortId| fabric.node(fabric.port(peer).node).is_switch();
        let peers = fabric.ports_of(id).filter_map(|(_, port)| port.peer);
        peers.filter(|peer| is_switch(*peer) == switches).count() as u64
    }

    /// The trouble of an item; for ranks and racks, the numbers of nodes with trouble.
    fn state(&self, item: TreeItem) -> &str {
        let health = &self.known.health;
        match item {
            TreeItem::Tier(at) => health.tier(at),
            TreeItem::Racks => health.racks(),
            TreeItem::Rack(at) => health.rack(at),
            TreeItem::Hosts => health.hosts(),
            TreeItem::Node(id) | TreeItem::InRack(id) | TreeItem::Host(id) => health.node(id),
            TreeItem::Port(id) => self.known.port_trouble(id),
        }
    }
}

impl Listing for TreeListing<'_> {
    fn column_count(&self) -> usize {
        COLUMNS.len()
    }

    fn column(&self, at: usize) -> &Column {
        &COLUMNS[at]
    }

    fn row_count(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        let row = self.rows[row];
        let fabric = self.look.fabric();
        match (column, row.item) {
            (0, _) => self.name(row).into(),
            (1, TreeItem::Node(id)) => {
                fabric.port_of(id, PortNum::MANAGEMENT).and_then(|port| fabric.port(port).facts.lid).into()
            }
            (1, TreeItem::InRack(id) | TreeItem::Host(id)) => {
                fabric.ports_of(id).find_map(|(_, port)| port.facts.lid).into()
            }
            (1, TreeItem::Port(id)) if host_behind(self.look, id).is_some() => {
                fabric.peer(id).and_then(|peer| fabric.port(peer).facts.lid).into()
            }
            (2, TreeItem::Node(id)) => self.peers(id, false).into(),
            (3, TreeItem::Node(id)) => self.peers(id, true).into(),
            (2, item) => self.hosts(item).into(),
            (4, item) => Value::text(self.state(item)),
            _ => Value::text(""),
        }
    }

    fn empty_text(&self) -> &str {
        SWITCHES.when_empty
    }
}
