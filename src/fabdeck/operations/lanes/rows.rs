//! The flows and tables of dFtree as rows: flows to hot-spots, and tables on the paths there.

use std::sync::Arc;

use super::slow_lanes::{LaneFlow, LaneSpot, LaneState, TableStatus};
use crate::catalogue::field::Field;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{RowContext, View};
use fabdeck_change::FollowMode;

/// The state of lanes, and the snapshot that defines its port ids.
pub type LaneContext = (Arc<LaneState>, Arc<Snapshot>);

impl RowContext for LaneContext {}

/// Indexes of a hot-spot and one of its flows. A hot-spot without flows has a row too.
pub type FlowRow = (usize, Option<usize>);

type FlowField = Field<FlowRow, LaneContext>;

pub const FLOWS: View<FlowRow, LaneContext> =
    View::new(FLOW_FIELDS, "no flow is on a slow lane, and none would move there");

static FLOW_FIELDS: &[FlowField] = &[
    FlowField::new("host", "HOST", FieldKind::Text, "the host that sends the flows", |(state, _), row| {
        flow_at(state, row).1.map(|flow| flow.flow.host.name.as_str()).into()
    }),
    FlowField::new(
        "hot_spot",
        "TO",
        FieldKind::Text,
        "the adapter that receives more slowly than packets come",
        |(state, _), row| Value::text(&flow_at(state, row).0.port.name),
    ),
    FlowField::new(
        "state",
        "STATE",
        FieldKind::Text,
        "proposed: would go to the slow lane; in force: is there; cooling: would come back; untold: not known whether its \
         adapter is still a hot-spot",
        |(state, _), row| {
            let (spot, flow) = flow_at(state, row);
            flow.map_or(spot.standing, |flow| flow.standing).word().into()
        },
    ).status(),
    FlowField::new(
        "levels",
        "LEVEL",
        FieldKind::Text,
        "the service levels of the two lanes, the fast one first",
        |(state, _), row| levels_word(flow_at(state, row).0).into(),
    ),
    FlowField::new(
        "follows",
        "FOLLOWS",
        FieldKind::Text,
        "how open connections of the host follow a move",
        |(state, _), row| flow_at(state, row).1.map(|flow| follows_word(flow.flow.follows)).into(),
    ),
];

/// The rows of flows to hot-spots.
pub fn flow_rows(state: &LaneState) -> Vec<FlowRow> {
    let of = |(at, spot): (usize, &LaneSpot)| match spot.flows.len() {
        0 => vec![(at, None)],
        flows => (0..flows).map(|flow| (at, Some(flow))).collect(),
    };
    state.spots.iter().enumerate().flat_map(of).collect()
}

/// The hot-spot of a row, and its flow if it has any.
pub fn flow_at<'s>(state: &'s LaneState, (spot, flow): &FlowRow) -> (&'s LaneSpot, Option<&'s LaneFlow>) {
    let spot = &state.spots[*spot];
    (spot, flow.map(|flow| &spot.flows[flow]))
}

/// How the flows of a host follow a move, in a few words.
pub fn follows_word(follows: FollowMode) -> &'static str {
    match follows {
        FollowMode::Agent => "its agent",
        FollowMode::Queries => "no agent",
        FollowMode::Unknown => "not known",
    }
}

/// The fast and slow level: `0 to 1`.
pub fn levels_word(spot: &LaneSpot) -> Option<String> {
    let words: Vec<String> = spot.levels.iter().map(|(fast, slow)| format!("{fast} to {slow}")).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Tables on the paths to hot-spots, each by its index.
pub const LANE_TABLES: View<usize, LaneContext> = View::new(
    TABLE_FIELDS,
    "no flow is on a slow lane or would move there, so no table needs entries for one",
);

type TableField = Field<usize, LaneContext>;

static TABLE_FIELDS: &[TableField] = &[
    TableField::new("port", "PORT", FieldKind::Text, "the egress port", |(state, look), row| {
        look.unique_port_name(state.tables[*row].port).into()
    }),
    TableField::new(
        "table",
        "TABLE",
        FieldKind::Text,
        "the lanes of levels, or how lanes share the port",
        |(state, _), row| brief(&state.tables[*row].table).into(),
    ),
    TableField::new(
        "state",
        "STATE",
        FieldKind::Text,
        "whether the table is as the lanes need it",
        |(state, _), row| table_status_word(&state.tables[*row].standing).into(),
    )
    .status(),
    TableField::new(
        "held",
        "IN FORCE",
        FieldKind::Text,
        "the present content, where it differs: level:lane, or lane:weight",
        |(state, _), row| match &state.tables[*row].standing {
            TableStatus::Differs { held, .. } => brief(held).into(),
            _ => Value::Missing,
        },
    )
    .when_known(),
    TableField::new(
        "wanted",
        "SHOULD BE",
        FieldKind::Text,
        "the content that the lanes need",
        |(state, _), row| match &state.tables[*row].standing {
            TableStatus::Differs { wanted, .. } => brief(wanted).into(),
            _ => Value::Missing,
        },
    )
    .when_known(),
    TableField::new(
        "why",
        "WHY",
        FieldKind::Text,
        "why the table is not known, or cannot be as needed",
        |(state, _), row| match &state.tables[*row].standing {
            TableStatus::Cannot(why) => Value::text(why),
            _ => Value::Missing,
        },
    )
    .when_known(),
];

/// The rows of tables; those that need attention come first.
pub fn table_rows(state: &LaneState) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..state.tables.len()).collect();
    rows.sort_by_key(|row| state.tables[*row].standing == TableStatus::AsShould);
    rows
}

/// Shortens a text for a narrow column: `1:0` for a level on a lane, `SL2VL in 3` for a table.
fn brief(words: &str) -> String {
    words.replace("level ", "").replace(" on lane ", ":").replace("from port", "in")
}

/// The status of a table, in a word.
pub fn table_status_word(standing: &TableStatus) -> &'static str {
    match standing {
        TableStatus::AsShould => "as should",
        TableStatus::Differs { .. } => "differs",
        TableStatus::Cannot(_) => "cannot",
    }
}
