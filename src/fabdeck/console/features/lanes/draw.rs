//! Lanes: the migrations and the state of the tables, above the list.

use ratatui::layout::Rect;

use super::lane_lines::lanes_head;
use crate::catalogue::severity::Severity;
use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::theme::Role;
use crate::console::model::state::SessionState;

pub fn draw_head(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    for (y, (severity, words)) in (0..area.height).zip(lanes_head(&state.known)) {
        let role = match severity {
            Severity::Info => Role::Good,
            Severity::Warning | Severity::Error => Role::Warning,
        };
        canvas.draw_text(area, 1, y, &words, role);
    }
}
