//! The hops of a trace as rows.

use super::hop_choices::HopChoices;
use super::path_trace::TraceHop;
use crate::catalogue::field::Field;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::View;
use crate::catalogue::views::labels::{LABEL_ABOUT, label_value};
use fabdeck_fabric::{LinkId, Port, PortId, PortSet};

type RowField = Field<(usize, TraceHop)>;

/// The hops of a path.
pub const HOPS: View<(usize, TraceHop)> = View::new(HOP_FIELDS, "source and destination are the same port");

/// The fields of a hop with its number, from 1.
static HOP_FIELDS: &[RowField] = &[
    RowField::new("hop", "HOP", FieldKind::Number, "number of the hop, from 1", |_, &(at, _)| {
        (at as u64).into()
    }),
    RowField::new("node", "NODE", FieldKind::Text, "node that sends", |l, &(_, hop)| l.name(hop.node).into())
        .node_name(),
    RowField::new("guid", "GUID", FieldKind::Guid, "GUID of the node that sends", |l, &(_, hop)| {
        l.fabric().node(hop.node).guid().into()
    })
    .shed(1)
    .when_ambiguous(),
    RowField::new(
        "port",
        "PORT",
        FieldKind::Number,
        "egress port; none where the path ends",
        |_, &(_, hop)| hop.egress.into(),
    )
    .port_of("node"),
    RowField::new("label", "LABEL", FieldKind::Text, LABEL_ABOUT, |l, &(_, hop)| {
        hop_ports(l, hop)[0].map_or(Value::Missing, |port| label_value(l, port))
    })
    .when_known(),
    RowField::new(
        "choices",
        "CHOICES",
        FieldKind::Text,
        "other ports by which the switch may send, where it routes adaptively; not known where its adaptive tables are not",
        |_, &(_, hop)| match hop.choices {
            HopChoices::None => Value::Missing,
            HopChoices::Unknown => "not known".into(),
            HopChoices::Ports(ports) => port_list(ports).into(),
        },
    )
    .when_known(),
    RowField::new(
        "width",
        "WIDTH",
        FieldKind::Width,
        "width of the cable, the smaller of both ends",
        |l, &(_, hop)| link(l, hop).and_then(|link| l.width_in_use(link)).into(),
    )
    .shed(3),
    RowField::new(
        "speed",
        "SPEED",
        FieldKind::Speed,
        "speed of the cable, the smaller of both ends",
        |l, &(_, hop)| link(l, hop).and_then(|link| l.speed_in_use(link)).into(),
    )
    .shed(2),
    RowField::new("peer", "PEER", FieldKind::Text, "node that receives", |l, &(_, hop)| {
        ends(l, hop)[1].map(|port| l.name(port.node)).into()
    })
    .node_name(),
    RowField::new(
        "peer_guid",
        "PEER GUID",
        FieldKind::Guid,
        "GUID of the node that receives",
        |l, &(_, hop)| ends(l, hop)[1].map(|port| l.fabric().node(port.node).guid()).into(),
    )
    .when_ambiguous(),
    RowField::new("peer_port", "PEER PORT", FieldKind::Number, "ingress port", |l, &(_, hop)| {
        ends(l, hop)[1].map(|port| port.number).into()
    })
    .port_of("peer"),
    RowField::new(
        "peer_label",
        "PEER LABEL",
        FieldKind::Text,
        "label of the ingress port",
        |l, &(_, hop)| hop_ports(l, hop)[1].map_or(Value::Missing, |port| label_value(l, port)),
    )
    .when_known(),
];

fn port_list(ports: PortSet) -> String {
    let numbers: Vec<String> = ports.iter().map(|port| port.to_string()).collect();
    numbers.join(",")
}

fn link(look: &Snapshot, hop: TraceHop) -> Option<LinkId> {
    ends(look, hop)[0].and_then(|port| port.link)
}

fn ends(look: &Snapshot, hop: TraceHop) -> [Option<&Port>; 2] {
    hop_ports(look, hop).map(|port| port.map(|port| look.fabric().port(port)))
}

/// The egress port of a hop, and the ingress port behind the cable.
fn hop_ports(look: &Snapshot, hop: TraceHop) -> [Option<PortId>; 2] {
    let fabric = look.fabric();
    let out = hop.egress.and_then(|egress| fabric.port_of(hop.node, egress));
    [out, out.and_then(|out| fabric.peer(out))]
}
