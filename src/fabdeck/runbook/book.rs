//! A runbook as it was read.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::guard::Guard;
use super::rows::RowsAre;
use fabdeck_change::Unanswered;
use fabdeck_routing::LanesBy;

/// Steps with what they may not go beyond.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Book {
    pub name: String,
    pub summary: String,
    /// As they were set for this run.
    pub vars: BTreeMap<String, String>,
    /// Judged behind every step.
    pub guards: Vec<Guard>,
    pub steps: Vec<Step>,
    /// What is done when a step or a guard failed.
    pub on_failure: Vec<Step>,
}

/// One thing to do.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    pub line: usize,
    /// Behind which its values are known to later guards.
    pub id: Option<String>,
    pub name: Option<String>,
    pub task: Task,
    pub guards: Vec<Guard>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Task {
    Expect(Expected),
    Fail(Vec<String>),
    /// Of these; of all where none is named.
    Unmark(Vec<String>),
    Preview {
        engines: Vec<String>,
    },
    Route(Route),
    Disable(String),
    Enable(String),
    Apply(Apply),
    Wait(Wait),
    Verify {
        accept: Vec<String>,
    },
    /// Confirmed changes of the fabric, with its tables.
    Compare,
    Jobs(JobsOf),
    Hotspots {
        interval: Duration,
        count: u32,
    },
    Lanes(Propose),
    Confirm,
    Rollback,
    Record {
        file: PathBuf,
        time: Duration,
        interval: Duration,
    },
    Run(Program),
    Notify {
        text: String,
        file: Option<PathBuf>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub enum Expected {
    Rows(RowsAre),
    /// Over what steps found.
    Values(Vec<Guard>),
}

/// Who knows which jobs run: a list, or Slurm.
#[derive(Clone, PartialEq, Debug)]
pub struct JobsOf {
    pub file: Option<PathBuf>,
    pub slurm: bool,
    pub squeue: Option<PathBuf>,
    pub timeout: Option<Duration>,
}

/// Routes of an engine around what is marked.
#[derive(Clone, PartialEq, Debug)]
pub struct Route {
    pub engine: String,
    /// As many as ports have, or are supposed to have, where the book does not say.
    pub lanes: Option<u8>,
    pub lanes_by: LanesBy,
    /// Where the plan is written; else it is kept for the steps that follow alone.
    pub plan: Option<PathBuf>,
}

/// The migrations of dFtree.
#[derive(Clone, PartialEq, Debug)]
pub struct Propose {
    pub interval: Duration,
    pub count: u32,
    pub plan: Option<PathBuf>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Apply {
    /// A file; else what the last step made that makes plans.
    pub plan: Option<PathBuf>,
    pub window: Duration,
    /// Through OpenSM, and not directly.
    pub opensm: bool,
    pub opensm_conf: Option<PathBuf>,
    pub opensm_console: Option<SocketAddr>,
    pub beside_manager: bool,
    pub accept: Vec<String>,
    /// For plans in five phases: what is done when hosts do not answer.
    pub unanswered: Unanswered,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Wait {
    Time(Duration),
    /// Until rows are so.
    Until {
        rows: RowsAre,
        timeout: Duration,
        every: Duration,
    },
    /// Until somebody made a file.
    File {
        file: PathBuf,
        timeout: Duration,
        every: Duration,
    },
}

/// Another program, without a shell.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    pub program: String,
    pub args: Vec<String>,
    pub timeout: Duration,
    /// How it has to end.
    pub exit: i32,
}

impl Task {
    /// The key that it is written under.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Expect(_) => "expect",
            Self::Fail(_) => "fail",
            Self::Unmark(_) => "unmark",
            Self::Preview { .. } => "preview",
            Self::Route(_) => "route",
            Self::Disable(_) => "disable",
            Self::Enable(_) => "enable",
            Self::Apply(_) => "apply",
            Self::Wait(_) => "wait",
            Self::Verify { .. } => "verify",
            Self::Compare => "compare",
            Self::Jobs(_) => "jobs",
            Self::Hotspots { .. } => "hotspots",
            Self::Lanes(_) => "lanes",
            Self::Confirm => "confirm",
            Self::Rollback => "rollback",
            Self::Record { .. } => "record",
            Self::Run(_) => "run",
            Self::Notify { .. } => "notify",
        }
    }

    /// How long it lasts at the most because the book says so; what else it takes is not known before.
    pub fn lasts(&self) -> Duration {
        match self {
            Self::Wait(Wait::Time(time)) => *time,
            Self::Wait(Wait::Until { timeout, .. } | Wait::File { timeout, .. }) => *timeout,
            Self::Hotspots { interval, count } => interval.saturating_mul(*count),
            Self::Lanes(propose) => propose.interval.saturating_mul(propose.count),
            Self::Record { time, .. } => *time,
            Self::Run(program) => program.timeout,
            Self::Jobs(jobs) => jobs.timeout.unwrap_or_default(),
            _ => Duration::ZERO,
        }
    }

    /// Whether it makes a plan for a later step.
    pub fn makes_plan(&self) -> bool {
        matches!(self, Self::Route(_) | Self::Disable(_) | Self::Enable(_) | Self::Lanes(_))
    }
}

impl Book {
    /// Whether anything is written to the fabric.
    pub fn writes(&self) -> bool {
        let mut all = self.steps.iter().chain(&self.on_failure);
        all.any(|step| matches!(step.task, Task::Apply(_)))
    }
}
