//! The head of the Timeline: the clock, the time bar with events above it, and the position below.
//!
//! ```text
//! 2026-11-22 02:13:40.000  moment 5 of 31  paused, speed 1x
//!          !          +     n
//! ━━━━━━━━━━━━━━━━━━━━━······━━━━━━╳╳━━━━━━━━━
//! 02:13:35     ▲                        02:14:05
//! link down: leaf1[3] to spine2[1]
//! 3 events, 1 gap
//! ```

use ratatui::layout::Rect;

use super::event_rows::EventKind;
use super::playback::Playback;
use super::position_text::{TimeMark, clock_words, moment_words, position_words, recording_words, time_bar};
use crate::console::drawing::canvas::{Canvas, width};
use crate::console::drawing::theme::Role;
use crate::console::drawing::{details, list};
use crate::console::features::feature::BodyAreas;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;

pub fn draw(canvas: &mut Canvas<'_>, areas: &BodyAreas, state: &SessionState) {
    let rest = areas.rest;
    let text = state.current().rows_below(&state.known, state.size).min(rest.height);
    let (list, text) = (rest.height - text, Rect { y: rest.y + rest.height - text, height: text, ..rest });
    draw_head(canvas, areas.head, state);
    list::draw(canvas, Rect { height: list, ..rest }, state);
    draw_event_text(canvas, text, state);
    details::draw(canvas, areas.details, state);
}

fn draw_head(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let Some(playback) = &state.known.playback else { return };
    if area.height == 0 {
        return;
    }
    let x = canvas.draw_text(area, 1, 0, &clock_words(playback), Role::Header);
    let role = if playback.is_playing() { Role::Good } else { Role::Text };
    canvas.draw_text(area, x + 2, 0, &position_words(playback), role);
    let inner = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let (columns, pointer) = time_bar(playback, inner.width.into());
    for (x, (mark, kind)) in (0..inner.width).zip(columns) {
        if let Some(kind) = kind {
            let (sign, role) = event_symbol(canvas, kind);
            canvas.draw_text(inner, x, 1, sign, role);
        }
        let signs = canvas.signs.time;
        let (sign, role) = match mark {
            TimeMark::Recorded => (signs[0], Role::Border),
            TimeMark::Gap => (signs[1], Role::Dim),
            TimeMark::Damaged => (signs[2], Role::Danger),
        };
        canvas.draw_text(inner, x, 2, sign, role);
    }
    draw_ends(canvas, inner, playback, u16::try_from(pointer).unwrap_or(0));
    let (words, trouble) = moment_words(&state.known);
    canvas.draw_text(inner, 0, 4, &words, if trouble { Role::Warning } else { Role::Text });
    canvas.draw_text(inner, 0, 5, &recording_words(playback), Role::Dim);
}

/// Draws the whole text of the event under the cursor, which the list may cut.
fn draw_event_text(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let Some(row) = state.screens.timeline.event() else { return };
    let lines = wrap_text(&format!("{}: {}", row.label, row.text), area.width.saturating_sub(2).into());
    let more = lines.len() > usize::from(area.height);
    for (y, line) in (0..area.height).zip(&lines) {
        canvas.draw_text(area, 1, y, line, Role::Text);
    }
    if more && area.height > 0 {
        let words = format!("{} d shows all", canvas.signs.more);
        canvas.draw_right_aligned(area, width(&words) + 1, area.height - 1, &words, Role::Dim);
    }
}

/// Character of an event; each kind has its own.
fn event_symbol(canvas: &Canvas<'_>, kind: EventKind) -> (&'static str, Role) {
    match kind {
        EventKind::Trouble => ("!", Role::Danger),
        EventKind::Damage => (canvas.signs.time[2], Role::Danger),
        EventKind::Gap => (canvas.signs.time[1], Role::Dim),
        EventKind::Clock => ("<", Role::Warning),
        EventKind::Better => ("+", Role::Good),
        EventKind::Changed => ("~", Role::Warning),
        EventKind::Began => ("^", Role::Warning),
        EventKind::Over => ("v", Role::Good),
        EventKind::Action => ("a", Role::Text),
        EventKind::Note => ("n", Role::Text),
        EventKind::Bookmark => ("m", Role::Key),
    }
}

/// Draws the times at both ends and the pointer between them.
fn draw_ends(canvas: &mut Canvas<'_>, area: Rect, playback: &Playback, pointer: u16) {
    let timeline = playback.timeline();
    let (Some(first), Some(last)) = (timeline.times.first(), timeline.times.last()) else { return };
    let (first, last) = (timeline.clock_text(*first), timeline.clock_text(*last));
    // A time moves aside for the pointer.
    let (wide, behind) = (width(&first), width(&last));
    let x = if pointer < wide { pointer + 2 } else { 0 };
    canvas.draw_text(area, x, 3, &first, Role::Dim);
    let end = area.width.saturating_sub(behind);
    let end = if pointer >= end { pointer.saturating_sub(behind + 1) } else { end };
    if end > x + wide + 1 {
        canvas.draw_text(area, end, 3, &last, Role::Dim);
    }
    canvas.draw_text(area, pointer, 3, canvas.signs.time[3], Role::Cursor);
}
