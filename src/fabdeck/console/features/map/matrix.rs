//! The state of the matrix: the part of the fabric that it shows, the cursor, and the table of pairs with the task that
//! makes it.

use std::ops::Range;
use std::sync::Arc;

use super::pair_table::{PairDetail, PairDetailRequest, PairDetailTask, PairRequest, PairTable, PairTask};
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::screen::CursorDirection;
use crate::console::features::screens::ScreenId;
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::tasks::TaskId;
use crate::operations::fabric_map::groups::MapBucket;
use crate::operations::fabric_map::structure::MapStructure;
use fabdeck_fabric::{NodeId, PortId};

/// Parts of the switches with hosts: those that send, and those that receive.
type MatrixPart = [Range<usize>; 2];

/// What a table of pairs depends on: structure, reading, paths, quantity, the part of the fabric, and its size.
#[derive(Clone, PartialEq, Eq, Debug)]
struct PairSource {
    structure: usize,
    reading: usize,
    paths: usize,
    quantity: super::figures::MapQuantity,
    part: MatrixPart,
    /// Numbers of rows and columns: a status line that comes and goes changes the room and not the table.
    size: (usize, usize),
}

#[derive(Clone, Debug, Default)]
pub struct MatrixState {
    /// The structure that the state is for, by its address.
    structure_of: Option<usize>,
    /// Number of switches with hosts.
    leaves: usize,
    pub table: PairTable,
    /// Whether the map is a matrix: lines have no room, and the tables are known.
    pub shown: bool,
    /// Whether the table has only the names of its parts, because their paths are still being followed.
    pub stale: bool,
    table_of: Option<PairSource>,
    running: Option<(TaskId, PairSource)>,
    /// The parts that were entered, outermost first, with the cursor of each before it was entered.
    zoom: Vec<(MatrixPart, (usize, usize))>,
    /// The row and the column at the cursor.
    pub cursor: (usize, usize),
    /// Whether the cursor was placed in this part; until then it goes to the worst cell of the first table.
    is_placed: bool,
    detail: Option<(PairDetail, DetailSource)>,
    detail_running: Option<(TaskId, DetailSource)>,
}

/// What the detail of a pair depends on: the table, and the cell.
type DetailSource = (PairSource, (usize, usize));

/// Rows of the matrix besides its cells: the directions, the names of columns, the worst of each column and the legend.
pub const MATRIX_FRAME_ROWS: u16 = 6;
/// Least size of a matrix.
const MATRIX_MIN: (u16, u16) = (40, 12);

/// Columns of the names of rows.
pub fn label_width(width: u16) -> u16 {
    match width {
        100.. => 16,
        76.. => 13,
        _ => 8,
    }
}

/// Most rows and columns of a matrix in an area, and the columns of a cell.
pub fn matrix_room((width, height): (u16, u16)) -> Option<(usize, usize)> {
    if width < MATRIX_MIN.0 || height < MATRIX_MIN.1 {
        return None;
    }
    Some((usize::from(height - MATRIX_FRAME_ROWS), usize::from(width - label_width(width))))
}

impl MatrixState {
    /// The part of the fabric that is shown.
    pub fn part(&self) -> MatrixPart {
        let all = 0..self.leaves;
        self.zoom.last().map_or([all.clone(), all], |(part, _)| part.clone())
    }

    /// Moves the cursor to a cell, where the table has it.
    pub fn choose_cell(&mut self, row: usize, column: usize) {
        if self.shown && row < self.table.rows.len() && column < self.table.columns.len() {
            (self.cursor, self.is_placed) = ((row, column), true);
        }
    }

    /// The part that the cursor is on.
    pub fn chosen(&self) -> Option<[&MapBucket; 2]> {
        Some([self.table.rows.get(self.cursor.0)?, self.table.columns.get(self.cursor.1)?])
    }

    /// The worst port of the pair at the cursor.
    pub fn port(&self) -> Option<PortId> {
        self.table.cell(self.cursor.0, self.cursor.1).map(|(port, _)| port).filter(|_| !self.stale)
    }

    /// Moves over the groups of a ring: left and right choose the first one, up and down the second one.
    pub fn move_on_ring(&mut self, direction: CursorDirection) {
        self.is_placed = true;
        let count = self.table.rows.len().max(1);
        let (first, second) = self.cursor;
        self.cursor = match direction {
            CursorDirection::Left => ((first + count - 1) % count, second),
            CursorDirection::Right => ((first + 1) % count, second),
            CursorDirection::Up => (first, (second + count - 1) % count),
            CursorDirection::Down => (first, (second + 1) % count),
        };
    }

    /// Whether the whole fabric is shown.
    pub fn is_whole(&self) -> bool {
        self.zoom.is_empty()
    }

    pub fn move_by(&mut self, direction: CursorDirection) {
        self.is_placed = true;
        let (row, column) = &mut self.cursor;
        match direction {
            CursorDirection::Up => *row = row.saturating_sub(1),
            CursorDirection::Down => *row += 1,
            CursorDirection::Left => *column = column.saturating_sub(1),
            CursorDirection::Right => *column += 1,
        }
        self.clamp();
    }

    fn clamp(&mut self) {
        self.cursor.0 = self.cursor.0.min(self.table.rows.len().saturating_sub(1));
        self.cursor.1 = self.cursor.1.min(self.table.columns.len().saturating_sub(1));
    }

    /// Shows the switches of the two parts at the cursor. Of two single switches, returns the one that sends, whose ports
    /// are next.
    pub fn zoom_in(&mut self, structure: &MapStructure) -> Option<NodeId> {
        let [rows, columns] = self.chosen()?.map(|bucket| bucket.leaves.clone());
        if rows.len() <= 1 && columns.len() <= 1 {
            let leaf = *structure.groups.leaves.get(rows.start)?;
            return structure.switches.get(leaf).map(|switch| switch.id);
        }
        self.zoom.push(([rows, columns], self.cursor));
        (self.cursor, self.is_placed, self.stale) = ((0, 0), false, true);
        None
    }

    /// Takes the structure that the state is for; another one has other parts.
    fn take_structure(&mut self, structure: &Arc<MapStructure>) {
        let address = Arc::as_ptr(structure) as usize;
        if self.structure_of != Some(address) {
            self.reset();
            (self.structure_of, self.leaves) = (Some(address), structure.groups.leaves.len());
            (self.stale, self.shown) = (true, true);
        }
    }

    /// Shows the whole fabric.
    pub fn show_whole(&mut self, structure: &Arc<MapStructure>) {
        self.take_structure(structure);
        self.stale |= !self.zoom.is_empty();
        self.zoom.clear();
    }

    /// Shows the switches of a group as rows and all groups as columns. The part around it is the whole fabric, with the
    /// cursor on the group.
    pub fn zoom_to(&mut self, structure: &Arc<MapStructure>, leaves: Range<usize>, group: usize) {
        self.take_structure(structure);
        let all = 0..self.leaves;
        self.zoom = vec![([leaves, all], (group, group))];
        (self.cursor, self.is_placed, self.stale) = ((0, 0), false, true);
    }

    /// Shows the part around; returns false at the whole fabric.
    pub fn zoom_out(&mut self) -> bool {
        let Some((_, cursor)) = self.zoom.pop() else { return false };
        (self.cursor, self.is_placed, self.stale) = (cursor, true, true);
        true
    }

    /// The names of the parts that were entered.
    pub fn crumbs(&self, structure: &MapStructure, look: &Snapshot) -> Vec<String> {
        let title = |of: &Range<usize>| match of.len() == self.leaves {
            true => "all".to_owned(),
            false => structure.groups.title(structure, look, of),
        };
        self.zoom
            .iter()
            .map(|([rows, columns], _)| format!("{} to {}", title(rows), title(columns)))
            .collect()
    }

    /// The task that makes the table.
    pub fn table_task(&self) -> Option<TaskId> {
        self.running.as_ref().map(|(task, _)| *task)
    }

    /// Receives a table, unless another one was asked for since.
    pub fn receive(&mut self, task: TaskId, table: PairTable) {
        if let Some((_, of)) = self.running.take_if(|(running, _)| *running == task) {
            if !self.is_placed && !table.cells.is_empty() {
                (self.cursor, self.is_placed) = (table.worst_place(of.quantity), true);
            }
            (self.table, self.table_of, self.stale) = (table, Some(of), false);
            self.clamp();
        }
    }

    /// The detail of the pair at the cursor, of the last reading for which it was made.
    pub fn detail(&self) -> Option<&PairDetail> {
        let (detail, (table, cell)) = self.detail.as_ref()?;
        let shown = self.table_of.as_ref().filter(|_| !self.stale)?;
        (*cell == self.cursor && table.part == shown.part && table.quantity == shown.quantity)
            .then_some(detail)
    }

    /// Receives the detail of a pair, unless another one was asked for since.
    pub fn receive_detail(&mut self, task: TaskId, detail: PairDetail) {
        if let Some((_, of)) = self.detail_running.take_if(|(running, _)| *running == task) {
            self.detail = Some((detail, of));
        }
    }

    /// Forgets what another structure gave.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

/// Asks for the table of pairs where the map shows one that has changed.
pub fn update_matrix(state: &mut SessionState, room: (u16, u16)) -> Vec<Effect> {
    let known = &state.known;
    let map = &state.screens.map;
    let other = map.drawn.layout.is_some() || map.drawn.shows_slice(room);
    let fits = !other && map.drawn.structure.is_some() && known.tables;
    let sizes = matrix_room(room).filter(|_| fits);
    let asked = state.screen == ScreenId::Map && map.shows_map();
    state.screens.map.drawn.matrix.shown = sizes.is_some();
    let (known, map) = (&state.known, &state.screens.map);
    let (Some(structure), Some(look), true) = (map.drawn.structure.clone(), known.look.clone(), asked) else {
        return Vec::new();
    };
    let Some((most_rows, most_columns)) = sizes else { return Vec::new() };
    let address = Arc::as_ptr(&structure) as usize;
    state.screens.map.drawn.matrix.take_structure(&structure);
    let (known, drawn) = (&state.known, &state.screens.map.drawn);
    let (reading, paths) = (known.watch.reading.clone(), known.paths.clone());
    let part = drawn.matrix.part();
    let rows = structure.groups.buckets(&structure, &look, &part[0], most_rows);
    let columns = structure.groups.buckets(&structure, &look, &part[1], most_columns);
    let of = PairSource {
        structure: address,
        reading: reading.as_ref().map_or(0, |reading| Arc::as_ptr(reading) as usize),
        paths: paths.as_ref().map_or(0, |paths| Arc::as_ptr(paths) as usize),
        quantity: drawn.quantity,
        part,
        size: (rows.len(), columns.len()),
    };
    if drawn.matrix.table_of.as_ref() == Some(&of) {
        return Vec::new();
    }
    let mut effects = Vec::new();
    if let Some((task, running)) = drawn.matrix.running.clone() {
        let same = running.part == of.part && running.size == of.size && running.quantity == of.quantity;
        // A table of an earlier reading is finished first, so that a slow one comes to an end.
        if (running == of || same) && state.tasks.get(task).is_some() {
            return effects;
        }
        if state.tasks.end(task).is_some() {
            effects.push(Effect::Cancel(task));
        }
    }
    let matrix = &state.screens.map.drawn.matrix;
    let parts = [&rows, &columns].map(Vec::clone);
    let task =
        PairTask(PairRequest { look, structure, reading, paths, quantity: of.quantity, rows, columns });
    let other = matrix.table_of.as_ref().is_none_or(|before| {
        (before.structure, &before.part, before.size, before.quantity)
            != (of.structure, &of.part, of.size, of.quantity)
    });
    let (id, effect) = state.begin_quiet("following the paths of the map", task);
    let matrix = &mut state.screens.map.drawn.matrix;
    matrix.running = Some((id, of));
    matrix.stale |= other;
    if matrix.stale {
        let [rows, columns] = parts;
        matrix.table = PairTable { rows, columns, ..PairTable::default() };
        matrix.clamp();
    }
    effects.push(effect);
    effects
}

/// Asks for the detail of the pair at the cursor where there is a new one. One that is being made is finished first, so
/// that moving the cursor does not queue up work.
pub fn update_pair_detail(state: &mut SessionState) -> Option<Effect> {
    let (known, map) = (&state.known, &state.screens.map);
    let matrix = &map.drawn.matrix;
    let is_asked = state.screen == ScreenId::Map && map.shows_map() && matrix.shown && !matrix.stale;
    let has_room = !state.areas_of(ScreenId::Map).details_pane.is_empty();
    if !is_asked || !has_room || map.drawn.shows_ring() {
        return None;
    }
    let of = (matrix.table_of.clone()?, matrix.cursor);
    let is_known = matrix.detail.as_ref().is_some_and(|(_, known)| *known == of);
    let is_running = matrix.detail_running.as_ref().is_some_and(|(task, _)| state.tasks.get(*task).is_some());
    if is_known || is_running {
        return None;
    }
    let parts = matrix.chosen()?.map(|bucket| bucket.leaves.clone());
    let request = PairDetailRequest {
        look: known.look.clone()?,
        structure: map.drawn.structure.clone()?,
        reading: known.watch.reading.clone(),
        paths: known.paths.clone(),
        quantity: map.drawn.quantity,
        parts,
    };
    let (task, effect) = state.begin_quiet("examining a pair of the map", PairDetailTask(request));
    state.screens.map.drawn.matrix.detail_running = Some((task, of));
    Some(effect)
}
