//! The input for the state of dFtree's lanes.

use std::sync::Arc;

use super::levels::LevelsInForce;
use super::slow_lanes::{LaneState, lane_state};
use crate::catalogue::snapshot::Snapshot;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_routing::lanes::{FlowMoves, propose_moves};

/// The input for the state of lanes.
#[derive(Clone, Debug)]
pub struct LaneRequest {
    pub look: Arc<Snapshot>,
    /// The last verdict; without one, the state has only the moves in force.
    pub reading: Option<Arc<WatchVerdict>>,
    /// Whether the fabric is live, so that only the process can read it.
    pub live: bool,
    /// Whether all flows on the slow lane move back, independent of the verdict.
    pub back: bool,
}

impl LaneRequest {
    /// Computes the state from the snapshot alone, which does not contain the moves of applied changes.
    pub fn run(&self) -> LaneState {
        let moves = self.reading.as_ref().map_or_else(FlowMoves::default, |reading| {
            propose_moves(self.look.fabric(), &reading.watched.verdict, &reading.watched.told, &[])
        });
        lane_state(&self.look, &moves, &[], LevelsInForce::Unsaid)
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let reading = match (&self.reading, &other.reading) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        Arc::ptr_eq(&self.look, &other.look) && reading
    }
}
