//! Partitions, with a row for each member, and one for each port whose partitions are not known.

use crate::catalogue::field::{Field, Tone};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::FieldKind;
use crate::catalogue::view::{Rows, View};
use crate::catalogue::views::labels::{LABEL_ABOUT, label_value};
use fabdeck_fabric::observe::PartitionEnforcement;
use fabdeck_fabric::{PartitionKey, Port, PortId, PortNum};

/// A port and one of its P_Keys; `None` where it has none that is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartitionRow {
    port: PortId,
    key: Option<PartitionKey>,
}

type RowField = Field<PartitionRow>;

pub const PARTITIONS: View<PartitionRow> = View::new(
    PARTITION_FIELDS,
    "the source has no P_Key tables; only a live fabric and recordings of it have them",
);

static PARTITION_FIELDS: &[RowField] = &[
    RowField::new("pkey", "P_KEY", FieldKind::Text, "P_Key of the partition, without the bit of membership", |_, row| {
        row.key.map(|key| key.to_string()).into()
    })
    .identifier(),
    RowField::new("node", "NODE", FieldKind::Text, "name of the node that is a member", |l, row| {
        l.name(port(l, row).node).into()
    })
    .node_name(),
    RowField::new("port", "PORT", FieldKind::Number, "its port; 0 of a switch", |l, row| {
        port(l, row).number.into()
    })
    .identifier()
    .port_of("node"),
    RowField::new("label", "LABEL", FieldKind::Text, LABEL_ABOUT, |l, row| {
        label_value(l, row.port)
    })
    .when_known(),
    RowField::new("node_guid", "NODE GUID", FieldKind::Guid, "GUID of the node", |l, row| {
        l.fabric().node(port(l, row).node).guid().into()
    })
    .when_ambiguous(),
    RowField::new(
        "member",
        "MEMBER",
        FieldKind::Text,
        "full, limited, or why no partition is known: empty, absent, did not answer, not asked",
        |l, row| member_word(l, row).into(),
    )
    .toned(&[("did not answer", Tone::Warning), ("empty", Tone::Warning), ("absent", Tone::Warning)]),
    RowField::new(
        "at_switch",
        "AT SWITCH",
        FieldKind::Text,
        "the switch port on its cable: passes or drops its packets, off (it drops none), cannot, or did not answer",
        |l, row| switch_word(l, row).into(),
    )
    .toned(&[("drops", Tone::Danger), ("did not answer", Tone::Warning)]),
    RowField::new(
        "enforced",
        "ENFORCED",
        FieldKind::Text,
        "direction in which that switch port drops packets: in, out, both, off, or cannot",
        |l, row| at_switch(l, row.port).map(|enforcement| enforcement.to_string()).into(),
    )
    .on_request(),
];

impl PartitionRow {
    pub fn port(&self) -> PortId {
        self.port
    }

    pub fn key(&self) -> Option<PartitionKey> {
        self.key
    }
}

/// The members by partition, then the ports without a known one.
pub fn partitions(look: &Snapshot) -> Rows<'_, PartitionRow> {
    PARTITIONS.rows(look, partition_rows(look))
}

pub fn partition_rows(look: &Snapshot) -> Vec<PartitionRow> {
    let (fabric, tables) = (look.fabric(), &look.observation.partitions);
    let mut rows = Vec::new();
    for (id, held) in fabric.ports() {
        if fabric.node(held.node).is_switch() != (held.number == PortNum::MANAGEMENT) {
            continue;
        }
        let Some(said) = tables.port(fabric, id) else { continue };
        let keys = said.keys.known().map_or(&[][..], Vec::as_slice);
        rows.extend(keys.iter().map(|key| PartitionRow { port: id, key: Some(*key) }));
        rows.extend(keys.is_empty().then_some(PartitionRow { port: id, key: None }));
    }
    rows.sort_by_key(|row| (row.key.is_none(), row.key.map(PartitionKey::number), row.port));
    rows
}

fn port<'l>(look: &'l Snapshot, row: &PartitionRow) -> &'l Port {
    look.fabric().port(row.port)
}

fn member_word(look: &Snapshot, row: &PartitionRow) -> Option<&'static str> {
    match row.key {
        Some(key) if key.is_full() => Some("full"),
        Some(_) => Some("limited"),
        None => look.observation.partitions.port(look.fabric(), row.port)?.missing_word(),
    }
}

/// What the switch port on the cable of a port enforces.
fn at_switch(look: &Snapshot, port: PortId) -> Option<PartitionEnforcement> {
    let peer = look.fabric().peer(port)?;
    look.observation.partitions.port(look.fabric(), peer)?.enforcement
}

fn switch_word(look: &Snapshot, row: &PartitionRow) -> Option<String> {
    let (fabric, tables) = (look.fabric(), &look.observation.partitions);
    let enforcement = at_switch(look, row.port)?;
    if !enforcement.is_on() {
        return Some(enforcement.to_string());
    }
    match tables.is_dropped_at_switch(fabric, row.port, row.key?) {
        Some(true) => Some("drops".to_owned()),
        Some(false) => Some("passes".to_owned()),
        None => tables.port(fabric, fabric.peer(row.port)?)?.keys.missing_word().map(str::to_owned),
    }
}
