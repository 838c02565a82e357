//! Service levels of the paths in force, as far as they are known: `--lanes`, `--lanes-in-force`.

use super::lane_choice::LaneChoice;
use super::levels::LevelsInForce;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::operation::{OpenSnapshot, Operation};
use fabdeck_fabric::observe::{NotePlace, PathLevels, digits_in_groups};
use fabdeck_mad::access::{LaneReadOutcome, LevelReadOptions, LevelReadOutcome, ReadOptions, Source};

/// Largest number of queries that are sent without an option; they take seconds.
pub const DEFAULT_QUERY_LIMIT: u64 = 200_000;

/// Knowledge of the lanes in force.
#[derive(Debug)]
pub struct LanesInForce {
    choice: Option<LaneChoice>,
    records: Option<PathLevels>,
}

impl LanesInForce {
    /// Knowledge that follows from the choice, without queries.
    pub fn of_choice(choice: Option<LaneChoice>) -> Self {
        Self { choice, records: None }
    }

    /// Knowledge from path records, if there are any.
    pub fn of_records(records: Option<PathLevels>) -> Self {
        Self { choice: None, records }
    }

    pub fn sent(&self) -> LevelsInForce<'_> {
        match (self.choice, &self.records) {
            (Some(LaneChoice::One), _) => LevelsInForce::One,
            (Some(LaneChoice::Unknown), _) => LevelsInForce::Unknown,
            (_, Some(read)) => LevelsInForce::Records { levels: &read.levels, every: read.every },
            _ => LevelsInForce::Unsaid,
        }
    }
}

/// How the lanes in force are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct LaneReading {
    /// The operator's choice, if there is one.
    pub choice: Option<LaneChoice>,
    /// Whether the paths of switches count too.
    pub switches: bool,
}

/// Reads a snapshot with forwarding tables and with the data about lanes in force.
pub fn read_snapshot(
    operation: &mut Operation<'_>,
    wanted: ReadOptions,
    asked: LaneReading,
) -> Result<(Snapshot, LanesInForce), Failure> {
    let OpenSnapshot { mut source, mut snapshot } = operation.open_snapshot(wanted)?;
    operation.env.assume(&mut snapshot)?;
    let in_force = read_lanes_in_force(operation, source.as_mut(), &mut snapshot, asked)?;
    Ok((snapshot, in_force))
}

/// Reads a snapshot without queries about lanes.
pub fn read_snapshot_without_lanes(
    operation: &mut Operation<'_>,
    wanted: ReadOptions,
) -> Result<(Snapshot, LanesInForce), Failure> {
    let mut snapshot = operation.read_snapshot(wanted)?;
    operation.env.assume(&mut snapshot)?;
    Ok((snapshot, LanesInForce::of_choice(None)))
}

/// Adds the data about lanes in force to a snapshot: lane tables, and path records of the subnet manager. Without an
/// option the tables and records are read only if that takes seconds.
pub fn read_lanes_in_force(
    operation: &mut Operation<'_>,
    source: &mut dyn Source,
    snapshot: &mut Snapshot,
    asked: LaneReading,
) -> Result<LanesInForce, Failure> {
    let LaneReading { choice, switches } = asked;
    let mut found = LanesInForce::of_choice(choice);
    // Assumed tables have their own lanes, unless the operator asks for service level 0 alone.
    let has_own_lanes = snapshot.routes.is_some() && choice != Some(LaneChoice::One);
    if has_own_lanes || !snapshot.observation.tables.has_forwarding() {
        return Ok(found);
    }
    let wanted = LevelReadOptions { every: choice == Some(LaneChoice::Exact), switches, most: None };
    match choice {
        Some(LaneChoice::Unknown | LaneChoice::Assumed) => {}
        Some(LaneChoice::One) => {
            operation.read_lanes(source, snapshot, None)?;
        }
        Some(LaneChoice::Sampled | LaneChoice::Exact) => {
            operation.read_lanes(source, snapshot, None)?;
            found.records = read_path_records(operation, source, snapshot, wanted)?;
        }
        None => {
            let wanted = LevelReadOptions { most: Some(DEFAULT_QUERY_LIMIT), ..wanted };
            if read_lanes_if_cheap(operation, source, snapshot, wanted)? {
                found.records = read_path_records(operation, source, snapshot, wanted)?;
            }
        }
    }
    Ok(found)
}

/// Reads lane tables if both they and the path records need few queries. Either is useless without the other.
fn read_lanes_if_cheap(
    operation: &mut Operation<'_>,
    source: &mut dyn Source,
    snapshot: &mut Snapshot,
    wanted: LevelReadOptions,
) -> Result<bool, Failure> {
    let path_queries =
        operation.read_levels(source, snapshot, LevelReadOptions { most: Some(0), ..wanted })?;
    if !matches!(path_queries, LevelReadOutcome::TooMany(count) if count <= DEFAULT_QUERY_LIMIT) {
        return Ok(true);
    }
    let LaneReadOutcome::TooMany(count) =
        operation.read_lanes(source, snapshot, Some(DEFAULT_QUERY_LIMIT))?
    else {
        return Ok(true);
    };
    snapshot.observation.notes.add("FN-705", NotePlace::file(snapshot.source.clone()), || {
        format!(
            "the lanes are unknown: reading the lane tables takes {} requests; the choice 'sampled' of --lanes \
             or --lanes-in-force sends them, and also finds packets that are dropped because they have no lane",
            digits_in_groups(count)
        )
    });
    Ok(false)
}

/// Reads path records from the subnet manager, and adds a note if there are none.
fn read_path_records(
    operation: &mut Operation<'_>,
    source: &mut dyn Source,
    snapshot: &mut Snapshot,
    wanted: LevelReadOptions,
) -> Result<Option<PathLevels>, Failure> {
    let why = match operation.read_levels(source, snapshot, wanted)? {
        LevelReadOutcome::Read(read) => return Ok(Some(read)),
        // Files answer no queries, which needs no note.
        LevelReadOutcome::NotLive if wanted.most.is_some() => return Ok(None),
        LevelReadOutcome::NotLive => "the source is not live".to_owned(),
        LevelReadOutcome::NoManager => "no subnet manager answers".to_owned(),
        LevelReadOutcome::Silent => "the subnet manager returns no path records".to_owned(),
        LevelReadOutcome::TooMany(count) => {
            format!(
                "they take {} queries; the choice 'sampled' of --lanes or --lanes-in-force sends them",
                digits_in_groups(count)
            )
        }
    };
    let place = NotePlace::file(snapshot.source.clone());
    snapshot
        .observation
        .notes
        .add("FN-704", place, || format!("the lanes are not known from path records: {why}"));
    Ok(None)
}
