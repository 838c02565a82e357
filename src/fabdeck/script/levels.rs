//! Service levels of the paths in force, as far as they are known: `--lanes`, `--lanes-in-force`.

use crate::session::{Look, Sent};
use fabdeck_fabric::observe::{PathLevels, Place};
use fabdeck_mad::access::{LanesRead, LevelsRead, LevelsWanted, Source, Wanted};

use super::Failure;
use super::asking::LaneChoice;
use super::context::Context;

/// Largest number of queries that are made without an option; it takes seconds.
pub const UNASKED: u64 = 200_000;

/// What is known of the lanes in force.
pub struct InForce {
    choice: Option<LaneChoice>,
    records: Option<PathLevels>,
}

impl InForce {
    /// Knowledge that follows from the choice, without queries.
    pub fn unasked(choice: Option<LaneChoice>) -> Self {
        Self { choice, records: None }
    }

    pub fn sent(&self) -> Sent<'_> {
        match (self.choice, &self.records) {
            (Some(LaneChoice::One), _) => Sent::One,
            (Some(LaneChoice::Unknown), _) => Sent::Unknown,
            (_, Some(read)) => Sent::Records { levels: &read.levels, every: read.every },
            _ => Sent::Unsaid,
        }
    }
}

/// Reads a snapshot with forwarding tables and with the data about lanes in force.
pub fn look(
    context: &mut Context<'_, '_>,
    wanted: Wanted,
    (choice, switches): (Option<LaneChoice>, bool),
) -> Result<(Look, InForce), Failure> {
    let mut source = context.open(context.named_source()?)?;
    let mut look = context.look_through(source.as_mut(), wanted)?;
    context.assume(&mut look)?;
    let in_force = in_force(context, source.as_mut(), &mut look, (choice, switches))?;
    Ok((look, in_force))
}

/// Reads a snapshot without queries about lanes.
pub fn look_only(context: &mut Context<'_, '_>, wanted: Wanted) -> Result<(Look, InForce), Failure> {
    let mut look = context.look_at(context.open(context.named_source()?)?, wanted)?;
    context.assume(&mut look)?;
    Ok((look, InForce::unasked(None)))
}

/// Adds the data about lanes in force to a snapshot: lane tables, and path records of the subnet manager. Without an
/// option this is done only if it takes seconds.
pub fn in_force(
    context: &mut Context<'_, '_>,
    source: &mut dyn Source,
    look: &mut Look,
    (choice, switches): (Option<LaneChoice>, bool),
) -> Result<InForce, Failure> {
    let mut found = InForce::unasked(choice);
    // Assumed tables have their own lanes, unless the operator asks for service level 0 alone.
    let brought = look.routes.is_some() && choice != Some(LaneChoice::One);
    if brought || !look.observation.tables.has_forwarding() {
        return Ok(found);
    }
    let wanted = LevelsWanted { every: choice == Some(LaneChoice::Exact), switches, most: None };
    match choice {
        Some(LaneChoice::Unknown | LaneChoice::Assumed) => {}
        Some(LaneChoice::One) => {
            context.read_lanes(source, look, None)?;
        }
        Some(LaneChoice::Sampled | LaneChoice::Exact) => {
            context.read_lanes(source, look, None)?;
            found.records = records(context, source, look, wanted)?;
        }
        None => {
            let wanted = LevelsWanted { most: Some(UNASKED), ..wanted };
            if worth_asking(context, source, look, wanted)? {
                found.records = records(context, source, look, wanted)?;
            }
        }
    }
    Ok(found)
}

/// Reads lane tables if both they and the path records need few queries. Either is useless without the other.
fn worth_asking(
    context: &mut Context<'_, '_>,
    source: &mut dyn Source,
    look: &mut Look,
    wanted: LevelsWanted,
) -> Result<bool, Failure> {
    let price = context.read_levels(source, look, LevelsWanted { most: Some(0), ..wanted })?;
    if !matches!(price, LevelsRead::TooMany(count) if count <= UNASKED) {
        return Ok(true);
    }
    let LanesRead::TooMany(count) = context.read_lanes(source, look, Some(UNASKED))? else { return Ok(true) };
    look.observation.notes.add("FN-705", Place::file(look.source.clone()), || {
        format!(
            "lanes are not known: it would take {count} questions for the tables of lanes; 'sampled' asks them where it \
             is given by name, and finds packets that are dropped for want of a lane"
        )
    });
    Ok(false)
}

/// Reads path records, if the subnet manager has any.
fn records(
    context: &mut Context<'_, '_>,
    source: &mut dyn Source,
    look: &mut Look,
    wanted: LevelsWanted,
) -> Result<Option<PathLevels>, Failure> {
    let why = match context.read_levels(source, look, wanted)? {
        LevelsRead::Read(read) => return Ok(Some(read)),
        // Files answer no queries, which needs no note.
        LevelsRead::NotLive if wanted.most.is_some() => return Ok(None),
        LevelsRead::NotLive => "the source is not live".to_owned(),
        LevelsRead::NoManager => "no subnet manager answers".to_owned(),
        LevelsRead::Silent => "the subnet manager gives none".to_owned(),
        LevelsRead::TooMany(count) => {
            format!("it would take {count} questions; 'sampled' asks them where it is given by name")
        }
    };
    let place = Place::file(look.source.clone());
    look.observation.notes.add("FN-704", place, || format!("lanes are not known by path records: {why}"));
    Ok(None)
}
