//! The cached rows of a view: a screen draws windows of them often, and making them takes a walk over the
//! fabric.

use crate::catalogue::field::Listing;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::views::hosts::{HOSTS, HostPort, host_rows};
use crate::catalogue::views::links::{Cable, LINKS, link_rows};
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
}

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
        }
    }
}
