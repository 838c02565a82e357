//! A proposal written down as a plan.

use super::{Look, Proposal};
use crate::change::{FailedElement, Fingerprint, Plan, PlanError, PlanLanes, SCHEMA, Scope, writes};
use crate::fabric::{Faults, NodeId};

/// Who made a plan and when, as far as it is to be told.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Made {
    pub created: Option<String>,
    pub author: Option<String>,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum UnwrittenPlan {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("FD-7921: {0}")]
    Text(#[from] serde_json::Error),
}

/// What an engine proposes for the marks, against the tables that are held.
pub fn plan_of(
    look: &Look,
    faults: &Faults,
    engine: &str,
    proposal: &Proposal,
    made: Made,
) -> Result<Plan, UnwrittenPlan> {
    let tables = &look.observation.tables;
    let alive = |switch| !faults.node_failed(NodeId(switch));
    let writes = writes(look.fabric(), tables, &proposal.routes, alive)?;
    let manager = look.observation.subnet_manager.as_ref().map(|manager| manager.guid);
    let difference = proposal.difference;
    let fabric = look.fabric();
    let print = Fingerprint::of(fabric, tables, manager, faults);
    let fingerprint = match leans_on_lanes(proposal) {
        true => print.with_lanes(fabric, tables, manager, faults),
        false => print,
    };
    Ok(Plan {
        schema: SCHEMA.to_owned(),
        source: look.source.clone(),
        assumed: look.assumed.map(str::to_owned),
        engine: engine.to_owned(),
        failed: FailedElement::all(fabric, &look.names, faults),
        scope: Scope {
            switches: proposal.switches,
            partitions: proposal.report.partitions.map(|count| count as u64),
            most_lanes: proposal.most_lanes,
        },
        created: made.created,
        author: made.author,
        fingerprint,
        names: Plan::names_of(fabric, &|id| look.name(id).to_owned()),
        lanes: PlanLanes::of(look.fabric(), &proposal.routes),
        certificate: serde_json::to_value(&proposal.report)?,
        impact: serde_json::json!({
            "changed_entries": difference.entries, "changed_blocks": difference.blocks,
            "changed_switches": difference.switches, "moved_pairs": difference.moved_pairs,
            "changed_lanes": proposal.changed_lanes,
        }),
        transition: proposal.transition.clone(),
        writes,
        hash: String::new(),
    })
}

/// Whether what is said of a proposal would be otherwise if switches put service levels on other lanes, or had fewer.
fn leans_on_lanes(proposal: &Proposal) -> bool {
    let told =
        ["one", "path records", "SL2VL"].iter().any(|word| proposal.transition.old_lanes.starts_with(word));
    told || proposal.routes.lane_count() > 1
}
