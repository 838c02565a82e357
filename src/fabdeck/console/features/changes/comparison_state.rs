//! The state of the comparisons of confirmed changes with the fabric.

use std::collections::BTreeMap;

use crate::catalogue::severity::Severity;
use crate::console::model::tasks::TaskId;
use crate::operations::changes::attestations::Attestations;
use crate::operations::changes::change_row::{ChangeRow, mark_undone};
use fabdeck_change::{Attestation, AttestationVerdict, ChangePhase};

/// The state of the comparisons.
#[derive(Clone, Debug, Default)]
pub struct ComparisonState {
    /// The comparison in progress; the next field is the time of the next one.
    pub(crate) task: Option<TaskId>,
    pub(crate) due_ms: u64,
    /// Whether a change was confirmed during a comparison.
    pub(crate) again: bool,
    pub(crate) last: Attestations,
    pub(crate) trouble: Option<String>,
    /// A change that no longer stands; the header shows it until the operator opens the list.
    pub(crate) fallen: Option<u64>,
}

impl ComparisonState {
    /// Schedules a comparison at once, after a change was confirmed.
    pub(crate) fn schedule_now(&mut self) {
        self.due_ms = 0;
        self.again = self.task.is_some();
    }

    /// Adds the results to the rows. They name other changes by number, as the list does.
    pub(crate) fn add_to_rows(&self, rows: &mut [ChangeRow]) {
        let numbers: BTreeMap<String, u64> = rows.iter().map(|row| (row.id.clone(), row.number)).collect();
        for row in rows.iter_mut().filter(|row| row.state == ChangePhase::Confirmed) {
            row.comparison = self.last.get(&row.id).map(|found| with_numbers(found, &numbers));
        }
        mark_undone(rows);
    }

    /// The text for the header: `change 7 no longer stands: 8`.
    pub(crate) fn header_word(&self) -> Option<(String, Severity)> {
        let number = self.fallen?;
        Some((format!("change {number} {}: 9", AttestationVerdict::NoLongerStands.title()), Severity::Error))
    }

    /// Records that the operator has seen the list.
    pub(crate) fn mark_seen(&mut self) {
        self.fallen = None;
    }
}

/// The result with the numbers of other changes in place of their ids, where the list has them.
fn with_numbers(found: &Attestation, numbers: &BTreeMap<String, u64>) -> Attestation {
    let mut found = found.clone();
    let explaining = found.devices.iter_mut().flat_map(|device| &mut device.by).map(|other| &mut other.id);
    for id in found.superseded_by.iter_mut().chain(explaining) {
        if let Some(number) = numbers.get(id) {
            *id = number.to_string();
        }
    }
    found
}
