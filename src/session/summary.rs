//! The numbers of a fabric.

use crate::fabric::{NodeKind, PortState};

use super::Look;

/// What there is, counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    pub switches: usize,
    /// Channel adapters, aggregation nodes of switches included.
    pub hosts: usize,
    pub routers: usize,
    /// Cables, those of hosts included.
    pub links: usize,
    /// Cables with a switch at both ends.
    pub switch_links: usize,
    /// Links that are below what both of their ends can do.
    pub degraded_links: usize,
    /// Links with an end that says it is down.
    pub down_links: usize,
    /// Ports with a peer.
    pub ports: usize,
    /// Nodes known by their peer only.
    pub unanswered: usize,
    /// Switches whose forwarding table is known.
    pub tables: usize,
}

impl Summary {
    pub fn of(look: &Look) -> Self {
        let fabric = look.fabric();
        let down = |port| fabric.port(port).facts.state == Some(PortState::Down);
        Self {
            switches: fabric.switch_count(),
            hosts: fabric.count(NodeKind::ChannelAdapter),
            routers: fabric.count(NodeKind::Router),
            links: fabric.links().len(),
            switch_links: fabric.links().filter(|(id, _)| fabric.between_switches(*id)).count(),
            degraded_links: fabric.links().filter(|(id, _)| fabric.degraded(*id) == Some(true)).count(),
            down_links: fabric.links().filter(|(_, link)| down(link.a) || down(link.b)).count(),
            ports: fabric.ports().filter(|(_, port)| port.peer.is_some()).count(),
            unanswered: fabric.nodes().filter(|(_, node)| !node.facts.answered).count(),
            tables: look.observation.tables.nodes.values().filter(|tables| tables.lft.is_some()).count(),
        }
    }

    /// Every number with its key in JSON.
    pub fn numbers(&self) -> [(&'static str, usize); 10] {
        [
            ("switches", self.switches),
            ("hosts", self.hosts),
            ("routers", self.routers),
            ("links", self.links),
            ("ports", self.ports),
            ("switch_links", self.switch_links),
            ("degraded_links", self.degraded_links),
            ("down_links", self.down_links),
            ("unanswered", self.unanswered),
            ("tables", self.tables),
        ]
    }

    /// What there is, in a sentence's words.
    pub fn sentence(&self) -> String {
        format!("{} switches, {} hosts, {} links", self.switches, self.hosts, self.links)
    }
}
