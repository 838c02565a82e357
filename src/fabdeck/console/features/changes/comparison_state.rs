//! The state of the comparisons of confirmed changes with the fabric.

use crate::catalogue::severity::Severity;
use crate::console::model::tasks::TaskId;
use crate::operations::changes::attestations::Attestations;
use crate::operations::changes::change_row::ChangeRow;
use fabdeck_change::{AttestationVerdict, ChangePhase};

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

    /// Adds the results to the rows.
    pub(crate) fn add_to_rows(&self, rows: &mut [ChangeRow]) {
        for row in rows.iter_mut().filter(|row| row.state == ChangePhase::Confirmed) {
            row.comparison = self.last.get(&row.id).cloned();
        }
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
