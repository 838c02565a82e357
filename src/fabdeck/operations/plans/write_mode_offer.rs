//! How a change is written: all at once while traffic flows, or in five phases, in which hosts leave the LIDs whose tables
//! change. A session offers both where the fabric allows it.

use serde::{Deserialize, Serialize};

use super::phased_routing::{path_bits_refusal, phase_failure};
use super::phases::{HalfPlanRequest, LidHalf, PhasedAgent, PhasedPlanError, leaving_lids};
use super::plan_origin::PlanOrigin;
use super::plan_request::{PlanRequest, WriteMode};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::count_words;
use crate::operations::environment::Env;
use crate::operations::lanes::levels::LevelsInForce;
use fabdeck_change::{Plan, PlanPhases};
use fabdeck_mad::access::{ReadObserver, ReadOptions};
use fabdeck_routing::{NoProgress, find_engine};

/// Whether a plan can be written in the other mode too.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OtherMode {
    /// The mode is part of the plan: of a file, a link, moves of flows or an undo.
    #[default]
    Fixed,
    Possible,
    /// The reason in a few words.
    Refused(String),
}

/// The mode of an offered plan, and what five phases cost.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WriteModeOffer {
    pub mode: WriteMode,
    pub other: OtherMode,
    /// Number of ports of hosts that leave their base LIDs in five phases.
    pub ports: usize,
    /// Whether the change is safe with flows on base LIDs too, so that it can go on without hosts that give no answer.
    pub safe_without: Option<bool>,
}

impl WriteModeOffer {
    /// The mode that a plan has.
    pub fn of_plan(plan: &Plan) -> Self {
        match &plan.phases {
            Some(PlanPhases { safe_without, hosts, .. }) => Self {
                mode: WriteMode::FivePhases,
                ports: hosts.len(),
                safe_without: *safe_without,
                other: OtherMode::Fixed,
            },
            None => Self::default(),
        }
    }

    /// The mode of the plan of an engine, and whether the other one is possible as far as the snapshot says it. Agents are
    /// asked for once the operator wants phases.
    pub(crate) fn of_request(request: &PlanRequest, plan: &Plan) -> Self {
        let offer = Self::of_plan(plan);
        if offer.mode == WriteMode::FivePhases {
            return Self { other: OtherMode::Possible, ..offer };
        }
        match request.leaving_ports() {
            Ok(ports) => Self { other: OtherMode::Possible, ports, ..offer },
            Err(why) => Self { other: OtherMode::Refused(why), ..offer },
        }
    }
}

impl PlanRequest {
    /// Number of ports of hosts that would leave their base LIDs; the error is the reason in a few words.
    fn leaving_ports(&self) -> Result<usize, String> {
        if find_engine(self.engine).is_some_and(|engine| engine.uses_path_bits()) {
            return Err(format!("{} uses every LID of a port", self.engine));
        }
        let lids = leaving_lids(&self.look, &self.marks).map_err(|error| short_reason(&error))?;
        match self.proposal.routes.lane_count() {
            0 | 1 => Ok(lids.len()),
            lanes => Err(short_reason(&PhasedPlanError::Lanes(lanes))),
        }
    }

    /// Makes the plan in five phases: the source is asked for its lane tables and for the agents of its hosts.
    pub(crate) fn make_phased(
        &self,
        env: Env<'_>,
        source: &str,
        watch: &mut dyn ReadObserver,
    ) -> Result<Plan, Failure> {
        let engine = find_engine(self.engine).filter(|engine| engine.uses_path_bits());
        if let Some(engine) = engine {
            return Err(path_bits_refusal(engine.id));
        }
        let lids = leaving_lids(&self.look, &self.marks).map_err(phase_failure)?;
        let mut snapshot = self.look.as_ref().clone();
        let mut open = env.outside.open(source, &env.given.reach)?;
        // The query for agents needs the subnet manager, which this reading finds.
        open.observe(ReadOptions::default(), watch)?;
        open.read_lanes(&mut snapshot.observation, None, watch)?;
        let states = open.find_agents(&lids)?;
        let agents: Vec<PhasedAgent> =
            lids.into_iter().zip(states).map(|(lid, subscribed)| PhasedAgent { lid, subscribed }).collect();
        let request = HalfPlanRequest {
            look: &snapshot,
            faults: &self.marks,
            engine: self.engine,
            half: LidHalf::Base,
            agents: &agents,
            sent: LevelsInForce::Unsaid,
        };
        let made = request.plan(&self.proposal, PlanOrigin::now(env.given), &NoProgress);
        let plan = made.map_err(phase_failure)?.plan;
        match plan.writes.is_empty() {
            false => Ok(plan),
            true => Err(Failure::new(
                Exit::Refused,
                format!(
                    "FD-7929: in five phases {} would change nothing, because no entry of a base LID differs; apply it at once",
                    self.engine
                ),
            )),
        }
    }
}

/// The reason of a refusal in a few words, for a row of a dialog.
fn short_reason(error: &PhasedPlanError) -> String {
    match error {
        PhasedPlanError::NoLmc => "hosts have one LID a port (LMC 0)".to_owned(),
        PhasedPlanError::Lanes(lanes) => {
            format!("these routes need {}", count_words(usize::from(*lanes), "lane", "lanes"))
        }
        other => other.to_string(),
    }
}
