//! Counts the pairs without a path under the tables in force, in the way in which a plan counted them before its writes.

use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::operations::preview::whatif::routes_in_force;
use fabdeck_fabric::{Element, ElementError, Faults, NodeId, Tables};
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify};
use fabdeck_routing::{Cause, Problem, RouteProgress};

/// What to count.
#[derive(Clone, Debug)]
pub struct PairCountRequest {
    pub look: Arc<Snapshot>,
    /// The elements that the plan takes as failed.
    pub failed: Vec<String>,
    /// Whether pairs of switches count too.
    pub switches: bool,
}

impl PairCountRequest {
    /// The pairs that cables connect and that have no path; `None` where that is not known.
    pub fn run(&self, progress: &dyn RouteProgress) -> Option<u64> {
        let Self { look, failed, switches } = self;
        let (fabric, tables) = (look.fabric(), &look.observation.tables);
        if !tables.has_forwarding() {
            return None;
        }
        let mut faults = Faults::new();
        for text in failed {
            match Element::find(fabric, &look.names, text) {
                Ok(element) => _ = faults.mark(element),
                Err(ElementError::Malformed(_) | ElementError::Ambiguous { .. }) => return None,
                // An element that is gone has no paths.
                Err(_) => {}
            }
        }
        count_pairs(look, tables, &faults, *switches, progress)
    }
}

/// The pairs that cables connect and that have no path under these tables if elements fail; `None` where a table is not
/// known.
pub(crate) fn count_pairs(
    look: &Snapshot,
    tables: &Tables,
    faults: &Faults,
    switches: bool,
    progress: &dyn RouteProgress,
) -> Option<u64> {
    let fabric = look.fabric();
    // A switch that is taken as failed may not answer any more; the tables of all others have to be known.
    let is_known =
        |id: NodeId| tables.nodes.get(&id).is_some_and(|held| held.lft.is_some() && held.unread.is_empty());
    if !fabric.switches().all(|(id, _)| faults.is_node_failed(id) || is_known(id)) {
        return None;
    }
    let problem = Problem::new(fabric, faults);
    let routes = routes_in_force(look, tables, faults);
    let scope = RouteScope { switches, lanes: LaneKnowledge::Known };
    let judged = certify(&problem, &routes, &scope, progress).ok()?;
    Some(judged.lost.total().saturating_sub(judged.lost.by_cause(Cause::CutOff)))
}
