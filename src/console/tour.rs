//! The tour, a page at a time.

use ratatui::layout::Rect;

use super::area::area;
use super::canvas::Canvas;
use super::theme::Role;
use crate::session::interactive::{State, TOUR};
use crate::session::wrap;

pub fn draw(canvas: &mut Canvas<'_>, state: &State, page: usize) {
    let at = Rect { width: state.size.width, ..area(state.areas().body) };
    canvas.clear(at);
    let Some((title, text)) = TOUR.get(page) else { return };
    canvas.text(at, 2, 1, &format!("{} of {}: {title}", page + 1, TOUR.len()), Role::Header);
    for (y, line) in (3..at.height).zip(wrap(text, at.width.saturating_sub(4).min(72).into())) {
        canvas.text(at, 2, y, &line, Role::Text);
    }
}
