//! What the records of a journal say, in words: the course of a change for lists and screens.

use serde::{Deserialize, Serialize};

use super::record::{BeginRecord, JournalRecord};

/// Most steps that a state holds: the first one, and the latest.
const MAX_STEPS: usize = 64;
/// Most hosts that a step names.
const MAX_HOSTS: usize = 3;

/// A record of a journal with a time, in words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JournalStep {
    pub time: String,
    /// The name of the record.
    pub record: String,
    pub text: String,
}

impl JournalStep {
    /// The step of the first record.
    pub(super) fn of_begin(begun: &BeginRecord) -> Self {
        let text = format!("begun by {}, {} writes planned", begun.user, begun.writes.len());
        Self { time: begun.time.clone(), record: "begun".to_owned(), text }
    }

    /// The step of a record; `None` for records without a time.
    pub fn from_record(record: &JournalRecord) -> Option<Self> {
        let (name, text) = match record {
            JournalRecord::Written { .. } => return None,
            JournalRecord::Begun(begun) => return Some(Self::of_begin(begun)),
            JournalRecord::Writing { .. } => ("writing", "the writes begin".to_owned()),
            JournalRecord::Altered { write, .. } => {
                ("altered", format!("a device answered write {} with other bytes", write + 1))
            }
            JournalRecord::Registered { host, epoch, .. } => {
                ("registered", format!("the guard on {host} keeps it (epoch {epoch})"))
            }
            JournalRecord::Notifying { back, .. } => (
                "notifying",
                if *back { "hosts are asked to come back" } else { "hosts are asked to move" }.to_owned(),
            ),
            JournalRecord::Notified { answered, silent, .. } => ("notified", answer_words(answered, silent)),
            JournalRecord::GoingOn { user, .. } => {
                ("going-on", format!("{user} continued it without the hosts that did not answer"))
            }
            JournalRecord::OpensmNamed { user, process, .. } => {
                ("opensm-named", format!("{user} named the process of OpenSM: {process}"))
            }
            JournalRecord::Applied { .. } => ("applied", "all writes are in force and read back".to_owned()),
            JournalRecord::Extended { user, .. } => ("extended", format!("{user} gave it more time")),
            JournalRecord::Confirmed { user, .. } => ("confirmed", format!("{user} confirmed it")),
            JournalRecord::Returning { why, .. } => ("returning", format!("the rollback begins: {why}")),
            JournalRecord::Returned { left, .. } => match left.len() {
                0 => ("returned", "all parts are rolled back".to_owned()),
                parts => ("returned", format!("rolled back, except for {parts} parts")),
            },
            JournalRecord::Again { user, .. } => ("again", format!("{user} tries the rollback again")),
            JournalRecord::Refused { why, .. } => ("refused", format!("refused, nothing was written: {why}")),
        };
        Some(Self { time: record.time()?.to_owned(), record: name.to_owned(), text })
    }

    /// Adds the step of a record to the steps of a state.
    pub(super) fn push(steps: &mut Vec<Self>, record: &JournalRecord) {
        let Some(step) = Self::from_record(record) else { return };
        if steps.len() >= MAX_STEPS {
            steps.remove(1);
        }
        steps.push(step);
    }
}

/// How many hosts answered, and the names of those that did not.
fn answer_words(answered: &[String], silent: &[String]) -> String {
    let named = silent.iter().take(MAX_HOSTS).map(String::as_str).collect::<Vec<_>>().join(", ");
    match silent.len() {
        0 => format!("{} hosts answered", answered.len()),
        all if all > MAX_HOSTS => {
            format!("{} hosts answered; {named} and {} more did not", answered.len(), all - MAX_HOSTS)
        }
        _ => format!("{} hosts answered; {named} did not", answered.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::record::ChangeState;

    #[test]
    fn the_steps_of_a_long_journal_keep_the_first_and_the_latest() {
        let begun = BeginRecord { time: "t0".to_owned(), user: "alice".to_owned(), ..BeginRecord::default() };
        let mut state = ChangeState::new(begun);
        for at in 1..100 {
            let (time, deadline) = (format!("t{at}"), "later".to_owned());
            state.apply(&JournalRecord::Extended { time, user: "bob".to_owned(), deadline, ends: None });
        }
        state.apply(&JournalRecord::Written { count: 3 });
        let times: Vec<&str> = state.steps.iter().map(|step| step.time.as_str()).collect();
        assert_eq!((times.len(), times[0], times[1], times[63]), (64, "t0", "t37", "t99"));
        assert_eq!(state.steps[0].text, "begun by alice, 0 writes planned");
        assert_eq!(state.steps[63].text, "bob gave it more time");
    }
}
