//! Confirmed changes are compared with the fabric at intervals. The operator gets a message about a change
//! that no longer stands.

use std::collections::BTreeMap;

use super::flow::has_changes;
use crate::session::ChangeRow;
use crate::session::interactive::effect::{Effect, Job};
use crate::session::interactive::messages::Severity;
use crate::session::interactive::state::State;
use crate::session::interactive::tasks::TaskId;
use fabdeck_change::{Attestation, Phase, Verdict};

/// Interval between comparisons. Each one reads the whole fabric, so it is as long as that of complete table
/// readings.
const INTERVAL_MS: u64 = 300_000;

/// The results of comparing confirmed changes with the fabric, by id.
pub type Attestations = BTreeMap<String, Attestation>;

/// The state of the comparisons.
#[derive(Clone, Debug, Default)]
pub struct Comparing {
    /// The comparison in progress; the next field is the time of the next one.
    task: Option<TaskId>,
    due_ms: u64,
    /// Whether a change was confirmed during a comparison.
    again: bool,
    last: Attestations,
    trouble: Option<String>,
    /// A change that no longer stands; the header shows it until the operator opens the list.
    fallen: Option<u64>,
}

impl Comparing {
    /// Schedules a comparison at once, after a change was confirmed.
    pub(super) fn soon(&mut self) {
        self.due_ms = 0;
        self.again = self.task.is_some();
    }

    /// Adds the results to the rows.
    pub(super) fn note_in(&self, rows: &mut [ChangeRow]) {
        for row in rows.iter_mut().filter(|row| row.state == Phase::Confirmed) {
            row.comparison = self.last.get(&row.id).cloned();
        }
    }

    /// The text for the header: `change 7 no longer stands: 8`.
    pub(super) fn header_word(&self) -> Option<(String, Severity)> {
        let number = self.fallen?;
        Some((format!("change {number} {}: 8", Verdict::NoLongerStands.title()), Severity::Error))
    }

    /// Records that the operator has seen the list.
    pub(super) fn saw(&mut self) {
        self.fallen = None;
    }
}

fn is_wanted(state: &State) -> bool {
    let changes = &state.known.changes;
    let confirmed = || changes.here().any(|row| row.state == Phase::Confirmed);
    has_changes(state) && changes.comparing.task.is_none() && confirmed()
}

/// Time of the next comparison.
pub(super) fn wakes_ms(state: &State) -> Option<u64> {
    is_wanted(state).then_some(state.known.changes.comparing.due_ms)
}

/// Begins a comparison that is due.
pub(super) fn tick(state: &mut State) -> Option<Effect> {
    if !is_wanted(state) || state.now_ms < state.known.changes.comparing.due_ms {
        return None;
    }
    let (task, effect) = state.begin_quiet("comparing confirmed changes with the fabric", Job::Compare);
    state.known.changes.comparing.task = Some(task);
    Some(effect)
}

/// Receives the results of a comparison.
pub fn compared(state: &mut State, task: TaskId, result: Result<Attestations, String>) -> Vec<Effect> {
    let now_ms = state.now_ms;
    let comparing = &mut state.known.changes.comparing;
    if comparing.task != Some(task) {
        return Vec::new();
    }
    let due_ms = if std::mem::take(&mut comparing.again) { now_ms } else { now_ms + INTERVAL_MS };
    (comparing.task, comparing.due_ms) = (None, due_ms);
    match result {
        Err(error) => {
            if comparing.trouble.replace(error.clone()).as_ref() != Some(&error) {
                let text = format!("confirmed changes could not be compared, which is tried again: {error}");
                state.say(Severity::Warning, text);
            }
        }
        Ok(now) => {
            comparing.trouble = None;
            let before = std::mem::replace(&mut comparing.last, now);
            if let Some(changes) = &mut state.known.changes.last {
                state.known.changes.comparing.note_in(&mut changes.rows);
            }
            tell(state, &before);
            state.screens.refresh(&state.known);
        }
    }
    Vec::new()
}

/// Reports what differs from the comparison before.
fn tell(state: &mut State, before: &Attestations) {
    let rows: Vec<ChangeRow> = state.known.changes.here().cloned().collect();
    let was = |row: &ChangeRow| before.get(&row.id).map(|before| before.verdict);
    let mut fallen = Vec::new();
    for row in &rows {
        let Some(now) = row.comparison.as_ref().filter(|now| was(row) != Some(now.verdict)) else { continue };
        let (number, words) = (row.number, now.words());
        match (now.verdict, was(row)) {
            (Verdict::NoLongerStands, _) => fallen.push((number, words)),
            (Verdict::NotKnown, _) => {
                state.say(Severity::Warning, format!("whether change {number} stands is {words}"));
            }
            (Verdict::Stands, Some(Verdict::NoLongerStands | Verdict::NotKnown)) => {
                state.say(Severity::Said, format!("change {number} {words} again"));
            }
            (Verdict::Stands | Verdict::Superseded, _) => {}
        }
    }
    let more = match fallen.len().saturating_sub(1) {
        0 => String::new(),
        more => format!("; and {more} more (8 shows them)"),
    };
    if let Some((number, words)) = fallen.first() {
        state.known.changes.comparing.fallen = Some(*number);
        state.say(Severity::Error, format!("change {number} {words}{more}"));
    }
}
