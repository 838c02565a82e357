//! Compares what a rollback would lose with what the fabric loses now.

use std::collections::BTreeSet;

use crate::plan::Plan;
use crate::writes::{Step, Write};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, Guid, PortId, PortNum, Resolved, Routes, Tables};
use fabdeck_mad::access::{DevicePort, Part, SourceError, Surveyor, Unwatched, Wanted};
use fabdeck_routing::certificate::{LaneKnowledge, Scope, certify};
use fabdeck_routing::{Cause, NoPulse, Problem};

/// The damage of some tables: pairs without a path though cables join them, and credit or forwarding loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wrong {
    pub pairs: u64,
    pub circles: u64,
}

/// The damage of both choices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outlook {
    pub staying: Wrong,
    pub back: Wrong,
}

impl Outlook {
    /// Reads the fabric, and certifies it as it is and as a rollback would leave it.
    pub fn of(surveyor: &mut dyn Surveyor, plan: &Plan, steps: &[Step]) -> Result<Self, SourceError> {
        let look = surveyor.look(Wanted { tables: true, ..Wanted::default() }, &mut Unwatched)?;
        let (back, down) = taken_back(&look, steps);
        let fabric = &look.fabric;
        let staying = wrong(fabric, &look.tables, plan);
        Ok(Self { staying, back: wrong_without(fabric, &back, plan, &down) })
    }

    /// Whether a rollback needs no decision: it loses no more pairs than staying, or than the fabric lost before the
    /// change. Credit loops do not count.
    pub fn back_is_no_worse(&self, lost_before: u64) -> bool {
        self.back.pairs <= self.staying.pairs.max(lost_before)
    }
}

/// The damage of tables over the scope of a plan.
pub fn wrong(fabric: &Fabric, tables: &Tables, plan: &Plan) -> Wrong {
    wrong_without(fabric, tables, plan, &[])
}

/// The same, with more ports out of service.
fn wrong_without(fabric: &Fabric, tables: &Tables, plan: &Plan, down: &[PortId]) -> Wrong {
    let mut faults = plan.faults(fabric);
    down.iter().for_each(|port| _ = faults.mark(Resolved::Port(*port)));
    let problem = Problem::new(fabric, &faults);
    let mut routes = Routes::of_tables(fabric.switches().map(|(id, _)| tables.lft(id)));
    routes.lanes = plan.lanes_of(fabric, &routes);
    let scope = Scope { switches: plan.scope.switches, lanes: LaneKnowledge::Known };
    // `NoPulse` never cancels, so the computation ends.
    let Ok(judged) = certify(&problem, &routes, &scope, &NoPulse) else { return Wrong::default() };
    let pairs = judged.lost.total().saturating_sub(judged.lost.by_cause(Cause::CutOff));
    Wrong { pairs, circles: judged.cycles.len() as u64 + u64::from(judged.loops.count > 0) }
}

/// The tables after a rollback: each block with the plan's bytes gets its old bytes. Also the ports that lose their
/// link, because the plan had enabled them.
fn taken_back(look: &Observation, steps: &[Step]) -> (Tables, Vec<PortId>) {
    let (mut tables, mut down) = (look.tables.clone(), Vec::new());
    for step in steps {
        let Some(id) = step.slot.at.node(&look.fabric) else { continue };
        if let Part::Port(port) = step.slot.part
            && step.old == [0]
        {
            down.extend(look.fabric.port_of(id, PortNum(port)));
        }
        let held = look.tables.nodes.get(&id);
        let ours = match step.slot.part {
            Part::Block(block) => held.is_some_and(|held| step.new == Write::block_in(held, block)),
            // Other parts do not change the forwarding tables.
            _ => false,
        };
        if ours {
            Write::put(step.slot.part, &step.old, tables.entry(id));
        }
    }
    (tables, down)
}

/// The ports that a plan disables or enables: no route for MADs may use them.
pub fn switched(steps: &[Step]) -> BTreeSet<(Guid, u8)> {
    let ports = steps.iter().filter_map(|step| match step.slot.part {
        Part::Port(port) => Some((step.slot.at.guid(), port)),
        _ => None,
    });
    ports.collect()
}

/// The first unreachable device that the steps write to.
pub fn unreached(lost: &[DevicePort], steps: &[Step]) -> Option<DevicePort> {
    let written: BTreeSet<DevicePort> = steps.iter().map(|step| step.slot.arrival()).collect();
    lost.iter().find(|at| written.contains(at)).copied()
}
