//! The writes that lead from the tables in force to routes: SL2VL tables, where lanes change on the way, and forwarding tables.

use super::surviving_fabric::SurvivingFabric;
use super::writes::{PlanError, PlanWrite, block_writes};
use fabdeck_fabric::{NodeId, PathLanes, Routes, Sl2Vl, Tables};
use fabdeck_mad::SlToVl;
use fabdeck_mad::access::AttributePart;

/// The writes of SL2VL tables, then those of forwarding tables. Errors call a node by its name.
pub fn plan_writes(
    standing: &SurvivingFabric<'_>,
    tables: &Tables,
    routes: &Routes,
    name: &dyn Fn(NodeId) -> String,
) -> Result<Vec<PlanWrite>, PlanError> {
    let mut writes = lane_writes(standing, tables, routes, name)?;
    writes.extend(block_writes(standing, tables, routes, name)?);
    Ok(writes)
}

/// The writes in the order of the nodes, then of the ports; none for routes whose paths stay on one lane each. Where no
/// switch has a route, as for a source without tables, every SL2VL table is written, and lane 0 stands for its old lanes.
fn lane_writes(
    standing: &SurvivingFabric<'_>,
    tables: &Tables,
    routes: &Routes,
    name: &dyn Fn(NodeId) -> String,
) -> Result<Vec<PlanWrite>, PlanError> {
    let PathLanes::ByHop { tables: wanted, .. } = &routes.lanes else { return Ok(Vec::new()) };
    let has_routes = tables.nodes.values().any(|held| held.lft.as_ref().is_some_and(|lft| !lft.is_empty()));
    let mut writes = Vec::new();
    for (id, wanted) in wanted.nodes.iter().filter(|(id, _)| standing.contains(**id)) {
        let node = standing.fabric.node(*id);
        let held = tables.nodes.get(id).map(|held| &held.sl2vl);
        for ((from, to), new) in &wanted.sl2vl {
            let old = held.and_then(|held| held.get(&(*from, *to)));
            let old = match (old, has_routes) {
                (Some(old), _) if old == new => continue,
                (Some(old), _) => *old,
                (None, false) => Sl2Vl::default(),
                (None, true) => {
                    let node = format!("{} ({})", name(*id), node.guid());
                    return Err(PlanError::NoLanes { node });
                }
            };
            let [old, new] = [old, *new].map(|row| SlToVl::from_table(row).pairs);
            let part = AttributePart::Lanes([from.value(), to.value()]);
            let write = if node.is_switch() { PlanWrite::for_switch } else { PlanWrite::for_adapter };
            writes.push(write(node.guid(), part, &old, &new));
        }
    }
    Ok(writes)
}
