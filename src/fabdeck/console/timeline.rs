//! The head of the Timeline: the clock, the time bar with events above it, and the position below.
//!
//! ```text
//! 2026-11-22 02:13:40.000  moment 5 of 31  stands, speed 1x
//!          !          +     n
//! ━━━━━━━━━━━━━━━━━━━━━······━━━━━━╳╳━━━━━━━━━
//! 02:13:35     ▲                        02:14:05
//! link down: leaf1[3] to spine2[1]
//! 3 events, 1 gap
//! ```

use ratatui::layout::Rect;

use super::canvas::{Canvas, width};
use super::theme::Role;
use crate::session::interactive::{
    EventKind, Playback, State, TimeMark, bar, clock_words, held_words, here_words, standing_words,
};
use crate::session::wrap;

pub fn head(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let Some(playback) = &state.known.playback else { return };
    if area.height == 0 {
        return;
    }
    let x = canvas.text(area, 1, 0, &clock_words(playback), Role::Header);
    let role = if playback.plays() { Role::Good } else { Role::Text };
    canvas.text(area, x + 2, 0, &standing_words(playback), role);
    let inner = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let (columns, pointer) = bar(playback, inner.width.into());
    for (x, (mark, kind)) in (0..inner.width).zip(columns) {
        if let Some(kind) = kind {
            let (sign, role) = event(canvas, kind);
            canvas.text(inner, x, 1, sign, role);
        }
        let signs = canvas.signs.time;
        let (sign, role) = match mark {
            TimeMark::Recorded => (signs[0], Role::Border),
            TimeMark::Gap => (signs[1], Role::Dim),
            TimeMark::Damaged => (signs[2], Role::Danger),
        };
        canvas.text(inner, x, 2, sign, role);
    }
    ends(canvas, inner, playback, u16::try_from(pointer).unwrap_or(0));
    let (words, trouble) = here_words(&state.known);
    canvas.text(inner, 0, 4, &words, if trouble { Role::Warning } else { Role::Text });
    canvas.text(inner, 0, 5, &held_words(playback), Role::Dim);
}

/// Draws the whole text of the event under the cursor, which the list may cut.
pub fn below(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let Some(row) = state.screens.timeline.event() else { return };
    let lines = wrap(&format!("{}: {}", row.label, row.text), area.width.saturating_sub(2).into());
    let more = lines.len() > usize::from(area.height);
    for (y, line) in (0..area.height).zip(&lines) {
        canvas.text(area, 1, y, line, Role::Text);
    }
    if more && area.height > 0 {
        let words = format!("{} d shows all", canvas.signs.more);
        canvas.right(area, width(&words) + 1, area.height - 1, &words, Role::Dim);
    }
}

/// Character of an event; each kind has its own.
fn event(canvas: &Canvas<'_>, kind: EventKind) -> (&'static str, Role) {
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
fn ends(canvas: &mut Canvas<'_>, area: Rect, playback: &Playback, pointer: u16) {
    let timeline = playback.timeline();
    let (Some(first), Some(last)) = (timeline.times.first(), timeline.times.last()) else { return };
    let (first, last) = (timeline.clock(*first), timeline.clock(*last));
    // A time moves aside for the pointer.
    let (wide, behind) = (width(&first), width(&last));
    let x = if pointer < wide { pointer + 2 } else { 0 };
    canvas.text(area, x, 3, &first, Role::Dim);
    let end = area.width.saturating_sub(behind);
    let end = if pointer >= end { pointer.saturating_sub(behind + 1) } else { end };
    if end > x + wide + 1 {
        canvas.text(area, end, 3, &last, Role::Dim);
    }
    canvas.text(area, pointer, 3, canvas.signs.time[3], Role::Cursor);
}
