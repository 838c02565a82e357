//! Everything that was said.

use ratatui::layout::Rect;

use super::area::area;
use super::canvas::Canvas;
use super::theme::Role;
use crate::session::interactive::{Scroll, Severity, State};

pub fn draw(canvas: &mut Canvas<'_>, state: &State, scroll: Scroll) {
    let at = Rect { width: state.size.width, ..area(state.areas().body) };
    canvas.clear(at);
    canvas.text(at, 1, 0, "Messages, newest last", Role::Header);
    if state.messages.is_empty() {
        canvas.text(at, 1, 1, "nothing was said yet", Role::Dim);
    }
    let height = usize::from(at.height.saturating_sub(1));
    let top = scroll.top.min(state.messages.len().saturating_sub(height));
    for (y, message) in (1..at.height).zip(state.messages.iter().skip(top)) {
        let role = match message.severity {
            Severity::Said => Role::Text,
            Severity::Warning => Role::Warning,
            Severity::Error => Role::Danger,
        };
        let seconds = format!("{:>6} s", message.at_ms / 1000);
        let x = canvas.text(at, 1, y, &seconds, Role::Dim);
        let x = canvas.text(at, x + 1, y, message.severity.word(), role);
        canvas.text(at, x + 1, y, &message.text, role);
    }
}
