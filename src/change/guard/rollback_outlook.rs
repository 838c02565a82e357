//! Compares what a rollback would lose with what the fabric loses now.

use std::collections::BTreeSet;

use crate::plan::Plan;
use crate::writes::{PlanWrite, WriteStep};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{ElementId, Fabric, Faults, Guid, PortId, PortNum, Routes, Tables};
use fabdeck_mad::access::{AttributePart, DevicePort, NoObserver, ReadOptions, SourceError, Surveyor};
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify};
use fabdeck_routing::{Cause, NoProgress, Problem};

/// The damage of some tables: pairs without a path though cables join them, and credit or forwarding loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RoutingDefects {
    pub pairs: u64,
    pub cycles: u64,
}

impl RoutingDefects {
    /// Whether there are more defects of some kind than these, in pairs and in cycles.
    pub(crate) fn exceeds(self, (pairs, cycles): (u64, u64)) -> bool {
        self.pairs > pairs || self.cycles > cycles
    }
}

/// The damage if the change stays (`staying`) and if it is rolled back (`back`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RollbackOutlook {
    pub staying: RoutingDefects,
    pub back: RoutingDefects,
}

impl RollbackOutlook {
    /// Reads the fabric, and certifies it as it is and as a rollback would leave it.
    pub fn evaluate(
        surveyor: &mut dyn Surveyor,
        plan: &Plan,
        steps: &[WriteStep],
    ) -> Result<Self, SourceError> {
        let look =
            surveyor.read_fabric(ReadOptions { tables: true, ..ReadOptions::default() }, &mut NoObserver)?;
        let RolledBackTables { tables: back, down, .. } = tables_after_rollback(&look, steps);
        let fabric = &look.fabric;
        let staying = find_rollback_defects(fabric, &look.tables, plan);
        Ok(Self {
            staying,
            back: find_defects_without(fabric, &back, plan, rollback_faults(fabric, plan), &down),
        })
    }

    /// Whether a rollback needs no decision: it loses no more pairs than staying, or than the fabric lost before the
    /// change. Credit loops do not count.
    pub fn is_rollback_no_worse(&self, lost_before: u64) -> bool {
        self.back.pairs <= self.staying.pairs.max(lost_before)
    }
}

/// The damage of tables over the scope of a plan.
pub fn find_defects(fabric: &Fabric, tables: &Tables, plan: &Plan) -> RoutingDefects {
    find_defects_without(fabric, tables, plan, plan.faults(fabric), &[])
}

/// The damage of tables as a rollback is judged by it: of a plan that leaves its failed links up, they count as they are.
pub fn find_rollback_defects(fabric: &Fabric, tables: &Tables, plan: &Plan) -> RoutingDefects {
    find_defects_without(fabric, tables, plan, rollback_faults(fabric, plan), &[])
}

fn rollback_faults(fabric: &Fabric, plan: &Plan) -> Faults {
    if plan.leaves_failed_up() { Faults::new() } else { plan.faults(fabric) }
}

/// The same, with these elements and more ports out of service.
fn find_defects_without(
    fabric: &Fabric,
    tables: &Tables,
    plan: &Plan,
    mut faults: Faults,
    down: &[PortId],
) -> RoutingDefects {
    down.iter().for_each(|port| _ = faults.mark(ElementId::Port(*port)));
    let problem = Problem::new(fabric, &faults);
    let mut routes = Routes::from_tables(fabric.switches().map(|(id, _)| tables.lft(id)));
    routes.lanes = plan.lanes_of(fabric, &routes, tables);
    let scope = RouteScope { switches: plan.scope.switches, lanes: LaneKnowledge::Known };
    // `NoProgress` never cancels, so the computation ends.
    let Ok(judged) = certify(&problem, &routes, &scope, &NoProgress) else {
        return RoutingDefects::default();
    };
    let pairs = judged.lost.total().saturating_sub(judged.lost.by_cause(Cause::CutOff));
    RoutingDefects { pairs, cycles: judged.cycles.len() as u64 + u64::from(judged.loops.count > 0) }
}

/// Forwarding tables after a rollback.
#[derive(Clone, Debug)]
pub struct RolledBackTables {
    /// Each block with the plan's bytes has its old bytes again.
    pub tables: Tables,
    /// The ports that lose their link, because the plan had enabled them.
    pub down: Vec<PortId>,
    /// Number of blocks with other bytes than those of the plan, old or new; they stay as they are.
    pub foreign: usize,
}

/// The forwarding tables after a rollback of these steps.
pub fn tables_after_rollback(look: &Observation, steps: &[WriteStep]) -> RolledBackTables {
    let (mut tables, mut down, mut foreign) = (look.tables.clone(), Vec::new(), 0);
    for step in steps {
        let Some(id) = step.slot.at.node(&look.fabric) else { continue };
        if let AttributePart::Port(port) = step.slot.part
            && step.old == [0]
        {
            down.extend(look.fabric.port_of(id, PortNum(port)));
        }
        let held = look.tables.nodes.get(&id);
        // Other parts do not change the forwarding tables.
        let (Some(held), AttributePart::Block(block)) = (held, step.slot.part) else { continue };
        let held = PlanWrite::block_in(held, block);
        if step.new == held {
            PlanWrite::put_part(step.slot.part, &step.old, tables.node_mut(id));
        } else if step.old != held {
            foreign += 1;
        }
    }
    RolledBackTables { tables, down, foreign }
}

/// The ports that a plan disables or enables: no route for MADs may use them.
pub fn switched_ports(steps: &[WriteStep]) -> BTreeSet<(Guid, u8)> {
    let ports = steps.iter().filter_map(|step| match step.slot.part {
        AttributePart::Port(port) => Some((step.slot.at.guid(), port)),
        _ => None,
    });
    ports.collect()
}

/// The first unreachable device that the steps write to.
pub fn first_unreached(lost: &[DevicePort], steps: &[WriteStep]) -> Option<DevicePort> {
    let written: BTreeSet<DevicePort> = steps.iter().map(|step| step.slot.destination()).collect();
    lost.iter().find(|at| written.contains(at)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_defects_of_either_kind_are_too_many() {
        let found = RoutingDefects { pairs: 2, cycles: 1 };
        let exceeds = [(2, 1), (3, 1), (1, 1), (2, 0)].map(|expected| found.exceeds(expected));
        assert_eq!(exceeds, [false, false, true, true]);
    }
}
