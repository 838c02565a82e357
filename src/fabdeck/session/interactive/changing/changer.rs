//! What a session wants of whoever makes changes. Only the process can.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::comparing::Attestations;
use crate::session::interactive::effect::PlanFor;
use crate::session::interactive::slow_lanes::LanesAsked;
use crate::session::{ChangeRow, LaneState, Look, Service};
use fabdeck_change::{Ask, Plan, Status, Unanswered};
use fabdeck_fabric::Resolved;

/// Whether this session may write to its fabric.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writing {
    /// Why nobody can: files and recordings.
    Never(String),
    /// A live fabric, and `--allow-write` was not given.
    NotAsked,
    /// It was; whether the fabric opted in is known when something is offered.
    Asked,
    /// A simulator behind a socket.
    Simulated,
    /// A simulator in this process: a change ends with it.
    Own,
}

impl Default for Writing {
    fn default() -> Self {
        Self::Never("nothing can be written here".to_owned())
    }
}

/// What somebody wants to apply.
#[derive(Clone, Debug)]
pub enum Planned {
    /// What an engine proposes.
    Proposed(Box<PlanFor>),
    /// A plan from a file.
    File(PathBuf),
    /// A link out of service, or back.
    Service { look: Arc<Look>, element: Resolved, service: Service },
    /// dFtree's moves after a verdict.
    Lanes(Box<LanesAsked>),
}

/// A plan that was held against the fabric as it is now: what one should know before it is applied.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Offer {
    /// The engine, the file, or what becomes of a link.
    pub title: String,
    pub source: String,
    /// Parts that are written, of so many switches and adapters.
    pub parts: usize,
    pub switches: usize,
    #[serde(default)]
    pub adapters: usize,
    pub moved_pairs: u64,
    /// Flows that hosts are told to move, and who of these follows.
    #[serde(default)]
    pub migrations: Vec<String>,
    /// The worst state on the way, and whether old and new paths can wait for each other.
    pub transition: Vec<(String, String)>,
    /// What stands against it, by the name under which it is taken in.
    pub findings: Vec<(String, String)>,
    /// Ends with this process.
    pub own: bool,
    /// What else one should know: a guard that a logout may end, a manager beside it.
    pub remarks: Vec<String>,
    /// All that it writes stands there already.
    pub applied: bool,
    /// The plan, and the text that was judged.
    #[serde(skip)]
    pub plan: Option<Arc<(Plan, String)>>,
}

/// With what somebody said yes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Acceptance {
    /// Findings that are taken in, by name.
    pub accepted: Vec<String>,
    pub window: Duration,
    /// For plans in five phases: what is done when hosts do not answer.
    #[serde(default)]
    pub unanswered: Unanswered,
}

/// How changes stand.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Changes {
    /// The last first.
    pub rows: Vec<ChangeRow>,
    /// Ids of those that share a switch with what is looked at.
    #[serde(default)]
    pub here: BTreeSet<String>,
    /// Ids of those that ended since this user saw how they stood.
    pub ended_since: Vec<String>,
    /// What could not be read, and why.
    pub unread: Vec<String>,
    /// The clock of the machine then: a session has none of its own.
    pub now: String,
}

/// Whoever makes changes to what is looked at.
pub trait Changer {
    /// Holds a plan against the fabric as it is now. The error says why it cannot be applied.
    fn offer(&mut self, planned: &Planned) -> Result<Offer, String>;

    /// Begins it; the id of the change. It goes on without whoever asked.
    fn begin(&mut self, offer: &Offer, acceptance: &Acceptance) -> Result<String, String>;

    /// How dFtree's lanes stand in the fabric.
    fn lanes(&mut self, asked: &LanesAsked) -> Result<LaneState, String> {
        Ok(asked.run())
    }

    /// All changes there are.
    fn changes(&mut self) -> Result<Changes, String>;

    /// Compares the confirmed changes of what is looked at with the fabric.
    fn compare(&mut self) -> Result<Attestations, String> {
        Ok(Attestations::new())
    }

    /// Confirms, extends or rolls back.
    fn ask(&mut self, id: &str, ask: &Ask) -> Result<Status, String>;
}

/// Nobody does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unchanging;

impl Changer for Unchanging {
    fn offer(&mut self, _: &Planned) -> Result<Offer, String> {
        Err("nothing can be written here".to_owned())
    }

    fn begin(&mut self, _: &Offer, _: &Acceptance) -> Result<String, String> {
        Err("nothing can be written here".to_owned())
    }

    fn changes(&mut self) -> Result<Changes, String> {
        Ok(Changes::default())
    }

    fn ask(&mut self, _: &str, _: &Ask) -> Result<Status, String> {
        Err("nothing can be written here".to_owned())
    }
}
