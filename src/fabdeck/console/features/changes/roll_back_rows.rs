//! The rows of the question whether to roll a pending change back: what it is, what the rollback costs, and what it does.
//!
//! ```text
//! change       updn of sim:demo, started by alice
//! writes       480 writes, all 480 done
//! ● no path    now 88, while written at most 124, after 0, of 1,980 pairs
//! ▲ what if    spine-2 fails: now 0 pairs without a path, after 504
//! then         everything that is still as written is restored, the last write first
//! ```

use super::confirm_rows::{CountState, pairs_now};
use super::dialogue::{DialogueRoom, change_pairs, waiting_pair};
use super::dialogue_row::{DialogueRow, DialogueSign, labelled, labelled_text};
use crate::console::drawing::theme::Role;
use crate::console::model::fabric_model::Model;
use crate::operations::changes::change_facts::supposed_way_back_words;
use crate::operations::changes::change_row::ChangeRow;
use fabdeck_change::ChangePhase;
use fabdeck_fabric::observe::digits_in_groups;

pub(super) fn roll_back_rows(
    known: &Model,
    row: &ChangeRow,
    lost: Option<&str>,
    room: DialogueRoom,
) -> Vec<DialogueRow> {
    let mut pairs = change_pairs(row);
    pairs.extend(waiting_pair(&known.changes, row));
    pairs.extend(row.drift.clone().map(|drift| ("by others", drift)));
    pairs.extend(row.trouble.clone().map(|trouble| ("trouble", trouble)));
    let labelled_pair = |(label, text): (&str, String)| labelled_text(label, text, room.width);
    let mut rows: Vec<DialogueRow> = pairs.into_iter().flat_map(labelled_pair).collect();
    rows.extend(cost_rows(known, row, room));
    let what = match row.state {
        ChangePhase::Applying => "the writes until then are rolled back, the last one first",
        ChangePhase::Incomplete => "the parts that are still as written are restored again",
        _ => "everything that is still as written is restored, the last write first",
    };
    let then = ("then", format!("{what}; later writes of other tools stay and are named"));
    let refused = lost.map(|lost| ("refused", lost.to_owned()));
    rows.extend(refused.into_iter().chain([then]).flat_map(labelled_pair));
    rows
}

/// What the rollback of an applied change costs. It passes through the states of the writes in the reverse order, so the
/// worst of them is that of the writes.
fn cost_rows(known: &Model, row: &ChangeRow, room: DialogueRoom) -> Vec<DialogueRow> {
    let Some(supposed) = row.pairs.as_ref().filter(|_| row.state == ChangePhase::Applied) else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    if let Some(actual) = row.actual_pairs() {
        // The tables may have changed since the plan counted them.
        let now = match pairs_now(known, row) {
            CountState::Counted(Some(pairs)) => digits_in_groups(pairs),
            CountState::Counted(None) => "not known".to_owned(),
            CountState::Counting => "being counted".to_owned(),
        };
        let [worst, after, all] = [actual.worst_broken, actual.before, actual.pairs].map(digits_in_groups);
        let sign = match () {
            () if actual.before > actual.after => DialogueSign::Critical,
            () if actual.worst_broken > 0 => DialogueSign::Warning,
            () => DialogueSign::Well,
        };
        let text = format!("now {now}, while written at most {worst}, after {after}, ");
        let pieces = vec![(text, Role::Text), (format!("of {all} pairs"), Role::Dim)];
        rows.extend(labelled(sign, "no path", pieces, room.width));
    }
    if let Some(words) = supposed_way_back_words(supposed, &row.failed) {
        let sign = if supposed.before > supposed.after { DialogueSign::Warning } else { DialogueSign::Well };
        rows.extend(labelled(sign, "what if", vec![(words, Role::Preview)], room.width));
    }
    rows
}
