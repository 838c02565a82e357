//! What a guard is asked, and what it says.

use std::sync::mpsc::Sender;

use serde::{Deserialize, Serialize};

use super::super::journal::{Left, Phase, Told};

/// A request, as it goes through the door.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Ask {
    Status,
    Confirm {
        user: String,
    },
    Extend {
        user: String,
        seconds: u64,
    },
    RollBack {
        user: String,
        /// Even where that loses paths.
        anyway: bool,
    },
}

/// How a change stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Status {
    pub id: String,
    #[serde(rename = "state")]
    pub phase: Phase,
    /// Writes that are settled, or taken back.
    pub done: u64,
    pub writes: u64,
    pub deadline: Option<String>,
    pub why: Option<String>,
    pub left: Vec<Left>,
    /// What somebody else wrote over since it was applied.
    pub drift: Option<String>,
}

impl Status {
    pub fn of(told: &Told) -> Self {
        Self {
            id: told.begun.id.clone(),
            phase: told.phase,
            done: told.written,
            writes: told.begun.writes.len() as u64,
            deadline: told.deadline.clone(),
            why: told.why.clone(),
            left: told.ended.as_ref().map(|ended| ended.left.clone()).unwrap_or_default(),
            drift: None,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    Status(Status),
    Refused { why: String },
}

/// A request with the way back.
#[derive(Debug)]
pub struct Order {
    pub ask: Ask,
    pub reply: Sender<Answer>,
}
