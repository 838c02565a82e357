//! Draws the step of the tour below the screen.

use super::tour_steps::TOUR_STEPS;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::pane::{PaneHead, draw_pane};
use crate::console::drawing::theme::Role;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;

/// Most columns of a line, so that it is read easily.
const MAX_LINE: u16 = 110;

pub fn draw(canvas: &mut Canvas<'_>, state: &SessionState) {
    let areas = state.areas();
    let Some((step, shown)) = state.tour.step.and_then(|step| Some((step, TOUR_STEPS.get(step)?))) else {
        return;
    };
    let title = format!("Tour {} of {}: {}", step + 1, TOUR_STEPS.len(), shown.title);
    let keys: Vec<String> = [("next-step", "go on"), ("previous-step", "back")]
        .into_iter()
        .filter_map(|(id, word)| {
            Some(format!("{} {word}", state.keymap.find_action(id)?.first_key(&state.keymap)?))
        })
        .chain([":tour end".to_owned()])
        .collect();
    let keys = keys.join("  ");
    let right = [(keys.as_str(), Role::Dim)];
    let head = PaneHead { title: &title, right: &right, focused: false };
    let at = draw_pane(canvas, buffer_area(areas.tour), &head, areas.boxed);
    let room = at.width.saturating_sub(2).min(MAX_LINE);
    let lines = wrap_text(&shown.words(&state.keymap), room.into());
    let cut = (lines.len() > at.height.into()).then(|| at.height.saturating_sub(1));
    for (y, line) in (0..at.height).zip(lines) {
        let more = if cut == Some(y) { canvas.signs.more } else { "" };
        canvas.draw_text(at, 1, y, &format!("{line}{more}"), Role::Text);
    }
}
