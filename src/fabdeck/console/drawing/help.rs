//! Draws the help over the screen.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::overlay_pane::draw_overlay_pane;
use super::theme::Role;
use crate::console::event_loop::help::{HelpColumns, HelpLine, help_column};
use crate::console::model::overlay::Help;
use crate::console::model::state::SessionState;

pub fn draw(canvas: &mut Canvas<'_>, state: &SessionState, help: &Help) {
    let mut title = format!("Keys of {}", state.screen.title().title);
    if !help.search.is_empty() {
        title.push_str(&format!(" /{}", help.search));
    }
    let scrolled = help.scroll.top;
    let help = HelpColumns::new(state, &help.search);
    let rows = help.row_count();
    let (body, top) = draw_overlay_pane(canvas, state, &title, scrolled, rows);
    let wide = body.width / u16::try_from(help.columns.len().max(1)).unwrap_or(1);
    for (at, lines) in (0..).zip(&help.columns) {
        let place = Rect { x: body.x + at * wide, width: wide, ..body };
        draw_column(canvas, place, help_column(state), lines.get(top..).unwrap_or_default());
    }
    if rows == 0 {
        canvas.draw_text(body, 2, 0, "no match for this search", Role::Dim);
    }
}

/// Draws the rows of a column; descriptions begin at `words_from`.
fn draw_column(canvas: &mut Canvas<'_>, body: Rect, words_from: u16, lines: &[HelpLine]) {
    for (y, line) in (0..body.height).zip(lines) {
        match line {
            HelpLine::Heading(text) => {
                canvas.draw_text(body, 1, y, text, Role::Heading);
            }
            HelpLine::Entry(key, words) => {
                let keys = Rect { width: body.width.min(words_from - 1), ..body };
                canvas.draw_name(keys, 2, y, key, Role::Key);
                canvas.draw_text(body, words_from, y, words, Role::Text);
            }
        }
    }
}
