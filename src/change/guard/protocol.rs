//! Requests to a guard, and its answers.

use std::collections::BTreeSet;
use std::sync::mpsc::Sender;

use serde::{Deserialize, Serialize};

use crate::journal::journal_step::JournalStep;
use crate::journal::record::{BeginRecord, ChangePhase, ChangeState, RollbackRemainder};

/// A request, as it goes through the socket.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum GuardRequest {
    Status,
    Confirm {
        user: String,
    },
    Extend {
        user: String,
        seconds: u64,
    },
    /// Use this process of OpenSM from now on: its PID, or the path of its pid file.
    NameOpensm {
        user: String,
        process: String,
    },
    /// Go on without the hosts that do not answer, for which a change in five phases waits.
    GoOn {
        user: String,
    },
    RollBack {
        user: String,
        /// Whether to roll back even where that loses paths.
        anyway: bool,
    },
}

impl GuardRequest {
    /// The user who asks; empty for a status request.
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

    /// The same request in the name of the user that the kernel reports.
    pub fn with_user(self, user: &str) -> Self {
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

    /// The name of the command or option that sends this request.
    pub fn command_name(&self) -> &'static str {
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

/// A line through the socket: a request, or the question what the change is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub(crate) enum GuardQuery {
    /// The status and the description of the change, for users who cannot read its journal.
    Describe,
    #[serde(untagged)]
    Ask(GuardRequest),
}

impl GuardQuery {
    /// The request that goes on to the guard.
    pub fn to_request(&self) -> GuardRequest {
        match self {
            Self::Describe => GuardRequest::Status,
            Self::Ask(ask) => ask.clone(),
        }
    }
}

/// The status of a change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangeStatus {
    pub id: String,
    #[serde(rename = "state")]
    pub phase: ChangePhase,
    /// Number of writes that are settled, or rolled back.
    pub done: u64,
    pub writes: u64,
    pub deadline: Option<String>,
    pub why: Option<String>,
    pub left: Vec<RollbackRemainder>,
    /// Hosts with an agent that did not answer the notice to move flows.
    #[serde(default)]
    pub silent: Vec<String>,
    /// Whether the change waits for these hosts, with nothing written, until they answer or an operator decides.
    #[serde(default)]
    pub waits: bool,
    /// The present phase (1 to 5) of an update in five phases.
    #[serde(default)]
    pub phase_of_five: Option<u8>,
    /// What another writer has overwritten since the change was applied.
    pub drift: Option<String>,
    /// What keeps the guard from working.
    #[serde(default)]
    pub trouble: Option<String>,
    /// What the journal says of its course.
    #[serde(default)]
    pub steps: Vec<JournalStep>,
}

impl ChangeStatus {
    pub fn of(told: &ChangeState) -> Self {
        Self {
            id: told.begun.id.clone(),
            phase: told.phase,
            done: told.written,
            writes: told.begun.writes.len() as u64,
            deadline: told.deadline.clone(),
            why: told.why.clone(),
            left: told.ended.as_ref().map(|ended| ended.left.clone()).unwrap_or_default(),
            silent: told.silent.clone(),
            waits: told.is_waiting(),
            phase_of_five: told.current_phase(),
            drift: None,
            trouble: None,
            steps: told.steps.clone(),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum GuardAnswer {
    Status(ChangeStatus),
    Refused { why: String },
}

/// A change, for users who cannot read its journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangeDescription {
    pub number: u64,
    pub time: String,
    pub user: String,
    pub source: String,
    pub via: String,
    pub engine: String,
    pub accepted: Vec<String>,
    pub switches: BTreeSet<String>,
    pub simulator: Option<String>,
    pub status: ChangeStatus,
}

impl ChangeDescription {
    pub fn of(begun: &BeginRecord, status: ChangeStatus) -> Self {
        let BeginRecord { number, time, user, source, via, engine, accepted, switches, simulator, .. } =
            begun.clone();
        Self { number, time, user, source, via, engine, accepted, switches, simulator, status }
    }
}

/// A request with the channel for its answer.
#[derive(Debug)]
pub struct QueuedRequest {
    pub ask: GuardRequest,
    pub reply: Sender<GuardAnswer>,
}

/// Message for a request to a change that has ended.
pub fn already_decided(id: &str, phase: ChangePhase) -> String {
    let undo = match phase {
        ChangePhase::Confirmed => "; to undo it, make a new plan",
        _ => "",
    };
    format!("FD-7985: change {id} is {}: there is nothing left to decide{undo}", phase.title())
}

/// Why a guard gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GuardSocketError {
    /// The request was not sent: no process took it.
    #[error("FD-5651: the guard of the change does not answer: {0}")]
    Silent(std::io::Error),
    /// The request was sent, and its outcome is unknown.
    #[error("FD-5659: the guard of the change got the request and has not answered: {0}")]
    Unanswered(std::io::Error),
    #[error("FD-5652: another program answers at the guard's socket: {0}")]
    NoGuard(serde_json::Error),
}
