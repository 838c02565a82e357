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
    let extent = canvas.extent_text(top, height, rows, extent_room(middle, &title));
    let right = [(extent.as_str(), Role::Key)];
    let head = PaneHead { title: &title, right: &right, focused: true };
    (draw_pane(canvas, middle, &head, areas.boxed), top)
}

/// Columns of a border besides title and extent: corners, blanks, the sign of the focus.
const BORDER_MARGIN: u16 = 11;

/// Room for the extent in the border of a pane, beside its title.
pub fn extent_room(pane: Rect, title: &str) -> u16 {
    pane.width.saturating_sub(width(title) + BORDER_MARGIN)
}
