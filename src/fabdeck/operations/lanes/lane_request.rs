//! The input for the state of dFtree's lanes in a console. The verdict is the session's; lane tables, levels of paths and
//! agents are read anew.

use std::sync::Arc;

use super::lane_moves::LaneMoves;
use super::lanes_in_force::{DEFAULT_QUERY_LIMIT, LanesInForce};
use super::levels::LevelsInForce;
use super::migrations::moved_flows;
use super::slow_lanes::{LaneState, is_present, lane_state};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::environment::Env;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_change::{Migration, MigrationDirection, PlanFlow, PlanPort};
use fabdeck_fabric::observe::PathLevels;
use fabdeck_fabric::{Fabric, Lid, PortId};
use fabdeck_mad::access::{
    LaneReadOutcome, LevelReadOptions, LevelReadOutcome, ReadObserver, ReadOptions, Source,
};
use fabdeck_routing::lanes::{FlowMoves, HotSpotMoves, MovePhase, propose_moves};

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

/// Reads the fabric's lanes for the way back of a change that moved flows. Its flows that are still where it moved them
/// move back, and the flows of other changes stay.
pub(crate) fn read_undo_moves(
    source: &mut dyn Source,
    mut look: Snapshot,
    moved: &[Migration],
    in_force: &[Migration],
    watch: &mut dyn ReadObserver,
) -> Result<LaneMoves, Failure> {
    let levels = LanesInForce::of_records(read_levels(source, &mut look, watch)?);
    let (own, others) = split_migrations(in_force, moved);
    let fabric = look.fabric();
    let mut moves = FlowMoves::keep_all(fabric, &moved_flows(fabric, &others));
    let back = FlowMoves::return_all(fabric, &moved_flows(fabric, &own));
    let there = moved.iter().filter(|migration| migration.towards == MigrationDirection::Fast);
    let there: Vec<HotSpotMoves> =
        there.filter_map(|migration| moves_to_slow(fabric, migration, in_force)).collect();
    moves.spots.extend(back.spots.into_iter().chain(there));
    moves.gone.extend(back.gone);
    LaneMoves::read(source, look, levels, moves)
}

/// Splits the moves in force into those that a change made and those of others.
fn split_migrations(in_force: &[Migration], moved: &[Migration]) -> (Vec<Migration>, Vec<Migration>) {
    let is_own = |migration: &Migration, flow: &PlanFlow| {
        moved.iter().any(|own| is_of_flow(own, migration, flow) && own.towards == MigrationDirection::Slow)
    };
    let part = |wanted: bool| {
        let with_flows = in_force.iter().cloned().map(|mut migration| {
            let all = std::mem::take(&mut migration.flows);
            migration.flows = all.into_iter().filter(|flow| is_own(&migration, flow) == wanted).collect();
            migration
        });
        with_flows.filter(|migration| !migration.flows.is_empty()).collect()
    };
    (part(true), part(false))
}

/// Whether a migration has a flow of another one: the same host to the same LID.
fn is_of_flow(migration: &Migration, other: &Migration, flow: &PlanFlow) -> bool {
    (migration.hot_spot.lid, &migration.hot_spot.guid) == (other.hot_spot.lid, &other.hot_spot.guid)
        && migration
            .flows
            .iter()
            .any(|own| (own.host.lid, &own.host.guid) == (flow.host.lid, &flow.host.guid))
}

/// The flows of a migration to the fast lane, as flows that join the slow lane; `None` where all of them are there.
fn moves_to_slow(fabric: &Fabric, migration: &Migration, in_force: &[Migration]) -> Option<HotSpotMoves> {
    let port = |named: &PlanPort| {
        Lid::new(named.lid.into())
            .and_then(|lid| fabric.port_by_lid(lid))
            .filter(|_| is_present(fabric, named))
    };
    let is_slow = |flow: &&PlanFlow| in_force.iter().any(|now| is_of_flow(now, migration, flow));
    let flows = migration.flows.iter().filter(|flow| !is_slow(flow));
    let joins: Vec<PortId> = flows.filter_map(|flow| port(&flow.host)).collect();
    let adapter = port(&migration.hot_spot)?;
    let moves = HotSpotMoves { adapter, phase: MovePhase::New, at: None, joins, moved: Vec::new() };
    (!moves.joins.is_empty()).then_some(moves)
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
    match source.read_levels(&mut look.observation, None, wanted, watch)? {
        LevelReadOutcome::Read(read) => Ok(Some(read)),
        LevelReadOutcome::TooMany(count) => Err(too_many(count)),
        LevelReadOutcome::NotLive | LevelReadOutcome::NoManager | LevelReadOutcome::Silent => Ok(None),
    }
}
