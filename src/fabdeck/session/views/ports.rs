//! Ports, with a row for each port in the source.

use crate::session::{Field, Kind, Look, Rows};
use fabdeck_fabric::{Element, Port, PortId, Resolved};

type Get = Field<PortId>;

pub static PORT_FIELDS: &[Get] = &[
    Get::new("node", "NODE", Kind::Text, "name of its node", |l, id| l.name(port(l, id).node).into()),
    Get::new("number", "PORT", Kind::Number, "port number on the node; 0 is a switch's own", |l, id| {
        port(l, id).number.into()
    }),
    Get::new("kind", "KIND", Kind::Text, "kind of its node: switch, host or router", |l, id| {
        l.fabric().node(port(l, id).node).facts.kind.word().into()
    })
    .words(&["switch", "host", "router"])
    .on_request(),
    Get::new("node_guid", "NODE GUID", Kind::Guid, "GUID of its node", |l, id| {
        l.fabric().node(port(l, id).node).guid().into()
    })
    .when_alike(),
    Get::new("guid", "GUID", Kind::Guid, "port GUID", |l, id| port(l, id).facts.guid.into()).on_request(),
    Get::new("lid", "LID", Kind::Number, "base LID; of a switch port the switch's", |l, id| {
        l.fabric().address_of(id).map(|(lid, _)| lid).into()
    }),
    Get::new("lmc", "LMC", Kind::Number, "LID mask control: 2^LMC LIDs are owned", |l, id| {
        l.fabric().address_of(id).map(|(_, lmc)| lmc.value()).into()
    })
    .on_request(),
    Get::new("state", "STATE", Kind::State, "logical state", |l, id| port(l, id).facts.state.into()),
    Get::new("physical", "PHYSICAL", Kind::PhysicalState, "physical state", |l, id| {
        port(l, id).facts.physical_state.into()
    })
    .spare(),
    Get::new("width", "WIDTH", Kind::Width, "width in use", |l, id| port(l, id).facts.width.into()),
    Get::new("speed", "SPEED", Kind::Speed, "speed in use", |l, id| port(l, id).facts.speed.into()),
    Get::new("width_supported", "CAN WIDTH", Kind::Width, "widest that the port can do", |l, id| {
        port(l, id).facts.width_supported.into()
    })
    .on_request(),
    Get::new("speed_supported", "CAN SPEED", Kind::Speed, "fastest that the port can do", |l, id| {
        port(l, id).facts.speed_supported.into()
    })
    .on_request(),
    Get::new("lanes", "LANES", Kind::Number, "virtual lanes in use for data", |l, id| {
        port(l, id).facts.operational_lanes.into()
    })
    .on_request(),
    Get::new(
        "lanes_supported",
        "CAN LANES",
        Kind::Number,
        "virtual lanes that the port has for data",
        |l, id| port(l, id).facts.lanes_supported.into(),
    )
    .on_request(),
    Get::new("peer", "PEER", Kind::Text, "node at the other end of the cable", |l, id| {
        peer(l, id).map(|peer| l.name(peer.node)).into()
    }),
    Get::new("peer_port", "PEER PORT", Kind::Number, "port at the other end of the cable", |l, id| {
        peer(l, id).map(|peer| peer.number).into()
    }),
    Get::new("peer_guid", "PEER GUID", Kind::Guid, "GUID of the node at the other end", |l, id| {
        peer(l, id).map(|peer| l.fabric().node(peer.node).guid()).into()
    })
    .when_alike(),
    Get::new("degraded", "DEGRADED", Kind::Flag, "its cable is below what both ends can do", |l, id| {
        port(l, id).link.and_then(|link| l.degraded(link)).into()
    })
    .largest_first()
    .on_request(),
    Get::new("element", "ELEMENT", Kind::Text, "how commands name it", |l, id| {
        Element::of(l.fabric(), &l.names, Resolved::Port(id)).to_string().into()
    })
    .on_request(),
];

pub fn ports(look: &Look) -> Rows<'_, PortId> {
    let rows: Vec<_> = look.fabric().ports().map(|(id, _)| id).collect();
    Rows { look, fields: PORT_FIELDS, rows: rows.into(), when_empty: "the source speaks of no port" }
}

fn port(look: &Look, id: PortId) -> &Port {
    look.fabric().port(id)
}

fn peer(look: &Look, id: PortId) -> Option<&Port> {
    port(look, id).peer.map(|peer| port(look, peer))
}
