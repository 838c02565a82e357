//! What the ledger knows of the cables of a snapshot, and of those of problems.

use std::collections::BTreeMap;

use super::problem::{FabricProblem, ProblemKind};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::views::links::Cable;
use crate::operations::event_store::cable_places::{ends_of_link, place_of, port_of};
use crate::operations::event_store::ledger_reader::StoredLedger;
use crate::operations::ledger::history_words::history_words;
use crate::operations::ledger::link_ledger::LinkLedger;
use fabdeck_fabric::observe::PortIdentity;
use fabdeck_fabric::{ElementId, LinkId, PortNum};

/// What the ledger has of a cable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkHistory {
    /// How often it went down in the last 90 days.
    pub downs: u64,
    /// What it did, as a sentence; `None` where that is no more than what happens today.
    pub words: Option<String>,
}

/// The cables of a snapshot that the ledger has.
pub type LinkHistories = BTreeMap<LinkId, LinkHistory>;

pub fn link_histories(look: &Snapshot, stored: &StoredLedger) -> LinkHistories {
    let StoredLedger { ledger, now_ms } = stored;
    let history = |ends| {
        let link = look.fabric().port(port_of(look, ends)?).link?;
        let cable = ledger.find(&place_of(look, ends_of_link(look, link)))?;
        let downs = cable.days(*now_ms).map(|day| u64::from(day.downs)).sum();
        Some((link, LinkHistory { downs, words: history_words(cable, *now_ms) }))
    };
    // Of a cable that was moved one of the ends may still be known.
    ledger.histories().flat_map(|cable| cable.place.ends).filter_map(history).collect()
}

/// Adds to rows of cables how often each went down.
pub fn add_downs(cables: &mut [Cable], histories: &LinkHistories) {
    for cable in cables {
        cable.downs = histories.get(&cable.link).map(|history| history.downs);
    }
}

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
