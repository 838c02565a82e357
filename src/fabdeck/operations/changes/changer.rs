//! The interface of a session to changes, which the process implements.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::attestations::Attestations;
use super::change_facts::ChangeFacts;
use super::change_row::ChangeRow;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::jobs::job_request::JobInput;
use crate::operations::lanes::lane_request::LaneRequest;
use crate::operations::lanes::slow_lanes::LaneState;
use crate::operations::plans::link_service::LinkService;
use crate::operations::plans::plan_request::PlanRequest;
use crate::operations::plans::write_mode_offer::WriteModeOffer;
use fabdeck_change::{ChangeStatus, GuardRequest, Plan, SilentHostAction};
use fabdeck_fabric::ElementId;

/// Whether this session may write to its fabric.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteAccess {
    /// Writing is impossible, for the reason given: files and recordings.
    Never(String),
    /// A live fabric without `--allow-write`.
    NotAsked,
    /// A live fabric with `--allow-write`. Whether the fabric opted in is checked for each offer.
    Asked,
    /// A simulator behind a socket.
    Simulated,
    /// A simulator in this process; a change ends with it.
    Own,
}

impl Default for WriteAccess {
    fn default() -> Self {
        Self::Never("nothing can be written here".to_owned())
    }
}

/// The plan that the operator wants to apply.
#[derive(Clone, Debug)]
pub enum PlanSource {
    /// The proposal of an engine.
    Proposed(Box<PlanRequest>),
    /// The plan in a file.
    File(PathBuf),
    /// A link that goes out of service or comes back.
    Service { look: Arc<Snapshot>, element: ElementId, service: LinkService },
    /// Moves of dFtree after a verdict.
    Lanes(Box<LaneRequest>),
    /// The way back of a confirmed change.
    Undo { id: String, number: u64 },
}

/// A plan after the comparison with the current fabric, with everything to know before it is applied.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChangeOffer {
    /// The engine, the file, or the change of a link.
    pub title: String,
    pub source: String,
    /// Number of parts to write; how many of them are blocks of forwarding tables; and the numbers of their switches and
    /// adapters.
    pub parts: usize,
    #[serde(default)]
    pub blocks: usize,
    pub switches: usize,
    #[serde(default)]
    pub adapters: usize,
    pub moved_pairs: u64,
    /// Flows that hosts are asked to move, with the hosts that follow.
    #[serde(default)]
    pub migrations: Vec<String>,
    /// The worst state during the writes, and whether old and new paths have a credit loop.
    pub transition: Vec<(String, String)>,
    /// Findings with their names, by which the operator accepts them.
    pub findings: Vec<(String, String)>,
    /// What the change does: who is cut off, which jobs notice, pairs without a path.
    #[serde(default)]
    pub facts: ChangeFacts,
    /// How the plan is written, and whether there is another way.
    #[serde(default)]
    pub mode: WriteModeOffer,
    /// Whether flows move back to the lane that an earlier change moved them from.
    #[serde(default)]
    pub undoes_moves: bool,
    /// Whether the change ends with this process.
    pub own: bool,
    /// Further remarks: a guard that a logout may end, or a subnet manager that also writes.
    pub remarks: Vec<String>,
    /// Whether the fabric already has everything that the plan writes.
    pub applied: bool,
    /// The plan, and its text as it was judged.
    #[serde(skip)]
    pub plan: Option<Arc<(Plan, String)>>,
}

/// The operator's consent to a change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Acceptance {
    /// Names of the accepted findings.
    pub accepted: Vec<String>,
    pub window: Duration,
    /// For plans in five phases: what to do when hosts do not answer.
    #[serde(default)]
    pub unanswered: SilentHostAction,
}

/// The states of all changes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ChangeOverview {
    /// The changes, the last one first.
    pub rows: Vec<ChangeRow>,
    /// Ids of changes that share a switch with the fabric of this session.
    #[serde(default)]
    pub here: BTreeSet<String>,
    /// Ids of changes that ended since this user last saw their states.
    pub ended_since: Vec<String>,
    /// Journals that could not be read, with the reasons.
    pub unread: Vec<String>,
    /// Time of the machine's clock at this reading; a session has no clock of its own.
    pub now: String,
}

/// Access to the changes of a fabric.
pub trait Changer {
    /// Compares a plan with the current fabric. The error is the reason why it cannot be applied.
    fn prepare_offer(&mut self, planned: &PlanSource) -> Result<ChangeOffer, String>;

    /// The same, with what the plan does to the running jobs, where the access can place these.
    fn prepare_offer_for(
        &mut self,
        planned: &PlanSource,
        _jobs: Option<&JobInput>,
    ) -> Result<ChangeOffer, String> {
        self.prepare_offer(planned)
    }

    /// Begins a change and returns its id. The change continues independently of this session.
    fn begin_change(&mut self, offer: &ChangeOffer, acceptance: &Acceptance) -> Result<String, String>;

    /// Reads the state of dFtree's lanes from the fabric.
    fn read_lanes(&mut self, asked: &LaneRequest) -> Result<LaneState, String> {
        Ok(asked.run())
    }

    /// Reads the states of all changes.
    fn list_changes(&mut self) -> Result<ChangeOverview, String>;

    /// Compares the confirmed changes of this fabric with its tables.
    fn compare_changes(&mut self) -> Result<Attestations, String> {
        Ok(Attestations::new())
    }

    /// Sends a request to the guard: confirm, extend or roll back.
    fn ask_guard(&mut self, id: &str, ask: &GuardRequest) -> Result<ChangeStatus, String>;
}

/// A session that cannot make changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoChanger;

impl Changer for NoChanger {
    fn prepare_offer(&mut self, _: &PlanSource) -> Result<ChangeOffer, String> {
        Err("nothing can be written here".to_owned())
    }

    fn begin_change(&mut self, _: &ChangeOffer, _: &Acceptance) -> Result<String, String> {
        Err("nothing can be written here".to_owned())
    }

    fn list_changes(&mut self) -> Result<ChangeOverview, String> {
        Ok(ChangeOverview::default())
    }

    fn ask_guard(&mut self, _: &str, _: &GuardRequest) -> Result<ChangeStatus, String> {
        Err("nothing can be written here".to_owned())
    }
}
