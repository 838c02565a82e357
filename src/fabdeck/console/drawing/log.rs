//! Draws the log of messages.

use super::canvas::Canvas;
use super::overlay_pane::draw_overlay_pane;
use super::theme::Role;
use crate::catalogue::summary::count_words;
use crate::console::event_loop::overlays::LOG_MARGIN;
use crate::console::model::messages::LogMessage;
use crate::console::model::scroll::Scroll;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::watch::history_clock::HistoryClock;

pub fn draw(canvas: &mut Canvas<'_>, state: &SessionState, scroll: Scroll) {
    let width = state.areas().overlay.width;
    // The session stores few messages, so wrapping all of them is cheap.
    let rows: Vec<_> = dropped_messages_row(state)
        .into_iter()
        .chain(state.messages.iter().flat_map(|message| wrap_message(message, width, state.known.clock)))
        .collect();
    let (at, top) = draw_overlay_pane(canvas, state, "Messages, newest last", scroll.top, rows.len());
    if state.messages.is_empty() {
        canvas.draw_text(at, 1, 0, "no messages yet", Role::Dim);
    }
    for (y, (time, text, role)) in (0..at.height).zip(rows.into_iter().skip(top)) {
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

/// Wraps a message into rows; the first has its time: what a clock showed, or else the age of the session.
fn wrap_message(
    message: &LogMessage,
    width: u16,
    clock: Option<HistoryClock>,
) -> impl Iterator<Item = (String, String, Role)> {
    let role = Role::from_severity(message.severity);
    let lines =
        wrap_text(&message.line(), width.saturating_sub(LOG_MARGIN + 1).into()).into_iter().enumerate();
    let by_clock = clock.and_then(|clock| clock.clock_text(i64::try_from(message.at_ms).ok()?));
    let time = by_clock.unwrap_or_else(|| format!("{:>6} s", message.at_ms / 1000));
    lines.map(move |(at, line)| (if at == 0 { time.clone() } else { String::new() }, line, role))
}
