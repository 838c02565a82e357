//! The flows and tables of dFtree as rows: flows to hot-spots, and tables on the paths there.

use std::borrow::Cow;

use super::slow_lanes::{LaneFlow, LaneSpot, LaneState, LaneTable, TableStatus};
use crate::catalogue::field::{Column, Listing};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use fabdeck_change::FollowMode;

const fn column(id: &'static str, title: &'static str, about: &'static str) -> Column {
    Column::new(Cow::Borrowed(id), Cow::Borrowed(title), FieldKind::Text, Cow::Borrowed(about))
}

/// Shows a column only where some row has a value for it.
const fn when_known(mut column: Column) -> Column {
    column.shown = false;
    column.when_known = true;
    column
}

static FLOW_COLUMNS: &[Column] = &[
    column("host", "HOST", "the host that sends the flows"),
    column("hot_spot", "TO", "the adapter that receives more slowly than packets come"),
    column(
        "state",
        "STATE",
        "proposed: would go to the slow lane; in force: is there; cooling: would come back; untold: not known whether its \
         adapter is still a hot-spot",
    ),
    column("levels", "LEVEL", "the service levels of the two lanes, the fast one first"),
    column("follows", "FOLLOWS", "how open connections of the host follow a move"),
];

static TABLE_COLUMNS: &[Column] = &[
    column("port", "PORT", "the egress port"),
    column("table", "TABLE", "the lanes of levels, or how lanes share the port"),
    column("state", "STATE", "whether the table is as the lanes need it"),
    when_known(column(
        "held",
        "IN FORCE",
        "the present content, where it differs: level:lane, or lane:weight",
    )),
    when_known(column("wanted", "SHOULD BE", "the content that the lanes need")),
    when_known(column("why", "WHY", "why the table is not known, or cannot be as needed")),
];

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

/// Flows to hot-spots. A hot-spot without flows has a row too.
#[derive(Clone, Debug)]
pub struct FlowRows<'s> {
    pub state: &'s LaneState,
    pub rows: &'s [(usize, Option<usize>)],
}

impl<'s> FlowRows<'s> {
    /// The rows of a state, as indexes of a hot-spot and its flow.
    pub fn row_places(state: &LaneState) -> Vec<(usize, Option<usize>)> {
        let of = |(at, spot): (usize, &LaneSpot)| match spot.flows.len() {
            0 => vec![(at, None)],
            flows => (0..flows).map(|flow| (at, Some(flow))).collect(),
        };
        state.spots.iter().enumerate().flat_map(of).collect()
    }

    /// The hot-spot of a row, and its flow if it has any.
    pub fn flow_at(&self, row: usize) -> Option<(&'s LaneSpot, Option<&'s LaneFlow>)> {
        let (spot, flow) = *self.rows.get(row)?;
        let spot = self.state.spots.get(spot)?;
        Some((spot, flow.and_then(|flow| spot.flows.get(flow))))
    }
}

impl Listing for FlowRows<'_> {
    fn column_count(&self) -> usize {
        FLOW_COLUMNS.len()
    }

    fn column(&self, at: usize) -> &Column {
        &FLOW_COLUMNS[at]
    }

    fn row_count(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        let Some((spot, flow)) = self.flow_at(row) else { return Value::Missing };
        match FLOW_COLUMNS[column].id.as_ref() {
            "host" => flow.map(|flow| flow.flow.host.name.as_str()).into(),
            "hot_spot" => spot.port.name.as_str().into(),
            "state" => flow.map_or(spot.standing, |flow| flow.standing).word().into(),
            "levels" => levels_word(spot).into(),
            _ => flow.map(|flow| follows_word(flow.flow.follows)).into(),
        }
    }

    fn empty_text(&self) -> &str {
        "no flow is on a slow lane, and none would move there"
    }
}

/// Tables on the paths to hot-spots.
#[derive(Clone, Debug)]
pub struct TableRows<'s> {
    pub look: &'s Snapshot,
    pub state: &'s LaneState,
    pub rows: &'s [usize],
}

impl<'s> TableRows<'s> {
    /// The rows of a state as table indexes; tables that need attention come first.
    pub fn row_places(state: &LaneState) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..state.tables.len()).collect();
        rows.sort_by_key(|row| state.tables[*row].standing == TableStatus::AsShould);
        rows
    }

    pub fn table_at(&self, row: usize) -> Option<&'s LaneTable> {
        self.state.tables.get(*self.rows.get(row)?)
    }
}

/// Shortens a text for a narrow column: `1:0` for a level on a lane, `SL2VL in 3` for a table.
fn brief(words: &str) -> String {
    words.replace("level ", "").replace(" on lane ", ":").replace("from port", "in")
}

impl Listing for TableRows<'_> {
    fn column_count(&self) -> usize {
        TABLE_COLUMNS.len()
    }

    fn column(&self, at: usize) -> &Column {
        &TABLE_COLUMNS[at]
    }

    fn row_count(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        let Some(table) = self.table_at(row) else { return Value::Missing };
        let (held, wanted, why) = match &table.standing {
            TableStatus::AsShould => (None, None, None),
            TableStatus::Differs { held, wanted } => (Some(held.as_str()), Some(wanted.as_str()), None),
            TableStatus::Cannot(why) => (None, None, Some(why.as_str())),
        };
        match TABLE_COLUMNS[column].id.as_ref() {
            "port" => Value::Text(self.look.unique_port_name(table.port).into()),
            "table" => Value::Text(brief(&table.table).into()),
            "state" => table_status_word(&table.standing).into(),
            "held" => held.map(brief).into(),
            "wanted" => wanted.map(brief).into(),
            _ => why.into(),
        }
    }

    fn empty_text(&self) -> &str {
        "no flow is on a slow lane or would move there, so no table needs entries for one"
    }
}

/// The status of a table, in a word.
pub fn table_status_word(standing: &TableStatus) -> &'static str {
    match standing {
        TableStatus::AsShould => "as should",
        TableStatus::Differs { .. } => "differs",
        TableStatus::Cannot(_) => "cannot",
    }
}
