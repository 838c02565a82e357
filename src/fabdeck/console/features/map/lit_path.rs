//! The path that the map lights: the one on the screen Paths, or else that of the host that adds most to the worst
//! hot-spot.

use crate::catalogue::snapshot::Snapshot;
use crate::console::model::fabric_model::Model;
use crate::operations::trace::path_trace::{LidChoice, Trace, TraceEndpoint};
use fabdeck_fabric::counters::{CongestedAdapter, CongestionRole, Evidence, LikelyRole};
use fabdeck_fabric::{LinkId, NodeId, PortId};

/// A step of the lit path: a node, and the port and cable by which the path leaves it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LitHop {
    pub node: NodeId,
    pub port: Option<PortId>,
    pub link: Option<LinkId>,
}

/// A path that the map lights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LitPath {
    pub hops: Vec<LitHop>,
    /// Why it is lit: the role of its first host, or nothing for a path that the operator follows.
    pub role: &'static str,
    /// Whether it reaches its destination.
    pub arrives: bool,
}

impl LitPath {
    pub fn from_trace(trace: &Trace, known: &Model, role: &'static str) -> Option<Self> {
        let fabric = known.look.as_ref()?.fabric();
        let hop = |node: NodeId, egress: Option<fabdeck_fabric::PortNum>| {
            let port = egress.and_then(|number| fabric.port_of(node, number));
            LitHop { node, port, link: port.and_then(|port| fabric.port(port).link) }
        };
        let mut hops: Vec<LitHop> = trace.hops.iter().map(|step| hop(step.node, step.egress)).collect();
        // A trace may end with the port that leads to its destination; the map also shows the destination.
        let last = hops.last().and_then(|hop| fabric.peer(hop.port?));
        if let Some(peer) = last {
            hops.push(LitHop { node: fabric.port(peer).node, port: None, link: None });
        }
        (hops.len() > 1).then(|| Self { hops, role, arrives: trace.has_arrived() })
    }

    /// The path from the host that adds most to the worst hot-spot, to that hot-spot, under the tables in force.
    pub fn of_worst_problem(known: &Model) -> Option<Self> {
        let (look, reading) = (known.look.as_ref()?, known.watch.reading.as_ref()?);
        if !known.tables {
            return None;
        }
        let verdict = &reading.watched.verdict;
        let worst = verdict.hot_spots.first()?.adapter;
        let alone = verdict.hot_spots.len() == 1;
        let sends_there = |role: &CongestionRole| match role {
            CongestionRole::Contributor(
                Evidence::OthersFallShort { hot_spot, .. } | Evidence::AllChannels { hot_spot, .. },
            ) => *hot_spot == worst,
            CongestionRole::Contributor(Evidence::NowhereElse { .. }) => alone,
            _ => false,
        };
        let likely_there = |held: &CongestedAdapter| match held.likely {
            Some(LikelyRole::Contributor(flow)) => flow.hot_spot == worst,
            _ => false,
        };
        let adapters = &verdict.congested_adapters;
        let proven = adapters.iter().find(|held| sends_there(&held.role)).map(|held| (held, "contributor"));
        let likely =
            || adapters.iter().find(|held| likely_there(held)).map(|held| (held, "likely contributor"));
        let (from, role) = proven.or_else(likely)?;
        let from = from.at.port;
        let fabric = look.fabric();
        let end = |port: PortId| TraceEndpoint { node: fabric.port(port).node, port: Some(port) };
        let tables = &look.observation.tables;
        let trace = Trace::follow(look, tables, end(from), end(worst), LidChoice::Picked).ok()?;
        Self::from_trace(&trace, known, role)
    }

    pub fn has_link(&self, link: LinkId) -> bool {
        self.hops.iter().any(|hop| hop.link == Some(link))
    }

    pub fn has_node(&self, node: NodeId) -> bool {
        self.hops.iter().any(|hop| hop.node == node)
    }

    /// Both ends in words.
    pub fn title(&self, look: &Snapshot) -> String {
        let name = |hop: &LitHop| look.host_name(hop.node).into_owned();
        let ends = [self.hops.first(), self.hops.last()].map(|hop| hop.map(name).unwrap_or_default());
        format!("{} to {}", ends[0], ends[1])
    }
}
