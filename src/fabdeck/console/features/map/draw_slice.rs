//! Draws a slice of a torus as a grid: a cell for each switch, bars between them for cables, the other slices as
//! thumbnails below.

use ratatui::layout::Rect;

use super::draw_matrix::{bar_of, draw_legend_at};
use super::figures::{MapFigures, MapQuantity, step_role};
use super::torus::TorusShape;
use crate::console::drawing::canvas::{Canvas, width};
use crate::console::drawing::theme::Role;
use crate::console::model::mouse::ClickTarget;
use crate::console::model::state::SessionState;
use crate::operations::fabric_map::structure::MapStructure;
use fabdeck_fabric::ElementId;

/// Columns of a cell with its figure.
const CELL_WIDTH: u16 = 5;
/// Most columns from a cell to the next one.
const PITCH_MAX: u16 = 9;
/// Rows above and below a slice: its name, and the legend.
const FRAME_ROWS: u16 = 3;

/// Whether a slice fits: a column for each cell, and one for each bar between them.
pub fn slice_fits(shape: &TorusShape, (width, height): (u16, u16)) -> bool {
    let (columns, rows) = shape.size();
    columns * 2 <= usize::from(width) && rows + usize::from(FRAME_ROWS) <= usize::from(height)
}

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, shape: &TorusShape) {
    let drawn = &state.screens.map.drawn;
    let Some(structure) = &drawn.structure else { return };
    let cursor = drawn.slice;
    let count = shape.slice_count();
    let dims: Vec<String> = shape.dims.iter().map(usize::to_string).collect();
    let title = match count {
        1 => format!("{} switches", dims.join(" x ")),
        _ => format!(
            "{} switches   slice {} of {count}, at {}   ( ) other slices",
            dims.join(" x "),
            cursor.slice + 1,
            shape.slice_name(cursor.slice)
        ),
    };
    canvas.draw_text(area, 1, 0, &title, Role::Label);
    let (columns, rows) = shape.size();
    let pitch = (area.width.saturating_sub(1) / columns.max(1) as u16).clamp(2, PITCH_MAX);
    let high = if rows * 2 + usize::from(FRAME_ROWS) <= usize::from(area.height) { 2 } else { 1 };
    let slice = DrawnSlice { structure, shape, pitch, high };
    for y in 0..rows {
        for x in 0..columns {
            draw_cell(canvas, area, state, &slice, (x, y));
        }
    }
    let below = 2 + rows as u16 * high;
    if count > 1 {
        draw_thumbnails(canvas, area, below, state, structure, shape);
    }
    draw_legend_at(canvas, area, state);
}

/// A slice with the distances between its cells.
struct DrawnSlice<'s> {
    structure: &'s MapStructure,
    shape: &'s TorusShape,
    pitch: u16,
    high: u16,
}

fn draw_cell(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    drawn_slice: &DrawnSlice<'_>,
    at: (usize, usize),
) {
    let DrawnSlice { structure, shape, pitch, high } = *drawn_slice;
    let drawn = &state.screens.map.drawn;
    let (slice, quantity) = (drawn.slice.slice, drawn.quantity);
    let Some(switch) = shape.switch(slice, at).and_then(|at| structure.switches.get(at)) else { return };
    let (x, y) = (1 + at.0 as u16 * pitch, 1 + at.1 as u16 * high);
    let figures = drawn.figures.node(switch.id);
    let failed = state.known.is_failed(ElementId::Node(switch.id));
    let (sign, role) =
        if failed { (canvas.signs.map[3], Role::Marked) } else { bar_of(canvas, Some(figures), quantity) };
    let wide = if pitch > CELL_WIDTH { CELL_WIDTH } else { 1 };
    let number = figures.short_text(quantity).filter(|_| wide > 1 && figures.step(quantity) != Some(0));
    let text = format!("{sign}{}", number.map(|number| format!(" {number}")).unwrap_or_default());
    let cell = Rect { x: area.x + x, width: wide.min(area.width.saturating_sub(x)), ..area };
    canvas.add_row_target(cell, y, ClickTarget::Switch(switch.id.0));
    if drawn.slice.at == at {
        // Brackets mark the cursor on terminals without colours.
        let text = if wide > 1 { format!("[{text}]") } else { text.clone() };
        canvas.draw_text(area, x - u16::from(wide > 1), y, &text, Role::Cursor);
    } else {
        canvas.draw_text(area, x, y, &text, role);
    }
    let [right, down] = shape.cables(slice, at);
    let worst = |cables: &[usize]| worst_cable(state, structure, cables, quantity);
    if let Some((dashed, role)) = worst(right) {
        let from = x + if wide > 1 { width(&text) + 1 } else { 1 };
        let bar = canvas.signs.gauge[usize::from(dashed)]
            .repeat(usize::from((x + pitch).saturating_sub(from + 1).max(1)));
        canvas.draw_text(area, from, y, &bar, role);
    }
    if let Some((_, role)) = worst(down).filter(|_| high > 1) {
        canvas.draw_text(area, x, y + 1, canvas.signs.beside, role);
    }
}

/// The role of the worst cable between two cells, and whether it is marked or down; `None` without a cable.
fn worst_cable(
    state: &SessionState,
    structure: &MapStructure,
    cables: &[usize],
    quantity: MapQuantity,
) -> Option<(bool, Role)> {
    let look = state.snapshot()?;
    let mut worst: Option<MapFigures> = None;
    for cable in cables.iter().filter_map(|at| structure.cables.get(*at)) {
        if state.known.is_failed(ElementId::Link(cable.link)) {
            return Some((true, Role::Marked));
        }
        if look.is_down(cable.link) {
            return Some((true, Role::LinkDown));
        }
        let figures = state.screens.map.drawn.figures.link(cable.link);
        worst = match worst {
            Some(before) if before.score(quantity) >= figures.score(quantity) => Some(before),
            _ => Some(figures),
        };
    }
    worst.map(|figures| match figures.step(quantity) {
        Some(step) => (false, step_role(quantity, step)),
        None => (true, Role::Border),
    })
}

/// Draws the other slices, a sign for each switch, and how many have no room.
fn draw_thumbnails(
    canvas: &mut Canvas<'_>,
    area: Rect,
    y: u16,
    state: &SessionState,
    structure: &MapStructure,
    shape: &TorusShape,
) {
    let drawn = &state.screens.map.drawn;
    let (columns, rows) = shape.size();
    let last = area.height.saturating_sub(1);
    if y + 1 + rows as u16 > last {
        return;
    }
    let wide = columns as u16 + 2;
    let fit = usize::from((area.width.saturating_sub(1) / wide).max(1)).min(shape.slice_count());
    // The slices around the chosen one are shown.
    let first = drawn.slice.slice.saturating_sub(fit / 2).min(shape.slice_count() - fit);
    for (column, slice) in (first..first + fit).enumerate() {
        let x = 1 + column as u16 * wide;
        let role = if slice == drawn.slice.slice { Role::Strong } else { Role::Dim };
        canvas.draw_text(area, x, y, &shape.slice_name(slice), role);
        let thumbnail = Rect { x: area.x + x, y: area.y + y, width: columns as u16, height: 1 + rows as u16 };
        canvas.add_target(thumbnail.intersection(area), ClickTarget::Slice(slice));
        for at in (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row))) {
            let Some(switch) = shape.switch(slice, at).and_then(|at| structure.switches.get(at)) else {
                continue;
            };
            let (sign, role) = bar_of(canvas, Some(drawn.figures.node(switch.id)), drawn.quantity);
            canvas.draw_text(area, x + at.0 as u16, y + 1 + at.1 as u16, sign, role);
        }
    }
    if fit < shape.slice_count() {
        let text = format!("{fit} of {} slices", shape.slice_count());
        canvas.draw_right_aligned(area, 1 + fit as u16 * wide, y, &text, Role::Dim);
    }
}
