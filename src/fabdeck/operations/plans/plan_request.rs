//! The input of a plan that an operator asks for.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::plan_origin::PlanOrigin;
use super::proposal_plan::make_plan;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::lanes::levels::LevelsInForce;
use crate::operations::preview::whatif::Proposal;
use fabdeck_change::{Plan, StagedTransition};
use fabdeck_fabric::Faults;

/// How a change is written: all at once, or in five phases, in which hosts leave the LIDs whose tables change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteMode {
    #[default]
    AtOnce,
    FivePhases,
}

/// The input of a plan.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    pub look: Arc<Snapshot>,
    pub marks: Faults,
    pub engine: &'static str,
    pub proposal: Arc<Proposal>,
    /// Commands for a plan that is not safe while traffic flows.
    pub staged: StagedCommands,
    /// How the session applies it.
    pub mode: WriteMode,
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
    pub(crate) fn commands_through(&self, engine: &str) -> Vec<String> {
        let [before, behind] = &self.first;
        let first = (!self.others.is_empty()).then(|| format!("{before}{engine}{behind}"));
        first.into_iter().chain(self.others.iter().cloned()).collect()
    }
}

impl PlanRequest {
    pub fn make_text(&self, made: PlanOrigin) -> Result<String, String> {
        let plan =
            make_plan(&self.look, &self.marks, self.engine, &self.proposal, LevelsInForce::Unsaid, made);
        let staged = |mut plan: Plan| {
            if let Some(StagedTransition { through: Some(through), commands, .. }) =
                &mut plan.transition.staged
            {
                *commands = self.staged.commands_through(through);
            }
            plan
        };
        plan.map(staged).and_then(|plan| Ok(plan.text()?)).map_err(|error| error.to_string())
    }
}
