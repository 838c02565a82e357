//! What the slow lane would do for a hot-spot, and what applied changes have it do already. Screens that offer a move count
//! here, as its plan does.

use super::migrations::moved_flows;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_change::{Migration, MigrationDirection};
use fabdeck_fabric::{Lid, PortId};
use fabdeck_routing::lanes::{lids_of, propose_moves};

/// The flows to one hot-spot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneRelief {
    /// The adapter port that receives too slowly.
    pub adapter: PortId,
    /// Number of flows that would move to the slow lane.
    pub proposed: usize,
    /// Number of flows that are there.
    pub in_force: usize,
    /// The last change that moved flows there.
    pub change: Option<u64>,
}

/// A migration, and the number of its change.
pub type NumberedMigration = (u64, Migration);

/// The flows to the hot-spots of a reading. `changes` are the migrations in force and those that they replaced, the oldest
/// first.
pub fn lane_reliefs(
    look: &Snapshot,
    reading: &WatchVerdict,
    changes: &[NumberedMigration],
) -> Vec<LaneRelief> {
    let fabric = look.fabric();
    let migrations: Vec<Migration> = changes.iter().map(|(_, migration)| migration.clone()).collect();
    let moved = moved_flows(fabric, &migrations);
    let moves = propose_moves(fabric, &reading.watched.verdict, &reading.watched.told, &moved);
    let change_of = |lids: &[Lid]| {
        let to_slow = changes.iter().rev().filter(|(_, one)| one.towards == MigrationDirection::Slow);
        let mut own = to_slow
            .filter(|(_, one)| lids.iter().any(|lid| u32::from(lid.value()) == u32::from(one.hot_spot.lid)));
        own.next().map(|(number, _)| *number)
    };
    let relief = |spot: &fabdeck_routing::lanes::HotSpotMoves| {
        let lids: Vec<Lid> = lids_of(fabric, spot.adapter).collect();
        let in_force = spot.moved.iter().map(|flows| flows.hosts.len()).sum();
        LaneRelief {
            adapter: spot.adapter,
            proposed: spot.joins.len() * lids.len(),
            in_force,
            change: change_of(&lids).filter(|_| in_force > 0),
        }
    };
    moves.spots.iter().map(relief).collect()
}
