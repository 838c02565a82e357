//! The service levels of the paths in force, as far as somebody tells them: `--lanes`, `--lanes-in-force`.

use crate::access::{LevelsRead, LevelsWanted, Source, Wanted};
use crate::observe::{PathLevels, Place};
use crate::session::{Look, Sent};

use super::Failure;
use super::args::LaneChoice;
use super::context::Context;

/// So many questions take seconds; nobody who did not ask for more waits for more.
pub const UNASKED: u64 = 200_000;

/// What is known of the lanes in force.
pub struct InForce {
    choice: LaneChoice,
    records: Option<PathLevels>,
}

impl InForce {
    pub fn sent(&self) -> Sent<'_> {
        match (self.choice, &self.records) {
            (LaneChoice::One, _) => Sent::One,
            (_, Some(read)) => Sent::Records { levels: &read.levels, every: read.every },
            _ => Sent::Unknown,
        }
    }
}

/// A look with forwarding tables and with what the lanes in force can be told from.
pub fn look(
    context: &mut Context<'_, '_>,
    wanted: Wanted,
    (choice, switches): (Option<LaneChoice>, bool),
) -> Result<(Look, InForce), Failure> {
    let asked_for = choice.is_some();
    let choice = choice.unwrap_or(LaneChoice::Sampled);
    let mut source = context.open(context.named_source()?)?;
    // What switches do with lanes is a precondition of routes on several; `unknown` takes nothing of it into account.
    let wanted = Wanted { lanes: choice != LaneChoice::Unknown, ..wanted };
    let mut look = context.look_through(source.as_mut(), wanted)?;
    context.assume(&mut look)?;
    let ask = matches!(choice, LaneChoice::Sampled | LaneChoice::Exact);
    let records = match ask && look.routes.is_none() && look.observation.tables.has_forwarding() {
        true => records(context, source.as_mut(), &mut look, choice, (asked_for, switches))?,
        false => None,
    };
    Ok((look, InForce { choice, records }))
}

/// Path records, where the subnet manager gives any. Without having been asked for, they are asked for as long as
/// that takes seconds.
pub fn records(
    context: &mut Context<'_, '_>,
    source: &mut dyn Source,
    look: &mut Look,
    choice: LaneChoice,
    (asked_for, switches): (bool, bool),
) -> Result<Option<PathLevels>, Failure> {
    let most = (!asked_for).then_some(UNASKED);
    let wanted = LevelsWanted { every: choice == LaneChoice::Exact, switches, most };
    let why = match context.read_levels(source, look, wanted)? {
        LevelsRead::Read(read) => return Ok(Some(read)),
        // Nobody expects files to answer.
        LevelsRead::NotLive if !asked_for => return Ok(None),
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
