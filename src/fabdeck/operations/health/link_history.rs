//! What the ledger knows of the cables of problems.

use super::problem::{FabricProblem, ProblemKind};
use crate::catalogue::snapshot::Snapshot;
use crate::operations::event_store::cable_places::{ends_of_link, place_of};
use crate::operations::ledger::history_words::history_words;
use crate::operations::ledger::link_ledger::LinkLedger;
use fabdeck_fabric::observe::PortIdentity;
use fabdeck_fabric::{ElementId, PortNum};

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
        let cable = match problem.elements[..] {
            [ElementId::Link(link)] => ledger.find(&place_of(look, ends_of_link(look, link))),
            _ => port_of_lost_link(problem).and_then(|port| ledger.at_port(port)),
        };
        problem.history = cable.and_then(|cable| history_words(cable, now_ms));
    }
}

/// A port of a link that is down and no longer in the fabric: the id of the problem has it.
pub fn port_of_lost_link(problem: &FabricProblem) -> Option<PortIdentity> {
    let id = problem.id.strip_prefix(ProblemKind::LinkDown.word())?.strip_prefix(':')?;
    let (guid, port) = id.split_once('/')?;
    Some((guid.parse().ok()?, PortNum(port.parse().ok()?)))
}
