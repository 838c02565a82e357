//! The rows of the question before a write that say how it is written: at once or in five phases, and what each costs.

use super::apply_state::ApplyState;
use super::dialogue_row::{DialogueRow, DialogueSign, Piece, labelled};
use crate::catalogue::quantity_words::length_words;
use crate::catalogue::summary::count_words;
use crate::console::drawing::theme::Role;
use crate::operations::plans::write_mode_offer::OtherMode;
use fabdeck_change::SilentHostAction;

/// Seconds in which hosts have to answer that they have left their base LIDs, and again that they are back.
const ANSWER_TIMEOUT_S: u64 = 5;

fn text(text: impl Into<String>) -> Piece {
    (text.into(), Role::Text)
}

fn dim(text: impl Into<String>) -> Piece {
    (text.into(), Role::Dim)
}

fn key(text: &str) -> Piece {
    (text.to_owned(), Role::Key)
}

/// How the change is written, and the key for the other way. A plan without a choice has no row.
pub(super) fn mode_rows(apply: &ApplyState, is_replanned: bool, room: usize) -> Vec<DialogueRow> {
    let mut pieces = match (apply.has_phases(), &apply.offer.mode.other) {
        (false, OtherMode::Fixed) => return Vec::new(),
        (false, _) => vec![text("at once;  ")],
        (true, _) => vec![text(format!(
            "in five phases: up to {ANSWER_TIMEOUT_S} s to leave, {ANSWER_TIMEOUT_S} s to come back;  "
        ))],
    };
    match (&apply.offer.mode.other, &apply.mode_error) {
        (OtherMode::Fixed, _) => drop_separator(&mut pieces),
        _ if is_replanned => pieces.push(dim("the plan is being made the other way")),
        (OtherMode::Refused(why), _) | (OtherMode::Possible, Some(why)) if !apply.has_phases() => {
            pieces.push(dim(format!("not in five phases: {why}")));
        }
        _ if apply.has_phases() => pieces.extend([key("5"), dim(" at once")]),
        _ => {
            let ports = count_words(apply.offer.mode.ports, "port leaves its", "ports leave their");
            let cost = format!(" in five phases: {ports} base LIDs for up to {} s", 2 * ANSWER_TIMEOUT_S);
            pieces.extend([key("5"), dim(cost)]);
        }
    }
    let mut rows = labelled(DialogueSign::None, "how", pieces, room);
    if apply.has_phases() {
        rows.extend(labelled(DialogueSign::None, "no answer", unanswered_pieces(apply), room));
    }
    rows
}

fn drop_separator(pieces: &mut [Piece]) {
    if let Some((text, _)) = pieces.last_mut() {
        text.truncate(text.trim_end_matches([' ', ';']).len());
    }
}

/// What happens if a host does not say in time that it has left.
fn unanswered_pieces(apply: &ApplyState) -> Vec<Piece> {
    let then = match apply.unanswered {
        SilentHostAction::Stop => "hosts are called back, nothing is written".to_owned(),
        SilentHostAction::Wait => {
            format!("hosts are asked again for {}", length_words(apply.window_s * 1000))
        }
        SilentHostAction::GoOn => "it goes on without that host, which is safe too".to_owned(),
    };
    vec![text(format!("of a host: {then}  ")), key("s"), dim(" change")]
}

/// Safer ways to write a change whose old and new paths can have a credit loop.
pub(super) fn safer_ways(apply: &ApplyState) -> Vec<String> {
    let staged = apply.offer.facts.transition.staged.as_ref().and_then(|staged| staged.through.as_ref());
    let phases = apply.can_switch_mode() && !apply.has_phases();
    phases
        .then(|| "Safe instead: 5 writes it in five phases, while no traffic uses what changes.".to_owned())
        .into_iter()
        .chain(
            staged.map(|engine| {
                format!("Safe instead: two plans, through {engine} first (d has the commands).")
            }),
        )
        .collect()
}
