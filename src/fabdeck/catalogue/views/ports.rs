//! Ports, with a row for each port in the source.

use crate::catalogue::field::{Field, Tone};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{Rows, View};
use crate::catalogue::views::labels::{LABEL_ABOUT, LABEL_FROM_ABOUT, label_origin_value, label_value};
use crate::catalogue::views::modules::PORT_WIRE;
use crate::catalogue::views::planes::{PLANES_ABOUT, PLANES_DOWN_ABOUT, planes_down_value, planes_value};
use fabdeck_fabric::{Element, ElementId, Port, PortId};

type RowField = Field<PortId>;

pub const PORTS: View<PortId> = View::new(PORT_FIELDS, "the source has no port");

static PORT_FIELDS: &[RowField] = &[
    RowField::new("node", "NODE", FieldKind::Text, "name of its node", |l, &id| {
        l.name(port(l, id).node).into()
    })
    .node_name(),
    RowField::new(
        "number",
        "PORT",
        FieldKind::Number,
        "port number on the node; 0 is a switch's own",
        |l, &id| port(l, id).number.into(),
    )
    .identifier()
    .port_of("node"),
    RowField::new("label", "LABEL", FieldKind::Text, LABEL_ABOUT, |l, &id| label_value(l, id))
        .when_known()
        .shed(2),
    RowField::new("label_from", "LABEL FROM", FieldKind::Text, LABEL_FROM_ABOUT, |l, &id| {
        label_origin_value(l, id)
    })
    .on_request(),
    RowField::new("kind", "KIND", FieldKind::Text, "kind of its node: switch, host or router", |l, &id| {
        l.fabric().node(port(l, id).node).facts.kind.word().into()
    })
    .words(&["switch", "host", "router"])
    .on_request(),
    RowField::new("node_guid", "NODE GUID", FieldKind::Guid, "GUID of its node", |l, &id| {
        l.fabric().node(port(l, id).node).guid().into()
    })
    .when_ambiguous(),
    RowField::new("guid", "GUID", FieldKind::Guid, "port GUID", |l, &id| port(l, id).facts.guid.into())
        .on_request(),
    RowField::new("lid", "LID", FieldKind::Number, "base LID; of a switch port the switch's", |l, &id| {
        l.fabric().address_of(id).map(|(lid, _)| lid).into()
    })
    .shed(2)
    .identifier(),
    RowField::new("lmc", "LMC", FieldKind::Number, "LID mask control: 2^LMC LIDs are owned", |l, &id| {
        l.fabric().address_of(id).map(|(_, lmc)| lmc.value()).into()
    })
    .on_request(),
    RowField::new("state", "STATE", FieldKind::State, "logical state", |l, &id| {
        port(l, id).facts.state.into()
    })
    .toned(&[("Down", Tone::LinkDown)])
    .status(),
    RowField::new("physical", "PHYSICAL", FieldKind::PhysicalState, "physical state", |l, &id| {
        port(l, id).facts.physical_state.into()
    })
    .shed(1)
    .spare(),
    RowField::new("width", "WIDTH", FieldKind::Width, "width in use", |l, &id| {
        port(l, id).facts.width.into()
    })
    .shed(4),
    RowField::new("planes", "PLANES", FieldKind::Text, PLANES_ABOUT, |l, &id| {
        planes_value(l.port_planes(id))
    })
    .when_known()
    .keyword(),
    RowField::new("planes_down", "PLANES DOWN", FieldKind::Number, PLANES_DOWN_ABOUT, |l, &id| {
        planes_down_value(l.port_planes(id))
    })
    .largest_first()
    .on_request(),
    RowField::new("speed", "SPEED", FieldKind::Speed, "speed in use", |l, &id| {
        port(l, id).facts.speed.into()
    })
    .shed(3),
    RowField::new(
        "width_supported",
        "CAN WIDTH",
        FieldKind::Width,
        "widest that the port can do",
        |l, &id| port(l, id).facts.width_supported.into(),
    )
    .on_request(),
    RowField::new(
        "speed_supported",
        "CAN SPEED",
        FieldKind::Speed,
        "fastest that the port can do",
        |l, &id| port(l, id).facts.speed_supported.into(),
    )
    .on_request(),
    RowField::new("lanes", "LANES", FieldKind::Number, "virtual lanes in use for data", |l, &id| {
        port(l, id).facts.operational_lanes.into()
    })
    .on_request(),
    RowField::new(
        "lanes_supported",
        "CAN LANES",
        FieldKind::Number,
        "virtual lanes that the port has for data",
        |l, &id| port(l, id).facts.lanes_supported.into(),
    )
    .on_request(),
    RowField::new("peer", "PEER", FieldKind::Text, "node at the other end of the cable", |l, &id| {
        peer(l, id).map(|peer| l.name(peer.node)).into()
    })
    .node_name(),
    RowField::new(
        "peer_port",
        "PEER PORT",
        FieldKind::Number,
        "port at the other end of the cable",
        |l, &id| peer(l, id).map(|peer| peer.number).into(),
    )
    .port_of("peer"),
    RowField::new(
        "peer_label",
        "PEER LABEL",
        FieldKind::Text,
        "label of the port at the other end",
        |l, &id| port(l, id).peer.map_or(Value::Missing, |peer| label_value(l, peer)),
    )
    .when_known()
    .shed(1),
    RowField::new(
        "peer_guid",
        "PEER GUID",
        FieldKind::Guid,
        "GUID of the node at the other end",
        |l, &id| peer(l, id).map(|peer| l.fabric().node(peer.node).guid()).into(),
    )
    .when_ambiguous(),
    RowField::new(
        "degraded",
        "DEGRADED",
        FieldKind::Flag,
        "its cable is below what both ends can do",
        |l, &id| port(l, id).link.and_then(|link| l.is_degraded(link)).into(),
    )
    .toned(&[("yes", Tone::LinkDegraded)])
    .largest_first()
    .on_request(),
    PORT_WIRE.on_request(),
    RowField::new("element", "ELEMENT", FieldKind::Text, "how commands name it", |l, &id| {
        Element::from_id(l.fabric(), &l.names, ElementId::Port(id)).to_string().into()
    })
    .on_request(),
];

pub fn ports(look: &Snapshot) -> Rows<'_, PortId> {
    let rows: Vec<_> = look.fabric().ports().map(|(id, _)| id).collect();
    PORTS.rows(look, rows)
}

fn port(look: &Snapshot, id: PortId) -> &Port {
    look.fabric().port(id)
}

fn peer(look: &Snapshot, id: PortId) -> Option<&Port> {
    port(look, id).peer.map(|peer| port(look, peer))
}
