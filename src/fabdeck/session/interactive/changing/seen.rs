//! How changes stand, as far as a session has seen. It has no clock of its own but what it was told of the machine's, and
//! the time that went by since.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::changer::Changes;
use super::comparing::Comparing;
use crate::session::interactive::messages::Severity;
use crate::session::interactive::tasks::TaskId;
use crate::session::{ChangeRow, countdown};
use fabdeck_change::{Ask, Phase};

/// Below this the time that is left is told as a danger.
const SHORT_MS: u64 = 60_000;

#[derive(Clone, Debug, Default)]
pub struct ChangesSeen {
    /// What was seen last; `None` before the first answer.
    pub last: Option<Changes>,
    /// When that was.
    pub seen_ms: u64,
    /// The clock of the session.
    pub now_ms: u64,
    /// Who is asking how changes stand, and when that is asked again.
    pub(super) under: Option<TaskId>,
    pub(super) due_ms: u64,
    /// A plan that is being held against the fabric, and what it is.
    pub(super) offering: Option<(TaskId, super::flow::Wanted)>,
    /// A change that is being begun, with the line that does the same.
    pub(super) beginning: Option<(TaskId, String, Option<String>)>,
    /// What was begun in this session.
    pub(super) begun: BTreeSet<String>,
    /// What was asked for, of which change.
    pub(super) asked: BTreeMap<TaskId, (String, Ask)>,
    /// Changes that were to go back at once.
    pub(super) sent_back: BTreeSet<String>,
    /// One that ended, and not because somebody here wanted that: it stands in the header until the list was looked at.
    pub(super) ended: Option<(u64, Phase)>,
    /// What was said once already.
    pub(super) told: BTreeSet<String>,
    pub(super) trouble: Option<String>,
    /// Confirmed changes compared with the fabric.
    pub(super) comparing: Comparing,
    /// Tables were written: the screens are to show those.
    pub(super) look_wanted: bool,
    /// That look is under way: what became of the change matters more than that.
    pub looking: bool,
}

impl ChangesSeen {
    /// The last first.
    pub fn rows(&self) -> &[ChangeRow] {
        self.last.as_ref().map_or(&[], |last| &last.rows)
    }

    pub fn row(&self, id: &str) -> Option<&ChangeRow> {
        self.rows().iter().find(|row| row.id == id)
    }

    /// Whether it is one of what is looked at.
    pub fn is_here(&self, row: &ChangeRow) -> bool {
        self.last.as_ref().is_some_and(|last| last.here.contains(&row.id))
    }

    /// Those of what is looked at, and those that were begun here.
    pub fn here(&self) -> impl Iterator<Item = &ChangeRow> {
        self.rows().iter().filter(|row| self.is_here(row) || self.begun.contains(&row.id))
    }

    /// Those of what is looked at that are not decided yet.
    pub fn pending(&self) -> impl Iterator<Item = &ChangeRow> {
        self.rows().iter().filter(|row| row.state.is_pending() && self.is_here(row))
    }

    /// The clock of the machine, as far as it is known.
    pub fn clock(&self) -> Option<Timestamp> {
        let then = self.last.as_ref()?.now.parse::<Timestamp>().ok()?;
        let passed = i64::try_from(self.now_ms.saturating_sub(self.seen_ms)).ok()?;
        then.checked_add(SignedDuration::from_millis(passed)).ok()
    }

    /// How long a change still waits.
    pub fn left_ms(&self, row: &ChangeRow) -> Option<u64> {
        let deadline = row.deadline.as_ref().filter(|_| row.state == Phase::Applied)?;
        let left = deadline.parse::<Timestamp>().ok()?.duration_since(self.clock()?);
        u64::try_from(left.as_millis().max(0)).ok()
    }

    /// Of the change that is pending, for the header: `change 7: 9:41 left`.
    pub fn header_word(&self) -> Option<(String, Severity)> {
        let Some(row) = self.pending().next() else { return self.ended_word() };
        let left = self.left_ms(row);
        let (word, severity) = match row.state {
            Phase::Applied if row.overdue => ("OVERDUE".to_owned(), Severity::Error),
            Phase::Applied if left.is_some_and(|left| left < SHORT_MS) => {
                (left.map_or_else(String::new, in_words), Severity::Error)
            }
            Phase::Applied => (left.map_or_else(|| "waits".to_owned(), in_words), Severity::Warning),
            Phase::RollingBack => ("rolling back".to_owned(), Severity::Warning),
            _ => {
                let share = (row.done.min(row.writes) * 100).checked_div(row.writes).unwrap_or(0);
                (format!("applying {share}%"), Severity::Warning)
            }
        };
        Some((format!("change {}: {word}", row.number), severity))
    }

    /// `change 7 rolled back: 8`.
    fn ended_word(&self) -> Option<(String, Severity)> {
        let Some((number, phase)) = self.ended else { return self.comparing.header_word() };
        let (word, severity) = match phase {
            Phase::Incomplete => ("incomplete", Severity::Error),
            phase => (phase.title(), Severity::Warning),
        };
        Some((format!("change {number} {word}: 8"), severity))
    }

    /// Whoever sees the list knows.
    pub fn saw(&mut self) {
        self.ended = None;
        self.comparing.saw();
    }

    pub(super) fn keep_ended(&mut self, row: &ChangeRow) {
        let worse = matches!(self.ended, Some((_, Phase::Incomplete)));
        if matches!(row.state, Phase::RolledBack | Phase::Incomplete | Phase::Refused) && !worse {
            self.ended = Some((row.number, row.state));
        }
    }

    /// What becomes of the change that is pending when this session is left.
    pub fn parting(&self) -> Option<String> {
        let row = self.pending().next()?;
        let left = self.left_ms(row).map_or_else(String::new, |left| format!(", {}", in_words(left)));
        let (number, id, state) = (row.number, &row.id, row.state_title());
        Some(format!(
            "change {number} goes on without this session: {state}{left}; 'fabdeck confirm {id}' keeps it, \
             'fabdeck rollback {id}' takes it back"
        ))
    }

    /// How far one is that is under way.
    pub fn progress(&self) -> Option<String> {
        let row = self.pending().find(|row| row.state != Phase::Applied)?;
        Some(format!("change {} is {}: {} of {} writes", row.number, row.state.title(), row.done, row.writes))
    }
}

fn in_words(left_ms: u64) -> String {
    format!("{} left", countdown(left_ms / 1000))
}
