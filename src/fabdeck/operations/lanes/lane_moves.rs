//! The moves of flows that dFtree would make, with all that a plan of them needs.

use super::lanes_in_force::LanesInForce;
use super::migrations::{MigrationPlanError, migration_plan};
use super::slow_lanes::{LaneState, lane_state};
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::plans::plan_origin::PlanOrigin;
use fabdeck_change::Plan;
use fabdeck_fabric::Lid;
use fabdeck_mad::access::Source;
use fabdeck_routing::lanes::FlowMoves;

/// A fabric with its lanes, and the moves that dFtree would make.
pub struct LaneMoves {
    pub snapshot: Snapshot,
    in_force: LanesInForce,
    moves: FlowMoves,
    /// Hosts with flows that move or have moved, and whether an agent of theirs is subscribed, where that is known.
    agents: Vec<(Lid, Option<bool>)>,
}

impl LaneMoves {
    /// Asks the hosts of the moves whether they have agents.
    pub fn read(
        source: &mut dyn Source,
        snapshot: Snapshot,
        in_force: LanesInForce,
        moves: FlowMoves,
    ) -> Result<Self, Failure> {
        let hosts: Vec<Lid> = moves.affected_hosts(snapshot.fabric()).into_iter().collect();
        let subscribed = source.find_agents(&hosts)?;
        let agents = hosts.into_iter().zip(subscribed).collect();
        Ok(Self { snapshot, in_force, moves, agents })
    }

    pub fn state(&self) -> LaneState {
        lane_state(&self.snapshot, &self.moves, &self.agents, self.in_force.sent())
    }

    pub fn has_moves(&self) -> bool {
        self.moves.has_moves()
    }

    pub fn plan(&self, made: PlanOrigin) -> Result<Plan, MigrationPlanError> {
        migration_plan(&self.snapshot, &self.moves, &self.agents, self.in_force.sent(), made)
    }
}
