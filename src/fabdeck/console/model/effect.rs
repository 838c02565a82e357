//! The effects that a session requests: background tasks, and actions that only the process can perform.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::fabric_model::Ranks;
use super::messages::LogMessage;
use super::tasks::{TaskDependency, TaskId};
use crate::catalogue::query::{Query, Selection};
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::fabric::ranks::ranks;
use crate::console::features::screens::ScreenId;
use crate::operations::changes::attestations::Attestations;
use crate::operations::changes::changer::{Acceptance, ChangeOffer, ChangeOverview, PlanSource};
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::jobs::job_request::{JobComparisonRequest, JobListSource};
use crate::operations::lanes::lane_request::LaneRequest;
use crate::operations::lanes::levels::LevelsInForce;
use crate::operations::lanes::slow_lanes::LaneState;
use crate::operations::plans::plan_request::PlanRequest;
use crate::operations::preview::path_preview::Preview;
use crate::operations::preview::proposals::Proposals;
use crate::operations::preview::whatif::{Cost, Proposal, ProposalOptions};
use crate::operations::replay::event_scan::{DerivedPart, RecordingScan};
use crate::operations::replay::replay_frame::{OpenedRecording, ReplayFrame, SeekRequest};
use crate::operations::rowset::Rowset;
use crate::operations::watch::sweep::SweepResult;
use crate::operations::watch::watch_verdict::{VerdictRequest, WatchVerdict};
use fabdeck_change::{ChangeStatus, GuardRequest};
use fabdeck_fabric::Faults;
use fabdeck_fabric::counters::Thresholds;
use fabdeck_fabric::observe::Sweep;
use fabdeck_files::capture::OperatorEntry;
use fabdeck_files::job_lists::JobList;
use fabdeck_routing::analysis::{GroupDamage, group_damage};
use fabdeck_routing::{Engine, EngineRefusal, Request, RouteProgress};

/// A request to the process that runs the session.
#[derive(Clone, Debug)]
pub enum Effect {
    Begin {
        task: TaskId,
        job: TaskRequest,
    },
    Cancel(TaskId),
    /// Copies a text to the clipboard of the terminal.
    Copy(String),
    /// Adds an entry to the recording of the watch.
    Enter(OperatorEntry),
    /// Writes messages to the log file; a session stores only the latest ones.
    Log(Vec<LogMessage>),
    /// Draws the whole screen again from a cleared one.
    Redraw,
    Suspend,
    Leave,
    /// Acts as a SIGINT would, for Ctrl-C.
    Interrupt,
}

/// A task that may take long.
#[derive(Clone, Debug)]
pub enum TaskRequest {
    /// Reads the source; only the process can do this.
    Look,
    /// Sorts the switches by rank, and the hosts by rack.
    Arrange { look: Arc<Snapshot> },
    /// Indexes the paths in force.
    Index { look: Arc<Snapshot> },
    /// Computes the cost of marks.
    Cost { look: Arc<Snapshot>, preview: Arc<Mutex<Preview>>, marks: Faults },
    /// Computes an engine's routes for the marks.
    Propose {
        look: Arc<Snapshot>,
        proposals: Arc<Mutex<Proposals>>,
        marks: Faults,
        engine: &'static Engine,
        request: Request,
    },
    /// Filters and sorts the rows of a long list.
    Select { look: Arc<Snapshot>, selecting: SelectRequest },
    /// Reads all counters again, not before this time of the source's clock; only the process can do this.
    Sweep { not_before: Duration },
    /// Judges two sweeps.
    Judge(Box<VerdictRequest>),
    /// Opens the recording, where there is one; only the process has it.
    Unroll,
    /// Reads a moment of the recording; only the process has it.
    Seek(SeekRequest),
    /// Derives events from the counters in the next part of the recording.
    Derive { scan: RecordingScan, thresholds: Thresholds },
    /// Writes the recording so far to a new file; only the process can do this.
    Save { to: PathBuf },
    /// Writes a plan to a new file. `text` makes its content; only the process can write it.
    Write { plan: Box<PlanRequest>, to: PathBuf },
    /// Compares a plan with the current fabric; only the process can do this.
    Offer(Box<PlanSource>),
    /// Computes the state of dFtree's lanes; on a live fabric only the process can do this.
    Lanes(Box<LaneRequest>),
    /// Reads the list of running jobs; only the process can do this.
    ListJobs(JobListSource),
    /// Computes the channel loads of jobs.
    WeighJobs(Box<JobComparisonRequest>),
    /// Begins the offered change; only the process can do this.
    Apply { offer: Box<ChangeOffer>, acceptance: Acceptance },
    /// Reads the states of changes; only the process can do this.
    Changes,
    /// Compares what confirmed changes wrote with the fabric; only the process can do this.
    Compare,
    /// Confirms, extends or rolls back a change; only the process can do this.
    Ask { id: String, ask: GuardRequest },
}

/// The list and query of a selection, and whether the cursor then moves to the first row.
#[derive(Clone, Debug)]
pub struct SelectRequest {
    pub screen: ScreenId,
    pub rows: Arc<Rowset>,
    pub query: Query,
    pub to_first: bool,
}

/// The result of a task.
#[derive(Clone, Debug)]
pub enum TaskOutcome {
    Looked(Result<Arc<Snapshot>, String>),
    Arranged(Box<Ranks>),
    Indexed(Result<Arc<Mutex<Preview>>, EngineRefusal>),
    Counted(Box<Cost>, Option<GroupDamage>),
    Proposed {
        engine: &'static str,
        outcome: Result<Arc<Proposal>, EngineRefusal>,
        took_ms: u64,
    },
    Selected {
        selecting: SelectRequest,
        selection: Selection,
    },
    Swept(Result<SweepResult, String>),
    Judged(Arc<WatchVerdict>),
    Unrolled(Result<Option<OpenedRecording>, String>),
    Sought(Result<Box<ReplayFrame>, String>),
    Derived(Result<DerivedPart, String>),
    Written {
        to: PathBuf,
        result: Result<(), String>,
    },
    Saved {
        to: PathBuf,
        result: Result<(), String>,
    },
    Offered(Result<Box<ChangeOffer>, String>),
    /// The id of the change.
    Begun(Result<String, String>),
    Changes(Result<ChangeOverview, String>),
    Compared(Result<Attestations, String>),
    Lanes(Result<Box<LaneState>, String>),
    Listed(Result<Box<JobList>, String>),
    Weighed(Box<JobComparison>),
    Asked {
        id: String,
        result: Result<ChangeStatus, String>,
    },
}

impl TaskRequest {
    pub fn dependency(&self) -> TaskDependency {
        match self {
            Self::Look | Self::Write { .. } | Self::Save { .. } => TaskDependency::Nothing,
            Self::Offer(_) | Self::Apply { .. } | Self::Changes | Self::Ask { .. } => TaskDependency::Nothing,
            Self::ListJobs(_) | Self::Compare => TaskDependency::Nothing,
            Self::Arrange { .. } | Self::Index { .. } | Self::Select { .. } => TaskDependency::Snapshot,
            Self::Lanes(_) | Self::WeighJobs(_) => TaskDependency::Snapshot,
            Self::Sweep { .. } | Self::Judge(_) | Self::Unroll | Self::Seek(_) => TaskDependency::Snapshot,
            Self::Derive { .. } => TaskDependency::Snapshot,
            Self::Cost { .. } | Self::Propose { .. } => TaskDependency::Marks,
        }
    }

    /// Runs the task, unless it needs the process: reading, sweeps, recordings and files yield `None`.
    pub fn run(&self, pulse: &dyn RouteProgress) -> Option<TaskOutcome> {
        match self {
            Self::Look | Self::Sweep { .. } | Self::Unroll | Self::Seek(_) => None,
            Self::Write { .. } | Self::Save { .. } => None,
            Self::Offer(_) | Self::Apply { .. } | Self::Changes | Self::Ask { .. } => None,
            Self::ListJobs(_) | Self::Compare => None,
            Self::WeighJobs(asked) => Some(TaskOutcome::Weighed(Box::new(asked.run()))),
            Self::Lanes(asked) if asked.live => None,
            Self::Lanes(asked) => Some(TaskOutcome::Lanes(Ok(Box::new(asked.run())))),
            Self::Derive { scan, thresholds } => {
                Some(TaskOutcome::Derived(scan.derive_part(thresholds, pulse)))
            }
            Self::Judge(judging) => Some(TaskOutcome::Judged(Arc::new(judging.run()))),
            Self::Arrange { look } => Some(TaskOutcome::Arranged(Box::new(ranks(look)))),
            Self::Select { look, selecting } => {
                let selection = selecting.run(look);
                Some(TaskOutcome::Selected { selecting: selecting.clone(), selection })
            }
            Self::Index { look } => {
                let preview = Preview::new(look, &look.observation.tables, pulse);
                Some(TaskOutcome::Indexed(preview.map(|preview| Arc::new(Mutex::new(preview)))))
            }
            Self::Cost { look, preview, marks } => {
                let mut preview = preview.lock().unwrap_or_else(PoisonError::into_inner);
                preview.set_marks(look, marks);
                let groups = group_damage(look.fabric(), &look.observation.tables, marks);
                Some(TaskOutcome::Counted(Box::new(preview.cost(None)), groups))
            }
            Self::Propose { look, proposals, marks, engine, request } => {
                let mut proposals = proposals.lock().unwrap_or_else(PoisonError::into_inner);
                let tables = &look.observation.tables;
                let asked = ProposalOptions {
                    sent: LevelsInForce::Unsaid,
                    ..ProposalOptions::for_terminals(request)
                };
                let outcome = proposals.propose((look, tables), marks, engine, asked, pulse);
                Some(TaskOutcome::Proposed { engine: engine.id, outcome, took_ms: 0 })
            }
        }
    }
}

impl TaskOutcome {
    /// A digest of the result, the same for the same work; times are not included.
    pub fn digest(&self) -> String {
        let text = match self {
            Self::Looked(Ok(look)) => format!("looked {:?}", look.observation.fabric),
            Self::Looked(Err(error)) => format!("looked {error}"),
            Self::Arranged(ranks) => format!("arranged {ranks:?}"),
            Self::Indexed(Ok(_)) => "indexed".to_owned(),
            Self::Indexed(Err(refusal)) => format!("indexed {refusal}"),
            Self::Counted(cost, groups) => format!("counted {cost:?} {groups:?}"),
            Self::Proposed { engine, outcome: Ok(proposal), .. } => {
                format!("proposed {engine} {:?} {:?}", proposal.report, proposal.difference)
            }
            Self::Proposed { engine, outcome: Err(refusal), .. } => format!("proposed {engine} {refusal}"),
            Self::Selected { selecting, selection } => {
                let SelectRequest { screen, query, .. } = selecting;
                format!("selected {screen:?} {query:?} {selection:?}")
            }
            Self::Swept(Ok(swept)) => return sweep_digest(&swept.sweep),
            Self::Swept(Err(error)) => format!("swept {error}"),
            Self::Judged(reading) => format!("judged {:?} {:?}", reading.watched, reading.levels),
            Self::Unrolled(Ok(Some(unrolled))) => format!("unrolled {:?}", unrolled.timeline),
            Self::Unrolled(none) => format!("unrolled {:?}", none.as_ref().err()),
            Self::Sought(Ok(scene)) => {
                format!("sought {} {} {:?}", scene.place, sweep_digest(&scene.after), scene.look.fabric())
            }
            Self::Sought(Err(error)) => format!("sought {error}"),
            Self::Derived(part) => format!("derived {part:?}"),
            Self::Written { to, result } => format!("written {} {result:?}", to.display()),
            Self::Saved { to, result } => format!("saved {} {result:?}", to.display()),
            Self::Offered(offer) => format!("offered {:?}", offer.as_ref().map(|offer| &offer.title)),
            Self::Begun(id) => format!("begun {id:?}"),
            Self::Changes(changes) => format!("changes {changes:?}"),
            Self::Compared(compared) => format!("compared {compared:?}"),
            Self::Lanes(lanes) => format!("lanes {lanes:?}"),
            Self::Listed(list) => format!("listed {list:?}"),
            Self::Weighed(weighed) => format!("weighed {weighed:?}"),
            Self::Asked { id, result } => format!("asked {id} {result:?}"),
        };
        short_hash(blake3::hash(text.as_bytes()))
    }
}

fn short_hash(hash: blake3::Hash) -> String {
    hash.to_hex().chars().take(16).collect()
}

/// A digest of all counters and of the fabric events of a sweep; its time is not included.
fn sweep_digest(sweep: &Sweep) -> String {
    let mut hasher = blake3::Hasher::new();
    for sample in &sweep.samples {
        hasher.update(
            format!("{:?} {:?} {:?} {:?}", sample.node, sample.lid, sample.port, sample.values).as_bytes(),
        );
    }
    hasher.update(format!("{:?}", sweep.news).as_bytes());
    short_hash(hasher.finalize())
}
