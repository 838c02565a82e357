//! The model of changes in a session. A session has no clock: it takes the time of the last reading, and adds
//! the time since then.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::apply_state::ProposedPlan;
use super::change_effects::ChangeEffects;
use super::comparison_state::ComparisonState;
use super::write_marks::WriteMark;
use crate::catalogue::severity::Severity;
use crate::console::model::tasks::TaskId;
use crate::operations::changes::change_row::{ChangeRow, countdown};
use crate::operations::changes::changer::ChangeOverview;
use fabdeck_change::{ChangePhase, GuardRequest};
use fabdeck_fabric::observe::digits_in_groups;

/// Remaining time below which the header shows it as an error.
const SHORT_TIME_LEFT_MS: u64 = 60_000;

#[derive(Clone, Debug, Default)]
pub struct ChangesModel {
    /// The last reading; `None` before the first one.
    pub last: Option<ChangeOverview>,
    /// The marks of changes for charts, as of the last reading.
    pub write_marks: Vec<WriteMark>,
    /// What the changes of this session did.
    pub(super) effects: ChangeEffects,
    /// Session time of the last reading.
    pub seen_ms: u64,
    /// The clock of the session.
    pub now_ms: u64,
    /// The reading in progress; the next field is the time of the next one.
    pub(super) task: Option<TaskId>,
    pub(super) due_ms: u64,
    /// The comparison of a plan with the fabric, and the plan.
    pub(super) offering: Option<(TaskId, super::changes_model::ApplyRequest)>,
    /// The change that is being begun, with its title and command line.
    pub(super) beginning: Option<(TaskId, String, Option<String>)>,
    /// The changes that this session began.
    pub(super) begun: BTreeSet<String>,
    /// The requests to guards in progress, with the change of each.
    pub(super) asked: BTreeMap<TaskId, (String, GuardRequest)>,
    /// The changes that this session asked to roll back.
    pub(super) sent_back: BTreeSet<String>,
    /// A change that ended without a request of this session; the header shows it until the operator opens
    /// the list.
    pub(super) ended: Option<(u64, ChangePhase)>,
    /// Changes and errors that were reported already.
    pub(super) reported: BTreeSet<String>,
    pub(super) trouble: Option<String>,
    /// The comparisons of confirmed changes with the fabric.
    pub(super) comparing: ComparisonState,
    /// Whether tables were written, so that a new snapshot is needed.
    pub(super) look_wanted: bool,
    /// Whether that snapshot is being read; messages about the change then take precedence.
    pub rereading: bool,
}

impl ChangesModel {
    /// The changes, the last one first.
    pub fn rows(&self) -> &[ChangeRow] {
        self.last.as_ref().map_or(&[], |last| &last.rows)
    }

    pub fn row(&self, id: &str) -> Option<&ChangeRow> {
        self.rows().iter().find(|row| row.id == id)
    }

    /// Whether a change belongs to the fabric of this session.
    pub fn is_here(&self, row: &ChangeRow) -> bool {
        self.last.as_ref().is_some_and(|last| last.here.contains(&row.id))
    }

    /// The changes of this fabric, and those that this session began.
    pub fn rows_here(&self) -> impl Iterator<Item = &ChangeRow> {
        self.rows().iter().filter(|row| self.is_here(row) || self.begun.contains(&row.id))
    }

    /// The changes of this fabric that are not decided yet.
    pub fn pending_rows(&self) -> impl Iterator<Item = &ChangeRow> {
        self.rows().iter().filter(|row| row.state.is_pending() && self.is_here(row))
    }

    /// The current time of the machine's clock, if it is known.
    pub fn clock(&self) -> Option<Timestamp> {
        let then = self.last.as_ref()?.now.parse::<Timestamp>().ok()?;
        let passed = i64::try_from(self.now_ms.saturating_sub(self.seen_ms)).ok()?;
        then.checked_add(SignedDuration::from_millis(passed)).ok()
    }

    /// Time until the deadline of a change.
    pub fn left_ms(&self, row: &ChangeRow) -> Option<u64> {
        let deadline = row.deadline.as_ref().filter(|_| row.state == ChangePhase::Applied)?;
        let left = deadline.parse::<Timestamp>().ok()?.duration_since(self.clock()?);
        u64::try_from(left.as_millis().max(0)).ok()
    }

    /// The pending change that the operator has to see first: one that is overdue, or else the last one.
    pub fn first_pending_row(&self) -> Option<&ChangeRow> {
        self.pending_rows().find(|row| row.overdue).or_else(|| self.pending_rows().next())
    }

    /// The text about the pending changes for the header: `change 7: 9:41 left`, or `change 7: OVERDUE; 1 more`.
    pub fn header_word(&self) -> Option<(String, Severity)> {
        let Some(row) = self.first_pending_row() else { return self.ended_word() };
        let left = self.left_ms(row);
        let (word, severity) = match row.state {
            _ if row.overdue => ("OVERDUE".to_owned(), Severity::Error),
            ChangePhase::Applied if left.is_some_and(|left| left < SHORT_TIME_LEFT_MS) => {
                (left.map_or_else(String::new, time_left_words), Severity::Error)
            }
            ChangePhase::Applied => {
                (left.map_or_else(|| "waits".to_owned(), time_left_words), Severity::Warning)
            }
            ChangePhase::RollingBack => ("rolling back".to_owned(), Severity::Warning),
            _ => {
                let share = (row.done.min(row.writes) * 100).checked_div(row.writes).unwrap_or(0);
                (format!("applying {share}%"), Severity::Warning)
            }
        };
        let more = match self.pending_rows().count() {
            0 | 1 => String::new(),
            count => format!("; {} more", count - 1),
        };
        Some((format!("change {}: {word}{more}", row.number), severity))
    }

    /// The text about a change that ended: `change 7 rolled back: 9`.
    fn ended_word(&self) -> Option<(String, Severity)> {
        let Some((number, phase)) = self.ended else { return self.comparing.header_word() };
        let (word, severity) = match phase {
            ChangePhase::Incomplete => ("incomplete", Severity::Error),
            phase => (phase.title(), Severity::Warning),
        };
        Some((format!("change {number} {word}: 9"), severity))
    }

    /// Records that the operator has seen the list.
    pub fn mark_seen(&mut self) {
        self.ended = None;
        self.comparing.mark_seen();
    }

    pub(super) fn record_ended(&mut self, row: &ChangeRow) {
        let worse = matches!(self.ended, Some((_, ChangePhase::Incomplete)));
        if matches!(row.state, ChangePhase::RolledBack | ChangePhase::Incomplete | ChangePhase::Refused)
            && !worse
        {
            self.ended = Some((row.number, row.state));
        }
    }

    /// The text about the pending change when the session is left.
    pub fn leave_warning(&self) -> Option<String> {
        let row = self.first_pending_row()?;
        let left = self.left_ms(row).map_or_else(String::new, |left| format!(", {}", time_left_words(left)));
        let (number, id, state) = (row.number, &row.id, row.state_title());
        Some(format!(
            "change {number} continues without this session: {state}{left}; 'fabdeck confirm {id}' confirms it, \
             'fabdeck rollback {id}' rolls it back"
        ))
    }

    /// The progress of a change that is being applied or rolled back.
    pub fn progress(&self) -> Option<String> {
        let row = self.pending_rows().find(|row| row.state != ChangePhase::Applied)?;
        let [done, writes] = [row.done, row.writes].map(digits_in_groups);
        Some(format!("change {} is {}: {done} of {writes} writes", row.number, row.state.title()))
    }
}

fn time_left_words(left_ms: u64) -> String {
    format!("{} left", countdown(left_ms / 1000))
}

/// The plan to apply, and the command line that does the same.
#[derive(Clone, Debug)]
pub struct ApplyRequest {
    pub what: String,
    pub line: Option<String>,
    /// The plan of an engine, which can be made again in the other mode.
    pub proposed: Option<ProposedPlan>,
    /// Whether its question takes the place of the open one.
    pub replaces: bool,
}

impl ApplyRequest {
    /// A plan with one way to be written.
    pub fn fixed(what: String, line: Option<String>) -> Self {
        Self { what, line, proposed: None, replaces: false }
    }
}
