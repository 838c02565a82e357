//! Draws the log of messages.

use ratatui::layout::Rect;

use super::area::area;
use super::canvas::Canvas;
use super::theme::Role;
use crate::session::interactive::{LOG_MARGIN, Message, Scroll, State};
use crate::session::{counted, wrap};

pub fn draw(canvas: &mut Canvas<'_>, state: &State, scroll: Scroll) {
    let at = Rect { width: state.size.width, ..area(state.areas().body) };
    canvas.clear(at);
    let x = canvas.text(at, 1, 0, "Messages, newest last", Role::Header);
    if state.messages.is_empty() {
        canvas.text(at, 1, 1, "nothing was said yet", Role::Dim);
    }
    // The session keeps few messages, so wrapping all of them is cheap.
    let rows: Vec<_> = older(state)
        .into_iter()
        .chain(state.messages.iter().flat_map(|message| wrapped(message, at.width)))
        .collect();
    let height = usize::from(at.height.saturating_sub(1));
    let top = scroll.top.min(rows.len().saturating_sub(height));
    canvas.extent(at, x, top, height, rows.len());
    for (y, (time, text, role)) in (1..at.height).zip(rows.into_iter().skip(top)) {
        canvas.text(at, 1, y, &time, Role::Dim);
        canvas.text(at, LOG_MARGIN, y, &text, role);
    }
}

/// The row about older messages that are no longer kept.
fn older(state: &State) -> Option<(String, String, Role)> {
    let count = usize::try_from(state.messages.older()).unwrap_or(usize::MAX);
    let older = counted(count, "older message", "older messages");
    let said = format!("{older} went into the log file only; fabdeck -v says where it is");
    (count > 0).then_some((String::new(), said, Role::Dim))
}

/// Wraps a message into rows; the first has its time.
fn wrapped(message: &Message, width: u16) -> impl Iterator<Item = (String, String, Role)> {
    let role = Role::of(message.severity);
    let lines = wrap(&message.line(), width.saturating_sub(LOG_MARGIN + 1).into()).into_iter().enumerate();
    let seconds = message.at_ms / 1000;
    lines.map(move |(at, line)| (if at == 0 { format!("{seconds:>6} s") } else { String::new() }, line, role))
}
