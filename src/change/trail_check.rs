//! Checks whether the audit trail lost lines at its end: against the mark in the newest change, and against the marks in
//! the system log.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::audit::AuditError;
use super::change_store::ChangeStore;
use super::journal::ChainPosition;
use super::system::{FileKind, OpenFile, OpenMode};
use super::trail_lines::{read_trail_end, walk_trail};
use super::trail_mark::TrailMark;

/// Whether a trail continues from a mark.
fn continues_from(trail: &dyn OpenFile, mark: &TrailMark) -> io::Result<bool> {
    let mut end = ChainPosition::default();
    walk_trail(trail, mark.bytes, &mut |position| end = position)?;
    Ok(end.bytes == mark.bytes && end.link.to_string() == mark.link)
}

impl ChangeStore {
    /// Writes the length of the trail and the state of its chain to the system log. A log that accepts nothing does not
    /// matter: the trail itself is durable already.
    pub(super) fn log_trail_mark(&self, mark: &TrailMark) {
        let Some(socket) = self.system_log() else { return };
        let file = self.folder().join("audit");
        let file = std::path::absolute(&file).unwrap_or(file);
        let line = mark.format_log_line(&file, self.system().pid());
        // Missing marks show when the marks are compared; nothing else depends on them.
        let _ = self.system().write_system_log(socket, &line);
    }

    /// Checks the trail against lines of the system log. Returns the number of marks for this trail.
    pub fn check_trail_by_log(&self, log: &str) -> Result<usize, AuditError> {
        let file = self.folder().join("audit");
        let named = std::path::absolute(&file).unwrap_or_else(|_| file.clone());
        let file = file.display().to_string();
        let disk = |error: io::Error| AuditError::Disk { file: file.clone(), error };
        let marks = log.lines().filter_map(TrailMark::find).filter(|(of, _)| *of == named);
        let marks: Vec<TrailMark> = marks.map(|(_, mark)| mark).collect();
        let wanted: BTreeSet<u64> = marks.iter().map(|mark| mark.bytes).collect();
        let mut places = BTreeSet::new();
        for path in self.trail_files().map_err(disk)? {
            let Ok(trail) = self.system().open(&path, OpenMode::Read) else { continue };
            // A damaged trail counts up to the damage.
            let _ = walk_trail(&*trail, u64::MAX, &mut |position| {
                if wanted.contains(&position.bytes) {
                    places.insert((position.bytes, position.link.to_string()));
                }
            });
        }
        match marks.iter().find(|mark| !places.contains(&(mark.bytes, mark.link.clone()))) {
            Some(mark) => Err(AuditError::CutByLog { file, bytes: mark.bytes }),
            None => Ok(marks.len()),
        }
    }

    /// The trail, and old trails beside it. Unreadable ones have a list of their own.
    fn trail_files(&self) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for path in self.system().list_folder(self.folder())? {
            let is_trail = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"audit"));
            let is_folder = |path: &Path| {
                self.system().symlink_metadata(path).is_ok_and(|held| held.kind == FileKind::Folder)
            };
            if is_trail && !is_folder(&path) {
                found.push(path);
            }
        }
        Ok(found)
    }

    /// Files beside the trail that have the name of an old trail and cannot be read: a link, a pipe, another user's
    /// file. The trail is checked without them.
    pub fn unread_trails(&self) -> Vec<String> {
        let trails = self.trail_files().unwrap_or_default().into_iter();
        let unread = trails.filter_map(|path| Some((self.system().open(&path, OpenMode::Read).err()?, path)));
        unread
            .map(|(error, path)| {
                let path = path.display();
                format!("{path}: FD-5646: cannot be read: {error}; by its name it may be an audit trail that was set aside, and the trail is checked without it: make it readable, or rename it if it is no trail")
            })
            .collect()
    }

    /// The mark for a change that begins now. `None` if there is no trail, or an invalid one.
    pub(super) fn trail_mark(&self) -> Option<TrailMark> {
        let trail = self.system().open(&self.folder().join("audit"), OpenMode::Read).ok()?;
        let ChainPosition { bytes, link } = read_trail_end(&*trail).ok()?.ok()?.position;
        Some(TrailMark { bytes, link: link.to_string() })
    }

    /// Checks that the trail still holds what it held when the newest change began. An old trail lies beside it, under
    /// a name that begins with `audit`.
    pub fn check_trail(&self) -> Result<(), AuditError> {
        let Some((id, mark)) = self.newest_mark() else { return Ok(()) };
        let file = self.folder().join("audit").display().to_string();
        let disk = |error: io::Error| AuditError::Disk { file: file.clone(), error };
        for path in self.trail_files().map_err(disk)? {
            let trail = self.system().open(&path, OpenMode::Read);
            if trail.and_then(|trail| continues_from(&*trail, &mark)).unwrap_or(false) {
                return Ok(());
            }
        }
        Err(AuditError::Cut { file, id, bytes: mark.bytes })
    }

    /// The id and the mark of the newest change. `None` if its journal is unreadable or has no mark.
    fn newest_mark(&self) -> Option<(String, TrailMark)> {
        let mut folders = Vec::new();
        self.select(|folder| {
            folders.push(folder.to_owned());
            false
        })
        .ok()?;
        let newest = folders.iter().max()?.clone();
        let kept = self.select(|folder| folder == newest).ok()?;
        let begun = kept.into_iter().flatten().next()?.read.state.begun;
        Some((begun.id, begun.trail?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::AuditEntry;
    use crate::journal::BeginRecord;
    use std::fs;
    use std::time::Duration;

    #[test]
    fn a_trail_that_lost_lines_since_the_newest_change_began_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let home = ChangeStore::open(folder.path()).unwrap();
        let entry = |detail: &str| AuditEntry {
            time: "2026-11-25T12:00:00Z".to_owned(),
            user: "ada".to_owned(),
            pid: 1,
            what: "refused".to_owned(),
            change: None,
            detail: detail.to_owned(),
        };
        home.audit_all(&[entry("one"), entry("two")], Duration::from_secs(5)).unwrap();
        drop(home.begin(BeginRecord { id: "aaaa0001".to_owned(), ..BeginRecord::default() }, "{}").unwrap());
        home.audit_all(&[entry("three")], Duration::from_secs(5)).unwrap();
        home.check_trail().unwrap();
        let trail = folder.path().join("audit");
        let whole = fs::read_to_string(&trail).unwrap();
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        // The last line is newer than the change.
        fs::write(&trail, lines[..2].concat()).unwrap();
        home.check_trail().unwrap();
        fs::write(&trail, lines[0]).unwrap();
        let lost = home.check_trail().unwrap_err();
        assert!(matches!(&lost, AuditError::Cut { id, .. } if id == "aaaa0001"), "{lost}");
        // Set aside, it is still there.
        fs::write(folder.path().join("audit.before"), &whole).unwrap();
        home.check_trail().unwrap();
    }
}
