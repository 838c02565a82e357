//! Confirmed changes beside the fabric: whether it still holds what they wrote. A comparison reads the fabric once more, so it
//! is made when something says that tables may have changed.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::changes::change_comparison::compare;
use crate::operations::changes::change_list::read_all;
use crate::operations::environment::{simulator_socket, switch_guids};
use crate::operations::event_store::watch_event::WatchEvent;
use crate::operations::operation::Operation;
use fabdeck_change::{AttestationVerdict, ChangePhase};

/// A comparison takes at most this share of the time.
const MAX_SHARE: u32 = 20;

/// Kinds of events after which tables may hold something else than before.
const REASONS: [&str; 8] = [
    "table-drift",
    "group-drift",
    "lanes-drift",
    "arbitration-drift",
    "manager-changed",
    "node-answers",
    "node-appeared",
    "change-decided",
];

/// A confirmed change of the fabric, and what the fabric holds of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttestedChange {
    pub number: u64,
    pub verdict: AttestationVerdict,
    pub words: String,
}

/// The confirmed changes of a fabric by their ids.
pub type AttestedChanges = BTreeMap<String, AttestedChange>;

/// Compares confirmed changes with a watched fabric.
#[derive(Debug)]
pub struct ChangeAttestation {
    is_due: bool,
    /// No comparison before that.
    not_before: Option<Instant>,
    /// What the last comparison found; `None` before the first one, and while it is not known.
    found: Option<AttestedChanges>,
}

impl ChangeAttestation {
    pub fn new() -> Self {
        Self { is_due: true, not_before: None, found: None }
    }

    /// The number of confirmed changes that the fabric does not hold any more.
    pub fn overwritten(&self) -> Option<u64> {
        let found = self.found.as_ref()?.values();
        let is_overwritten = |change: &&AttestedChange| change.verdict == AttestationVerdict::NoLongerStands;
        u64::try_from(found.filter(is_overwritten).count()).ok()
    }

    /// Compares, if the events of a sweep or an earlier one ask for it. Returns what was found.
    pub fn update(
        &mut self,
        operation: &mut Operation<'_>,
        look: &Snapshot,
        events: &[WatchEvent],
    ) -> Option<&AttestedChanges> {
        self.is_due |= events.iter().any(|event| REASONS.contains(&event.kind.as_str()));
        let now = Instant::now();
        if !self.is_due || self.not_before.is_some_and(|time| now < time) {
            return None;
        }
        let found = attest_changes(operation, look);
        self.not_before = Some(now + now.elapsed() * MAX_SHARE);
        match found {
            Ok(found) => {
                self.is_due = false;
                self.found = Some(found);
                self.found.as_ref()
            }
            Err(failure) => {
                tracing::warn!("confirmed changes are not compared: {}", failure.message.unwrap_or_default());
                self.found = None;
                None
            }
        }
    }
}

/// Without a confirmed change the fabric is not read.
fn attest_changes(operation: &mut Operation<'_>, look: &Snapshot) -> Result<AttestedChanges, Failure> {
    let env = operation.env;
    let source = env.named_source()?;
    if env.outside.is_own_simulator(source) {
        return Ok(AttestedChanges::new());
    }
    let (simulator, switches) = (simulator_socket(source)?, switch_guids(look));
    let listed = read_all(env)?.rows.into_iter();
    let numbers: BTreeMap<String, u64> = listed
        .filter(|listed| listed.is_of_fabric(simulator.as_deref(), &switches))
        .filter(|listed| listed.row.state == ChangePhase::Confirmed)
        .map(|listed| (listed.row.id, listed.row.number))
        .collect();
    if numbers.is_empty() {
        return Ok(AttestedChanges::new());
    }
    let compared = compare(env, source, &mut operation.begin_reading())?;
    let attested = compared.by_change.into_iter().filter_map(|(id, attestation)| {
        let (number, words) = (*numbers.get(&id)?, attestation.summary());
        Some((id, AttestedChange { number, verdict: attestation.verdict, words }))
    });
    Ok(attested.collect())
}
