//! Draws a dialog before something is written to the fabric: its subject and two buttons. The button with the focus
//! has a sign besides its colour.

use ratatui::layout::Rect;

use super::dialogue::{CHECKBOX_WIDTH, Dialogue, DialogueFocus, DialogueRow};
use super::dialogue_size::{dialogue_height, dialogue_width};
use crate::catalogue::summary::count_words;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::{Canvas, shorten_name, width};
use crate::console::drawing::overlay_pane::extent_room;
use crate::console::drawing::pane::{PaneHead, draw_pane};
use crate::console::drawing::theme::Role;
use crate::console::model::state::SessionState;

pub fn draw(canvas: &mut Canvas<'_>, state: &SessionState, dialogue: &Dialogue) {
    let areas = state.areas();
    let middle = buffer_area(areas.middle);
    canvas.clear(middle);
    let seen = &state.known.changes;
    let rows = dialogue.rows(seen, dialogue_width(state));
    let height = dialogue_height(state).min(usize::from(areas.overlay.height.saturating_sub(1)));
    let top = dialogue.scroll.top.min(rows.len().saturating_sub(height));
    let title = shorten_name(&dialogue.title(seen), middle.width.saturating_sub(6), canvas.signs.more);
    let extent = canvas.extent_text(top, height, rows.len(), extent_room(middle, &title));
    let right = [(extent.as_str(), Role::Key)];
    let head = PaneHead { title: &title, right: &right, focused: true };
    let at = draw_pane(canvas, middle, &head, areas.boxed);
    // If there is room for only one row, the buttons get it.
    let inner =
        Rect { x: at.x + 2.min(at.width), width: at.width.saturating_sub(4), height: height as u16, ..at };
    draw_rows(canvas, inner, dialogue, &rows, top);
    draw_buttons(
        canvas,
        Rect { y: at.y + at.height.saturating_sub(1), height: at.height.min(1), ..at },
        dialogue,
    );
}

fn draw_rows(canvas: &mut Canvas<'_>, at: Rect, dialogue: &Dialogue, rows: &[DialogueRow], top: usize) {
    let labels = rows.iter().filter_map(|row| match row {
        DialogueRow::Pair(label, _) => Some(width(label)),
        DialogueRow::Finding { .. } => None,
    });
    let label = labels.max().unwrap_or(0).min(at.width / 2);
    for (y, row) in (0..at.height).zip(rows.iter().skip(top)) {
        match row {
            DialogueRow::Pair(name, text) => {
                canvas.draw_text(Rect { width: label, ..at }, 0, y, name, Role::Label);
                canvas.draw_text(at, label + 2, y, text, Role::Text);
            }
            DialogueRow::Finding { at: which, taken, first, text } => {
                let here = dialogue.focus() == DialogueFocus::Finding(*which);
                let role = if here { Role::Cursor } else { Role::Warning };
                if *first {
                    canvas.draw_text(at, 0, y, if *taken { "[x]" } else { "[ ]" }, role);
                }
                canvas.draw_text(at, CHECKBOX_WIDTH as u16, y, text, role);
            }
        }
    }
}

fn draw_buttons(canvas: &mut Canvas<'_>, at: Rect, dialogue: &Dialogue) {
    let mut x = 1;
    for (word, stop) in dialogue.buttons().into_iter().zip([DialogueFocus::Stay, DialogueFocus::Act]) {
        let here = dialogue.focus() == stop;
        let blocked = stop == DialogueFocus::Act && dialogue.unacknowledged_count() > 0;
        let role = match (here, blocked) {
            (true, _) => Role::Cursor,
            (false, true) => Role::Dim,
            (false, false) => Role::Key,
        };
        canvas.draw_text(at, x, 0, if here { canvas.signs.cursor } else { "" }, Role::Key);
        x = canvas.draw_text(at, x + 1, 0, &format!("[ {word} ]"), role) + 1;
    }
    if dialogue.unacknowledged_count() > 0 {
        let left = count_words(dialogue.unacknowledged_count(), "finding is", "findings are");
        canvas.draw_text(at, x + 1, 0, &format!("{left} not acknowledged"), Role::Warning);
    }
}
