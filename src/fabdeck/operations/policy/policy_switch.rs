//! Stops what policies do, and lets them go on: a file in the state folders that a watch looks for before each step. It
//! works without a watch and from any session of the user.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::changes::change_exit::user;
use crate::operations::environment::Env;
use crate::system::output_file::replace_readable;
use crate::system::state_lines::read_lines;

const FILE_NAME: &str = "policy-off";

/// Why policies do nothing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PolicyStop {
    pub time: String,
    pub user: String,
    pub why: String,
}

fn path_in(folder: &Path) -> PathBuf {
    folder.join(FILE_NAME)
}

/// Whether a file exists in a folder that this user can look into.
fn is_there(file: &Path) -> bool {
    std::fs::symlink_metadata(file).is_ok()
}

/// Writes the file, which each user may read. No lock file: that of root would stop the user of the watch.
fn write_stop(file: &Path, stop: &PolicyStop) -> io::Result<()> {
    file.parent().map(std::fs::create_dir_all).transpose()?;
    replace_readable(file, format!("{}\n", serde_json::to_string(stop)?).as_bytes())
}

/// Why policies are off, if they are. A file that cannot be read counts as well.
pub(crate) fn find_stop(env: Env<'_>) -> Option<PolicyStop> {
    env.state_folders().iter().find_map(|folder| {
        let file = path_in(folder);
        let unread = |why: String| PolicyStop { time: String::new(), user: String::new(), why };
        match read_lines::<PolicyStop>(&file) {
            // A folder of another user has no file for this one; a file of another user in a folder of this one counts.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !is_there(&file) => None,
            Err(error) => Some(unread(format!("{}: {error}", file.display()))),
            Ok(lines) if lines.is_empty() => {
                file.exists().then(|| unread(format!("{} is empty", file.display())))
            }
            Ok(mut lines) => lines.pop(),
        }
    })
}

/// Stops all policies of this user. Returns the files that do it.
pub(crate) fn turn_off(env: Env<'_>, why: &str) -> Result<Vec<PathBuf>, Failure> {
    let stop = PolicyStop { time: Timestamp::now().to_string(), user: user(), why: why.to_owned() };
    let (mut written, mut failed) = (Vec::new(), Vec::new());
    for folder in env.state_folders() {
        let file = path_in(&folder);
        match write_stop(&file, &stop) {
            Ok(()) => written.push(file),
            Err(error) => failed.push((folder.exists(), format!("{}: {error}", file.display()))),
        }
    }
    // A watch that works in a folder which exists and cannot be written would go on.
    let open = failed.iter().find(|(exists, _)| *exists || written.is_empty());
    match open {
        Some((_, why)) => Err(Failure::new(
            Exit::Failed,
            format!(
                "FD-7383: policies are not stopped everywhere: {why}; run it as the user of the watch, or end the watch"
            ),
        )),
        None => Ok(written),
    }
}

/// Lets policies go on. Returns whether they were off.
pub(crate) fn turn_on(env: Env<'_>) -> Result<bool, Failure> {
    let mut was_off = false;
    for folder in env.state_folders() {
        let file = path_in(&folder);
        match std::fs::remove_file(&file) {
            Ok(()) => was_off = true,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            // A folder that this user cannot look into has no file of this user.
            Err(_) if !file.exists() => {}
            Err(error) => {
                let what =
                    format!("FD-7384: {} cannot be removed: {error}; remove it as its owner", file.display());
                return Err(Failure::new(Exit::Failed, what));
            }
        }
    }
    Ok(was_off)
}
