//! What is known of a cell before it runs, and the filters that choose cells to run.

use super::cell_plan::{CellGroup, StudyCell, StudyPlan, revisions};
use super::measure_kind::MeasureKind;
use super::study_row::StudyRow;
use crate::catalogue::failure::Failure;
use crate::catalogue::field::Field;
use crate::catalogue::query::{Columns, Query};
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::View;

/// The row of a group before any of its cells runs.
pub fn group_row(plan: &StudyPlan, group: &CellGroup) -> StudyRow {
    let topology = &plan.topologies[group.topology];
    StudyRow {
        topology: topology.text.clone(),
        family: topology.family.clone(),
        redundancy: topology.redundancy.map(u64::from),
        link_faults: group.failures.links.into(),
        switch_faults: group.failures.switches.into(),
        fault_seed: group.seed,
        engine: group.engine.id.to_owned(),
        lanes_asked: group.lanes.into(),
        version: revisions(),
        ..StudyRow::default()
    }
}

/// The row of a cell of a group.
pub fn cell_row(group: &StudyRow, cell: &StudyCell) -> StudyRow {
    let mut row = StudyRow {
        cell: cell.id.to_string(),
        pattern: cell.measure.word().to_owned(),
        traffic_seed: cell.traffic_seed,
        ..group.clone()
    };
    match cell.measure {
        MeasureKind::Routes | MeasureKind::Loads | MeasureKind::Lost => {}
        MeasureKind::Exchange { message, shifts } => {
            (row.message, row.shifts) = (Some(message.into()), shifts.map(u64::from));
        }
        MeasureKind::Pattern { load, spread, .. } => {
            (row.load, row.spread) = (Some(load.share()), spread.map(u64::from));
        }
    }
    row
}

/// Cells before they run. The columns have the names of the table, and `lanes` and `measure` for short.
const PLANNED_CELLS: View<StudyRow, ()> = View::new(PLANNED_FIELDS, "the study has no cell");

type RowField = Field<StudyRow, ()>;

macro_rules! planned_fields {
    ($($id:literal $kind:ident $value:expr,)+) => {
        &[$(RowField::new($id, $id, FieldKind::$kind, "", $value)),+]
    };
}

static PLANNED_FIELDS: &[RowField] = planned_fields! {
    "topology" Text |(), row| Value::text(&row.topology),
    "family" Text |(), row| Value::text(&row.family),
    "engine" Text |(), row| Value::text(&row.engine),
    "lanes" Number |(), row| row.lanes_asked.into(),
    "lanes_asked" Number |(), row| row.lanes_asked.into(),
    "measure" Text |(), row| Value::text(&row.pattern),
    "pattern" Text |(), row| Value::text(&row.pattern),
    "link_faults" Number |(), row| row.link_faults.into(),
    "switch_faults" Number |(), row| row.switch_faults.into(),
    "fault_seed" Number |(), row| row.fault_seed.into(),
    "message" Number |(), row| row.message.into(),
    "shifts" Number |(), row| row.shifts.into(),
    "load" Real |(), row| row.load.into(),
    "spread" Number |(), row| row.spread.into(),
    "traffic_seed" Number |(), row| row.traffic_seed.into(),
};

/// Leaves the cells of a plan that match all filters. Refuses filters that leave none.
pub fn choose_cells(plan: &mut StudyPlan, filters: &[String]) -> Result<(), Failure> {
    if filters.is_empty() {
        return Ok(());
    }
    let mut rows = Vec::new();
    for group in &plan.groups {
        let row = group_row(plan, group);
        rows.extend(group.cells.iter().map(|cell| cell_row(&row, cell)));
    }
    let query = Query { filters: filters.to_vec(), ..Query::default() };
    let chosen = query.select(&PLANNED_CELLS.of(&rows), Columns::All)?.rows;
    if chosen.is_empty() {
        let what =
            format!("FD-9415: none of {} cells matches --only; name values of `study show`", rows.len());
        return Err(Failure::usage(what));
    }
    let mut is_chosen = vec![false; rows.len()];
    chosen.into_iter().for_each(|row| is_chosen[row] = true);
    let mut is_chosen = is_chosen.into_iter();
    for group in &mut plan.groups {
        group.cells.retain(|_| is_chosen.next().unwrap_or(false));
    }
    plan.groups.retain(|group| !group.cells.is_empty());
    Ok(())
}
