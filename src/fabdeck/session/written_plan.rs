//! Makes a plan from a proposal.

use std::sync::Arc;

use super::assume::assume_empty_tables;
use super::lanes::{LEVEL_ASSUMED, LISTED, POLICY};
use super::lanes::{Sent, relaid};
use super::passage::passage;
use super::weighed::{weigh, without_tables};
use super::whatif::in_force;
use super::{Look, Proposal, Report, counted};
use fabdeck_change::{
    CutOff, FailedElement, Fingerprint, Plan, PlanError, PlanFileError, PlanLanes, SCHEMA, Scope, Standing,
    TransitionReport, writes,
};
use fabdeck_fabric::{Faults, Lanes, Lid, NO_PATH, NodeId, Routes};
use fabdeck_routing::{Problem, Pulse, Refusal};

/// LIDs that the tables in force route and that no known port owns.
fn silent_lids(look: &Look, faults: &Faults) -> Vec<u16> {
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let held = in_force(look, tables, faults);
    let led_to = |lid: &u16| {
        fabric
            .switches()
            .any(|(id, _)| held.row(id.0).get(usize::from(*lid)).is_some_and(|port| *port != NO_PATH))
    };
    let unowned = |lid: &u16| Lid::new((*lid).into()).is_some_and(|lid| fabric.port_by_lid(lid).is_none());
    let stride = u16::try_from(held.stride()).unwrap_or(u16::MAX);
    (1..stride).filter(unowned).filter(led_to).collect()
}

/// Whether part of the fabric did not answer. A missing path record of the subnet manager is no sign of that.
fn hides(look: &Look) -> bool {
    const NO_PATH_RECORD: &str = "FN-531";
    let observation = &look.observation;
    observation.notes.iter().any(|note| note.partial && note.code != NO_PATH_RECORD)
        || observation.fabric.nodes().any(|(_, node)| !node.facts.answered)
}

/// The author and time of a plan, where the plan states them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Made {
    pub created: Option<String>,
    pub author: Option<String>,
}

/// Reason why no plan is made.
#[derive(Debug, thiserror::Error)]
pub enum UnwrittenPlan {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(
        "FD-7924: part of the fabric did not answer, and tables in force lead to {count} {} of it (LID {first} first): a plan \
         would take these routes away; look again when everything answers",
        if *count == 1 { "LID" } else { "LIDs" }
    )]
    Silent { count: usize, first: u16 },
    #[error("FD-7921: {0}")]
    Text(#[from] serde_json::Error),
    #[error(
        "FD-7923: the plan is not written, for it would be refused when it is read: {0}; this is a bug in fabdeck"
    )]
    Refused(#[from] PlanFileError),
}

/// Restricts a proposal to the switches that a plan can write. The others keep their tables; certificate,
/// impact and transition count this.
pub fn settled(
    look: &Look,
    faults: &Faults,
    proposal: Proposal,
    sent: Sent<'_>,
    pulse: &dyn Pulse,
) -> Result<Proposal, Refusal> {
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let standing = Standing::new(fabric, faults, look.manager());
    if fabric.switches().all(|(id, _)| standing.holds(id) || faults.node_failed(id)) {
        return Ok(proposal);
    }
    let held = in_force(look, tables, faults);
    let lfts: Vec<_> = fabric
        .switches()
        .map(|(id, _)| if standing.holds(id) { proposal.routes.lft(id.0) } else { held.lft(id.0) })
        .collect();
    let mut routes = Routes::of_tables(lfts.iter().map(Some));
    routes.lanes = relaid(&proposal.routes, &routes);
    let stride = routes.stride().max(1);
    if let Lanes::ByPair { lane, .. } = &mut routes.lanes {
        let rows = fabric.switches().zip(lane.chunks_mut(stride));
        rows.filter(|((id, _), _)| !standing.holds(*id)).for_each(|(_, row)| row.fill(0));
    }
    let problem = Problem::new(fabric, faults);
    let weighed = weigh((look, tables), &problem, &routes, (proposal.switches, sent), pulse)?;
    Ok(Proposal {
        running: proposal.running.as_ref().and_then(|running| running.over(&problem, &routes)),
        routes: Arc::new(routes),
        report: weighed.report,
        difference: weighed.difference,
        changed_lanes: weighed.changed_lanes,
        transition: weighed.transition,
        ..proposal
    })
}

/// The text of a plan file. Reading it back ensures that fabdeck accepts its own file.
pub fn plan_text(plan: &Plan) -> Result<String, UnwrittenPlan> {
    let text = plan.text()?;
    Plan::read(&text)?;
    Ok(text)
}

/// The findings of a plan: defects of its certificate and transition, and switches that do not map its levels
/// to its lanes.
pub(super) fn findings(
    report: &Report,
    transition: &TransitionReport,
    unmet: Option<&[NodeId]>,
) -> Vec<String> {
    let mut found = report.faults();
    let unmet = unmet.map_or(0, <[NodeId]>::len);
    if unmet > 0 {
        let switches = counted(unmet, "switch puts", "switches put");
        found.push(format!("its lanes hold only once {switches} each level on the lane of its number"));
    }
    if transition.safe == Some(false) {
        found.push("it is not safe while traffic flows".to_owned());
    }
    found
}

/// Makes a plan from a proposal. Where the source has no tables in force, the plan writes whole tables and
/// leaves the transition unknown. The proposal must be a [`settled`] one, with `sent` as in its options.
pub fn plan_of(
    look: &Look,
    faults: &Faults,
    engine: &str,
    proposal: &Proposal,
    sent: Sent<'_>,
    made: Made,
) -> Result<Plan, UnwrittenPlan> {
    if look.observation.tables.has_forwarding() {
        return plan_over_tables(look, faults, engine, proposal, sent, made);
    }
    let mut empty = look.clone();
    assume_empty_tables(&mut empty);
    let plan = plan_over_tables(&empty, faults, engine, proposal, sent, made)?;
    Ok(Plan { transition: without_tables(), ..plan })
}

fn plan_over_tables(
    look: &Look,
    faults: &Faults,
    engine: &str,
    proposal: &Proposal,
    sent: Sent<'_>,
    made: Made,
) -> Result<Plan, UnwrittenPlan> {
    let tables = &look.observation.tables;
    let difference = proposal.difference;
    let fabric = look.fabric();
    let standing = Standing::new(fabric, faults, look.manager());
    let name = |id| look.name(id).to_owned();
    let silent = silent_lids(look, faults);
    // A plan that changes no entry removes no route to a silent node.
    let hidden = difference.entries > 0 && hides(look);
    if let Some(first) = silent.first().filter(|_| hidden) {
        return Err(UnwrittenPlan::Silent { count: silent.len(), first: *first });
    }
    let writes = writes(&standing, tables, &proposal.routes, &name)?;
    let (writes, transition) = passage(look, faults, proposal, sent, writes);
    let print = Fingerprint::of(&standing, tables);
    let fingerprint = match leans_on_lanes(proposal) {
        true => print.with_lanes(&standing, tables),
        false => print,
    };
    let lanes = PlanLanes::of(&standing, &proposal.routes);
    let unmet = lanes.unmet(&standing, tables);
    let mut plan = Plan {
        schema: SCHEMA.to_owned(),
        source: look.source.clone(),
        assumed: look.assumed.map(str::to_owned),
        engine: engine.to_owned(),
        failed: FailedElement::all(fabric, &look.names, faults),
        scope: Scope { switches: proposal.switches },
        created: made.created,
        author: made.author,
        fingerprint,
        names: Plan::names_of(fabric, &name),
        lanes,
        migrations: Vec::new(),
        phases: None,
        certificate: serde_json::to_value(&proposal.report)?,
        impact: serde_json::json!({
            "changed_entries": difference.entries, "changed_blocks": difference.blocks,
            "changed_switches": difference.switches, "moved_pairs": difference.moved_pairs,
            "changed_lanes": proposal.changed_lanes,
        }),
        jobs: match &proposal.running {
            Some(running) => serde_json::to_value(running.gain(look, faults))?,
            None => serde_json::Value::Null,
        },
        findings: findings(&proposal.report, &transition, unmet.as_deref()),
        transition,
        cut_off: CutOff::default(),
        writes,
        hash: String::new(),
    };
    plan.cut_off = plan.cut_off((fabric, tables), look.manager(), &name);
    Ok(plan)
}

/// Whether the verdicts on a proposal depend on the SL2VL tables, or on the number of lanes of switches.
fn leans_on_lanes(proposal: &Proposal) -> bool {
    let told = ["one", "path records", "SL2VL", LEVEL_ASSUMED, POLICY, LISTED]
        .iter()
        .any(|word| proposal.transition.old_lanes.starts_with(word));
    told || proposal.routes.lane_count() > 1
}
