//! Plans that put back the forwarding tables, SL2VL tables and ports of a confirmed change.

use super::plan_origin::PlanOrigin;
use super::proposal_plan::{PlanCreationError, make_plan};
use super::tables_proposal::tables_proposal;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::lanes::levels::LevelsInForce;
use crate::operations::lanes::migrations::DFTREE;
use fabdeck_change::{
    BeginRecord, Plan, PlanWrite, RolledBackTables, SurvivingFabric, UNDO_OF, WriteStep,
    tables_after_rollback,
};
use fabdeck_fabric::{ElementId, Fabric, Faults, PhysicalState, PortId, PortNum};
use fabdeck_mad::SlToVl;
use fabdeck_mad::access::AttributePart;
use fabdeck_routing::EngineRefusal;

/// The plan of the way back.
#[derive(Debug)]
pub struct UndoPlan {
    pub plan: Plan,
    /// Number of parts that others wrote since, and that stay as they are.
    pub foreign: usize,
}

/// Why there is no such plan.
#[derive(Debug, thiserror::Error)]
pub enum UndoPlanError {
    #[error("FD-7906: nothing that change {0} wrote is in the fabric any more, so there is nothing to undo")]
    Nothing(u64),
    #[error("FD-7907: write {0} of the change is not readable: {1}; a new plan replaces the change")]
    Write(usize, &'static str),
    #[error(transparent)]
    Refused(#[from] EngineRefusal),
    #[error(transparent)]
    Plan(#[from] PlanCreationError),
}

/// Makes the plan that puts back what a change wrote to forwarding tables, SL2VL tables and ports, as far as it is still there.
pub fn undo_plan(
    look: &Snapshot,
    begun: &BeginRecord,
    sent: LevelsInForce<'_>,
    made: PlanOrigin,
) -> Result<UndoPlan, UndoPlanError> {
    let step =
        |(at, write): (usize, &PlanWrite)| write.to_step().map_err(|why| UndoPlanError::Write(at + 1, why));
    let steps: Vec<WriteStep> = begun.writes.iter().enumerate().map(step).collect::<Result<_, _>>()?;
    let RolledBackTables { tables, foreign, .. } = tables_after_rollback(&look.observation, &steps);
    let fabric = look.fabric();
    let ports: Vec<(PortId, &PlanWrite)> =
        begun.writes.iter().filter_map(|write| Some((switched_port(fabric, write)?, write))).collect();
    // A port that goes out of service again takes its cable with it.
    let mut faults = Faults::new();
    for (port, _) in ports.iter().filter(|(_, write)| write.old == DISABLED) {
        faults.mark(fabric.port(*port).link.map_or(ElementId::Port(*port), ElementId::Link));
    }
    let proposal = tables_proposal(look, &tables, &faults, sent)?;
    let what = match begun.engine.starts_with(UNDO_OF) {
        true => format!("{UNDO_OF} {}", begun.number),
        false => format!("{UNDO_OF} {} ({})", begun.number, begun.engine),
    };
    let mut plan = make_plan(look, &faults, &what, &proposal, sent, made)?;
    let lanes: Vec<&PlanWrite> = match begun.engine == DFTREE {
        // Hosts may still use the slow lane.
        true => Vec::new(),
        false => begun.writes.iter().filter(|write| is_lane_table_held(look, write)).collect(),
    };
    if !lanes.is_empty() {
        let surviving = SurvivingFabric::new(fabric, &faults, look.manager());
        plan.writes.extend(lanes.into_iter().rev().map(reversed));
        plan.fingerprint = plan.fingerprint.with_lanes(&surviving, &look.observation.tables);
        plan.cover_adapters(&surviving, &look.observation.tables);
    }
    plan.writes.extend(ports.iter().rev().map(|(_, write)| reversed(write)));
    match plan.writes.is_empty() {
        true => Err(UndoPlanError::Nothing(begun.number)),
        false => Ok(UndoPlan { plan, foreign }),
    }
}

/// The byte of a disabled port in a plan.
const DISABLED: &str = "00";

/// The port that a write switched and that is still as it was switched.
fn switched_port(fabric: &Fabric, write: &PlanWrite) -> Option<PortId> {
    let AttributePart::Port(number) = write.part else { return None };
    let port = fabric.port_of(write.switch(fabric)?, PortNum(number))?;
    let disabled = fabric.port(port).facts.physical_state == Some(PhysicalState::Disabled);
    (disabled == (write.new == DISABLED)).then_some(port)
}

/// Whether a write is of an SL2VL table that is still as it was written.
fn is_lane_table_held(look: &Snapshot, write: &PlanWrite) -> bool {
    let AttributePart::Lanes([from, to]) = write.part else { return false };
    let held = write.node(look.fabric()).and_then(|node| look.observation.tables.nodes.get(&node));
    let row = held.and_then(|held| held.sl2vl.get(&(PortNum(from), PortNum(to))));
    let bytes = write.to_step().map(|step| step.new).unwrap_or_default();
    row.is_some_and(|row| SlToVl::from_table(*row).pairs.as_slice() == bytes)
}

fn reversed(write: &PlanWrite) -> PlanWrite {
    let PlanWrite { at, part, old, new } = write.clone();
    PlanWrite { at, part, old: new, new: old }
}
