//! Draws a page of the tour.

use super::canvas::Canvas;
use super::overlay_pane::draw_overlay_pane;
use super::theme::Role;
use crate::console::event_loop::overlays::tour_rows;
use crate::console::model::overlay::TOUR;
use crate::console::model::scroll::Scroll;
use crate::console::model::state::SessionState;

pub fn draw(canvas: &mut Canvas<'_>, state: &SessionState, page: usize, scroll: Scroll) {
    let Some((title, _)) = TOUR.get(page) else { return };
    let rows = tour_rows(state, page);
    let title = format!("{} of {}: {title}", page + 1, TOUR.len());
    let (at, top) = draw_overlay_pane(canvas, state, &title, scroll.top, rows.len());
    for (y, line) in (0..at.height).zip(rows.iter().skip(top)) {
        canvas.draw_text(at, 2, y, line, Role::Text);
    }
}
