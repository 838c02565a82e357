//! What a guard is asked, and what it says.

use std::collections::BTreeSet;
use std::sync::mpsc::Sender;

use serde::{Deserialize, Serialize};

use super::super::journal::{Begun, Left, Phase, Told};

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
    /// To tell OpenSM by this process from now on: its number, or the path of its pid file.
    NameOpensm {
        user: String,
        process: String,
    },
    /// To go on without hosts that do not answer, where a change in five phases waits for them.
    GoOn {
        user: String,
    },
    RollBack {
        user: String,
        /// Even where that loses paths.
        anyway: bool,
    },
}

impl Ask {
    /// Who asks; nobody has to say so who only looks.
    pub fn user(&self) -> &str {
        match self {
            Self::Status => "",
            Self::Confirm { user }
            | Self::Extend { user, .. }
            | Self::GoOn { user }
            | Self::NameOpensm { user, .. }
            | Self::RollBack { user, .. } => user,
        }
    }

    /// The same question, signed by the user that the kernel names.
    pub fn signed(self, user: &str) -> Self {
        let user = user.to_owned();
        match self {
            Self::Status => self,
            Self::Confirm { .. } => Self::Confirm { user },
            Self::Extend { seconds, .. } => Self::Extend { user, seconds },
            Self::GoOn { .. } => Self::GoOn { user },
            Self::NameOpensm { process, .. } => Self::NameOpensm { user, process },
            Self::RollBack { anyway, .. } => Self::RollBack { user, anyway },
        }
    }

    /// What is asked, as the command is called.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Confirm { .. } => "confirm",
            Self::Extend { .. } => "extend",
            Self::GoOn { .. } => "confirm --go-on",
            Self::RollBack { .. } => "rollback",
            Self::NameOpensm { .. } => "--opensm-process",
        }
    }
}

/// A line through the door: a request, or the wish to know what the change is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub(super) enum Question {
    /// How it stands and what it is, for users who cannot read its journal.
    Describe,
    #[serde(untagged)]
    Ask(Ask),
}

impl Question {
    /// What the guard itself is asked.
    pub fn ask(&self) -> Ask {
        match self {
            Self::Describe => Ask::Status,
            Self::Ask(ask) => ask.clone(),
        }
    }
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
    /// Hosts with an agent that did not answer when they were told to move flows.
    #[serde(default)]
    pub silent: Vec<String>,
    /// It waits for these, with nothing written, until they answer or somebody decides.
    #[serde(default)]
    pub waits: bool,
    /// Which phase an update in five phases is in, on its way there.
    #[serde(default)]
    pub phase_of_five: Option<u8>,
    /// What somebody else wrote over since it was applied.
    pub drift: Option<String>,
    /// What keeps its guard from doing what it is there for.
    #[serde(default)]
    pub trouble: Option<String>,
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
            silent: told.silent.clone(),
            waits: told.waits(),
            phase_of_five: told.phase_of_five(),
            drift: None,
            trouble: None,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    Status(Status),
    Refused { why: String },
}

/// A change for users who cannot read its journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Description {
    pub number: u64,
    pub time: String,
    pub user: String,
    pub source: String,
    pub via: String,
    pub engine: String,
    pub accepted: Vec<String>,
    pub switches: BTreeSet<String>,
    pub simulator: Option<String>,
    pub status: Status,
}

impl Description {
    pub fn of(begun: &Begun, status: Status) -> Self {
        let Begun { number, time, user, source, via, engine, accepted, switches, simulator, .. } =
            begun.clone();
        Self { number, time, user, source, via, engine, accepted, switches, simulator, status }
    }
}

/// A request with the way back.
#[derive(Debug)]
pub struct Order {
    pub ask: Ask,
    pub reply: Sender<Answer>,
}

/// Why nothing can be asked of a change that is over.
pub fn decided(id: &str, phase: Phase) -> String {
    format!("FD-7985: change {id} is {}: there is nothing left to decide", phase.title())
}
