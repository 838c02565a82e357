//! The summed-up maps of What-if for a fabric with too many cables for lines: the switches of the lower end of each cable by
//! those of its upper end, a cell for each pair of neighbours with the paths over the busiest cable between them. It is made
//! once for a proposal, in the background; a frame only looks it up.
//!
//! ```text
//!            spine0 … spine17
//! leaf0-1    ▂▂▂▂▄▂▂▂▂▂▂▂▂▂▂▂▂▂
//! leaf2-3    ▂▂▂▂▂▂▂▂▂▂▂▇▂▂▂▂▂▂
//! ```

use std::ops::Range;
use std::sync::Arc;

use ratatui::layout::Rect;

use crate::catalogue::snapshot::Snapshot;
use crate::console::drawing::canvas::{Canvas, shorten_name, width};
use crate::console::drawing::gauge::bar_symbol;
use crate::console::drawing::theme::Role;
use crate::console::features::map::figures::{MapFigures, MapQuantity, step_role};
use crate::operations::fabric_map::figures::FigureTable;
use crate::operations::fabric_map::structure::MapStructure;
use crate::operations::preview::path_changes::PathChanges;

/// Most rows and columns: what a pane of a wide screen has room for.
const MAX_ROWS: usize = 20;
const MAX_COLUMNS: usize = 80;
/// Columns of the names of rows.
const LABEL_WIDTH: u16 = 12;
/// Most columns of a cell, with the gap before it: room for its number.
const MAX_CELL: u16 = 6;

/// Neighbouring switches that share a row or a column.
#[derive(Clone, Debug)]
struct SwitchRange {
    name: String,
    switches: Range<usize>,
}

/// The cells of both sides, row by row.
#[derive(Clone, Debug)]
pub struct SideMatrix {
    rows: Vec<SwitchRange>,
    columns: Vec<SwitchRange>,
    cells: [Vec<MapFigures>; 2],
}

impl SideMatrix {
    /// Sums up the paths of both sides. Without ranks below the top there is nothing to sum up by.
    pub fn new(look: &Snapshot, structure: &Arc<MapStructure>, changes: &PathChanges) -> Option<Self> {
        let (all, top) = (structure.switches.len(), *structure.ranks.first()?);
        let upper_end = all - structure.ranks.last().copied().unwrap_or(0);
        let columns = ranges(look, structure, 0..upper_end.max(top).min(all), MAX_COLUMNS);
        let rows = ranges(look, structure, top.min(all)..all, MAX_ROWS);
        if rows.is_empty() || columns.is_empty() {
            return None;
        }
        let place =
            |ranges: &[SwitchRange], at: usize| ranges.iter().position(|range| range.switches.contains(&at));
        let sum = |figures: &FigureTable| {
            let mut cells = vec![MapFigures::default(); rows.len() * columns.len()];
            for cable in &structure.cables {
                let (Some(row), Some(column)) = (place(&rows, cable.lower), place(&columns, cable.upper))
                else {
                    continue;
                };
                cells[row * columns.len() + column].worsen(&figures.link(cable.link));
            }
            cells
        };
        let cells = [sum(&changes.live), sum(&changes.preview)];
        Some(Self { rows, columns, cells })
    }

    /// Draws one side: the tables in force, or the proposal.
    pub fn draw(&self, canvas: &mut Canvas<'_>, area: Rect, is_preview: bool) {
        let room = area.width.saturating_sub(LABEL_WIDTH + 2);
        let wide = (room / self.columns.len().max(1) as u16).clamp(1, MAX_CELL);
        let cells = Rect { x: area.x + LABEL_WIDTH, width: room, ..area };
        if let (Some(first), Some(last)) = (self.columns.first(), self.columns.last()) {
            let words = if self.columns.len() == 1 {
                first.name.clone()
            } else {
                format!("{} {} {}", first.name, canvas.signs.more, last.name)
            };
            canvas.draw_name(cells, 0, 0, &words, Role::Label);
        }
        let side = &self.cells[usize::from(is_preview)];
        for (row, range) in (0..area.height.saturating_sub(2)).zip(&self.rows) {
            let y = row + 1;
            let name = shorten_name(&range.name, LABEL_WIDTH - 2, canvas.signs.more);
            canvas.draw_text(area, 1, y, &name, Role::Dim);
            let first = usize::from(row) * self.columns.len();
            for (column, figures) in (0u16..).zip(&side[first..first + self.columns.len()]) {
                let live = &self.cells[0][first + usize::from(column)];
                let changed = (is_preview && figures != live).then_some(Role::Preview);
                draw_cell(canvas, cells, (column * wide, y), figures, (wide, changed));
            }
        }
    }

    /// What the map is, for its last row.
    pub fn words(&self, is_preview: bool) -> String {
        let (rows, columns) = (self.rows.len(), self.columns.len());
        let words =
            format!("{rows} x {columns} groups of neighbours: paths over the busiest cable between two");
        match is_preview {
            true => format!("{words}; {} differ", self.count_changed()),
            false => words,
        }
    }

    fn count_changed(&self) -> usize {
        self.cells[0].iter().zip(&self.cells[1]).filter(|(live, preview)| live != preview).count()
    }
}

/// Draws a cell; one that the proposal changes has a colour of its own.
fn draw_cell(
    canvas: &mut Canvas<'_>,
    area: Rect,
    (x, y): (u16, u16),
    figures: &MapFigures,
    (wide, changed): (u16, Option<Role>),
) {
    let quantity = MapQuantity::Paths;
    let Some(step) = figures.step(quantity) else { return };
    let number = figures.short_text(quantity).filter(|number| wide > 1 && width(number) < wide);
    let role = changed.unwrap_or(step_role(quantity, step));
    match number {
        Some(number) => canvas.draw_text(area, x + wide - width(&number), y, &number, role),
        None => {
            let share = figures.share(quantity).unwrap_or(0.0);
            let sign = if step == 0 { canvas.signs.untold } else { bar_symbol(canvas, share) };
            canvas.draw_text(area, x + wide - 1, y, sign, role)
        }
    };
}

/// A part of the switches in at most this many ranges.
fn ranges(look: &Snapshot, structure: &MapStructure, of: Range<usize>, most: usize) -> Vec<SwitchRange> {
    let join = of.len().div_ceil(most).max(1);
    let name = |at: usize| look.name(structure.switches[at].id).to_owned();
    let range = |first: usize| {
        let last = (first + join).min(of.end);
        let name = match last - first {
            1 => name(first),
            _ => crate::operations::fabric_map::groups::name_range(&name(first), &name(last - 1)),
        };
        SwitchRange { name, switches: first..last }
    };
    of.clone().step_by(join).map(range).collect()
}
