//! Aggregation nodes (SHARP), with a row for each that a file describes or that the fabric has.

use crate::catalogue::field::Field;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{Rows, View};
use fabdeck_fabric::observe::statement_text;
use fabdeck_fabric::{NodeId, Port};

type RowField = Field<NodeId>;

pub const AGGREGATION: View<NodeId> = View::new(AGGREGATION_FIELDS, "the fabric has no aggregation node");

static AGGREGATION_FIELDS: &[RowField] = &[
    RowField::new("node", "NODE", FieldKind::Text, "name of the aggregation node", |l, &id| {
        l.name(id).into()
    })
    .node_name(),
    RowField::new("guid", "GUID", FieldKind::Guid, "its node GUID", |l, &id| {
        l.fabric().node(id).guid().into()
    })
    .shed(1),
    RowField::new("lid", "LID", FieldKind::Number, "base LID of its port", |l, &id| {
        ports(l, id).find_map(|port| port.facts.lid).into()
    })
    .identifier(),
    RowField::new("switch", "SWITCH", FieldKind::Text, "the switch that it belongs to", |l, &id| {
        let peer = ports(l, id).find_map(|port| port.peer);
        peer.map(|peer| l.name(l.fabric().port(peer).node)).into()
    })
    .node_name(),
    RowField::new("trees", "TREES", FieldKind::Number, "trees that its table has room for", |l, &id| {
        stated(l, id, "tree_table_size")
    })
    .when_known(),
    RowField::new("radix", "RADIX", FieldKind::Number, "most children of a tree at this node", |l, &id| {
        stated(l, id, "tree_radix")
    })
    .when_known(),
    RowField::new("groups", "GROUPS", FieldKind::Number, "most groups", |l, &id| {
        stated(l, id, "max_group_num")
    })
    .when_known(),
    RowField::new("jobs", "JOBS", FieldKind::Number, "most jobs at a time", |l, &id| {
        stated(l, id, "num_of_jobs")
    })
    .when_known(),
    RowField::new("queue_pairs", "QPS", FieldKind::Number, "most queue pairs", |l, &id| {
        stated(l, id, "max_num_qps")
    })
    .when_known(),
    RowField::new(
        "payload",
        "PAYLOAD",
        FieldKind::Number,
        "largest payload, as the file states it",
        |l, &id| stated(l, id, "max_aggregation_payload"),
    )
    .when_known()
    .shed(2),
    RowField::new(
        "versions",
        "VERSIONS",
        FieldKind::Text,
        "mask of the versions that it supports",
        |l, &id| number(l, id, "sharp_version_supported_bit_mask").map(|mask| format!("{mask:#x}")).into(),
    )
    .on_request(),
    RowField::new(
        "stated",
        "STATED",
        FieldKind::Text,
        "all columns of the table SHARP_AN_INFO by their names; none where no file has the node",
        |l, &id| {
            let columns = l.observation.wire.stated.get(&l.fabric().node(id).guid());
            let text = columns.map(|held| statement_text(&held.aggregation));
            text.filter(|text| !text.is_empty()).into()
        },
    )
    .on_request(),
];

/// The aggregation nodes: by their device ID or description, or because a file describes them as such.
pub fn aggregation(look: &Snapshot) -> Rows<'_, NodeId> {
    let is_described = |id: NodeId| {
        let held = look.observation.wire.stated.get(&look.fabric().node(id).guid());
        held.is_some_and(|held| !held.aggregation.is_empty())
    };
    let nodes = look.fabric().nodes();
    let rows = nodes.filter(|(id, node)| node.facts.is_aggregation() || is_described(*id));
    AGGREGATION.rows(look, rows.map(|(id, _)| id).collect::<Vec<_>>())
}

fn ports(look: &Snapshot, id: NodeId) -> impl Iterator<Item = &Port> {
    look.fabric().ports_of(id).map(|(_, port)| port)
}

fn number(look: &Snapshot, id: NodeId, column: &str) -> Option<u64> {
    let held = look.observation.wire.stated.get(&look.fabric().node(id).guid())?;
    held.aggregation.get(column).copied()
}

fn stated(look: &Snapshot, id: NodeId, column: &str) -> Value<'static> {
    number(look, id, column).into()
}
