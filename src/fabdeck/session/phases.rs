//! Plans for one half of the LIDs. A plan for base LIDs is applied in five phases (dissertation 5.2.3). A plan for
//! high LIDs first provides the paths that hosts use meanwhile.
//!
//! No traffic uses base LIDs while their tables change, so old and new tables of base LIDs never mix. Hosts
//! leave and return one by one, so high LIDs may meet base LIDs in the old state or in the new one. Both
//! combinations have a certificate over all LIDs (definition 5.5, conditions 1 and 3).

use std::sync::Arc;

use super::lanes::Sent;
use super::slow_lanes::plan_port;
use super::weighed::weigh;
use super::whatif::{in_force, judged};
use super::written_plan::findings;
use super::{Look, Made, Proposal, UnwrittenPlan, counted, plan_of};
use fabdeck_change::{PhasedHost, Plan, PlanLanes, PlanPhases, Standing, TransitionReport};
use fabdeck_fabric::{Faults, Lanes, Lid, NO_PATH, Routes};
use fabdeck_routing::certificate::{LaneKnowledge, Scope};
use fabdeck_routing::{Problem, Pulse, Refusal};

/// The LIDs that a plan covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Half {
    /// The lower half of the LIDs of each port, and the LIDs of switches. The plan has five phases.
    Base,
    /// The upper half.
    High,
}

/// Reason why no such plan is made.
#[derive(Debug, thiserror::Error)]
pub enum Unphased {
    #[error(
        "FD-7975: no port of a host has two LIDs (LMC 0), so there is nowhere to go while tables change; leave out --phases: \
         the plan then has its transition check, which says whether it is safe while traffic flows"
    )]
    NoLmc,
    #[error(
        "FD-7976: {0}, and whoever has none does not leave the base LIDs; start 'fabdeck agent' there, or leave out --phases: \
         the plan then has its transition check, which says whether it is safe while traffic flows"
    )]
    NoAgents(String),
    #[error(
        "FD-7977: these routes need {0} lanes, and hosts can be told one level for base LIDs: ask for --lanes 1, or take \
         another engine"
    )]
    Lanes(u8),
    #[error(
        "FD-7978: hosts cannot go to high LIDs: {0}; 'fabdeck route --engine updn --high-lids' makes a plan that is to be applied \
         first, and where base LIDs are at fault they need a plain plan"
    )]
    NowhereToGo(&'static str),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Plan(#[from] UnwrittenPlan),
}

/// The first LID of each host port that carries traffic, with the number of its LIDs.
fn ports_of_hosts(problem: &Problem<'_>) -> Vec<(Lid, u16)> {
    let ends = problem.graph.terminals().iter();
    ends.filter_map(|end| Some((end.lid?, end.lmc.lids()))).collect()
}

/// The host ports that have to leave the base LIDs; an error where one has a single LID.
pub fn leaving(look: &Look, faults: &Faults) -> Result<Vec<Lid>, Unphased> {
    let ports = ports_of_hosts(&Problem::new(look.fabric(), faults));
    match ports.iter().all(|(_, lids)| *lids >= 2) && !ports.is_empty() {
        true => Ok(ports.into_iter().map(|(lid, _)| lid).collect()),
        false => Err(Unphased::NoLmc),
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
fn lanes_of(high: &[bool], level: u8) -> Lanes {
    match level {
        0 => Lanes::One,
        level => {
            let lane = high.iter().map(|high| if *high { level } else { 0 }).collect();
            Lanes::ByDestination { lanes: level + 1, lane }
        }
    }
}

/// Restricts a proposal to one half of the LIDs; the other half keeps its tables in force.
fn restricted(
    (look, faults): (&Look, &Faults),
    proposal: &Proposal,
    (half, level): (Half, u8),
    sent: Sent<'_>,
    pulse: &dyn Pulse,
) -> Result<Proposal, Unphased> {
    let tables = &look.observation.tables;
    let problem = Problem::new(look.fabric(), faults);
    let held = in_force(look, tables, faults);
    let mut routes: Routes = proposal.routes.as_ref().clone();
    let high = high_lids(&problem, routes.stride());
    for (switch, row) in routes.rows_mut().enumerate() {
        let before = held.row(switch as u32);
        for (lid, port) in row.iter_mut().enumerate() {
            if high[lid] != (half == Half::High) {
                *port = before.get(lid).copied().unwrap_or(NO_PATH);
            }
        }
    }
    routes.lanes = lanes_of(&high, level);
    let weighed = weigh((look, tables), &problem, &routes, (proposal.switches, sent), pulse)?;
    let running = proposal.running.as_ref().and_then(|running| running.over(&problem, &routes));
    Ok(Proposal {
        running,
        routes: Arc::new(routes),
        report: weighed.report,
        difference: weighed.difference,
        changed_lanes: weighed.changed_lanes,
        transition: weighed.transition,
        ..proposal.clone()
    })
}

/// The service level of high LIDs: 1 where every switch maps it to lane 1, else 0 as for base LIDs. It is 0
/// too where no SL2VL tables are known; the certificate then covers both halves on one lane.
fn high_level(look: &Look, faults: &Faults) -> u8 {
    let fabric = look.fabric();
    let problem = Problem::new(fabric, faults);
    if problem.usable_lanes(2) < 2 {
        return 0;
    }
    let standing = Standing::new(fabric, faults, look.manager());
    let mut routes = problem.no_routes();
    routes.lanes = lanes_of(&high_lids(&problem, routes.stride()), 1);
    let unmet = PlanLanes::of(&standing, &routes).unmet(&standing, &look.observation.tables);
    u8::from(unmet.is_some_and(|switches| switches.is_empty()))
}

/// Checks that the tables in force can carry packets to both halves at once.
fn holds_both(look: &Look, faults: &Faults, switches: bool, level: u8) -> Result<(), Unphased> {
    let mut held = in_force(look, &look.observation.tables, faults);
    let problem = Problem::new(look.fabric(), faults);
    held.lanes = lanes_of(&high_lids(&problem, held.stride()), level);
    let scope = Scope { switches, lanes: LaneKnowledge::Known };
    let report = judged(look, &held, faults, &scope)?;
    if report.deadlock_free != Some(true) {
        return Err(Unphased::NowhereToGo(
            "by the tables in force packets to base LIDs and to high ones can wait for each other in a circle",
        ));
    }
    let left = report.unreachable - report.by_cause.cut_off.min(report.unreachable);
    match left == 0 && report.loops == 0 {
        true => Ok(()),
        false => Err(Unphased::NowhereToGo("by the tables in force some pairs have no path")),
    }
}

/// Makes a plan from a proposal for one half of the LIDs. `agents` states for hosts whether an agent is
/// subscribed, where that is known.
pub fn plan_of_half(
    (look, faults): (&Look, &Faults),
    (engine, proposal): (&str, &Proposal),
    (half, agents): (Half, &[(Lid, Option<bool>)]),
    (sent, made): (Sent<'_>, Made),
    pulse: &dyn Pulse,
) -> Result<(Plan, Proposal), Unphased> {
    leaving(look, faults)?;
    let lanes = proposal.routes.lane_count();
    if lanes > 1 {
        return Err(Unphased::Lanes(lanes));
    }
    if half == Half::High {
        let proposal = restricted((look, faults), proposal, (half, 0), sent, pulse)?;
        return Ok((plan_of(look, faults, engine, &proposal, sent, made)?, proposal));
    }
    let hosts = hosts(look, faults, agents)?;
    let level = high_level(look, faults);
    holds_both(look, faults, proposal.switches, level)?;
    let proposal = restricted((look, faults), proposal, (half, level), sent, pulse)?;
    let mut plan = plan_of(look, faults, engine, &proposal, sent, made)?;
    let safe_without = plan.transition.safe;
    plan.phases = Some(PlanPhases { base_level: 0, high_level: level, safe_without, hosts });
    plan.transition = in_phases(&plan.transition, safe_without);
    let standing = Standing::new(look.fabric(), faults, look.manager());
    let unmet = plan.lanes.unmet(&standing, &look.observation.tables);
    plan.findings = findings(&proposal.report, &plan.transition, unmet.as_deref());
    Ok((plan, proposal))
}

/// The report on a transition in five phases: no traffic uses the LIDs whose entries change, so no packet
/// meets old and new ones.
fn in_phases(plain: &TransitionReport, without: Option<bool>) -> TransitionReport {
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
fn hosts(look: &Look, faults: &Faults, agents: &[(Lid, Option<bool>)]) -> Result<Vec<PhasedHost>, Unphased> {
    const NAMED: usize = 3;
    let problem = Problem::new(look.fabric(), faults);
    let (mut hosts, mut without) = (Vec::new(), Vec::new());
    for end in problem.graph.terminals() {
        let Some(lid) = end.lid else { continue };
        let Some(port) = plan_port(look, lid) else { continue };
        if !agents.contains(&(lid, Some(true))) {
            without.push(port.name.clone());
        }
        hosts.push(PhasedHost { port, lids: end.lmc.lids() });
    }
    match without.len() {
        0 => Ok(hosts),
        some => {
            let more = if some > NAMED { ", ..." } else { "" };
            without.truncate(NAMED);
            let ports = counted(some, "port of a host has", "ports of hosts have");
            Err(Unphased::NoAgents(format!(
                "{ports} no agent that listens, as far as the subnet manager says ({}{more})",
                without.join(", ")
            )))
        }
    }
}

/// The line about phases; other plans have none.
pub fn phase_lines(plan: &Plan) -> Vec<(&'static str, String)> {
    let Some(PlanPhases { base_level, high_level, hosts, .. }) = &plan.phases else { return Vec::new() };
    let hosts = counted(hosts.len(), "port of a host", "ports of hosts");
    vec![(
        "phases",
        format!(
            "{hosts} to leave base LIDs (level {base_level}) for high LIDs (level {high_level}) before the first write, and to \
             come back behind the last"
        ),
    )]
}
