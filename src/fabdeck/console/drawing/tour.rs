//! Draws a page of the tour.

use ratatui::layout::Rect;

use super::buffer_area::buffer_area;
use super::canvas::Canvas;
use super::theme::Role;
use crate::console::event_loop::overlays::tour_rows;
use crate::console::model::overlay::TOUR;
use crate::console::model::scroll::Scroll;
use crate::console::model::state::SessionState;

pub fn draw(canvas: &mut Canvas<'_>, state: &SessionState, page: usize, scroll: Scroll) {
    let at = Rect { width: state.size.width, ..buffer_area(state.areas().body) };
    canvas.clear(at);
    let Some((title, _)) = TOUR.get(page) else { return };
    let rows = tour_rows(state, page);
    let height = usize::from(at.height.saturating_sub(1));
    let top = scroll.top.min(rows.len().saturating_sub(height));
    let x = canvas.draw_text(at, 2, 0, &format!("{} of {}: {title}", page + 1, TOUR.len()), Role::Header);
    canvas.draw_extent(at, x, top, height, rows.len());
    for (y, line) in (1..at.height).zip(rows.iter().skip(top)) {
        canvas.draw_text(at, 2, y, line, Role::Text);
    }
}
