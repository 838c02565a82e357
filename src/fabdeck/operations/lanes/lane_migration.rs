//! Reads dFtree's input for the console: lane tables, levels of paths, and agents, all anew. The verdict is the
//! session's.

use super::lane_request::LaneRequest;
use super::lanes_in_force::DEFAULT_QUERY_LIMIT;
use super::levels::LevelsInForce;
use super::migrations::{migration_plan, moved_flows};
use super::slow_lanes::{LaneState, lane_state};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::environment::Env;
use crate::operations::plans::proposal_plan::PlanOrigin;
use fabdeck_change::{Migration, Plan};
use fabdeck_fabric::Lid;
use fabdeck_fabric::observe::PathLevels;
use fabdeck_mad::access::{
    LaneReadOutcome, LevelReadOptions, LevelReadOutcome, ReadObserver, ReadOptions, Source,
};
use fabdeck_routing::lanes::{FlowMoves, propose_moves};

/// A fabric with its lanes, and the migrations that dFtree would make.
pub struct LaneMigration {
    look: Snapshot,
    records: Option<PathLevels>,
    moves: FlowMoves,
    agents: Vec<(Lid, Option<bool>)>,
}

impl LaneMigration {
    pub fn read(
        means: Env<'_>,
        source: &str,
        asked: &LaneRequest,
        left: &[Migration],
        watch: &mut dyn ReadObserver,
    ) -> Result<Self, Failure> {
        let mut open = means.outside.open(source, &means.given.reach)?;
        let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
        let observed = open.observe(wanted, watch)?;
        let mut look = means.snapshot_of(source, observed)?;
        // The verdict's ports belong to the snapshot that it was made from.
        if look.fabric() != asked.look.fabric() {
            let what = "FD-7942: this is not the fabric whose counters were read; r reads it again";
            return Err(Failure::new(Exit::Stale, what));
        }
        let records = read_levels(open.as_mut(), &mut look, watch)?;
        let in_force = moved_flows(look.fabric(), left);
        let moves = match &asked.reading {
            _ if asked.back => FlowMoves::return_all(look.fabric(), &in_force),
            Some(reading) => {
                propose_moves(look.fabric(), &reading.watched.verdict, &reading.watched.told, &in_force)
            }
            None => FlowMoves::keep_all(look.fabric(), &in_force),
        };
        let hosts: Vec<Lid> = moves.affected_hosts(look.fabric()).into_iter().collect();
        let agents = hosts.iter().copied().zip(open.find_agents(&hosts)?).collect();
        Ok(Self { look, records, moves, agents })
    }

    fn sent(&self) -> LevelsInForce<'_> {
        match &self.records {
            Some(read) => LevelsInForce::Records { levels: &read.levels, every: read.every },
            None => LevelsInForce::Unsaid,
        }
    }

    pub fn state(&self) -> LaneState {
        lane_state(&self.look, &self.moves, &self.agents, self.sent())
    }

    pub fn plan(&self, made: PlanOrigin) -> Result<Plan, Failure> {
        let plan = migration_plan(&self.look, &self.moves, &self.agents, self.sent(), made);
        plan.map_err(|error| Failure::new(Exit::Failed, error.to_string()))
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
