//! The effects that a session requests: background tasks, and actions that only the process can perform.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::changing::{Acceptance, Attestations, Changes, Offer, Planned};
use super::known::Ranks;
use super::messages::Message;
use super::running_jobs::{JobsAsked, JobsFrom};
use super::screens::ScreenId;
use super::slow_lanes::LanesAsked;
use super::tasks::{Needs, TaskId};
use super::tiers::ranks;
use super::timeline::{Part, Scan, Scene, Seek, Unrolled};
use super::watch::{Judging, Reading, Swept};
use crate::session::{
    Asked, Cost, LaneState, Look, Made, Preview, Proposal, Proposals, Query, Rowset, Selection, Sent,
    WeighedJobs, plan_of,
};
use fabdeck_change::{Ask, Plan, Staged, Status};
use fabdeck_fabric::Faults;
use fabdeck_fabric::counters::Thresholds;
use fabdeck_fabric::observe::Sweep;
use fabdeck_files::capture::Entry;
use fabdeck_files::job_lists::JobList;
use fabdeck_routing::analysis::{GroupsCut, groups_cut};
use fabdeck_routing::{Engine, Pulse, Refusal, Request};

/// A request to the process that runs the session.
#[derive(Clone, Debug)]
pub enum Effect {
    Begin {
        task: TaskId,
        job: Job,
    },
    Cancel(TaskId),
    /// Copies a text to the clipboard of the terminal.
    Copy(String),
    /// Adds an entry to the recording of the watch.
    Enter(Entry),
    /// Writes messages to the log file; a session stores only the latest ones.
    Log(Vec<Message>),
    /// Draws the whole screen again from a cleared one.
    Redraw,
    Suspend,
    Leave,
    /// Acts as a SIGINT would, for Ctrl-C.
    Interrupt,
}

/// A task that may take long.
#[derive(Clone, Debug)]
pub enum Job {
    /// Reads the source; only the process can do this.
    Look,
    /// Sorts the switches by rank, and the hosts by rack.
    Arrange { look: Arc<Look> },
    /// Indexes the paths in force.
    Index { look: Arc<Look> },
    /// Computes the cost of marks.
    Cost { look: Arc<Look>, preview: Arc<Mutex<Preview>>, marks: Faults },
    /// Computes an engine's routes for the marks.
    Propose {
        look: Arc<Look>,
        proposals: Arc<Mutex<Proposals>>,
        marks: Faults,
        engine: &'static Engine,
        request: Request,
    },
    /// Filters and sorts the rows of a long list.
    Select { look: Arc<Look>, selecting: Selecting },
    /// Reads all counters again, not before this time of the source's clock; only the process can do this.
    Sweep { not_before: Duration },
    /// Judges two sweeps.
    Judge(Box<Judging>),
    /// Opens the recording, where there is one; only the process has it.
    Unroll,
    /// Reads a moment of the recording; only the process has it.
    Seek(Seek),
    /// Derives events from the counters in the next part of the recording.
    Derive { scan: Scan, thresholds: Thresholds },
    /// Writes the recording so far to a new file; only the process can do this.
    Save { to: PathBuf },
    /// Writes a plan to a new file. `text` makes its content; only the process can write it.
    Write { plan: Box<PlanFor>, to: PathBuf },
    /// Compares a plan with the current fabric; only the process can do this.
    Offer(Box<Planned>),
    /// Computes the state of dFtree's lanes; on a live fabric only the process can do this.
    Lanes(Box<LanesAsked>),
    /// Reads the list of running jobs; only the process can do this.
    ListJobs(JobsFrom),
    /// Computes the channel loads of jobs.
    WeighJobs(Box<JobsAsked>),
    /// Begins the offered change; only the process can do this.
    Apply { offer: Box<Offer>, acceptance: Acceptance },
    /// Reads the states of changes; only the process can do this.
    Changes,
    /// Compares what confirmed changes wrote with the fabric; only the process can do this.
    Compare,
    /// Confirms, extends or rolls back a change; only the process can do this.
    Ask { id: String, ask: Ask },
}

/// The list and query of a selection, and whether the cursor then moves to the first row.
#[derive(Clone, Debug)]
pub struct Selecting {
    pub screen: ScreenId,
    pub rows: Arc<Rowset>,
    pub query: Query,
    pub to_first: bool,
}

/// The input of a plan.
#[derive(Clone, Debug)]
pub struct PlanFor {
    pub look: Arc<Look>,
    pub marks: Faults,
    pub engine: &'static str,
    pub proposal: Arc<Proposal>,
    /// Commands for a plan that is not safe while traffic flows.
    pub staged: StagedCommands,
}

/// The commands of a change in two plans; the engine of the first plan is inserted later.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StagedCommands {
    /// The texts before and after the engine in the first command.
    pub first: [String; 2],
    pub others: Vec<String>,
}

impl StagedCommands {
    /// The commands with the intermediate routes of an engine; empty where none were given.
    fn through(&self, engine: &str) -> Vec<String> {
        let [before, behind] = &self.first;
        let first = (!self.others.is_empty()).then(|| format!("{before}{engine}{behind}"));
        first.into_iter().chain(self.others.iter().cloned()).collect()
    }
}

/// The result of a task.
#[derive(Clone, Debug)]
pub enum Outcome {
    Looked(Result<Arc<Look>, String>),
    Arranged(Box<Ranks>),
    Indexed(Result<Arc<Mutex<Preview>>, Refusal>),
    Counted(Box<Cost>, Option<GroupsCut>),
    Proposed {
        engine: &'static str,
        outcome: Result<Arc<Proposal>, Refusal>,
        took_ms: u64,
    },
    Selected {
        selecting: Selecting,
        selection: Selection,
    },
    Swept(Result<Swept, String>),
    Judged(Arc<Reading>),
    Unrolled(Result<Option<Unrolled>, String>),
    Sought(Result<Box<Scene>, String>),
    Derived(Result<Part, String>),
    Written {
        to: PathBuf,
        result: Result<(), String>,
    },
    Saved {
        to: PathBuf,
        result: Result<(), String>,
    },
    Offered(Result<Box<Offer>, String>),
    /// The id of the change.
    Begun(Result<String, String>),
    Changes(Result<Changes, String>),
    Compared(Result<Attestations, String>),
    Lanes(Result<Box<LaneState>, String>),
    Listed(Result<Box<JobList>, String>),
    Weighed(Box<WeighedJobs>),
    Asked {
        id: String,
        result: Result<Status, String>,
    },
}

impl Job {
    pub fn needs(&self) -> Needs {
        match self {
            Self::Look | Self::Write { .. } | Self::Save { .. } => Needs::Nothing,
            Self::Offer(_) | Self::Apply { .. } | Self::Changes | Self::Ask { .. } => Needs::Nothing,
            Self::ListJobs(_) | Self::Compare => Needs::Nothing,
            Self::Arrange { .. } | Self::Index { .. } | Self::Select { .. } => Needs::Look,
            Self::Lanes(_) | Self::WeighJobs(_) => Needs::Look,
            Self::Sweep { .. } | Self::Judge(_) | Self::Unroll | Self::Seek(_) => Needs::Look,
            Self::Derive { .. } => Needs::Look,
            Self::Cost { .. } | Self::Propose { .. } => Needs::Marks,
        }
    }

    /// Runs the task, unless it needs the process: reading, sweeps, recordings and files yield `None`.
    pub fn run(&self, pulse: &dyn Pulse) -> Option<Outcome> {
        match self {
            Self::Look | Self::Sweep { .. } | Self::Unroll | Self::Seek(_) => None,
            Self::Write { .. } | Self::Save { .. } => None,
            Self::Offer(_) | Self::Apply { .. } | Self::Changes | Self::Ask { .. } => None,
            Self::ListJobs(_) | Self::Compare => None,
            Self::WeighJobs(asked) => Some(Outcome::Weighed(Box::new(asked.run()))),
            Self::Lanes(asked) if asked.live => None,
            Self::Lanes(asked) => Some(Outcome::Lanes(Ok(Box::new(asked.run())))),
            Self::Derive { scan, thresholds } => Some(Outcome::Derived(scan.derive(thresholds, pulse))),
            Self::Judge(judging) => Some(Outcome::Judged(Arc::new(judging.run()))),
            Self::Arrange { look } => Some(Outcome::Arranged(Box::new(ranks(look)))),
            Self::Select { look, selecting } => {
                let selection = selecting.run(look);
                Some(Outcome::Selected { selecting: selecting.clone(), selection })
            }
            Self::Index { look } => {
                let preview = Preview::new(look, &look.observation.tables, pulse);
                Some(Outcome::Indexed(preview.map(|preview| Arc::new(Mutex::new(preview)))))
            }
            Self::Cost { look, preview, marks } => {
                let mut preview = preview.lock().unwrap_or_else(PoisonError::into_inner);
                preview.become_marked(look, marks);
                let groups = groups_cut(look.fabric(), &look.observation.tables, marks);
                Some(Outcome::Counted(Box::new(preview.cost(None)), groups))
            }
            Self::Propose { look, proposals, marks, engine, request } => {
                let mut proposals = proposals.lock().unwrap_or_else(PoisonError::into_inner);
                let tables = &look.observation.tables;
                let asked = Asked { sent: Sent::Unsaid, ..Asked::of(request) };
                let outcome = proposals.propose((look, tables), marks, engine, asked, pulse);
                Some(Outcome::Proposed { engine: engine.id, outcome, took_ms: 0 })
            }
        }
    }
}

impl PlanFor {
    pub fn text(&self, made: Made) -> Result<String, String> {
        let plan = plan_of(&self.look, &self.marks, self.engine, &self.proposal, Sent::Unsaid, made);
        let staged = |mut plan: Plan| {
            if let Some(Staged { through: Some(through), commands, .. }) = &mut plan.transition.staged {
                *commands = self.staged.through(through);
            }
            plan
        };
        plan.map(staged).and_then(|plan| Ok(plan.text()?)).map_err(|error| error.to_string())
    }
}

impl Outcome {
    /// A digest of the result, the same for the same work; times are not included.
    pub fn digest(&self) -> String {
        let said = match self {
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
                let Selecting { screen, query, .. } = selecting;
                format!("selected {screen:?} {query:?} {selection:?}")
            }
            Self::Swept(Ok(swept)) => return swept_digest(&swept.sweep),
            Self::Swept(Err(error)) => format!("swept {error}"),
            Self::Judged(reading) => format!("judged {:?} {:?}", reading.watched, reading.levels),
            Self::Unrolled(Ok(Some(unrolled))) => format!("unrolled {:?}", unrolled.timeline),
            Self::Unrolled(none) => format!("unrolled {:?}", none.as_ref().err()),
            Self::Sought(Ok(scene)) => {
                format!("sought {} {} {:?}", scene.place, swept_digest(&scene.after), scene.look.fabric())
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
        short(blake3::hash(said.as_bytes()))
    }
}

fn short(hash: blake3::Hash) -> String {
    hash.to_hex().chars().take(16).collect()
}

/// A digest of all counters and of the fabric events of a sweep; its time is not included.
fn swept_digest(sweep: &Sweep) -> String {
    let mut hasher = blake3::Hasher::new();
    for sample in &sweep.samples {
        hasher.update(
            format!("{:?} {:?} {:?} {:?}", sample.node, sample.lid, sample.port, sample.values).as_bytes(),
        );
    }
    hasher.update(format!("{:?}", sweep.news).as_bytes());
    short(hasher.finalize())
}
