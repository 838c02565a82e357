//! Draws the Timeline: strips over the whole width, the list of events below, details beside it.

use ratatui::layout::Rect;

use super::draw_strips::{draw_strips, head_runs};
use super::moment_compare;
use super::position_text::recording_words;
use super::timeline_panes::TimelinePanes;
use crate::catalogue::summary::count_words;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::{Canvas, width};
use crate::console::drawing::pane::{PaneHead, TextRun, draw_pane};
use crate::console::drawing::theme::Role;
use crate::console::drawing::{details, list};
use crate::console::features::feature::BodyAreas;
use crate::console::features::screen::Screen;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;

/// Columns of the border of a pane besides its title and its figures.
const HEAD_MARGIN: u16 = 20;

pub fn draw(canvas: &mut Canvas<'_>, _: &BodyAreas, state: &SessionState) {
    let panes = TimelinePanes::new(&state.areas());
    let strips = buffer_area(panes.strips);
    let runs = head_runs(state, strips.width.saturating_sub(HEAD_MARGIN));
    let right: Vec<TextRun<'_>> = runs.iter().map(|(text, role)| (text.as_str(), *role)).collect();
    let head = PaneHead { title: state.screen.title().title, right: &right, focused: false };
    let inside = draw_pane(canvas, strips, &head, panes.boxed);
    draw_strips(canvas, inside, &panes, state);
    let (title, place) = match state.screens.timeline.comparison() {
        Some(comparison) => (moment_compare::title(state, comparison), comparison.words()),
        None => ("Events".to_owned(), place_words(state)),
    };
    let right = [(place.as_str(), Role::Dim)];
    let head = PaneHead { title: &title, right: &right, focused: true };
    let inside = draw_pane(canvas, buffer_area(panes.list), &head, panes.boxed);
    list::draw(canvas, inside, state);
    draw_event_text(canvas, buffer_area(panes.text), state);
    if !panes.details.is_empty() {
        details::draw(canvas, buffer_area(panes.details), state);
    }
}

/// The row of the cursor, the number of rows, and what a recording has.
fn place_words(state: &SessionState) -> String {
    let table = state.screens.timeline.table();
    let (rows, all) = (table.selection.rows.len(), table.selection.of);
    let mut parts = Vec::new();
    if all > 0 {
        let here = if rows == 0 { 0 } else { table.cursor + 1 };
        let hidden = if rows < all { format!(", {all} in all") } else { String::new() };
        parts.push(format!("{here} of {rows}{hidden}"));
    }
    match &state.known.playback {
        Some(playback) if !playback.timeline().times.is_empty() => parts.push(recording_words(playback)),
        _ => {
            let dropped = state.known.problems.event_count().saturating_sub(all);
            parts.extend((dropped > 0).then(|| count_words(dropped, "older event", "older events")));
        }
    }
    parts.join("; ")
}

/// Draws the whole text of the event under the cursor, which the list may cut.
fn draw_event_text(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    if let Some(comparison) = state.screens.timeline.comparison() {
        let lines = wrap_text(&comparison.words(), area.width.saturating_sub(2).into());
        for (y, line) in (0..area.height).zip(&lines) {
            canvas.draw_text(area, 1, y, line, Role::Text);
        }
        return;
    }
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
