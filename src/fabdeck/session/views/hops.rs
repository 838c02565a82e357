//! The hops of a trace as rows.

use crate::session::{Field, Hop, Kind, Look};
use fabdeck_fabric::{LinkId, Port};

type Get = Field<(usize, Hop)>;

/// The fields of a hop with its number, from 1.
pub static HOP_FIELDS: &[Get] = &[
    Get::new("hop", "HOP", Kind::Number, "number of the hop, from 1", |_, (at, _)| (at as u64).into()),
    Get::new("node", "NODE", Kind::Text, "node that sends", |l, (_, hop)| l.name(hop.node).into()),
    Get::new("guid", "GUID", Kind::Guid, "GUID of the node that sends", |l, (_, hop)| {
        l.fabric().node(hop.node).guid().into()
    })
    .on_request(),
    Get::new("port", "PORT", Kind::Number, "egress port; none where the path ends", |_, (_, hop)| {
        hop.egress.into()
    }),
    Get::new("width", "WIDTH", Kind::Width, "width of the cable, of the lesser end", |l, (_, hop)| {
        link(l, hop).and_then(|link| l.width_in_use(link)).into()
    }),
    Get::new("speed", "SPEED", Kind::Speed, "speed of the cable, of the lesser end", |l, (_, hop)| {
        link(l, hop).and_then(|link| l.speed_in_use(link)).into()
    }),
    Get::new("peer", "PEER", Kind::Text, "node that takes it in", |l, (_, hop)| {
        ends(l, hop)[1].map(|port| l.name(port.node)).into()
    }),
    Get::new("peer_guid", "PEER GUID", Kind::Guid, "GUID of the node that takes it in", |l, (_, hop)| {
        ends(l, hop)[1].map(|port| l.fabric().node(port.node).guid()).into()
    })
    .on_request(),
    Get::new("peer_port", "PEER PORT", Kind::Number, "ingress port", |l, (_, hop)| {
        ends(l, hop)[1].map(|port| port.number).into()
    }),
];

fn link(look: &Look, hop: Hop) -> Option<LinkId> {
    ends(look, hop)[0].and_then(|port| port.link)
}

fn ends(look: &Look, hop: Hop) -> [Option<&Port>; 2] {
    let fabric = look.fabric();
    let out = hop.egress.and_then(|egress| fabric.port_of(hop.node, egress));
    [out, out.and_then(|out| fabric.peer(out))].map(|port| port.map(|port| fabric.port(port)))
}
