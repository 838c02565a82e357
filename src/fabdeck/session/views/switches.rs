//! Switches, with a row for each.

use crate::session::{Field, Kind, Look, Rows, Value};
use fabdeck_fabric::{Element, NodeId, PortId, PortNum, Resolved};

type Get = Field<NodeId>;

pub static SWITCH_FIELDS: &[Get] = &[
    Get::new("name", "NAME", Kind::Text, "its name: node-name-map, then description, then GUID", |l, id| {
        l.name(id).into()
    }),
    Get::new("guid", "GUID", Kind::Guid, "node GUID", |l, id| l.fabric().node(id).guid().into()),
    Get::new("lid", "LID", Kind::Number, "base LID of port 0", |l, id| {
        address(l, id).map(|(lid, _)| lid).into()
    }),
    Get::new("lmc", "LMC", Kind::Number, "LID mask control: it owns 2^LMC LIDs", |l, id| {
        address(l, id).map(|(_, lmc)| lmc).into()
    })
    .on_request(),
    Get::new(
        "ports",
        "PORTS",
        Kind::Number,
        "external ports it has; none where only its peer is known",
        |l, id| l.port_count(id).into(),
    ),
    Get::new("linked_ports", "LINKED", Kind::Number, "ports with a peer", |l, id| {
        Value::count(l.fabric().ports_of(id).filter(|(_, port)| port.peer.is_some()).count())
    })
    .largest_first(),
    Get::new("hosts", "HOSTS", Kind::Number, "ports whose peer is a host or a router", |l, id| {
        Value::count(peers(l, id).filter(|peer| !is_switch(l, *peer)).count())
    })
    .largest_first(),
    Get::new("switch_links", "SWITCH LINKS", Kind::Number, "ports whose peer is another switch", |l, id| {
        Value::count(
            peers(l, id).filter(|peer| is_switch(l, *peer) && l.fabric().port(*peer).node != id).count(),
        )
    })
    .largest_first(),
    Get::new(
        "answered",
        "ANSWERED",
        Kind::Flag,
        "no: it fell silent, or is known by its peer only",
        |l, id| l.fabric().node(id).facts.answered.into(),
    ),
    Get::new("vendor", "VENDOR", Kind::Text, "vendor id", |l, id| {
        l.fabric().node(id).facts.vendor_id.map(hexadecimal).into()
    })
    .on_request(),
    Get::new("device", "DEVICE", Kind::Text, "device id", |l, id| {
        l.fabric().node(id).facts.device_id.map(hexadecimal).into()
    })
    .on_request(),
    Get::new(
        "system_image",
        "SYSTEM IMAGE",
        Kind::Guid,
        "GUID that all parts of one chassis share",
        |l, id| l.fabric().node(id).facts.system_image_guid.into(),
    )
    .on_request(),
    Get::new(
        "enhanced_port0",
        "ENHANCED PORT 0",
        Kind::Flag,
        "whether a terminal lies behind port 0",
        |l, id| l.fabric().node(id).facts.enhanced_port0.into(),
    )
    .on_request(),
    Get::new("description", "DESCRIPTION", Kind::Text, "what the node calls itself", |l, id| {
        l.fabric().node(id).facts.description.as_str().into()
    })
    .on_request(),
    Get::new("element", "ELEMENT", Kind::Text, "how commands name it", |l, id| {
        Element::of(l.fabric(), &l.names, Resolved::Node(id)).to_string().into()
    })
    .on_request(),
];

pub fn switches(look: &Look) -> Rows<'_, NodeId> {
    let rows: Vec<_> = look.fabric().switches().map(|(id, _)| id).collect();
    Rows { look, fields: SWITCH_FIELDS, rows: rows.into(), when_empty: "the fabric has no switch" }
}

/// LID and LMC of a switch, which are those of its port 0.
pub(super) fn address(look: &Look, id: NodeId) -> Option<(u16, u8)> {
    let fabric = look.fabric();
    let (lid, lmc) = fabric.address_of(fabric.port_of(id, PortNum::MANAGEMENT)?)?;
    Some((lid.value(), lmc.value()))
}

fn peers(look: &Look, id: NodeId) -> impl Iterator<Item = PortId> {
    look.fabric().ports_of(id).filter_map(|(_, port)| port.peer)
}

fn is_switch(look: &Look, port: PortId) -> bool {
    let fabric = look.fabric();
    fabric.node(fabric.port(port).node).is_switch()
}

/// The id of a vendor or device in the notation of common tools.
pub(super) fn hexadecimal(id: u32) -> String {
    format!("0x{id:x}")
}
