//! Plans for one half of the LIDs. A plan for base LIDs is applied in five phases (dissertation 5.2.3). A plan for
//! high LIDs first provides the paths that hosts use meanwhile.
//!
//! No traffic uses base LIDs while their tables change, so old and new tables of base LIDs never mix. Hosts
//! leave and return one by one, so high LIDs may meet base LIDs in the old state or in the new one. Both
//! combinations have a certificate over all LIDs (definition 5.5, conditions 1 and 3).

use super::plan_origin::PlanOrigin;
use super::proposal_plan::{PlanCreationError, findings, make_plan};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::lanes::levels::LevelsInForce;
use crate::operations::lanes::slow_lanes::plan_port;
use crate::operations::preview::whatif::{Proposal, judge_routes, routes_in_force};
use fabdeck_change::{PhasedHost, Plan, PlanLanes, PlanPhases, SurvivingFabric, TransitionReport};
use fabdeck_fabric::{Faults, Lid, NO_PATH, PathLanes, Routes};
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope};
use fabdeck_routing::{EngineRefusal, Problem, RouteProgress};

/// The LIDs that a plan covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LidHalf {
    /// The lower half of the LIDs of each port, and the LIDs of switches. The plan has five phases.
    Base,
    /// The upper half.
    High,
}

/// Whether the agent of a host port is subscribed with the subnet manager, where that is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PhasedAgent {
    /// Base LID of the port.
    pub lid: Lid,
    pub subscribed: Option<bool>,
}

/// A plan for one half of the LIDs.
#[derive(Clone, Copy, Debug)]
pub struct HalfPlanRequest<'r> {
    pub look: &'r Snapshot,
    pub faults: &'r Faults,
    pub engine: &'r str,
    pub half: LidHalf,
    /// Agents of the hosts, which leave the base LIDs while these change.
    pub agents: &'r [PhasedAgent],
    /// The service levels of the paths in force.
    pub sent: LevelsInForce<'r>,
}

/// The plan for one half, and the proposal that it applies.
#[derive(Clone, Debug)]
pub struct HalfPlan {
    pub plan: Plan,
    pub proposal: Proposal,
}

/// Reason why no such plan is made.
#[derive(Debug, thiserror::Error)]
pub enum PhasedPlanError {
    #[error(
        "FD-7975: no port of a host has two LIDs (LMC 0), so hosts cannot leave their LIDs while tables change; leave out --phases: \
         the plan then has a transition check, with the verdict whether it is safe while traffic flows"
    )]
    NoLmc,
    #[error(
        "FD-7976: {0}, and a host without an agent does not leave the base LIDs; start 'fabdeck agent' there, or leave out --phases: \
         the plan then has a transition check, with the verdict whether it is safe while traffic flows"
    )]
    NoAgents(String),
    #[error(
        "FD-7977: these routes need {0} lanes, and hosts use one level for base LIDs: give --lanes 1, or \
         another engine"
    )]
    Lanes(u8),
    #[error(
        "FD-7978: hosts cannot move to high LIDs: {0}; first apply a plan of 'fabdeck route --engine updn --high-lids', \
         or a plan without --phases where base LIDs have the fault"
    )]
    NowhereToGo(&'static str),
    #[error(transparent)]
    Refused(#[from] EngineRefusal),
    #[error(transparent)]
    Plan(#[from] PlanCreationError),
}

/// The first LID of each host port that carries traffic, with the number of its LIDs.
fn ports_of_hosts(problem: &Problem<'_>) -> Vec<(Lid, u16)> {
    let ends = problem.graph.terminals().iter();
    ends.filter_map(|end| Some((end.lid?, end.lmc.lid_count()))).collect()
}

/// The host ports that have to leave the base LIDs; an error where one has a single LID.
pub fn leaving_lids(look: &Snapshot, faults: &Faults) -> Result<Vec<Lid>, PhasedPlanError> {
    let ports = ports_of_hosts(&Problem::new(look.fabric(), faults));
    match ports.iter().all(|(_, lids)| *lids >= 2) && !ports.is_empty() {
        true => Ok(ports.into_iter().map(|(lid, _)| lid).collect()),
        false => Err(PhasedPlanError::NoLmc),
    }
}

/// Whether a LID is a high LID, indexed by LID.
fn high_lids(problem: &Problem<'_>, stride: usize) -> Vec<bool> {
    let mut high = vec![false; stride];
    for (lid, lids) in ports_of_hosts(problem).into_iter().filter(|(_, lids)| *lids >= 2) {
        let first = lid.index() + usize::from(lids / 2);
        (first..first + usize::from(lids / 2)).for_each(|at| _ = high.get_mut(at).map(|at| *at = true));
    }
    high
}

/// The lanes of both halves: high LIDs use the lane with the number of their level.
fn lanes_of_halves(high: &[bool], level: u8) -> PathLanes {
    match level {
        0 => PathLanes::One,
        level => {
            let lane = high.iter().map(|high| if *high { level } else { 0 }).collect();
            PathLanes::ByDestination { lanes: level + 1, lane }
        }
    }
}

/// The service level of high LIDs: 1 where every switch maps it to lane 1, else 0 as for base LIDs. It is 0
/// too where no SL2VL tables are known; the certificate then covers both halves on one lane.
fn high_level(look: &Snapshot, faults: &Faults) -> u8 {
    let fabric = look.fabric();
    let problem = Problem::new(fabric, faults);
    if problem.usable_lanes(2) < 2 {
        return 0;
    }
    let surviving = SurvivingFabric::new(fabric, faults, look.manager());
    let mut routes = problem.empty_routes();
    routes.lanes = lanes_of_halves(&high_lids(&problem, routes.stride()), 1);
    let unmet = PlanLanes::of(&surviving, &routes).unmet_switches(&surviving, &look.observation.tables);
    u8::from(unmet.is_some_and(|switches| switches.is_empty()))
}

/// Checks that the tables in force can carry packets to both halves at once.
fn check_both_halves(
    look: &Snapshot,
    faults: &Faults,
    switches: bool,
    level: u8,
) -> Result<(), PhasedPlanError> {
    let mut held = routes_in_force(look, &look.observation.tables, faults);
    let problem = Problem::new(look.fabric(), faults);
    held.lanes = lanes_of_halves(&high_lids(&problem, held.stride()), level);
    let scope = RouteScope { switches, lanes: LaneKnowledge::Known };
    let report = judge_routes(look, &held, faults, &scope)?;
    if report.deadlock_free != Some(true) {
        return Err(PhasedPlanError::NowhereToGo(
            "under the tables in force base LIDs and high LIDs have a credit loop together",
        ));
    }
    let left = report.unreachable - report.by_cause.cut_off.min(report.unreachable);
    match left == 0 && report.loops == 0 {
        true => Ok(()),
        false => Err(PhasedPlanError::NowhereToGo("under the tables in force some pairs have no path")),
    }
}

impl HalfPlanRequest<'_> {
    /// Makes the plan from a proposal for all LIDs.
    pub fn plan(
        &self,
        proposal: &Proposal,
        made: PlanOrigin,
        pulse: &dyn RouteProgress,
    ) -> Result<HalfPlan, PhasedPlanError> {
        let Self { look, faults, engine, sent, .. } = *self;
        leaving_lids(look, faults)?;
        let lanes = proposal.routes.lane_count();
        if lanes > 1 {
            return Err(PhasedPlanError::Lanes(lanes));
        }
        if self.half == LidHalf::High {
            let proposal = self.restrict(proposal, 0, pulse)?;
            let plan = make_plan(look, faults, engine, &proposal, sent, made)?;
            return Ok(HalfPlan { plan, proposal });
        }
        let hosts = phased_hosts(look, faults, self.agents)?;
        let level = high_level(look, faults);
        check_both_halves(look, faults, proposal.switches, level)?;
        let proposal = self.restrict(proposal, level, pulse)?;
        let mut plan = make_plan(look, faults, engine, &proposal, sent, made)?;
        let safe_without = plan.transition.safe;
        plan.phases = Some(PlanPhases { base_level: 0, high_level: level, safe_without, hosts });
        plan.transition = phased_transition(&plan.transition, safe_without);
        let surviving = SurvivingFabric::new(look.fabric(), faults, look.manager());
        let unmet = plan.lanes.unmet_switches(&surviving, &look.observation.tables);
        plan.findings = findings(&proposal.report, &plan.transition, unmet.as_deref());
        Ok(HalfPlan { plan, proposal })
    }

    /// Restricts a proposal to the half; the other half keeps its tables in force.
    fn restrict(
        &self,
        proposal: &Proposal,
        level: u8,
        pulse: &dyn RouteProgress,
    ) -> Result<Proposal, EngineRefusal> {
        let (look, faults) = (self.look, self.faults);
        let problem = Problem::new(look.fabric(), faults);
        let held = routes_in_force(look, &look.observation.tables, faults);
        let mut routes: Routes = proposal.routes.as_ref().clone();
        let high = high_lids(&problem, routes.stride());
        for (switch, row) in routes.rows_mut().enumerate() {
            let before = held.row(switch as u32);
            for (lid, port) in row.iter_mut().enumerate() {
                if high[lid] != (self.half == LidHalf::High) {
                    *port = before.get(lid).copied().unwrap_or(NO_PATH);
                }
            }
        }
        routes.lanes = lanes_of_halves(&high, level);
        proposal.clone().with_routes(look, &problem, routes, self.sent, pulse)
    }
}

/// The report on a transition in five phases: no traffic uses the LIDs whose entries change, so no packet
/// meets old and new ones.
fn phased_transition(plain: &TransitionReport, without: Option<bool>) -> TransitionReport {
    let without = match without {
        Some(true) => "safe",
        Some(false) => "not safe",
        None => "not known to be safe",
    };
    TransitionReport {
        safe: Some(true),
        reason: Some(format!(
            "in five phases hosts leave the base LIDs before their tables change (without phases it is {without})"
        )),
        old_lanes: plain.old_lanes.clone(),
        on_the_way: plain.on_the_way.clone(),
        mixed: Some(true),
        ..TransitionReport::default()
    }
}

/// All host ports; an error where one has no agent.
fn phased_hosts(
    look: &Snapshot,
    faults: &Faults,
    agents: &[PhasedAgent],
) -> Result<Vec<PhasedHost>, PhasedPlanError> {
    const MAX_NAMED: usize = 3;
    let problem = Problem::new(look.fabric(), faults);
    let (mut hosts, mut without) = (Vec::new(), Vec::new());
    for end in problem.graph.terminals() {
        let Some(lid) = end.lid else { continue };
        let Some(port) = plan_port(look, lid) else { continue };
        if !agents.contains(&PhasedAgent { lid, subscribed: Some(true) }) {
            without.push(port.name.clone());
        }
        hosts.push(PhasedHost { port, lids: end.lmc.lid_count() });
    }
    match without.len() {
        0 => Ok(hosts),
        some => {
            let more = if some > MAX_NAMED { ", ..." } else { "" };
            without.truncate(MAX_NAMED);
            let ports = count_words(some, "port of a host has", "ports of hosts have");
            Err(PhasedPlanError::NoAgents(format!(
                "{ports} no agent that is subscribed with the subnet manager ({}{more})",
                without.join(", ")
            )))
        }
    }
}

/// The line about phases; other plans have none.
pub fn phase_lines(plan: &Plan) -> Vec<(&'static str, String)> {
    let Some(PlanPhases { base_level, high_level, hosts, .. }) = &plan.phases else { return Vec::new() };
    let hosts = count_words(hosts.len(), "port of a host", "ports of hosts");
    vec![(
        "phases",
        format!(
            "{hosts} to leave base LIDs (level {base_level}) for high LIDs (level {high_level}) before the first write, and to \
             return after the last"
        ),
    )]
}
