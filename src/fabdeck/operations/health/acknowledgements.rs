//! Problems that the user has acknowledged, in a file of the user's state folder. Each line is one of them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::problem::FabricProblem;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::system::access::SystemAccess;
use crate::system::state_lines::{read_lines, update_lines};

const FILE_NAME: &str = "acknowledged";

/// Who acknowledged a problem, and when.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Acknowledgement {
    /// The fabric, by the lowest GUID of its switches.
    fabric: String,
    problem: String,
    pub by: String,
    pub at: String,
    pub note: Option<String>,
}

/// What to change in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AcknowledgementChange {
    Add { problem: String, by: String, at: String, note: Option<String> },
    Remove { problem: String },
}

impl AcknowledgementChange {
    fn problem(&self) -> &str {
        match self {
            Self::Add { problem, .. } | Self::Remove { problem } => problem,
        }
    }
}

/// Marks the problems of a fabric that are acknowledged. A file that cannot be read acknowledges nothing; the reason is
/// returned.
pub fn mark_acknowledged(
    outside: &dyn SystemAccess,
    look: &Snapshot,
    problems: &mut [FabricProblem],
) -> Option<String> {
    let file = file_path(outside)?;
    let (held, why) = match read_lines::<Acknowledgement>(&file) {
        Ok(held) => (held, None),
        Err(error) => (Vec::new(), Some(format!("{} cannot be read: {error}", file.display()))),
    };
    let fabric = fabric_key(look);
    for problem in problems {
        problem.acknowledged =
            held.iter().find(|held| held.fabric == fabric && held.problem == problem.id).cloned();
    }
    why
}

/// Changes the acknowledgement of one of these problems.
pub fn change_acknowledgement(
    outside: &dyn SystemAccess,
    look: &Snapshot,
    problems: &[FabricProblem],
    change: &AcknowledgementChange,
) -> Result<(), Failure> {
    let id = change.problem();
    if !problems.iter().any(|problem| problem.id == id) {
        let ids: Vec<&str> = problems.iter().map(|problem| problem.id.as_str()).collect();
        let known = if ids.is_empty() { "there is none now".to_owned() } else { ids.join(", ") };
        return Err(Failure::usage(format!(
            "FD-7331: there is no problem '{id}'; the problems are: {known}"
        )));
    }
    let Some(file) = file_path(outside) else {
        let what = "FD-7332: no state folder of this user is known; set HOME or XDG_STATE_HOME";
        return Err(Failure::new(Exit::Failed, what));
    };
    let fabric = fabric_key(look);
    let changed = update_lines(&file, |held: &mut Vec<Acknowledgement>| {
        held.retain(|held| held.fabric != fabric || held.problem != id);
        if let AcknowledgementChange::Add { problem, by, at, note } = change.clone() {
            held.push(Acknowledgement { fabric, problem, by, at, note });
        }
    });
    changed.map_err(|error| Failure::writing(&file.display().to_string(), &error))
}

fn file_path(outside: &dyn SystemAccess) -> Option<PathBuf> {
    Some(outside.user_state()?.join(FILE_NAME))
}

/// The fabric of a snapshot in files of the state folder: the lowest GUID of its switches.
pub fn fabric_key(look: &Snapshot) -> String {
    let lowest = look.fabric().switches().map(|(_, node)| node.guid()).min();
    lowest.map(|guid| guid.to_string()).unwrap_or_default()
}
