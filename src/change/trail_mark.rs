//! How far the audit trail was when a change was begun. The chain of a trail shows a line that was taken out of its midst;
//! that lines were cut off at its end shows only where its length is known from elsewhere: from the journal of each change.

use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

use super::audit::AuditError;
use super::home::Home;
use super::journal::Chained;

/// The length of a trail and the state of its chain there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TrailMark {
    pub bytes: u64,
    pub link: String,
}

impl TrailMark {
    /// Whether a trail goes on from this mark.
    fn is_in(&self, trail: &[u8]) -> bool {
        let Some(begin) = usize::try_from(self.bytes).ok().and_then(|bytes| trail.get(..bytes)) else {
            return false;
        };
        Chained::read(begin).is_ok_and(|chained| chained.torn == 0 && chained.link.to_string() == self.link)
    }
}

impl Home {
    /// The mark for a change that is begun now; none where there is no trail yet, or none that holds.
    pub(super) fn trail_mark(&self) -> Option<TrailMark> {
        let bytes = fs::read(self.folder().join("audit")).ok()?;
        let chained = Chained::read(&bytes).ok()?;
        Some(TrailMark { bytes: chained.length, link: chained.link.to_string() })
    }

    /// Checks that the trail still holds what it held when the newest change was begun. A trail that was set aside lies beside
    /// it, under a name that begins with `audit`.
    pub fn check_trail(&self) -> Result<(), AuditError> {
        let Some((id, mark)) = self.newest_mark() else { return Ok(()) };
        let file = self.folder().join("audit").display().to_string();
        let disk = |error: io::Error| AuditError::Disk { file: file.clone(), error };
        for entry in fs::read_dir(self.folder()).map_err(disk)? {
            let path = entry.map_err(disk)?.path();
            let is_trail = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"audit"));
            if is_trail && path.is_file() && mark.is_in(&fs::read(&path).map_err(disk)?) {
                return Ok(());
            }
        }
        Err(AuditError::Cut { file, id, bytes: mark.bytes })
    }

    /// The mark of the newest change that can be read.
    fn newest_mark(&self) -> Option<(String, TrailMark)> {
        let mut folders = Vec::new();
        self.those(|folder| {
            folders.push(folder.to_owned());
            false
        })
        .ok()?;
        let newest = folders.iter().max()?.clone();
        let kept = self.those(|folder| folder == newest).ok()?;
        let begun = kept.into_iter().flatten().next()?.read.told.begun;
        Some((begun.id, begun.trail?))
    }
}
