//! Draws the log of messages.

use ratatui::layout::Rect;

use super::buffer_area::buffer_area;
use super::canvas::Canvas;
use super::theme::Role;
use crate::catalogue::summary::count_words;
use crate::console::event_loop::overlays::LOG_MARGIN;
use crate::console::model::messages::LogMessage;
use crate::console::model::scroll::Scroll;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;

pub fn draw(canvas: &mut Canvas<'_>, state: &SessionState, scroll: Scroll) {
    let at = Rect { width: state.size.width, ..buffer_area(state.areas().body) };
    canvas.clear(at);
    let x = canvas.draw_text(at, 1, 0, "Messages, newest last", Role::Header);
    if state.messages.is_empty() {
        canvas.draw_text(at, 1, 1, "no messages yet", Role::Dim);
    }
    // The session stores few messages, so wrapping all of them is cheap.
    let rows: Vec<_> = dropped_messages_row(state)
        .into_iter()
        .chain(state.messages.iter().flat_map(|message| wrap_message(message, at.width)))
        .collect();
    let height = usize::from(at.height.saturating_sub(1));
    let top = scroll.top.min(rows.len().saturating_sub(height));
    canvas.draw_extent(at, x, top, height, rows.len());
    for (y, (time, text, role)) in (1..at.height).zip(rows.into_iter().skip(top)) {
        canvas.draw_text(at, 1, y, &time, Role::Dim);
        canvas.draw_text(at, LOG_MARGIN, y, &text, role);
    }
}

/// The row about older messages that are no longer stored.
fn dropped_messages_row(state: &SessionState) -> Option<(String, String, Role)> {
    let count = usize::try_from(state.messages.dropped_count()).unwrap_or(usize::MAX);
    let older = count_words(count, "older message", "older messages");
    let text = format!("{older} are in the log file only; fabdeck -v prints its folder");
    (count > 0).then_some((String::new(), text, Role::Dim))
}

/// Wraps a message into rows; the first has its time.
fn wrap_message(message: &LogMessage, width: u16) -> impl Iterator<Item = (String, String, Role)> {
    let role = Role::from_severity(message.severity);
    let lines =
        wrap_text(&message.line(), width.saturating_sub(LOG_MARGIN + 1).into()).into_iter().enumerate();
    let seconds = message.at_ms / 1000;
    lines.map(move |(at, line)| (if at == 0 { format!("{seconds:>6} s") } else { String::new() }, line, role))
}
