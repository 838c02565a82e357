//! The pending change as the first card of Health: what it writes, the pairs without a path, until when it waits, and the
//! keys that decide.
//!
//! ```text
//! ╭─ Change 1: applied, not confirmed ────────────────────────────────────── 9:41 left ─╮
//! │▌ ◇ updn: 480 parts, begun by alice at 13:59:58 UTC
//! │▌ no path before 0, while written at most 0, after 0, of 1,980 pairs
//! │▌ then    rolled back by itself at 14:10:00 UTC, unless it is confirmed
//! │▌ next    y confirm   u roll back   e 10 min more
//! ```

use ratatui::layout::Rect;

use super::card_text::OwnedRun;
use super::health_layout::{CARD_ROWS, HealthLayout};
use super::pane_frame::{draw_frame, draw_runs};
use crate::console::drawing::canvas::{Canvas, truncate_text};
use crate::console::drawing::theme::Role;
use crate::console::event_loop::actions::action;
use crate::console::features::changes::changes_model::ChangesModel;
use crate::console::model::state::SessionState;
use crate::operations::changes::change_row::{ChangeRow, countdown};
use fabdeck_change::ChangePhase;

/// Columns of the labels.
const TEXT: u16 = 9;

pub fn draw(canvas: &mut Canvas<'_>, layout: &HealthLayout, state: &SessionState) {
    let changes = &state.known.changes;
    let Some(row) = changes.first_pending_row().filter(|_| layout.change.height > 0) else { return };
    let role = if row.overdue { Role::Danger } else { Role::Warning };
    let title = format!("Change {}: {}", row.number, row.state_title());
    let inside =
        draw_frame(canvas, layout.change, &title, &head_runs(changes, row, role), false, layout.boxed);
    for y in 0..inside.height {
        canvas.draw_text(inside, 0, y, canvas.signs.card, role);
    }
    let body = Rect { x: inside.x + 1, width: inside.width.saturating_sub(1), ..inside };
    let x = canvas.draw_text(body, 1, 0, canvas.signs.preview, Role::Preview);
    canvas.draw_text(body, x + 1, 0, &row.begun_words(), Role::Strong);
    if inside.height < CARD_ROWS {
        canvas.draw_text(body, 1, 1, "next", Role::Label);
        draw_runs(canvas, body, (TEXT, 1), &decision_runs(state, row));
        return;
    }
    for (y, label) in [(1, "no path"), (2, "then"), (3, "next")] {
        canvas.draw_text(body, 1, y, label, Role::Label);
    }
    let (pairs, role_of_pairs) = match row.pair_words() {
        Some(pairs) => (pairs, Role::Text),
        None if !row.moves.is_empty() => {
            ("as before: every path stays; 9 has what became of waits".to_owned(), Role::Text)
        }
        None => (format!("{} not known", canvas.signs.severity[3]), Role::Dim),
    };
    // What is counted on the fabric comes first; a supposition behind it may be cut.
    let pairs = truncate_text(&pairs, body.width.saturating_sub(TEXT), canvas.signs.more);
    canvas.draw_text(body, TEXT, 1, &pairs, role_of_pairs);
    canvas.draw_text(body, TEXT, 2, &row.next_words(), if row.overdue { Role::Danger } else { Role::Text });
    draw_runs(canvas, body, (TEXT, 3), &decision_runs(state, row));
}

/// The time that is left, and how many more changes wait.
fn head_runs(changes: &ChangesModel, row: &ChangeRow, role: Role) -> Vec<OwnedRun> {
    let left = changes.left_ms(row).filter(|_| !row.overdue);
    let left = left.map(|left| (format!("{} left", countdown(left / 1000)), role));
    let more = match changes.pending_rows().count() {
        0 | 1 => None,
        count => Some((format!("  and {} more", count - 1), Role::Dim)),
    };
    left.into_iter().chain(more).collect()
}

/// The keys that decide about the change now, or else why none does.
fn decision_runs(state: &SessionState, row: &ChangeRow) -> Vec<OwnedRun> {
    let confirm = if row.state == ChangePhase::Applied { "confirm" } else { "go on" };
    let mut runs = Vec::new();
    for (id, word) in [("confirm", confirm), ("rollback", "roll back"), ("extend", "10 min more")] {
        let ready = action(id).filter(|action| (action.ready)(state).is_ok());
        if let Some(key) = ready.and_then(|action| action.first_key(&state.keymap)) {
            runs.extend([(key.to_string(), Role::Key), (format!(" {word}   "), Role::Text)]);
        }
    }
    let reason = action("rollback").and_then(|action| (action.ready)(state).err());
    if let Some(why) = reason.filter(|_| runs.is_empty()) {
        runs.push((why, Role::Dim));
    }
    runs
}
