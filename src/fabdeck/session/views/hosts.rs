//! Hosts: a row for each cabled port of a channel adapter, and a row for an adapter without a cable.

use crate::session::{Field, Kind, Look, Rows};
use fabdeck_fabric::{Element, NodeId, NodeKind, Port, PortId, Resolved};

use super::switches::hexadecimal;

/// An adapter, and the port of the row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostPort {
    pub node: NodeId,
    pub port: Option<PortId>,
}

type Get = Field<HostPort>;

pub static HOST_FIELDS: &[Get] = &[
    Get::new("name", "NAME", Kind::Text, "its name: node-name-map, then description, then GUID", |l, r| {
        l.name(r.node).into()
    }),
    Get::new("guid", "GUID", Kind::Guid, "node GUID", |l, r| l.fabric().node(r.node).guid().into()),
    Get::new("port", "PORT", Kind::Number, "port number on the adapter", |l, r| {
        port(l, r).map(|port| port.number).into()
    }),
    Get::new("port_guid", "PORT GUID", Kind::Guid, "port GUID", |l, r| {
        port(l, r).and_then(|p| p.facts.guid).into()
    })
    .on_request(),
    Get::new("lid", "LID", Kind::Number, "base LID of the port", |l, r| {
        port(l, r).and_then(|p| p.facts.lid).into()
    }),
    Get::new("lmc", "LMC", Kind::Number, "LID mask control: the port owns 2^LMC LIDs", |l, r| {
        port(l, r).map(|port| port.facts.lmc.value()).into()
    })
    .on_request(),
    Get::new("switch", "SWITCH", Kind::Text, "the node at the other end of the cable", |l, r| {
        peer(l, r).map(|peer| l.name(peer.node)).into()
    }),
    Get::new("switch_port", "SWITCH PORT", Kind::Number, "the port at the other end of the cable", |l, r| {
        peer(l, r).map(|peer| peer.number).into()
    }),
    Get::new("width", "WIDTH", Kind::Width, "width in use", |l, r| {
        port(l, r).and_then(|p| p.facts.width).or_else(|| peer(l, r).and_then(|p| p.facts.width)).into()
    }),
    Get::new("speed", "SPEED", Kind::Speed, "speed in use", |l, r| {
        port(l, r).and_then(|p| p.facts.speed).or_else(|| peer(l, r).and_then(|p| p.facts.speed)).into()
    }),
    Get::new("state", "STATE", Kind::State, "logical state of the port", |l, r| {
        port(l, r).and_then(|p| p.facts.state).into()
    }),
    Get::new("physical", "PHYSICAL", Kind::PhysicalState, "physical state of the port", |l, r| {
        port(l, r).and_then(|p| p.facts.physical_state).into()
    })
    .on_request(),
    Get::new("degraded", "DEGRADED", Kind::Flag, "its cable is below what both ends can do", |l, r| {
        port(l, r).and_then(|p| p.link).and_then(|link| l.degraded(link)).into()
    })
    .largest_first()
    .on_request(),
    Get::new(
        "answered",
        "ANSWERED",
        Kind::Flag,
        "no: it fell silent, or is known by its peer only",
        |l, r| l.fabric().node(r.node).facts.answered.into(),
    ),
    Get::new("ports", "PORTS", Kind::Number, "ports the adapter has", |l, r| l.port_count(r.node).into())
        .on_request(),
    Get::new("vendor", "VENDOR", Kind::Text, "vendor id", |l, r| {
        l.fabric().node(r.node).facts.vendor_id.map(hexadecimal).into()
    })
    .on_request(),
    Get::new("device", "DEVICE", Kind::Text, "device id", |l, r| {
        l.fabric().node(r.node).facts.device_id.map(hexadecimal).into()
    })
    .on_request(),
    Get::new(
        "system_image",
        "SYSTEM IMAGE",
        Kind::Guid,
        "GUID that all parts of one system share",
        |l, r| l.fabric().node(r.node).facts.system_image_guid.into(),
    )
    .on_request(),
    Get::new("description", "DESCRIPTION", Kind::Text, "what the node calls itself", |l, r| {
        l.fabric().node(r.node).facts.description.as_str().into()
    })
    .on_request(),
    Get::new("element", "ELEMENT", Kind::Text, "how commands name it", |l, r| {
        Element::of(l.fabric(), &l.names, Resolved::Node(r.node)).to_string().into()
    })
    .on_request(),
];

/// A row for each cabled port of an adapter, and for an adapter without a cable.
pub fn host_rows(look: &Look) -> Vec<HostPort> {
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

pub fn hosts(look: &Look) -> Rows<'_, HostPort> {
    Rows { look, fields: HOST_FIELDS, rows: host_rows(look).into(), when_empty: "the fabric has no host" }
}

fn port(look: &Look, row: HostPort) -> Option<&Port> {
    row.port.map(|port| look.fabric().port(port))
}

fn peer(look: &Look, row: HostPort) -> Option<&Port> {
    port(look, row)?.peer.map(|peer| look.fabric().port(peer))
}
