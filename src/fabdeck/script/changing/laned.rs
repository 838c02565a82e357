//! Reads dFtree's input for the console: lane tables, levels of paths, and agents, all anew. The verdict is the
//! session's.

use crate::script::levels::UNASKED;
use crate::script::{Exit, Failure};
use crate::session::interactive::LanesAsked;
use crate::session::{LaneState, Look, Made, Sent, lane_state, migration_plan, moved_by};
use fabdeck_change::{Migration, Plan};
use fabdeck_fabric::Lid;
use fabdeck_fabric::observe::PathLevels;
use fabdeck_mad::access::{LanesRead, LevelsRead, LevelsWanted, Source, Wanted, Watch};
use fabdeck_routing::lanes::{Moves, propose};

use super::means::Means;

/// A fabric with its lanes, and the migrations that dFtree would make.
pub struct Laned {
    look: Look,
    records: Option<PathLevels>,
    moves: Moves,
    agents: Vec<(Lid, Option<bool>)>,
}

impl Laned {
    pub fn read(
        means: Means<'_>,
        source: &str,
        asked: &LanesAsked,
        left: &[Migration],
        watch: &mut dyn Watch,
    ) -> Result<Self, Failure> {
        let mut open = means.outside.open(source, &means.given.reach)?;
        let wanted = Wanted { tables: true, ..Wanted::default() };
        let observed = open.observe(wanted, watch)?;
        let mut look = means.look_of(source, observed)?;
        // The verdict's ports belong to the snapshot that it was made from.
        if look.fabric() != asked.look.fabric() {
            let what =
                "FD-7942: the fabric is another than the one that counters were read of; r looks again";
            return Err(Failure::new(Exit::Stale, what));
        }
        let records = levels(open.as_mut(), &mut look, watch)?;
        let in_force = moved_by(look.fabric(), left);
        let moves = match &asked.reading {
            _ if asked.back => Moves::back(look.fabric(), &in_force),
            Some(reading) => {
                propose(look.fabric(), &reading.watched.verdict, &reading.watched.told, &in_force)
            }
            None => Moves::standing(look.fabric(), &in_force),
        };
        let hosts: Vec<Lid> = moves.hosts(look.fabric()).into_iter().collect();
        let agents = hosts.iter().copied().zip(open.agents(&hosts)?).collect();
        Ok(Self { look, records, moves, agents })
    }

    fn sent(&self) -> Sent<'_> {
        match &self.records {
            Some(read) => Sent::Records { levels: &read.levels, every: read.every },
            None => Sent::Unsaid,
        }
    }

    pub fn state(&self) -> LaneState {
        lane_state(&self.look, &self.moves, &self.agents, self.sent())
    }

    pub fn plan(&self, made: Made) -> Result<Plan, Failure> {
        let plan = migration_plan(&self.look, &self.moves, &self.agents, self.sent(), made);
        plan.map_err(|error| Failure::new(Exit::Failed, error.to_string()))
    }
}

/// Reads lane tables and path records if that takes only seconds; the console waits for no longer reading.
fn levels(
    source: &mut dyn Source,
    look: &mut Look,
    watch: &mut dyn Watch,
) -> Result<Option<PathLevels>, Failure> {
    let too_many = |count: u64| {
        let what = format!(
            "FD-7959: it takes {count} questions to tell the lanes of this fabric: 'lanes propose --lanes-in-force sampled' asks them"
        );
        Failure::new(Exit::Failed, what)
    };
    if let LanesRead::TooMany(count) = source.read_lanes(&mut look.observation, Some(UNASKED), watch)? {
        return Err(too_many(count));
    }
    let wanted = LevelsWanted { every: false, switches: false, most: Some(UNASKED) };
    match source.read_levels(&mut look.observation, wanted, watch)? {
        LevelsRead::Read(read) => Ok(Some(read)),
        LevelsRead::TooMany(count) => Err(too_many(count)),
        LevelsRead::NotLive | LevelsRead::NoManager | LevelsRead::Silent => Ok(None),
    }
}
