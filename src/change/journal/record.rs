//! What a journal holds, and what it adds up to.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::change::driver::OpensmSite;
use crate::change::writes::Write;

/// Everything that undoing a change takes, whoever does it, and on which day.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Begun {
    /// By which a change is confirmed.
    pub id: String,
    pub number: u64,
    pub time: String,
    pub user: String,
    pub pid: u32,
    pub source: String,
    /// The driver.
    pub via: String,
    /// Where OpenSM is, for changes that go through it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opensm: Option<OpensmSite>,
    /// From the last write to the rollback, unless it is confirmed.
    pub window_s: u64,
    /// The hash of the plan.
    pub plan: String,
    pub engine: String,
    /// Findings that somebody accepted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<String>,
    /// What the source has to be opened with again; never a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mkey_file: Option<String>,
    /// The switches of the fabric: no other change may be pending on any of them.
    pub switches: BTreeSet<String>,
    /// Simulators share GUIDs without being one fabric; what is live has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
    /// Pairs that had no path before it.
    #[serde(default)]
    pub lost_before: u64,
    /// In the order in which they are written.
    pub writes: Vec<Write>,
}

/// Something that was not taken back, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Left {
    pub what: String,
    pub why: String,
}

/// One line of a journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    Begun(Box<Begun>),
    /// So many writes were answered. Nothing rests on it: whoever takes over reads the fabric.
    Written {
        count: u64,
    },
    /// All is written and was read back; it is rolled back at the deadline.
    Applied {
        time: String,
        deadline: String,
    },
    Extended {
        time: String,
        user: String,
        deadline: String,
    },
    Confirmed {
        time: String,
        user: String,
    },
    Returning {
        time: String,
        why: String,
    },
    /// It was rolled back, but for what is left.
    Returned {
        time: String,
        left: Vec<Left>,
    },
    /// Nothing was written, for this reason.
    Refused {
        time: String,
        why: String,
    },
}

/// How far a change is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Some of it may be written.
    Applying,
    /// It waits to be confirmed.
    Applied,
    Confirmed,
    RollingBack,
    RolledBack,
    /// Something could not be rolled back: a person is needed.
    Incomplete,
    /// Nothing was written.
    Refused,
}

impl Phase {
    /// Whether something is still to be done or decided.
    pub fn is_pending(self) -> bool {
        matches!(self, Self::Applying | Self::Applied | Self::RollingBack)
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Applying => "applying",
            Self::Applied => "applied, not confirmed",
            Self::Confirmed => "confirmed",
            Self::RollingBack => "rolling back",
            Self::RolledBack => "rolled back",
            Self::Incomplete => "rollback incomplete",
            Self::Refused => "refused",
        }
    }
}

/// The end of a change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ended {
    pub time: String,
    pub left: Vec<Left>,
}

/// What the records of a journal add up to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    pub begun: Begun,
    pub phase: Phase,
    pub written: u64,
    /// Where it waits to be confirmed.
    pub deadline: Option<String>,
    /// Why it is or was rolled back, or refused.
    pub why: Option<String>,
    pub ended: Option<Ended>,
}

impl Told {
    /// `None` where the first record is not that of a beginning.
    pub fn of(records: &[Record]) -> Option<Self> {
        let (Record::Begun(begun), rest) = records.split_first()? else { return None };
        let begun = (**begun).clone();
        let mut told =
            Self { begun, phase: Phase::Applying, written: 0, deadline: None, why: None, ended: None };
        rest.iter().for_each(|record| told.take(record));
        Some(told)
    }

    pub fn take(&mut self, record: &Record) {
        match record {
            Record::Begun(_) => {}
            Record::Written { count } => self.written = *count,
            Record::Applied { deadline, .. } => {
                self.written = self.begun.writes.len() as u64;
                (self.phase, self.deadline) = (Phase::Applied, Some(deadline.clone()));
            }
            Record::Extended { deadline, .. } => self.deadline = Some(deadline.clone()),
            Record::Confirmed { time, .. } => self.end(Phase::Confirmed, time, &[]),
            Record::Returning { why, .. } => {
                (self.phase, self.why) = (Phase::RollingBack, Some(why.clone()));
            }
            Record::Returned { time, left } => {
                let phase = if left.is_empty() { Phase::RolledBack } else { Phase::Incomplete };
                self.end(phase, time, left);
            }
            Record::Refused { time, why } => {
                self.why = Some(why.clone());
                self.end(Phase::Refused, time, &[]);
            }
        }
    }

    fn end(&mut self, phase: Phase, time: &str, left: &[Left]) {
        self.phase = phase;
        self.ended = Some(Ended { time: time.to_owned(), left: left.to_vec() });
    }
}
