//! Draws a dialog before something is written to the fabric: its subject and two buttons. The button with the focus
//! has a sign besides its colour.

use ratatui::layout::Rect;

use super::area::area;
use super::canvas::{Canvas, width};
use super::theme::Role;
use crate::session::counted;
use crate::session::interactive::{BOX, Dialogue, DialogueRow, State, Stop, dialogue_height, dialogue_room};

pub fn draw(canvas: &mut Canvas<'_>, state: &State, dialogue: &Dialogue) {
    let at = Rect { width: state.size.width, ..area(state.areas().body) };
    canvas.clear(at);
    // If there is room for only one row, the buttons get it.
    if at.height > 1 {
        let seen = &state.known.changes;
        let x = canvas.name(at, 2, 0, &dialogue.title(seen), Role::Header);
        let rows = dialogue.rows(seen, dialogue_room(state));
        let height = dialogue_height(state).min(usize::from(at.height - 2));
        let top = dialogue.scroll.top.min(rows.len().saturating_sub(height));
        canvas.extent(at, x, top, height, rows.len());
        let inner = Rect {
            x: at.x + 2.min(at.width),
            y: at.y + 1,
            width: at.width.saturating_sub(4),
            height: height as u16,
        };
        said(canvas, inner, dialogue, &rows, top);
    }
    buttons(canvas, Rect { y: at.y + at.height.saturating_sub(1), height: at.height.min(1), ..at }, dialogue);
}

fn said(canvas: &mut Canvas<'_>, at: Rect, dialogue: &Dialogue, rows: &[DialogueRow], top: usize) {
    let labels = rows.iter().filter_map(|row| match row {
        DialogueRow::Pair(label, _) => Some(width(label)),
        DialogueRow::Finding { .. } => None,
    });
    let label = labels.max().unwrap_or(0).min(at.width / 2);
    for (y, row) in (0..at.height).zip(rows.iter().skip(top)) {
        match row {
            DialogueRow::Pair(name, text) => {
                canvas.text(Rect { width: label, ..at }, 0, y, name, Role::Label);
                canvas.text(at, label + 2, y, text, Role::Text);
            }
            DialogueRow::Finding { at: which, taken, first, text } => {
                let here = dialogue.focus() == Stop::Finding(*which);
                let role = if here { Role::Cursor } else { Role::Warning };
                if *first {
                    canvas.text(at, 0, y, if *taken { "[x]" } else { "[ ]" }, role);
                }
                canvas.text(at, BOX as u16, y, text, role);
            }
        }
    }
}

fn buttons(canvas: &mut Canvas<'_>, at: Rect, dialogue: &Dialogue) {
    let mut x = 1;
    for (word, stop) in dialogue.buttons().into_iter().zip([Stop::Stay, Stop::Act]) {
        let here = dialogue.focus() == stop;
        let blocked = stop == Stop::Act && dialogue.untaken() > 0;
        let role = match (here, blocked) {
            (true, _) => Role::Cursor,
            (false, true) => Role::Dim,
            (false, false) => Role::Key,
        };
        canvas.text(at, x, 0, if here { canvas.signs.cursor } else { "" }, Role::Key);
        x = canvas.text(at, x + 1, 0, &format!("[ {word} ]"), role) + 1;
    }
    if dialogue.untaken() > 0 {
        let left = counted(dialogue.untaken(), "finding is", "findings are");
        canvas.text(at, x + 1, 0, &format!("{left} not taken in"), Role::Warning);
    }
}
