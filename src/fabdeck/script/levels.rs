//! The service levels of the paths in force, as far as somebody tells them: `--lanes`, `--lanes-in-force`.

use crate::session::{Look, Sent};
use fabdeck_fabric::observe::{PathLevels, Place};
use fabdeck_mad::access::{LanesRead, LevelsRead, LevelsWanted, Source, Wanted};

use super::Failure;
use super::asking::LaneChoice;
use super::context::Context;

/// So many questions take seconds; nobody who did not ask for more waits for more.
pub const UNASKED: u64 = 200_000;

/// What is known of the lanes in force.
pub struct InForce {
    choice: Option<LaneChoice>,
    records: Option<PathLevels>,
}

impl InForce {
    /// What the choice says, with nobody asked.
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

/// A look with forwarding tables and with what the lanes in force can be told from.
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

/// A look that asks nobody for lanes.
pub fn look_only(context: &mut Context<'_, '_>, wanted: Wanted) -> Result<(Look, InForce), Failure> {
    let mut look = context.look_at(context.open(context.named_source()?)?, wanted)?;
    context.assume(&mut look)?;
    Ok((look, InForce::unasked(None)))
}

/// Adds to a look what the lanes in force can be told from: tables of lanes, and path records where the subnet manager
/// gives any. Without having been asked for, they are asked for as long as that takes seconds.
pub fn in_force(
    context: &mut Context<'_, '_>,
    source: &mut dyn Source,
    look: &mut Look,
    (choice, switches): (Option<LaneChoice>, bool),
) -> Result<InForce, Failure> {
    let mut found = InForce::unasked(choice);
    // Assumed tables bring their own lanes, unless somebody wants to see them without.
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

/// Reads tables of lanes where path records are not too many and tables are not either: one without the other says
/// nothing.
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

/// Path records, where the subnet manager gives any.
fn records(
    context: &mut Context<'_, '_>,
    source: &mut dyn Source,
    look: &mut Look,
    wanted: LevelsWanted,
) -> Result<Option<PathLevels>, Failure> {
    let why = match context.read_levels(source, look, wanted)? {
        LevelsRead::Read(read) => return Ok(Some(read)),
        // Nobody expects files to answer.
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
