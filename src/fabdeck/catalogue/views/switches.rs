//! Switches, with a row for each.

use crate::catalogue::field::{Field, Tone};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{Rows, View};
use crate::catalogue::views::adaptive::{NOT_ASKED, adaptive_word};
use crate::catalogue::views::labels::{PLACE_ABOUT, place_value};
use fabdeck_fabric::{Element, ElementId, NodeId, PortId, PortNum};

type RowField = Field<NodeId>;

pub const SWITCHES: View<NodeId> = View::new(SWITCH_FIELDS, "the fabric has no switch");

static SWITCH_FIELDS: &[RowField] = &[
    RowField::new(
        "name",
        "NAME",
        FieldKind::Text,
        "its name: node-name-map, then description, then GUID",
        |l, &id| l.name(id).into(),
    )
    .node_name(),
    RowField::new("guid", "GUID", FieldKind::Guid, "node GUID", |l, &id| l.fabric().node(id).guid().into())
        .shed(1),
    RowField::new("lid", "LID", FieldKind::Number, "base LID of port 0", |l, &id| {
        address(l, id).map(|(lid, _)| lid).into()
    })
    .shed(3)
    .identifier(),
    RowField::new("place", "PLACE", FieldKind::Text, PLACE_ABOUT, |l, &id| place_value(l, id))
        .when_known()
        .shed(2),
    RowField::new("lmc", "LMC", FieldKind::Number, "LID mask control: it owns 2^LMC LIDs", |l, &id| {
        address(l, id).map(|(_, lmc)| lmc).into()
    })
    .on_request(),
    RowField::new(
        "ports",
        "PORTS",
        FieldKind::Number,
        "external ports it has; none where only its peer is known",
        |l, &id| l.port_count(id).into(),
    ),
    RowField::new("linked_ports", "LINKED", FieldKind::Number, "ports with a peer", |l, &id| {
        Value::count(l.fabric().ports_of(id).filter(|(_, port)| port.peer.is_some()).count())
    })
    .largest_first(),
    RowField::new("hosts", "HOSTS", FieldKind::Number, "ports whose peer is a host or a router", |l, &id| {
        Value::count(peers(l, id).filter(|peer| !is_switch(l, *peer)).count())
    })
    .shed(4)
    .largest_first(),
    RowField::new(
        "switch_links",
        "SWITCH LINKS",
        FieldKind::Number,
        "ports whose peer is another switch",
        |l, &id| {
            Value::count(
                peers(l, id).filter(|peer| is_switch(l, *peer) && l.fabric().port(*peer).node != id).count(),
            )
        },
    )
    .largest_first(),
    RowField::new(
        "answered",
        "ANSWERED",
        FieldKind::Flag,
        "no: it stopped answering, or only its peer reports it",
        |l, &id| l.fabric().node(id).facts.answered.into(),
    )
    .toned(&[("no", Tone::Danger)])
    .shed(2),
    RowField::new(
        "adaptive",
        "ADAPTIVE",
        FieldKind::Text,
        "adaptive routing: on, off, absent (the switch does not have it), did not answer, or not asked",
        |l, &id| adaptive_word(l, id).into(),
    )
    .words(&["on", "off", "absent", "did not answer", NOT_ASKED])
    .toned(&[("did not answer", Tone::Warning)])
    .when_other_than(&[NOT_ASKED, "absent"])
    .shed(2),
    RowField::new("vendor", "VENDOR", FieldKind::Text, "vendor id", |l, &id| {
        l.fabric().node(id).facts.vendor_id.map(hexadecimal).into()
    })
    .on_request(),
    RowField::new("device", "DEVICE", FieldKind::Text, "device id", |l, &id| {
        l.fabric().node(id).facts.device_id.map(hexadecimal).into()
    })
    .on_request(),
    RowField::new(
        "system_image",
        "SYSTEM IMAGE",
        FieldKind::Guid,
        "GUID that all parts of one chassis share",
        |l, &id| l.fabric().node(id).facts.system_image_guid.into(),
    )
    .on_request(),
    RowField::new(
        "enhanced_port0",
        "ENHANCED PORT 0",
        FieldKind::Flag,
        "whether port 0 is an enhanced one, which works like the port of an adapter",
        |l, &id| l.fabric().node(id).facts.enhanced_port0.into(),
    )
    .on_request(),
    RowField::new("description", "DESCRIPTION", FieldKind::Text, "node description", |l, &id| {
        l.fabric().node(id).facts.description.as_str().into()
    })
    .node_name()
    .on_request(),
    RowField::new("element", "ELEMENT", FieldKind::Text, "how commands name it", |l, &id| {
        Element::from_id(l.fabric(), &l.names, ElementId::Node(id)).to_string().into()
    })
    .on_request(),
];

pub fn switches(look: &Snapshot) -> Rows<'_, NodeId> {
    let rows: Vec<_> = look.fabric().switches().map(|(id, _)| id).collect();
    SWITCHES.rows(look, rows)
}

/// LID and LMC of a switch, which are those of its port 0.
pub(crate) fn address(look: &Snapshot, id: NodeId) -> Option<(u16, u8)> {
    let fabric = look.fabric();
    let (lid, lmc) = fabric.address_of(fabric.port_of(id, PortNum::MANAGEMENT)?)?;
    Some((lid.value(), lmc.value()))
}

fn peers(look: &Snapshot, id: NodeId) -> impl Iterator<Item = PortId> {
    look.fabric().ports_of(id).filter_map(|(_, port)| port.peer)
}

fn is_switch(look: &Snapshot, port: PortId) -> bool {
    let fabric = look.fabric();
    fabric.node(fabric.port(port).node).is_switch()
}

/// The id of a vendor or device in the notation of common tools.
pub(crate) fn hexadecimal(id: u32) -> String {
    format!("0x{id:x}")
}
