//! The end of the audit trail when a change was begun. The chain of the trail reveals a line that was removed from the
//! middle. Lines cut off at the end show only against a length from elsewhere: the journal of each change.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The length of a trail, and the state of its chain there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TrailMark {
    pub bytes: u64,
    pub link: String,
}

impl TrailMark {
    /// Finds a mark in a line of the system log, and the file that it is for.
    pub fn find(line: &str) -> Option<(PathBuf, Self)> {
        let (_, rest) = line.split_once(MARK_PREFIX)?;
        let (file, rest) = rest.rsplit_once(MARK_BYTES)?;
        let (bytes, link) = rest.split_once(MARK_CHAIN)?;
        let link = link.split_whitespace().next()?.to_owned();
        Some((PathBuf::from(file), Self { bytes: bytes.parse().ok()?, link }))
    }

    /// The line of the system log that `find` reads, for the trail in this file, written by this process.
    pub(super) fn format_log_line(&self, file: &Path, pid: u32) -> String {
        let Self { bytes, link } = self;
        format!(
            "<{PRIORITY}>fabdeck[{pid}]: {MARK_PREFIX}{}{MARK_BYTES}{bytes}{MARK_CHAIN}{link}",
            file.display()
        )
    }
}

const MARK_PREFIX: &str = "audit trail ";
const MARK_BYTES: &str = " has ";
const MARK_CHAIN: &str = " bytes, chain ";
/// Facility authpriv, severity notice. Any user can write such a line; journald records the user (`_UID`).
const PRIORITY: u32 = 10 * 8 + 5;
