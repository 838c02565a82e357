//! The destinations whose paths cross a cable, with a row for each.

use crate::catalogue::field::Field;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::FieldKind;
use crate::catalogue::view::{Rows, View};
use crate::catalogue::views::labels::label_value;
use fabdeck_fabric::{LinkId, Port, PortId};
use fabdeck_routing::analysis::{CableUse, PathIndex};

/// A destination, and the cable that its paths cross.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkUser {
    pub link: LinkId,
    pub over: CableUse,
}

type RowField = Field<LinkUser>;

pub const LINK_USERS: View<LinkUser> = View::new(
    USER_FIELDS,
    "no path between two switches crosses this cable; an adapter's own carries all of its paths",
);

static USER_FIELDS: &[RowField] = &[
    RowField::new("to", "TO", FieldKind::Text, "node that owns the LID", |l, &r| {
        destination(l, r).map(|port| l.name(port.node)).into()
    }),
    RowField::new("lid", "LID", FieldKind::Number, "destination LID", |_, &r| r.over.lid.into())
        .shed(1)
        .identifier(),
    RowField::new(
        "sources",
        "SOURCES",
        FieldKind::Number,
        "hosts that send to it over this cable",
        |_, &r| r.over.sources.into(),
    )
    .largest_first(),
    RowField::new(
        "from",
        "OVER",
        FieldKind::Text,
        "the end at which its packets enter the cable",
        |l, &r| l.port_name(ingress_port(l, r)).into(),
    ),
    RowField::new("from_label", "OVER LABEL", FieldKind::Text, "label of the port at that end", |l, &r| {
        label_value(l, ingress_port(l, r))
    })
    .when_known(),
    RowField::new(
        "from_guid",
        "OVER GUID",
        FieldKind::Guid,
        "GUID of the node at which they enter it",
        |l, &r| l.fabric().node(l.fabric().port(ingress_port(l, r)).node).guid().into(),
    )
    .when_ambiguous(),
];

/// The destinations whose paths cross a cable.
pub fn link_user_rows(look: &Snapshot, paths: &PathIndex, link: LinkId) -> Vec<LinkUser> {
    paths.destinations_over(look.fabric(), link).into_iter().map(|over| LinkUser { link, over }).collect()
}

pub fn link_users<'l>(look: &'l Snapshot, rows: &'l [LinkUser]) -> Rows<'l, LinkUser> {
    LINK_USERS.rows(look, rows)
}

fn destination(look: &Snapshot, row: LinkUser) -> Option<&Port> {
    look.fabric().port_by_lid(row.over.lid).map(|port| look.fabric().port(port))
}

fn ingress_port(look: &Snapshot, row: LinkUser) -> PortId {
    let link = look.fabric().link(row.link);
    if row.over.back { link.b } else { link.a }
}
