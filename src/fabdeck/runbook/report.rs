//! The report of a run.

use crate::catalogue::json_type::json_type;
use std::collections::BTreeMap;

use super::execute::PendingRollback;
use super::guard::GuardVerdict;
use super::steps::{Runbook, RunbookStep};
use super::values::StepValue;

json_type! {
    /// State of a step after the run.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    #[serde(rename_all = "kebab-case")]
    pub enum StepState {
        Done,
        /// The rehearsal did as much of the step as is possible without writing.
        Rehearsed,
        /// A guard after the step does not hold, or its expectation is not met.
        Stopped,
        /// The step could not be done.
        Failed,
        Interrupted,
        NotRun,
    }
}

impl StepState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Rehearsed => "rehearsed",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::NotRun => "not run",
        }
    }
}

json_type! {
    /// Outcome of a run.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    #[serde(rename_all = "kebab-case")]
    pub enum RunState {
        Done,
        /// A guard or an expectation stopped the run.
        Stopped,
        Failed,
        Interrupted,
    }

    #[derive(Clone, PartialEq, Debug)]
    pub struct GuardReport {
        pub guard: String,
        pub verdict: GuardVerdict,
        pub found: String,
    }

    #[derive(Clone, PartialEq, Debug)]
    pub struct StepReport {
        pub number: usize,
        pub kind: &'static str,
        pub id: Option<String>,
        pub name: Option<String>,
        pub line: usize,
        pub state: StepState,
        /// What the step did, or why it was not done.
        pub words: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub began: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub seconds: Option<f64>,
        /// Whether a node did not answer a reading of this step.
        pub partial: bool,
        pub values: BTreeMap<String, StepValue>,
        pub guards: Vec<GuardReport>,
        /// The change that the step applied or decided.
        pub change: Option<String>,
    }
}

impl StepReport {
    pub fn not_run(number: usize, step: &RunbookStep) -> Self {
        Self {
            number,
            kind: step.task.kind(),
            id: step.id.clone(),
            name: step.name.clone(),
            line: step.line,
            state: StepState::NotRun,
            words: String::new(),
            began: None,
            seconds: None,
            partial: false,
            values: BTreeMap::new(),
            guards: Vec::new(),
            change: None,
        }
    }
}

/// Report of a whole run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunReport {
    pub name: String,
    pub dry_run: bool,
    pub vars: BTreeMap<String, String>,
    pub state: RunState,
    pub exit: u8,
    /// Why the run ended early.
    pub why: Option<String>,
    pub steps: Vec<StepReport>,
    pub on_failure: Vec<StepReport>,
    /// The change that was applied, not confirmed, and rolled back at the end.
    pub taken_back: Option<PendingRollback>,
}

impl RunReport {
    pub fn of(book: &Runbook, dry_run: bool) -> Self {
        let list = |steps: &[RunbookStep]| {
            steps.iter().enumerate().map(|(at, step)| StepReport::not_run(at + 1, step)).collect()
        };
        Self {
            name: book.name.clone(),
            dry_run,
            vars: book.vars.clone(),
            state: RunState::Done,
            exit: 0,
            why: None,
            steps: list(&book.steps),
            on_failure: list(&book.on_failure),
            taken_back: None,
        }
    }
}
