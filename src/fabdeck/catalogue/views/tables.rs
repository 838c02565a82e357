//! Forwarding tables, with a row for each switch; `entries` has the entries of one switch.

use super::switches::address;
use crate::catalogue::field::Field;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{Rows, View};
use fabdeck_fabric::{Lft, Lid, NodeId};

type RowField = Field<NodeId>;

pub const TABLES: View<NodeId> = View::new(TABLE_FIELDS, "the source has no forwarding tables");

static TABLE_FIELDS: &[RowField] = &[
    RowField::new("switch", "SWITCH", FieldKind::Text, "name of the switch", |l, &id| l.name(id).into())
        .node_name(),
    RowField::new("guid", "GUID", FieldKind::Guid, "node GUID of the switch", |l, &id| {
        l.fabric().node(id).guid().into()
    }),
    RowField::new("lid", "LID", FieldKind::Number, "base LID of the switch", |l, &id| {
        address(l, id).map(|(lid, _)| lid).into()
    })
    .identifier(),
    RowField::new(
        "known",
        "KNOWN",
        FieldKind::Flag,
        "whether the source gives its forwarding table",
        |l, &id| lft(l, id).is_some().into(),
    ),
    RowField::new("routed", "ROUTED", FieldKind::Number, "LIDs with an egress port", |l, &id| {
        lft(l, id).map(|lft| Value::count(lft.routed_lids().count())).unwrap_or(Value::Missing)
    })
    .largest_first(),
    RowField::new(
        "no_path",
        "NO PATH",
        FieldKind::Number,
        "LIDs of the fabric without an egress port",
        |l, &id| {
            lft(l, id)
                .map(|lft| {
                    let tells = |lid: &Lid| l.observation.tables.is_entry_known(id, *lid);
                    Value::count(owned_lids(l).filter(|lid| lft.get(*lid).is_none() && tells(lid)).count())
                })
                .unwrap_or(Value::Missing)
        },
    )
    .largest_first(),
    RowField::new(
        "ports_used",
        "PORTS USED",
        FieldKind::Number,
        "different egress ports in the table",
        |l, &id| lft(l, id).map(|lft| Value::count(ports_used(lft))).unwrap_or(Value::Missing),
    )
    .largest_first(),
    RowField::new("top_lid", "TOP LID", FieldKind::Number, "highest LID with an egress port", |l, &id| {
        lft(l, id).and_then(|lft| lft.routed_lids().last()).map(|(lid, _)| lid).into()
    })
    .identifier(),
    RowField::new(
        "groups",
        "GROUPS",
        FieldKind::Number,
        "multicast groups in its multicast table",
        |l, &id| {
            let tables = l.observation.tables.nodes.get(&id);
            tables
                .and_then(|tables| tables.mft.as_ref())
                .map_or(Value::Missing, |mft| Value::count(mft.groups.len()))
        },
    )
    .largest_first()
    .on_request(),
];

/// The forwarding tables of all switches. Without any table there is no row, because the source was not read
/// for tables.
pub fn tables(look: &Snapshot) -> Rows<'_, NodeId> {
    let tables = &look.observation.tables;
    let any = tables.nodes.values().any(|node| node.lft.is_some() || node.mft.is_some());
    let rows = if any { look.fabric().switches().map(|(id, _)| id).collect() } else { Vec::new() };
    TABLES.rows(look, rows)
}

fn lft(look: &Snapshot, id: NodeId) -> Option<&Lft> {
    look.observation.tables.lft(id)
}

/// The LIDs that ports of the fabric own.
pub(crate) fn owned_lids(look: &Snapshot) -> impl Iterator<Item = Lid> {
    let fabric = look.fabric();
    let top = fabric.top_lid().map_or(0, Lid::value);
    (1..=u32::from(top)).filter_map(Lid::new).filter(|lid| fabric.port_by_lid(*lid).is_some())
}

fn ports_used(lft: &Lft) -> usize {
    let mut used = [false; 256];
    for (_, port) in lft.routed_lids() {
        used[port.index()] = true;
    }
    used.iter().filter(|used| **used).count()
}
