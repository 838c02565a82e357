//! The pane of an overlay: it covers the whole screen but for header, tabs and keys.

use ratatui::layout::Rect;

use super::buffer_area::buffer_area;
use super::canvas::{Canvas, truncate_text, width};
use super::pane::{PaneHead, draw_pane};
use super::theme::Role;
use crate::console::model::state::SessionState;

/// Draws the pane of an overlay with this number of rows. Returns its inside and the first visible row.
pub fn draw_overlay_pane(
    canvas: &mut Canvas<'_>,
    state: &SessionState,
    title: &str,
    top: usize,
    rows: usize,
) -> (Rect, usize) {
    let areas = state.areas();
    let middle = buffer_area(areas.middle);
    canvas.clear(middle);
    let height = usize::from(areas.overlay.height);
    let top = top.min(rows.saturating_sub(height));
    // The signs that there is more matter more than the end of a title.
    let title = truncate_text(title, middle.width.saturating_sub(BORDER_MARGIN), canvas.signs.more);
    let extent = extent_text(canvas, top, height, rows, middle.width.saturating_sub(width(&title)));
    let right = [(extent.as_str(), Role::Key)];
    let right = if extent.is_empty() { &[][..] } else { &right[..] };
    let inside = draw_pane(canvas, middle, &PaneHead { title: &title, right, focused: true }, areas.boxed);
    (inside, top)
}

/// Columns of a border besides title and extent: corners, blanks, the sign of the focus.
const BORDER_MARGIN: u16 = 11;

/// Which rows are visible, and that there are more; empty if all are. Beside a long title only signs remain. `room` is
/// the width of the pane without its title.
pub fn extent_text(canvas: &Canvas<'_>, top: usize, height: usize, rows: usize, room: u16) -> String {
    if rows <= height {
        return String::new();
    }
    let last = (top + height).min(rows);
    let above = if top > 0 { canvas.signs.up } else { "" };
    let below = if last < rows { canvas.signs.down } else { "" };
    let long = format!("{}-{last} of {rows} {above}{below}", top + 1);
    if width(&long) + BORDER_MARGIN <= room { long } else { format!("{above}{below}") }
}
