//! What the ledger knows of the cables of problems.

use super::problem::FabricProblem;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::event_store::cable_places::{ends_of_link, place_of};
use crate::operations::ledger::history_words::history_words;
use crate::operations::ledger::link_ledger::LinkLedger;
use fabdeck_fabric::ElementId;

/// Adds to each problem of a single cable what that cable did before. Without a ledger, and for cables that it does not
/// have, nothing is added.
pub fn mark_histories(
    problems: &mut [FabricProblem],
    look: &Snapshot,
    ledger: Option<&LinkLedger>,
    now_ms: i64,
) {
    let Some(ledger) = ledger.filter(|ledger| !ledger.is_empty()) else { return };
    for problem in problems {
        let [ElementId::Link(link)] = problem.elements[..] else { continue };
        let place = place_of(look, ends_of_link(look, link));
        problem.history = ledger.find(&place).and_then(|cable| history_words(cable, now_ms));
    }
}
