//! Routers, with a row for each, and what a file states about them.

use crate::catalogue::field::Field;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{Rows, View};
use fabdeck_fabric::observe::statement_text;
use fabdeck_fabric::{NodeId, NodeKind, Port};

type RowField = Field<NodeId>;

pub const ROUTERS: View<NodeId> = View::new(ROUTER_FIELDS, "the fabric has no router");

static ROUTER_FIELDS: &[RowField] = &[
    RowField::new("node", "NODE", FieldKind::Text, "name of the router", |l, &id| l.name(id).into())
        .node_name(),
    RowField::new("guid", "GUID", FieldKind::Guid, "its node GUID", |l, &id| {
        l.fabric().node(id).guid().into()
    })
    .shed(1),
    RowField::new("lids", "LIDS", FieldKind::Text, "base LIDs of its ports", |l, &id| {
        let lids = ports(l, id).filter_map(|port| port.facts.lid).map(|lid| lid.value().to_string());
        Some(lids.collect::<Vec<_>>().join(",")).filter(|text| !text.is_empty()).into()
    }),
    RowField::new("ports", "PORTS", FieldKind::Number, "ports that it has", |l, &id| l.port_count(id).into()),
    RowField::new(
        "linked_ports",
        "LINKED",
        FieldKind::Number,
        "ports with a peer in this fabric",
        |l, &id| Value::count(ports(l, id).filter(|port| port.peer.is_some()).count()),
    ),
    RowField::new("switches", "SWITCHES", FieldKind::Text, "switches that it is cabled to", |l, &id| {
        let peers = ports(l, id).filter_map(|port| port.peer);
        let mut names: Vec<&str> = peers.map(|peer| l.name(l.fabric().port(peer).node)).collect();
        names.dedup();
        Some(names.join(", ")).filter(|text| !text.is_empty()).into()
    })
    .shed(2),
    RowField::new(
        "stated",
        "STATED",
        FieldKind::Text,
        "all columns of the table ROUTERS_INFO by their names, ranges of floating LIDs (FLIDs) among them",
        |l, &id| {
            let columns = l.observation.wire.stated.get(&l.fabric().node(id).guid());
            let text = columns.map(|held| statement_text(&held.router));
            text.filter(|text| !text.is_empty()).into()
        },
    )
    .when_known()
    .sentence(),
];

/// The routers, and other nodes that a file describes as such.
pub fn routers(look: &Snapshot) -> Rows<'_, NodeId> {
    let is_described = |id: NodeId| {
        let held = look.observation.wire.stated.get(&look.fabric().node(id).guid());
        held.is_some_and(|held| !held.router.is_empty())
    };
    let nodes = look.fabric().nodes();
    let rows = nodes.filter(|(id, node)| node.facts.kind == NodeKind::Router || is_described(*id));
    ROUTERS.rows(look, rows.map(|(id, _)| id).collect::<Vec<_>>())
}

fn ports(look: &Snapshot, id: NodeId) -> impl Iterator<Item = &Port> {
    look.fabric().ports_of(id).map(|(_, port)| port)
}
