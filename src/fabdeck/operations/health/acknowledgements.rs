//! Problems that users have acknowledged: in a file of the user's state folder, each line one of them, and in captures as
//! records.

use std::path::{Path, PathBuf};

use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};

use super::acknowledged_extent::{extent_of, is_worse};
use super::problem::FabricProblem;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::changes::change_exit::user;
use crate::operations::environment::Env;
use crate::operations::jobs::source_jobs::is_capture;
use crate::operations::record::capture_rewrite::{acknowledge_in, resolve_moment};
use crate::system::access::SystemAccess;
use crate::system::state_lines::{read_lines, update_lines};
use fabdeck_files::capture::{Moments, find_capture, open, read_acknowledgements};
use fabdeck_files::capture_format::{AcknowledgementRecord, ProblemExtent};
use fabdeck_mad::access::ReadObserver;

const FILE_NAME: &str = "acknowledged";

/// The form of times in the file.
const TIME_FORMAT: &str = "%Y-%m-%dT%H:%M:%S%:z";

/// Who acknowledged a problem, and when.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Acknowledgement {
    /// The fabric, by the lowest GUID of its switches.
    fabric: String,
    problem: String,
    pub by: String,
    pub at: String,
    /// The same time in milliseconds since 1970; older versions have written the seconds alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<i64>,
    pub note: Option<String>,
    /// How bad the problem was; older versions have not written it, and theirs cover the problem however bad it becomes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extent: Option<ProblemExtent>,
}

impl Acknowledgement {
    fn new(fabric: String, record: &AcknowledgementRecord) -> Self {
        let AcknowledgementRecord { problem, by, made, note, extent, .. } = record.clone();
        let time = Timestamp::from_millisecond(made).unwrap_or_default();
        let at = Zoned::new(time, jiff::tz::TimeZone::system()).strftime(TIME_FORMAT).to_string();
        Self { fabric, problem, by, at, made: Some(made), note, extent }
    }

    /// The record of it in a capture; `removed`: it is taken back.
    fn to_record(&self, removed: bool) -> AcknowledgementRecord {
        let Self { problem, by, at, made, note, extent, .. } = self.clone();
        let now = || Timestamp::now().as_millisecond();
        let made = match removed {
            true => now(),
            false => {
                made.or_else(|| Some(at.parse::<Timestamp>().ok()?.as_millisecond())).unwrap_or_else(now)
            }
        };
        let (note, extent) = (note.filter(|_| !removed), extent.filter(|_| !removed));
        AcknowledgementRecord { problem, by, made, note, extent, removed }
    }

    /// Who acknowledged the problem, when and why.
    pub fn words(&self) -> String {
        let note = self.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
        format!("by {} at {}{note}", self.by, self.at)
    }
}

/// The record of an acknowledgement that this user makes or takes back now.
pub fn own_acknowledgement(problem: String, note: Option<String>, removed: bool) -> AcknowledgementRecord {
    let made = Timestamp::now().as_millisecond();
    AcknowledgementRecord { problem, by: user(), made, note, extent: None, removed }
}

/// A capture that keeps the acknowledgements of its problems.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AcknowledgedCapture {
    pub file: PathBuf,
    /// The moment that new acknowledgements are about.
    pub at: i64,
    /// The acknowledgements that it has.
    pub recorded: Vec<AcknowledgementRecord>,
}

impl AcknowledgedCapture {
    /// The capture that is named as the source, if it is one.
    pub(crate) fn from_source(env: Env<'_>) -> Result<Option<Self>, Failure> {
        let source = env.named_source()?;
        let Some(file) = is_capture(source).then(|| find_capture(Path::new(source))).flatten() else {
            return Ok(None);
        };
        let mut moments = Moments::new(open(&file)?);
        let at = resolve_moment(&moments, env.given.reach.at.as_deref())?;
        let recorded = read_acknowledgements(&mut moments.reader);
        Ok(Some(Self { file, at, recorded }))
    }

    /// The acknowledgements of the capture that is named as the source, if it is one.
    pub(crate) fn recorded_in_source(env: Env<'_>) -> Result<Vec<AcknowledgementRecord>, Failure> {
        Ok(Self::from_source(env)?.map(|capture| capture.recorded).unwrap_or_default())
    }
}

/// A change of an acknowledgement, and where it is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeptAcknowledgement {
    pub record: AcknowledgementRecord,
    /// Whether the capture of the source has it.
    pub in_capture: bool,
    /// Why the state folder has it and not the capture of the source.
    pub refused: Option<String>,
}

/// Marks the problems of a fabric that are acknowledged, in the capture that is read or in the state folder. A file that
/// cannot be read acknowledges nothing; the reason is returned.
pub fn mark_acknowledged(
    outside: Option<&dyn SystemAccess>,
    look: &Snapshot,
    problems: &mut [FabricProblem],
    recorded: &[AcknowledgementRecord],
) -> Option<String> {
    let file = outside.and_then(file_path);
    let (held, why) = match file.map(|file| (read_lines::<Acknowledgement>(&file), file)) {
        Some((Ok(held), _)) => (held, None),
        Some((Err(error), file)) => (Vec::new(), Some(format!("{} cannot be read: {error}", file.display()))),
        None => (Vec::new(), None),
    };
    let fabric = fabric_key(look);
    for problem in problems {
        let own = recorded.iter().find(|record| record.problem == problem.id);
        let own = own.map(|record| Acknowledgement::new(fabric.clone(), record));
        let kept = || held.iter().find(|held| held.fabric == fabric && held.problem == problem.id).cloned();
        let (worse, covered) =
            own.or_else(kept).map_or((None, None), |acknowledgement| {
                match acknowledgement.extent.as_ref().is_some_and(|then| is_worse(problem, then)) {
                    true => (Some(acknowledgement), None),
                    false => (None, Some(acknowledgement)),
                }
            });
        (problem.worse_since, problem.acknowledged) = (worse, covered);
    }
    why
}

/// Changes the acknowledgement of one of these problems: in the capture of the source, and otherwise in the state folder.
/// A capture that cannot be changed stays as it is, and the state folder has the acknowledgement.
pub fn change_acknowledgement(
    outside: &dyn SystemAccess,
    look: &Snapshot,
    problems: &[FabricProblem],
    capture: Option<&AcknowledgedCapture>,
    mut record: AcknowledgementRecord,
    observer: &mut dyn ReadObserver,
) -> Result<KeptAcknowledgement, Failure> {
    let id = &record.problem;
    let problem = problems.iter().find(|problem| problem.id == *id);
    record.extent = problem.filter(|_| !record.removed).map(extent_of);
    if problem.is_none() {
        let ids: Vec<&str> = problems.iter().map(|problem| problem.id.as_str()).collect();
        let known = if ids.is_empty() { "there is none now".to_owned() } else { ids.join(", ") };
        return Err(Failure::usage(format!(
            "FD-7331: there is no problem '{id}'; the problems are: {known}"
        )));
    }
    let is_recorded = |capture: &&AcknowledgedCapture| capture.recorded.iter().any(|own| own.problem == *id);
    let mut refused = None;
    if let Some(capture) = capture.filter(|capture| !record.removed || is_recorded(capture)) {
        match acknowledge_in(&capture.file, capture.at, &record, observer) {
            Ok(_) if !record.removed => {
                return Ok(KeptAcknowledgement { record, in_capture: true, refused: None });
            }
            Ok(_) => {
                // The state folder may have acknowledged the same problem.
                remove_kept(outside, look, id)?;
                return Ok(KeptAcknowledgement { record, in_capture: true, refused: None });
            }
            Err(failure) if record.removed => return Err(failure),
            Err(failure) => refused = Some(failure.message.unwrap_or_default()),
        }
    }
    keep_in_state_folder(outside, look, &record)?;
    Ok(KeptAcknowledgement { record, in_capture: false, refused })
}

/// Removes an acknowledgement from the state folder, if it has it.
fn remove_kept(outside: &dyn SystemAccess, look: &Snapshot, problem: &str) -> Result<(), Failure> {
    let fabric = fabric_key(look);
    let Some(file) = file_path(outside) else { return Ok(()) };
    let held = read_lines::<Acknowledgement>(&file).unwrap_or_default();
    if !held.iter().any(|held| held.fabric == fabric && held.problem == problem) {
        return Ok(());
    }
    let changed = update_lines(&file, |held: &mut Vec<Acknowledgement>| {
        held.retain(|held| held.fabric != fabric || held.problem != problem);
    });
    changed.map_err(|error| Failure::writing(&file.display().to_string(), &error))
}

fn keep_in_state_folder(
    outside: &dyn SystemAccess,
    look: &Snapshot,
    record: &AcknowledgementRecord,
) -> Result<(), Failure> {
    let Some(file) = file_path(outside) else {
        let what = "FD-7332: no state folder of this user is known; set HOME or XDG_STATE_HOME";
        return Err(Failure::new(Exit::Failed, what));
    };
    let fabric = fabric_key(look);
    let changed = update_lines(&file, |held: &mut Vec<Acknowledgement>| {
        held.retain(|held| held.fabric != fabric || held.problem != record.problem);
        if !record.removed {
            held.push(Acknowledgement::new(fabric, record));
        }
    });
    changed.map_err(|error| Failure::writing(&file.display().to_string(), &error))
}

/// Finds what a user acknowledges about a fabric while it is recorded.
#[derive(Debug)]
pub struct AcknowledgementWatch {
    file: Option<PathBuf>,
    fabric: String,
    known: Vec<Acknowledgement>,
}

impl AcknowledgementWatch {
    /// Begins with the acknowledgements that there are: they are in force, and no change.
    pub fn begin(outside: &dyn SystemAccess, look: &Snapshot) -> Self {
        let mut watch = Self { file: file_path(outside), fabric: fabric_key(look), known: Vec::new() };
        watch.take_changes();
        watch
    }

    /// The acknowledgements in force at the last call.
    pub fn in_force(&self) -> Vec<AcknowledgementRecord> {
        self.known.iter().map(|known| known.to_record(false)).collect()
    }

    /// The changes since the last call. A file that cannot be read has none.
    pub fn take_changes(&mut self) -> Vec<AcknowledgementRecord> {
        let Some(Ok(mut held)) = self.file.as_deref().map(read_lines::<Acknowledgement>) else {
            return Vec::new();
        };
        held.retain(|held| held.fabric == self.fabric);
        let gone = self.known.iter().filter(|known| !held.iter().any(|held| held.problem == known.problem));
        let new = held.iter().filter(|held| !self.known.contains(held));
        let changes =
            gone.map(|known| known.to_record(true)).chain(new.map(|held| held.to_record(false))).collect();
        self.known = held;
        changes
    }
}

fn file_path(outside: &dyn SystemAccess) -> Option<PathBuf> {
    Some(outside.user_state()?.join(FILE_NAME))
}

/// The fabric of a snapshot in files of the state folder: the lowest GUID of its switches.
pub fn fabric_key(look: &Snapshot) -> String {
    let lowest = look.fabric().switches().map(|(_, node)| node.guid()).min();
    lowest.map(|guid| guid.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(problem: &str, made: i64, removed: bool) -> AcknowledgementRecord {
        let note = (!removed).then(|| "seen".to_owned());
        AcknowledgementRecord {
            problem: problem.to_owned(),
            by: "anna".to_owned(),
            made,
            note,
            extent: None,
            removed,
        }
    }

    /// What a user acknowledges while a fabric is recorded is found once; what stood before is not.
    #[test]
    fn changes_in_the_state_folder_are_found_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE_NAME);
        let write = |change: &dyn Fn(&mut Vec<Acknowledgement>)| update_lines(&file, change).unwrap();
        let add = |fabric: &'static str, record: AcknowledgementRecord| {
            write(&|held| held.push(Acknowledgement::new(fabric.to_owned(), &record)));
        };
        add("0x1", record("before", 1_000, false));
        let mut watch =
            AcknowledgementWatch { file: Some(file.clone()), fabric: "0x1".to_owned(), known: Vec::new() };
        assert_eq!(watch.take_changes(), [record("before", 1_000, false)]);
        assert_eq!(watch.take_changes(), []);
        add("0x1", record("meanwhile", 2_000, false));
        add("0x2", record("elsewhere", 3_000, false));
        assert_eq!(watch.take_changes(), [record("meanwhile", 2_000, false)]);
        write(&|held| held.retain(|held| held.problem != "before"));
        let gone = watch.take_changes();
        assert_eq!(gone, [AcknowledgementRecord { made: gone[0].made, ..record("before", 0, true) }]);
        // A file that cannot be read changes nothing.
        std::fs::write(&file, "nonsense\n").unwrap();
        assert_eq!(watch.take_changes(), []);
    }
}
