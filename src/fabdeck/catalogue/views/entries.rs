//! The forwarding table of one switch, entry by entry.

use super::tables::owned_lids;
use crate::catalogue::field::Field;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{Rows, View};
use crate::catalogue::views::labels::label_value;
use fabdeck_fabric::{Lid, NodeId, Port, PortId, PortNum};

/// The forwarding entry of one switch for one LID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForwardingEntry {
    pub switch: NodeId,
    pub lid: Lid,
    pub egress: Option<PortNum>,
}

type RowField = Field<ForwardingEntry>;

pub const ENTRIES: View<ForwardingEntry> =
    View::new(ENTRY_FIELDS, "the source has no forwarding table of this switch");

static ENTRY_FIELDS: &[RowField] = &[
    RowField::new("lid", "LID", FieldKind::Number, "destination LID", |_, &r| r.lid.into()).identifier(),
    RowField::new("port", "PORT", FieldKind::Number, "egress port; none where there is no path", |_, &r| {
        r.egress.into()
    }),
    RowField::new("label", "LABEL", FieldKind::Text, "label of the egress port", |l, &r| {
        egress(l, r).map_or(Value::Missing, |port| label_value(l, port))
    })
    .when_known(),
    RowField::new("destination", "DESTINATION", FieldKind::Text, "node that owns the LID", |l, &r| {
        owner(l, r).map(|port| l.name(port.node)).into()
    })
    .node_name(),
    RowField::new("destination_port", "AT PORT", FieldKind::Number, "port that owns the LID", |l, &r| {
        owner(l, r).map(|port| port.number).into()
    })
    .port_of("destination")
    .on_request(),
    RowField::new("next", "NEXT", FieldKind::Text, "node behind the egress port", |l, &r| {
        next(l, r).map(|p| l.name(p.node)).into()
    })
    .node_name(),
    RowField::new("next_port", "NEXT PORT", FieldKind::Number, "ingress port of the next node", |l, &r| {
        next(l, r).map(|port| port.number).into()
    })
    .port_of("next"),
    RowField::new(
        "next_label",
        "NEXT LABEL",
        FieldKind::Text,
        "label of the ingress port of the next node",
        |l, &r| {
            egress(l, r)
                .and_then(|port| l.fabric().peer(port))
                .map_or(Value::Missing, |port| label_value(l, port))
        },
    )
    .when_known(),
];

/// The entries of a switch for every LID that its table routes or that a port of the fabric owns.
pub fn entries(look: &Snapshot, switch: NodeId) -> Rows<'_, ForwardingEntry> {
    let mut rows = Vec::new();
    if let Some(lft) = look.observation.tables.lft(switch) {
        let mut lids: Vec<Lid> = lft.routed_lids().map(|(lid, _)| lid).chain(owned_lids(look)).collect();
        lids.sort_unstable();
        lids.dedup();
        // LIDs of blocks that could not be read are unknown, so they have no row.
        lids.retain(|lid| look.observation.tables.is_entry_known(switch, *lid));
        rows.extend(lids.into_iter().map(|lid| ForwardingEntry { switch, lid, egress: lft.get(lid) }));
    }
    ENTRIES.rows(look, rows)
}

fn owner(look: &Snapshot, row: ForwardingEntry) -> Option<&Port> {
    look.fabric().port_by_lid(row.lid).map(|port| look.fabric().port(port))
}

fn next(look: &Snapshot, row: ForwardingEntry) -> Option<&Port> {
    let peer = look.fabric().peer(egress(look, row)?)?;
    Some(look.fabric().port(peer))
}

fn egress(look: &Snapshot, row: ForwardingEntry) -> Option<PortId> {
    look.fabric().port_of(row.switch, row.egress?)
}
