//! A runbook as read from its file.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::guard::StepGuard;
use super::row_condition::RowCondition;
use fabdeck_change::SilentHostAction;
use fabdeck_routing::LaneDependence;

/// Steps with the guards that limit them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Runbook {
    pub name: String,
    pub summary: String,
    /// Variables with their values for this run.
    pub vars: BTreeMap<String, String>,
    /// Guards that are judged after every step.
    pub guards: Vec<StepGuard>,
    pub steps: Vec<RunbookStep>,
    /// Steps that run when a step or a guard failed.
    pub on_failure: Vec<RunbookStep>,
}

/// One step of a runbook.
#[derive(Clone, PartialEq, Debug)]
pub struct RunbookStep {
    pub line: usize,
    /// Prefix under which later guards find the values of this step.
    pub id: Option<String>,
    pub name: Option<String>,
    pub task: StepTask,
    pub guards: Vec<StepGuard>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum StepTask {
    Expect(ExpectTask),
    Fail(Vec<String>),
    /// Removes these marks; all marks if the list is empty.
    Unmark(Vec<String>),
    Preview {
        engines: Vec<String>,
    },
    Route(RouteTask),
    Disable(String),
    Enable(String),
    Apply(ApplyTask),
    Wait(WaitTask),
    Verify {
        accept: Vec<String>,
    },
    /// Compares confirmed changes with the fabric, tables included.
    Compare,
    Jobs(JobsTask),
    Hotspots {
        interval: Duration,
        count: u32,
    },
    Lanes(ProposeTask),
    Confirm,
    Rollback,
    Record {
        file: PathBuf,
        time: Duration,
        interval: Duration,
    },
    Run(ProgramTask),
    Notify {
        text: String,
        file: Option<PathBuf>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub enum ExpectTask {
    Rows(RowCondition),
    /// Conditions over values of earlier steps.
    Values(Vec<StepGuard>),
}

/// Where the list of running jobs comes from: a file, or Slurm.
#[derive(Clone, PartialEq, Debug)]
pub struct JobsTask {
    pub file: Option<PathBuf>,
    pub slurm: bool,
    pub squeue: Option<PathBuf>,
    pub timeout: Option<Duration>,
}

/// Routes of an engine around the marked elements.
#[derive(Clone, PartialEq, Debug)]
pub struct RouteTask {
    pub engine: String,
    /// Number of virtual lanes; `None` uses as many as the ports have, or as many as are assumed.
    pub lanes: Option<u8>,
    pub lanes_by: LaneDependence,
    /// File for the plan; without one, only later steps can use the plan.
    pub plan: Option<PathBuf>,
}

/// The migrations that dFtree proposes.
#[derive(Clone, PartialEq, Debug)]
pub struct ProposeTask {
    pub interval: Duration,
    pub count: u32,
    pub plan: Option<PathBuf>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ApplyTask {
    /// File of the plan; `None` takes the plan of the last step that made one.
    pub plan: Option<PathBuf>,
    pub window: Duration,
    /// Whether the plan is written through OpenSM instead of directly.
    pub opensm: bool,
    pub opensm_conf: Option<PathBuf>,
    pub opensm_console: Option<SocketAddr>,
    pub beside_manager: bool,
    pub accept: Vec<String>,
    /// For plans in five phases: what to do when hosts do not answer.
    pub unanswered: SilentHostAction,
}

#[derive(Clone, PartialEq, Debug)]
pub enum WaitTask {
    Time(Duration),
    /// Waits until the rows fulfil the condition.
    Until {
        rows: RowCondition,
        timeout: Duration,
        every: Duration,
    },
    /// Waits until a file exists.
    File {
        file: PathBuf,
        timeout: Duration,
        every: Duration,
    },
}

/// Another program, started without a shell.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramTask {
    pub program: String,
    pub args: Vec<String>,
    pub timeout: Duration,
    /// Exit code that counts as success.
    pub exit: i32,
}

impl StepTask {
    /// Key of this step in the file.
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

    /// Longest duration that the runbook states; the rest of a step's time is unknown in advance.
    pub fn max_duration(&self) -> Duration {
        match self {
            Self::Wait(WaitTask::Time(time)) => *time,
            Self::Wait(WaitTask::Until { timeout, .. } | WaitTask::File { timeout, .. }) => *timeout,
            Self::Hotspots { interval, count } => interval.saturating_mul(*count),
            Self::Lanes(propose) => propose.interval.saturating_mul(propose.count),
            Self::Record { time, .. } => *time,
            Self::Run(program) => program.timeout,
            Self::Jobs(jobs) => jobs.timeout.unwrap_or_default(),
            _ => Duration::ZERO,
        }
    }

    /// Whether the step makes a plan for a later step.
    pub fn makes_plan(&self) -> bool {
        matches!(self, Self::Route(_) | Self::Disable(_) | Self::Enable(_) | Self::Lanes(_))
    }
}

impl Runbook {
    /// Whether any step writes to the fabric.
    pub fn has_writes(&self) -> bool {
        let mut all = self.steps.iter().chain(&self.on_failure);
        all.any(|step| matches!(step.task, StepTask::Apply(_)))
    }
}
