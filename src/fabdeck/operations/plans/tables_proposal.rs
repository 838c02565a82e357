//! Forwarding tables in the form of a proposal, for plans that no engine makes.

use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::operations::lanes::levels::{LevelsInForce, lanes_in_force};
use crate::operations::preview::comparison::{PathScope, compare_with_tables};
use crate::operations::preview::whatif::{Proposal, ProposalTimes, routes_in_force};
use fabdeck_fabric::{Faults, Tables};
use fabdeck_routing::{EngineRefusal, NoProgress, Problem, RunExtent};

/// The routes of tables, compared with those in force, on the fabric without the marked elements.
pub(crate) fn tables_proposal(
    look: &Snapshot,
    wanted: &Tables,
    faults: &Faults,
    sent: LevelsInForce<'_>,
) -> Result<Proposal, EngineRefusal> {
    let problem = Problem::new(look.fabric(), faults);
    let mut routes = routes_in_force(look, wanted, faults);
    if let Some(lanes) = lanes_in_force(look, &problem, wanted, &routes, false, sent).lanes {
        routes.lanes = lanes;
    }
    let comparison = compare_with_tables(
        look,
        &look.observation.tables,
        &problem,
        &routes,
        PathScope { switches: false, sent },
        &NoProgress,
    )?;
    Ok(Proposal {
        supposed_lanes: None,
        degraded: false,
        routes: Arc::new(routes),
        switches: false,
        report: comparison.report,
        difference: comparison.difference,
        moved: comparison.moved.into(),
        changed_lanes: comparison.changed_lanes,
        transition: comparison.transition,
        remarks: Vec::new(),
        not_used: Vec::new(),
        running: None,
        ran: RunExtent::default(),
        took: ProposalTimes::default(),
    })
}
