//! Makes a plan from a proposal.

use std::collections::BTreeMap;

use super::adaptive_refusal::AdaptiveRefusal;
use super::plan_origin::PlanOrigin;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::check::judgement::CertificateReport;
use crate::operations::lanes::levels::{
    FROM_PATH_LIST, FROM_QOS_POLICY, LEVEL_ASSUMED, LevelsInForce, rearrange_lanes,
};
use crate::operations::preview::assume::{assume, assume_empty_tables};
use crate::operations::preview::comparison::transition_without_tables;
use crate::operations::preview::transition::plan_transition;
use crate::operations::preview::whatif::{Proposal, routes_in_force};
use fabdeck_change::{
    CertificateScope, CutOffReport, FailedElement, Fingerprint, Plan, PlanError, PlanFileError, PlanLanes,
    PlanPathBits, SCHEMA, SurvivingFabric, TransitionReport, plan_writes,
};
use fabdeck_fabric::{Faults, Lid, NO_PATH, NodeId, PathLanes, Routes, UnreadEntries};
use fabdeck_routing::{EngineRefusal, Problem, RouteProgress, find_engine};

/// LIDs that the tables in force route and that no known port owns.
fn silent_lids(look: &Snapshot, faults: &Faults) -> Vec<u16> {
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let held = routes_in_force(look, tables, faults);
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
fn has_unanswered_part(look: &Snapshot) -> bool {
    const NO_PATH_RECORD: &str = "FN-531";
    let observation = &look.observation;
    observation.notes.iter().any(|note| note.partial && note.code != NO_PATH_RECORD)
        || observation.fabric.nodes().any(|(_, node)| !node.facts.answered)
}

/// Reason why no plan is made.
#[derive(Debug, thiserror::Error)]
pub enum PlanCreationError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(
        "FD-7924: part of the fabric did not answer, and tables in force lead to {count} {} of it (LID {first} first): a plan \
         would remove these routes; read the fabric again when all nodes answer",
        if *count == 1 { "LID" } else { "LIDs" }
    )]
    Silent { count: usize, first: u16 },
    #[error("FD-7927: no plan is made: {0}")]
    Adaptive(AdaptiveRefusal),
    #[error("FD-7921: {0}")]
    Text(#[from] serde_json::Error),
    #[error("FD-7923: the plan is not written, because reading it back fails: {0}; this is a bug in fabdeck")]
    Refused(#[from] PlanFileError),
}

/// Restricts a proposal to the switches that a plan can write. The others keep their tables; certificate,
/// impact and transition count this.
pub fn settle_proposal(
    look: &Snapshot,
    faults: &Faults,
    proposal: Proposal,
    sent: LevelsInForce<'_>,
    pulse: &dyn RouteProgress,
) -> Result<Proposal, EngineRefusal> {
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let surviving = SurvivingFabric::new(fabric, faults, look.manager());
    if fabric.switches().all(|(id, _)| surviving.contains(id) || faults.is_node_failed(id)) {
        return Ok(proposal);
    }
    let held = routes_in_force(look, tables, faults);
    let lfts: Vec<_> = fabric
        .switches()
        .map(|(id, _)| if surviving.contains(id) { proposal.routes.lft(id.0) } else { held.lft(id.0) })
        .collect();
    let mut routes = Routes::from_tables(lfts.iter().map(Some));
    routes.lanes = rearrange_lanes(&proposal.routes, &routes);
    routes.path_bits = proposal.routes.path_bits.clone();
    // Without tables in force it is not known what a switch holds that the plan does not write.
    let unwritten = fabric.switches().map(|(id, _)| id).filter(|id| !surviving.contains(*id));
    let unwritten = unwritten.filter(|id| !faults.is_node_failed(*id) && !tables.has_forwarding());
    let unread: BTreeMap<u32, UnreadEntries> = unwritten.map(|id| (id.0, UnreadEntries::All)).collect();
    let unread_tables = unread.len() as u64;
    if unread_tables > 0 {
        routes = routes.with_unread(unread);
    }
    let stride = routes.stride().max(1);
    if let PathLanes::ByPair { lane, .. } | PathLanes::ByHop { level: lane, .. } = &mut routes.lanes {
        let rows = fabric.switches().zip(lane.chunks_mut(stride));
        rows.filter(|((id, _), _)| !surviving.contains(*id)).for_each(|(_, row)| row.fill(0));
    }
    let problem = Problem::new(fabric, faults);
    let mut settled = proposal.with_routes(look, &problem, routes, sent, pulse)?;
    settled.report = settled.report.with_unread_tables(unread_tables);
    Ok(settled)
}

/// The text of a plan file. Reading it back ensures that fabdeck accepts its own file.
pub fn plan_text(plan: &Plan) -> Result<String, PlanCreationError> {
    let text = plan.text()?;
    Plan::read(&text)?;
    Ok(text)
}

/// The findings of a plan: defects of its certificate and transition, and switches that do not map its levels
/// to its lanes.
pub(crate) fn findings(
    report: &CertificateReport,
    transition: &TransitionReport,
    unmet: Option<&[NodeId]>,
) -> Vec<String> {
    let mut found = report.defect_words();
    let unmet = unmet.map_or(0, <[NodeId]>::len);
    if unmet > 0 {
        let switches = count_words(unmet, "switch maps", "switches map");
        found.push(format!("its lanes are valid only after {switches} each level to the lane of its number"));
    }
    if transition.safe == Some(false) {
        found.push("it is not safe while traffic flows".to_owned());
    }
    found
}

/// Makes a plan from a proposal. Where the source has no tables in force, the plan writes whole tables and
/// leaves the transition unknown. The proposal must be a [`settle_proposal`] one, with `sent` as in its options.
pub fn make_plan(
    look: &Snapshot,
    faults: &Faults,
    engine: &str,
    proposal: &Proposal,
    sent: LevelsInForce<'_>,
    made: PlanOrigin,
) -> Result<Plan, PlanCreationError> {
    let plan = match look.observation.tables.has_forwarding() {
        true => plan_over_tables(look, faults, engine, proposal, sent, made)?,
        false => {
            let mut empty = look.clone();
            assume_empty_tables(&mut empty);
            let mut plan = plan_over_tables(&empty, faults, engine, proposal, sent, made)?;
            plan.cut_off = cut_off_by_cables(look, faults, &plan);
            Plan { transition: transition_without_tables(), ..plan }
        }
    };
    match AdaptiveRefusal::new(look, &plan.writes) {
        Some(refusal) => Err(PlanCreationError::Adaptive(refusal)),
        None => Ok(plan),
    }
}

/// What a plan cuts off of all that cables connect: shortest paths stand for tables that are not known.
fn cut_off_by_cables(look: &Snapshot, faults: &Faults, plan: &Plan) -> CutOffReport {
    if faults.is_empty() {
        return CutOffReport::default();
    }
    let mut assumed = look.clone();
    let shortest = find_engine("minhop").map(|engine| assume(&mut assumed, engine));
    match shortest {
        Some(Ok(())) => {
            let tables = &assumed.observation.tables;
            plan.cut_off(assumed.fabric(), tables, look.manager(), &|id| look.name(id).to_owned())
        }
        _ => CutOffReport::default(),
    }
}

fn plan_over_tables(
    look: &Snapshot,
    faults: &Faults,
    engine: &str,
    proposal: &Proposal,
    sent: LevelsInForce<'_>,
    made: PlanOrigin,
) -> Result<Plan, PlanCreationError> {
    let tables = &look.observation.tables;
    let difference = proposal.difference;
    let fabric = look.fabric();
    let surviving = SurvivingFabric::new(fabric, faults, look.manager());
    let name = |id| look.name(id).to_owned();
    let silent = silent_lids(look, faults);
    // A plan that changes no entry removes no route to a silent node.
    let hidden = difference.entries > 0 && has_unanswered_part(look);
    if let Some(first) = silent.first().filter(|_| hidden) {
        return Err(PlanCreationError::Silent { count: silent.len(), first: *first });
    }
    let writes = plan_writes(&surviving, tables, &proposal.routes, &name)?;
    let (writes, transition) = plan_transition(look, faults, proposal, sent, writes);
    let print = Fingerprint::of(&surviving, tables);
    let fingerprint = match depends_on_lanes(proposal) {
        true => print.with_lanes(&surviving, tables),
        false => print,
    };
    let lanes = PlanLanes::of(&surviving, &proposal.routes);
    let unmet = lanes.unmet_switches(&surviving, tables);
    let mut plan = Plan {
        schema: SCHEMA.to_owned(),
        source: look.source.clone(),
        assumed: look.assumed.map(str::to_owned),
        engine: engine.to_owned(),
        failed: FailedElement::from_faults(fabric, &look.names, faults),
        scope: CertificateScope { switches: proposal.switches },
        created: made.created,
        author: made.author,
        fingerprint,
        names: Plan::names_of(fabric, &name),
        lanes,
        path_bits: PlanPathBits::of(fabric, &proposal.routes),
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
        cut_off: CutOffReport::default(),
        writes,
        hash: String::new(),
    };
    plan.cover_adapters(&surviving, tables);
    plan.cut_off = plan.cut_off(fabric, tables, look.manager(), &name);
    Ok(plan)
}

/// Whether the verdicts on a proposal depend on the SL2VL tables, or on the number of lanes of switches.
fn depends_on_lanes(proposal: &Proposal) -> bool {
    let uses_lanes = ["one", "path records", "SL2VL", LEVEL_ASSUMED, FROM_QOS_POLICY, FROM_PATH_LIST]
        .iter()
        .any(|word| proposal.transition.old_lanes.starts_with(word));
    uses_lanes || proposal.routes.lane_count() > 1 || proposal.routes.lanes.is_by_hop()
}
