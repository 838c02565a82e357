//! What a policy needs of its surroundings: the watch gives it the live fabric, tests a simulated one.

use super::policy_switch::PolicyStop;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::lanes::lanes_in_force::LanesInForce;
use crate::operations::lanes::levels::LevelsInForce;
use crate::operations::plans::plan_origin::PlanOrigin;
use fabdeck_change::{ChangePhase, Plan, PlanWrite};

/// What became of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChangeStart {
    /// The change is in force and read back.
    Applied {
        id: String,
    },
    /// The change exists, and how it goes on is not known yet.
    Begun {
        id: String,
    },
    NotBegun {
        why: String,
    },
}

/// What the journal has of the change that took a link out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IsolationRecord {
    pub number: u64,
    pub writes: Vec<PlanWrite>,
}

/// The fabric as it is now.
#[derive(Debug)]
pub struct PolicyFabric {
    pub look: Snapshot,
    lanes: LanesInForce,
}

impl PolicyFabric {
    pub(super) fn new(look: Snapshot, lanes: LanesInForce) -> Self {
        Self { look, lanes }
    }

    /// A fabric of which no service levels are known.
    pub fn without_levels(look: Snapshot) -> Self {
        Self::new(look, LanesInForce::of_choice(None))
    }

    /// The service levels of the paths in force.
    pub fn sent(&self) -> LevelsInForce<'_> {
        self.lanes.sent()
    }
}

/// The surroundings of a policy.
pub trait PolicyActions {
    /// Why policies are off, if they are.
    fn find_stop(&mut self) -> Option<PolicyStop>;
    fn turn_off(&mut self, why: &str) -> Result<(), Failure>;
    fn report_line(&mut self, line: &str);
    /// Whether changes are applied; otherwise they are only reported.
    fn writes(&self) -> bool;
    fn origin(&self) -> PlanOrigin;
    /// Reads the fabric as it is now; an error where part of it did not answer.
    fn read_fabric(&mut self) -> Result<PolicyFabric, String>;
    /// Applies a plan with these findings accepted. `record` is called with the id before the change exists.
    fn apply(
        &mut self,
        plan: &Plan,
        accepted: &[String],
        record: &mut dyn FnMut(&str) -> Result<(), Failure>,
    ) -> ChangeStart;
    /// The phase of a change; `Refused` for one that never began, `None` where that is not known now.
    fn phase(&mut self, id: &str) -> Option<ChangePhase>;
    /// Whether an incomplete change is in force as a whole, because its guard did not roll it back.
    fn is_left_whole(&mut self, id: &str) -> bool;
    fn find_isolation(&mut self, id: &str) -> Result<IsolationRecord, String>;
    /// What differs from an applied plan, read independently of its guard; an error if that is unknown.
    fn find_deviation(&mut self, plan: &Plan, accepted: &[String]) -> Result<Option<String>, String>;
    /// Confirms a change; the journal says that the policy did.
    fn confirm(&mut self, id: &str) -> Result<(), String>;
    /// Rolls a change back; if that fails, its guard does it at the deadline.
    fn roll_back(&mut self, id: &str) -> Result<(), String>;
}
