//! A proposal written down as a plan.

use super::{Look, Proposal};
use crate::change::{Fingerprint, Plan, PlanError, PlanLanes, SCHEMA, writes};
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
    Ok(Plan {
        schema: SCHEMA.to_owned(),
        source: look.source.clone(),
        assumed: look.assumed.map(str::to_owned),
        engine: engine.to_owned(),
        failed: faults.elements(look.fabric(), &look.names).iter().map(ToString::to_string).collect(),
        created: made.created,
        author: made.author,
        fingerprint: Fingerprint::of(look.fabric(), tables, manager),
        lanes: PlanLanes::of(look.fabric(), &proposal.routes),
        certificate: serde_json::to_value(&proposal.report)?,
        impact: serde_json::json!({
            "changed_entries": difference.entries, "changed_blocks": difference.blocks,
            "changed_switches": difference.switches, "moved_pairs": difference.moved_pairs,
            "changed_lanes": proposal.changed_lanes,
        }),
        transition: proposal.transition.clone(),
        writes,
    })
}
