//! The cached rows of a view: a screen draws windows of them often, and making them takes a walk over the
//! fabric.

use crate::catalogue::field::Listing;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::views::groups::{GROUPS, GroupMember, group_rows};
use crate::catalogue::views::hosts::{HOSTS, HostPort, host_rows};
use crate::catalogue::views::links::{Cable, LINKS, link_rows};
use crate::catalogue::views::partitions::{PARTITIONS, PartitionRow, partition_rows};
use crate::catalogue::views::ports::PORTS;
use crate::catalogue::views::switches::SWITCHES;
use crate::operations::watch::hot_ports::{HOT_PORTS, HotPort};
use fabdeck_fabric::{ElementId, NodeId, PortId};
use fabdeck_routing::analysis::PathIndex;

/// Rows by the kind of their element.
#[derive(Clone, Debug)]
pub enum Rowset {
    Switches(Vec<NodeId>),
    Hosts(Vec<HostPort>),
    Links(Vec<Cable>),
    Ports(Vec<PortId>),
    /// Ports with a cable, with their rates during a watch.
    Hot(Vec<HotPort>),
    Partitions(Vec<PartitionRow>),
    Groups(Vec<GroupMember>),
}

/// The text where a session has no P_Key tables.
const NO_PARTITIONS: &str = "P_Key tables were not read. For a live fabric, start fabdeck with --with-partitions; \
    a recording has them with record --partitions";

impl Default for Rowset {
    fn default() -> Self {
        Self::Switches(Vec::new())
    }
}

impl Rowset {
    pub fn switches(look: &Snapshot) -> Self {
        Self::Switches(look.fabric().switches().map(|(id, _)| id).collect())
    }

    pub fn hosts(look: &Snapshot) -> Self {
        Self::Hosts(host_rows(look))
    }

    pub fn links(look: &Snapshot, paths: Option<&PathIndex>) -> Self {
        Self::Links(link_rows(look, paths))
    }

    /// Members of partitions, and ports whose partitions are not known.
    pub fn partitions(look: &Snapshot) -> Self {
        Self::Partitions(partition_rows(look))
    }

    /// Members of multicast groups.
    pub fn groups(look: &Snapshot) -> Self {
        Self::Groups(group_rows(look))
    }

    /// The ports of one node, with or without a cable.
    pub fn ports_of(look: &Snapshot, node: NodeId) -> Self {
        Self::Ports(look.fabric().ports_of(node).map(|(id, _)| id).collect())
    }

    pub fn listing<'l>(&'l self, look: &'l Snapshot) -> Box<dyn Listing + 'l> {
        match self {
            Self::Switches(rows) => Box::new(SWITCHES.rows(look, rows)),
            Self::Hosts(rows) => Box::new(HOSTS.rows(look, rows)),
            Self::Links(rows) => Box::new(LINKS.rows(look, rows)),
            Self::Ports(rows) => Box::new(PORTS.rows(look, rows).when_empty("none of its ports was read")),
            Self::Hot(rows) => Box::new(HOT_PORTS.rows(look, rows)),
            Self::Partitions(rows) => Box::new(PARTITIONS.rows(look, rows).when_empty(NO_PARTITIONS)),
            Self::Groups(rows) => Box::new(GROUPS.rows(look, rows).when_empty(no_groups_text(look))),
        }
    }

    /// Number of rows.
    pub fn count(&self) -> usize {
        match self {
            Self::Switches(rows) => rows.len(),
            Self::Hosts(rows) => rows.len(),
            Self::Links(rows) => rows.len(),
            Self::Ports(rows) => rows.len(),
            Self::Hot(rows) => rows.len(),
            Self::Partitions(rows) => rows.len(),
            Self::Groups(rows) => rows.len(),
        }
    }

    /// The element of a row.
    pub fn element(&self, row: usize) -> Option<ElementId> {
        match self {
            Self::Switches(rows) => rows.get(row).map(|id| ElementId::Node(*id)),
            Self::Hosts(rows) => rows.get(row).map(|host| ElementId::Node(host.node)),
            Self::Links(rows) => rows.get(row).map(|cable| ElementId::Link(cable.link)),
            Self::Ports(rows) => rows.get(row).map(|id| ElementId::Port(*id)),
            Self::Hot(rows) => rows.get(row).map(|hot| ElementId::Port(hot.port)),
            Self::Partitions(rows) => rows.get(row).map(|member| ElementId::Port(member.port())),
            Self::Groups(rows) => rows.get(row).and_then(|member| member.port()).map(ElementId::Port),
        }
    }
}

/// Why a snapshot has no multicast groups, and what helps.
fn no_groups_text(look: &Snapshot) -> &'static str {
    use fabdeck_fabric::observe::DeviceAnswer;
    match look.observation.groups.answer {
        DeviceAnswer::Known(()) => "the subnet manager has no multicast group that this host may see",
        DeviceAnswer::NotAsked => {
            "multicast groups were not read. For a live fabric, start fabdeck with --with-partitions; a recording has \
             them with record --partitions"
        }
        _ => "the subnet manager did not list its multicast groups; the log (M) says why",
    }
}
