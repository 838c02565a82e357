//! Hosts: a row for each cabled port of a channel adapter, and a row for an adapter without a cable.

use super::switches::hexadecimal;
use crate::catalogue::field::{Field, Tone};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{Rows, View};
use crate::catalogue::views::labels::{PLACE_ABOUT, label_value, place_value};
use fabdeck_fabric::{Element, ElementId, NodeId, NodeKind, Port, PortId};

/// An adapter, and the port of the row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostPort {
    pub node: NodeId,
    pub port: Option<PortId>,
}

type RowField = Field<HostPort>;

pub const HOSTS: View<HostPort> = View::new(HOST_FIELDS, "the fabric has no host");

static HOST_FIELDS: &[RowField] = &[
    RowField::new(
        "name",
        "NAME",
        FieldKind::Text,
        "its name: node-name-map, then description, then GUID",
        |l, &r| l.name(r.node).into(),
    )
    .node_name(),
    RowField::new("guid", "GUID", FieldKind::Guid, "node GUID", |l, &r| {
        l.fabric().node(r.node).guid().into()
    })
    .shed(1),
    RowField::new("port", "PORT", FieldKind::Number, "port number on the adapter", |l, &r| {
        port(l, r).map(|port| port.number).into()
    })
    .port_of("name"),
    RowField::new("port_guid", "PORT GUID", FieldKind::Guid, "port GUID", |l, &r| {
        port(l, r).and_then(|p| p.facts.guid).into()
    })
    .on_request(),
    RowField::new("lid", "LID", FieldKind::Number, "base LID of the port", |l, &r| {
        port(l, r).and_then(|p| p.facts.lid).into()
    })
    .shed(3)
    .identifier(),
    RowField::new("place", "PLACE", FieldKind::Text, PLACE_ABOUT, |l, &r| place_value(l, r.node))
        .when_known()
        .shed(2),
    RowField::new("lmc", "LMC", FieldKind::Number, "LID mask control: the port owns 2^LMC LIDs", |l, &r| {
        port(l, r).map(|port| port.facts.lmc.value()).into()
    })
    .on_request(),
    RowField::new("switch", "SWITCH", FieldKind::Text, "the node at the other end of the cable", |l, &r| {
        peer(l, r).map(|peer| l.name(peer.node)).into()
    })
    .node_name(),
    RowField::new(
        "switch_guid",
        "SWITCH GUID",
        FieldKind::Guid,
        "GUID of the node at the other end",
        |l, &r| peer(l, r).map(|peer| l.fabric().node(peer.node).guid()).into(),
    )
    .when_ambiguous(),
    RowField::new(
        "switch_port",
        "SWITCH PORT",
        FieldKind::Number,
        "the port at the other end of the cable",
        |l, &r| peer(l, r).map(|peer| peer.number).into(),
    )
    .port_of("switch")
    .shed(4),
    RowField::new(
        "switch_label",
        "SWITCH LABEL",
        FieldKind::Text,
        "label of the port at the other end of the cable",
        |l, &r| {
            r.port.and_then(|port| l.fabric().peer(port)).map_or(Value::Missing, |port| label_value(l, port))
        },
    )
    .when_known(),
    RowField::new("width", "WIDTH", FieldKind::Width, "width in use", |l, &r| {
        port(l, r).and_then(|p| p.facts.width).or_else(|| peer(l, r).and_then(|p| p.facts.width)).into()
    })
    .shed(6),
    RowField::new("speed", "SPEED", FieldKind::Speed, "speed in use", |l, &r| {
        port(l, r).and_then(|p| p.facts.speed).or_else(|| peer(l, r).and_then(|p| p.facts.speed)).into()
    })
    .shed(5),
    RowField::new("state", "STATE", FieldKind::State, "logical state of the port", |l, &r| {
        port(l, r).and_then(|p| p.facts.state).into()
    })
    .toned(&[("Down", Tone::LinkDown)])
    .status(),
    RowField::new("physical", "PHYSICAL", FieldKind::PhysicalState, "physical state of the port", |l, &r| {
        port(l, r).and_then(|p| p.facts.physical_state).into()
    })
    .on_request(),
    RowField::new(
        "degraded",
        "DEGRADED",
        FieldKind::Flag,
        "its cable is below what both ends can do",
        |l, &r| port(l, r).and_then(|p| p.link).and_then(|link| l.is_degraded(link)).into(),
    )
    .toned(&[("yes", Tone::LinkDegraded)])
    .largest_first()
    .on_request(),
    RowField::new(
        "answered",
        "ANSWERED",
        FieldKind::Flag,
        "no: it stopped answering, or only its peer reports it",
        |l, &r| l.fabric().node(r.node).facts.answered.into(),
    )
    .toned(&[("no", Tone::Danger)])
    .shed(2),
    RowField::new("ports", "PORTS", FieldKind::Number, "ports the adapter has", |l, &r| {
        l.port_count(r.node).into()
    })
    .on_request(),
    RowField::new("vendor", "VENDOR", FieldKind::Text, "vendor id", |l, &r| {
        l.fabric().node(r.node).facts.vendor_id.map(hexadecimal).into()
    })
    .on_request(),
    RowField::new("device", "DEVICE", FieldKind::Text, "device id", |l, &r| {
        l.fabric().node(r.node).facts.device_id.map(hexadecimal).into()
    })
    .on_request(),
    RowField::new(
        "system_image",
        "SYSTEM IMAGE",
        FieldKind::Guid,
        "GUID that all parts of one system share",
        |l, &r| l.fabric().node(r.node).facts.system_image_guid.into(),
    )
    .on_request(),
    RowField::new("description", "DESCRIPTION", FieldKind::Text, "node description", |l, &r| {
        l.fabric().node(r.node).facts.description.as_str().into()
    })
    .node_name()
    .on_request(),
    RowField::new("element", "ELEMENT", FieldKind::Text, "how commands name it", |l, &r| {
        Element::from_id(l.fabric(), &l.names, ElementId::Node(r.node)).to_string().into()
    })
    .on_request(),
];

/// A row for each cabled port of an adapter, and for an adapter without a cable.
pub fn host_rows(look: &Snapshot) -> Vec<HostPort> {
    let fabric = look.fabric();
    let mut rows = Vec::new();
    for (node, about) in fabric.nodes() {
        if about.facts.kind != NodeKind::ChannelAdapter {
            continue;
        }
        let before = rows.len();
        let cabled = fabric.ports_of(node).filter(|(_, port)| port.peer.is_some());
        rows.extend(cabled.map(|(port, _)| HostPort { node, port: Some(port) }));
        if rows.len() == before {
            rows.push(HostPort { node, port: fabric.ports_of(node).next().map(|(port, _)| port) });
        }
    }
    rows
}

pub fn hosts(look: &Snapshot) -> Rows<'_, HostPort> {
    HOSTS.rows(look, host_rows(look))
}

fn port(look: &Snapshot, row: HostPort) -> Option<&Port> {
    row.port.map(|port| look.fabric().port(port))
}

fn peer(look: &Snapshot, row: HostPort) -> Option<&Port> {
    port(look, row)?.peer.map(|peer| look.fabric().port(peer))
}
