//! Lanes: the migrations and the state of the tables, above the list.

use ratatui::layout::Rect;

use super::lane_lines::lanes_head;
use crate::catalogue::severity::Severity;
use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::theme::Role;
use crate::console::drawing::{details, list};
use crate::console::features::feature::BodyAreas;
use crate::console::model::state::SessionState;

pub fn draw(canvas: &mut Canvas<'_>, areas: &BodyAreas, state: &SessionState) {
    draw_head(canvas, areas.head, state);
    list::draw(canvas, areas.rest, state);
    details::draw(canvas, areas.details, state);
}

fn draw_head(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    for (y, (severity, words)) in (0..area.height).zip(lanes_head(&state.known)) {
        let role = match severity {
            Severity::Info => Role::Good,
            Severity::Warning | Severity::Error => Role::Warning,
        };
        canvas.draw_text(area, 1, y, &words, role);
    }
}
