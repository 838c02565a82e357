//! Lanes: the migrations and the state of the tables, above the list.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::theme::Role;
use crate::session::interactive::{Severity, State, lanes_head};

pub fn head(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    for (y, (severity, words)) in (0..area.height).zip(lanes_head(&state.known)) {
        let role = match severity {
            Severity::Said => Role::Good,
            Severity::Warning | Severity::Error => Role::Warning,
        };
        canvas.text(area, 1, y, &words, role);
    }
}
