//! The input for the state of dFtree's lanes in a console. The verdict is the session's; lane tables, levels of paths and
//! agents are read anew.

use std::sync::Arc;

use super::lane_moves::LaneMoves;
use super::lanes_in_force::{DEFAULT_QUERY_LIMIT, LanesInForce};
use super::levels::LevelsInForce;
use super::migrations::moved_flows;
use super::slow_lanes::{LaneState, lane_state};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::environment::Env;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_change::Migration;
use fabdeck_fabric::observe::PathLevels;
use fabdeck_mad::access::{
    LaneReadOutcome, LevelReadOptions, LevelReadOutcome, ReadObserver, ReadOptions, Source,
};
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

    /// Reads the fabric with its lanes; `left` are the migrations of earlier changes that are in force.
    pub(crate) fn read_moves(
        &self,
        env: Env<'_>,
        source: &str,
        left: &[Migration],
        watch: &mut dyn ReadObserver,
    ) -> Result<LaneMoves, Failure> {
        let mut open = env.outside.open(source, &env.given.reach)?;
        let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
        let observed = open.observe(wanted, watch)?;
        let mut look = env.snapshot_of(source, observed)?;
        // The verdict's ports belong to the snapshot that it was made from.
        if look.fabric() != self.look.fabric() {
            let what = "FD-7942: this is not the fabric whose counters were read; r reads it again";
            return Err(Failure::new(Exit::Stale, what));
        }
        let in_force = LanesInForce::of_records(read_levels(open.as_mut(), &mut look, watch)?);
        let moved = moved_flows(look.fabric(), left);
        let moves = match &self.reading {
            _ if self.back => FlowMoves::return_all(look.fabric(), &moved),
            Some(reading) => {
                propose_moves(look.fabric(), &reading.watched.verdict, &reading.watched.told, &moved)
            }
            None => FlowMoves::keep_all(look.fabric(), &moved),
        };
        LaneMoves::read(open.as_mut(), look, in_force, moves)
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let reading = match (&self.reading, &other.reading) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        Arc::ptr_eq(&self.look, &other.look) && reading
    }
}

/// Reads lane tables and path records if that takes only seconds; the console waits for no longer reading.
fn read_levels(
    source: &mut dyn Source,
    look: &mut Snapshot,
    watch: &mut dyn ReadObserver,
) -> Result<Option<PathLevels>, Failure> {
    let too_many = |count: u64| {
        let what = format!(
            "FD-7959: reading the lanes takes {count} requests, more than the console sends; run 'fabdeck lanes propose \
             --lanes-in-force sampled' instead"
        );
        Failure::new(Exit::Failed, what)
    };
    if let LaneReadOutcome::TooMany(count) =
        source.read_lanes(&mut look.observation, Some(DEFAULT_QUERY_LIMIT), watch)?
    {
        return Err(too_many(count));
    }
    let wanted = LevelReadOptions { every: false, switches: false, most: Some(DEFAULT_QUERY_LIMIT) };
    match source.read_levels(&mut look.observation, wanted, watch)? {
        LevelReadOutcome::Read(read) => Ok(Some(read)),
        LevelReadOutcome::TooMany(count) => Err(too_many(count)),
        LevelReadOutcome::NotLive | LevelReadOutcome::NoManager | LevelReadOutcome::Silent => Ok(None),
    }
}
