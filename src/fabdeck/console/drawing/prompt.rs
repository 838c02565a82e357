//! Draws the line that is being typed, and its completions.

use ratatui::layout::Rect;

use super::canvas::{Canvas, width};
use super::theme::Role;
use crate::console::model::prompt::{Completion, Prompt, Purpose};
use crate::console::model::state::SessionState;

/// Number of completions that are shown.
const MAX_SHOWN: usize = 8;
/// Least width of their first column.
const FIRST_COLUMN_MIN_WIDTH: u16 = 23;

pub fn draw(canvas: &mut Canvas<'_>, at: Rect, state: &SessionState, prompt: &Prompt) {
    let sign = match prompt.purpose {
        Purpose::Filter | Purpose::Search => "/".to_owned(),
        purpose => format!("{}: ", purpose.title()),
    };
    let x = canvas.draw_text(at, 0, 0, &sign, Role::Prompt);
    // A line that is longer than the screen shows its end.
    let before: String = prompt.text.chars().take(prompt.cursor).collect();
    let room = at.width.saturating_sub(x + 1);
    let mut skip = 0;
    while width(&before.chars().skip(skip).collect::<String>()) > room && skip < prompt.cursor {
        skip += 1;
    }
    let shown: String = prompt.text.chars().skip(skip).collect();
    canvas.draw_text(at, x, 0, &shown, Role::Text);
    let cursor = x + width(&before.chars().skip(skip).collect::<String>());
    let under: String = prompt.text.chars().skip(prompt.cursor).take(1).collect();
    let style = ratatui::style::Style::new().add_modifier(ratatui::style::Modifier::REVERSED);
    canvas.draw_styled(at, cursor, 0, if under.is_empty() { " " } else { &under }, style);
    if prompt.can_recall() {
        canvas.draw_text(at, cursor + 2, 0, &format!("{} stays", prompt.before), Role::Dim);
    }
    let table = state.current().table();
    if let (Purpose::Filter, Some(problem)) = (prompt.purpose, &table.problem) {
        canvas.draw_text(at, cursor + 3, 0, problem, Role::Danger);
    }
    draw_completions(canvas, at, prompt);
}

fn draw_completions(canvas: &mut Canvas<'_>, at: Rect, prompt: &Prompt) {
    let room = usize::from(at.y).min(MAX_SHOWN);
    let picked = prompt.picked.unwrap_or(0);
    let top = picked.saturating_sub(room.saturating_sub(1));
    let shown = || prompt.offers.iter().skip(top).take(room);
    let words = |offer: &Completion| match offer.argument {
        "" => offer.text.clone(),
        argument => format!("{} {argument}", offer.text),
    };
    let column = shown()
        .map(|offer| width(&words(offer)))
        .max()
        .unwrap_or(0)
        .clamp(FIRST_COLUMN_MIN_WIDTH, at.width / 2 + FIRST_COLUMN_MIN_WIDTH)
        + 2;
    let rows = shown().count() as u16;
    let over = Rect { y: at.y - rows, height: rows, ..at };
    canvas.clear(over);
    for (y, offer) in (0..rows).zip(shown()) {
        let here = prompt.picked == Some(top + usize::from(y));
        if here {
            canvas.fill_row(over, y, Role::Cursor);
        }
        let (key, text) = match (here, offer.blocked) {
            (true, _) => (Role::Cursor, Role::Cursor),
            (false, true) => (Role::Dim, Role::Dim),
            (false, false) => (Role::Key, Role::Text),
        };
        canvas.draw_text(over, 1, y, &words(offer), key);
        canvas.draw_text(over, column, y, &offer.about, text);
    }
}
