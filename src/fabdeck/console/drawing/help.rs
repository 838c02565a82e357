//! Draws the help over the screen.

use ratatui::layout::Rect;

use super::buffer_area::buffer_area;
use super::canvas::Canvas;
use super::theme::Role;
use crate::console::event_loop::help::{HelpLine, help_column, help_rows};
use crate::console::model::overlay::Help;
use crate::console::model::state::SessionState;

pub fn draw(canvas: &mut Canvas<'_>, state: &SessionState, help: &Help) {
    let areas = state.areas();
    let at = Rect { width: state.size.width, ..buffer_area(areas.body) };
    canvas.clear(at);
    let title = format!("Keys of {}", state.screen.title().title);
    let mut x = canvas.draw_text(at, 1, 0, &title, Role::Header);
    if !help.search.is_empty() {
        x = canvas.draw_text(at, x + 3, 0, &format!("/{}", help.search), Role::Prompt);
    }
    let lines = help_rows(state, &help.search);
    let body = Rect { y: at.y + 1.min(at.height), height: at.height.saturating_sub(1), ..at };
    let top = help.scroll.top.min(lines.len().saturating_sub(body.height.into()));
    canvas.draw_extent(at, x, top, body.height.into(), lines.len());
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
