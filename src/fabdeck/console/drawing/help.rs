//! Draws the help over the screen.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::overlay_pane::draw_overlay_pane;
use super::theme::Role;
use crate::console::event_loop::help::{HelpLine, help_column, help_rows};
use crate::console::model::overlay::Help;
use crate::console::model::state::SessionState;

pub fn draw(canvas: &mut Canvas<'_>, state: &SessionState, help: &Help) {
    let mut title = format!("Keys of {}", state.screen.title().title);
    if !help.search.is_empty() {
        title.push_str(&format!(" /{}", help.search));
    }
    let lines = help_rows(state, &help.search);
    let (body, top) = draw_overlay_pane(canvas, state, &title, help.scroll.top, lines.len());
    let column = help_column(state);
    for (y, line) in (0..body.height).zip(lines.iter().skip(top)) {
        match line {
            HelpLine::Heading(text) => {
                canvas.draw_text(body, 1, y, text, Role::Heading);
            }
            HelpLine::Entry(key, words) => {
                let keys = Rect { width: body.width.min(column - 1), ..body };
                canvas.draw_name(keys, 2, y, key, Role::Key);
                canvas.draw_text(body, column, y, words, Role::Text);
            }
        }
    }
    if lines.is_empty() {
        canvas.draw_text(body, 2, 0, "no match for this search", Role::Dim);
    }
}
