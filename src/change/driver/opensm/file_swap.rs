//! Replaces files so that OpenSM never reads a partial one, and so that a later process can restore the old ones.
//!
//! ```text
//! active.lft                 what OpenSM reads: a file there goes live by itself at the next trap
//! active.lft.fabdeck-new     the new file until it is armed; OpenSM does not know that name
//! active.lft.fabdeck-before  the old file; if there was none, the tables that were in force
//! active.lft.fabdeck-note    the plan, the change, and which file went where; durable before the first file is armed
//! ```

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::journal::RollbackRemainder;
use crate::system::{OpenMode, System};

/// The mode of a file that had no predecessor: OpenSM may run as another user.
const NEW_FILE_MODE: u32 = 0o644;

/// The files that a plan has put in place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SwapRecord {
    /// The hash of the plan.
    pub plan: String,
    /// The change that put them there; `None` in notes of older versions. A note stays after a change was confirmed, and
    /// the same plan can be applied again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    pub files: Vec<ReplacedFile>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReplacedFile {
    pub file: PathBuf,
    /// Hashes of the new file and of the old one; `None` if there was no old file.
    pub wrote: String,
    pub before: Option<String>,
    /// If there was no old file: the hash of a file with the tables that were in force, which a rollback uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
}

/// A path, and the content that it is to have.
pub type FileContent = (PathBuf, Vec<u8>);

/// New files beside the active ones, copies of the old ones, and a note of both: durable, and not yet read by OpenSM.
#[derive(Debug)]
pub struct StagedFiles(SwapRecord);

fn sibling_path(file: &Path, word: &str) -> PathBuf {
    let mut name = file.file_name().map_or_else(OsString::new, ToOwned::to_owned);
    name.push(format!(".fabdeck-{word}"));
    file.with_file_name(name)
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The content of a file; `None` if there is no file. That OpenSM read a file has to show, and not that a driver did.
pub fn read_if_exists(system: &dyn System, file: &Path) -> io::Result<Option<Vec<u8>>> {
    match system.open(file, OpenMode::ReadUnnoted) {
        Ok(open) => open.read(u64::MAX).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The file that a symbolic link leads to: renaming over the link itself would replace the link.
pub fn resolve_link(system: &dyn System, file: &Path) -> PathBuf {
    system.resolve_links(file).unwrap_or_else(|_| file.to_owned())
}

fn write_durably(system: &dyn System, file: &Path, bytes: &[u8]) -> io::Result<()> {
    let open = system.open(file, OpenMode::Empty)?;
    open.append(bytes)?;
    open.set_mode(NEW_FILE_MODE)?;
    open.sync()
}

/// Syncs the folder of a file, so that renames and removals in it survive a crash.
fn sync_folder(system: &dyn System, file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    system.sync_folder(folder.unwrap_or(Path::new(".")))
}

fn remove(system: &dyn System, file: &Path) -> io::Result<()> {
    match system.remove(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Renames over a file, and keeps that file's mode.
fn rename_over(system: &dyn System, from: &Path, file: &Path) -> io::Result<()> {
    if let Ok(there) = system.metadata(file) {
        system.set_mode(from, there.mode)?;
    }
    system.rename(from, file)?;
    sync_folder(system, file)
}

impl StagedFiles {
    /// Writes all files for a change with a plan. The note lies beside the first file. If that one does not exist now, `stand_in` is stored for
    /// a rollback.
    pub fn prepare(
        system: &dyn System,
        (change, plan): (&str, &str),
        files: &[FileContent],
        stand_in: Option<&[u8]>,
    ) -> io::Result<Self> {
        let change = Some(change.to_owned());
        let mut note = SwapRecord { plan: plan.to_owned(), change, files: Vec::new() };
        for (file, bytes) in files {
            let before = read_if_exists(system, file)?;
            let stand_in = stand_in.filter(|_| before.is_none() && note.files.is_empty());
            if let Some(back) = before.as_deref().or(stand_in) {
                write_durably(system, &sibling_path(file, "before"), back)?;
            }
            write_durably(system, &sibling_path(file, "new"), bytes)?;
            let (before, stand_in) = (before.as_deref().map(hash), stand_in.map(hash));
            note.files.push(ReplacedFile { file: file.clone(), wrote: hash(bytes), before, stand_in });
        }
        let Some((first, _)) = files.first() else { return Ok(Self(note)) };
        let (path, draft) = (sibling_path(first, "note"), sibling_path(first, "note-new"));
        write_durably(system, &draft, serde_json::to_string_pretty(&note)?.as_bytes())?;
        system.rename(&draft, &path)?;
        // The entries of the other files have to be durable too.
        note.files.iter().try_for_each(|replaced| sync_folder(system, &replaced.file))?;
        Ok(Self(note))
    }

    /// Puts the new files in place: from here on OpenSM may read them at any moment.
    pub fn activate(&self, system: &dyn System) -> io::Result<()> {
        // The first file, the tables, goes live last: its paths may need the lanes of the others.
        let activate = |replaced: &ReplacedFile| {
            rename_over(system, &sibling_path(&replaced.file, "new"), &replaced.file)
        };
        self.0.files.iter().rev().try_for_each(activate)
    }
}

/// What came of restoring OpenSM's files.
#[derive(Debug, Default)]
pub struct RestoredFiles {
    pub left: Vec<RollbackRemainder>,
    /// Whether the disk failed, which may be over soon.
    pub may_succeed_later: bool,
}

impl SwapRecord {
    /// The note of the change that put a file in place last.
    pub fn read_for(system: &dyn System, first: &Path) -> io::Result<Option<Self>> {
        let Some(bytes) = read_if_exists(system, &sibling_path(first, "note"))? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(io::Error::from)
    }

    /// Whether the files are of this change, whose plan has this hash.
    pub fn is_of(&self, change: &str, plan: &str) -> bool {
        self.plan == plan && self.change.as_deref().is_none_or(|id| id == change)
    }

    /// Restores the old files. A file that another writer has changed since stays as it is.
    pub fn put_back(&self, system: &dyn System) -> RestoredFiles {
        let mut restored = RestoredFiles::default();
        for replaced in &self.files {
            let why = match replaced.put_back(system) {
                Ok(true) => continue,
                Ok(false) => "another program has written it since; it is left as it is".to_owned(),
                Err(error) => {
                    let for_good = [ErrorKind::InvalidData, ErrorKind::NotFound, ErrorKind::PermissionDenied];
                    restored.may_succeed_later |= !for_good.contains(&error.kind());
                    error.to_string()
                }
            };
            restored.left.push(RollbackRemainder { what: replaced.file.display().to_string(), why });
        }
        restored
    }

    /// Whether a new file is where OpenSM reads it.
    pub fn is_active(&self, system: &dyn System) -> bool {
        let held = |file: &Path| read_if_exists(system, file).ok().flatten().as_deref().map(hash);
        self.files.iter().any(|replaced| held(&replaced.file).as_ref() == Some(&replaced.wrote))
    }

    /// Notes from now on whether OpenSM reads the file of tables. Without a right to the file, or on a file system that
    /// keeps no such times, `was_read` stays false.
    pub fn watch_reading(&self, system: &dyn System) {
        for replaced in self.files.iter().take(1) {
            let _ = system.clear_access_time(&replaced.file);
        }
    }

    /// Whether the file of tables was read since `watch_reading`. A stand-in is removed only once it was read.
    pub fn was_read(&self, system: &dyn System) -> bool {
        let Some(tables) = self.files.first() else { return true };
        match system.metadata(&tables.file) {
            Ok(status) => status.accessed.is_some_and(|time| time > Timestamp::UNIX_EPOCH),
            Err(error) => error.kind() == ErrorKind::NotFound,
        }
    }

    /// Whether a stand-in lies where there was no file before.
    pub fn is_stand_in(&self, system: &dyn System) -> bool {
        self.files.iter().any(|replaced| replaced.is_stand_in(system))
    }

    /// Removes the stand-ins.
    pub fn remove_stand_in(&self, system: &dyn System) -> io::Result<()> {
        for replaced in self.files.iter().filter(|replaced| replaced.is_stand_in(system)) {
            remove(system, &replaced.file)?;
            sync_folder(system, &replaced.file)?;
        }
        Ok(())
    }

    /// Removes the note and the copies: a rollback is no longer possible.
    pub fn finish(&self, system: &dyn System) -> io::Result<()> {
        for replaced in &self.files {
            let copies = ["new", "before"].map(|word| sibling_path(&replaced.file, word));
            copies.iter().try_for_each(|copy| remove(system, copy))?;
        }
        let Some(first) = self.files.first() else { return Ok(()) };
        remove(system, &sibling_path(&first.file, "note"))?;
        sync_folder(system, &first.file)
    }
}

impl ReplacedFile {
    /// Restores the old file or its stand-in. False if another writer has changed the file.
    fn put_back(&self, system: &dyn System) -> io::Result<bool> {
        let held = read_if_exists(system, &self.file)?.as_deref().map(hash);
        let back = self.before.as_ref().or(self.stand_in.as_ref());
        // The file may be back and its name not be durable yet.
        if held == self.before || held.as_ref() == back {
            return sync_folder(system, &self.file).map(|()| true);
        }
        if held.as_ref() != Some(&self.wrote) {
            return Ok(false);
        }
        let Some(back) = back else {
            remove(system, &self.file)?;
            return sync_folder(system, &self.file).map(|()| true);
        };
        let kept = sibling_path(&self.file, "before");
        if read_if_exists(system, &kept)?.as_deref().map(hash).as_ref() != Some(back) {
            let what = format!("{} is not the file that was kept", kept.display());
            return Err(io::Error::new(ErrorKind::InvalidData, what));
        }
        rename_over(system, &kept, &self.file).map(|()| true)
    }

    fn is_stand_in(&self, system: &dyn System) -> bool {
        let held = || read_if_exists(system, &self.file).ok().flatten().as_deref().map(hash);
        self.before.is_none() && self.stand_in.is_some() && held() == self.stand_in
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::system::LocalSystem;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_armed_and_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let (tables, policy) = (folder.path().join("active.lft"), folder.path().join("policy"));
        fs::write(&tables, "old").unwrap();
        let wanted = [(tables.clone(), b"new".to_vec()), (policy.clone(), b"levels".to_vec())];
        let staged = StagedFiles::prepare(&LocalSystem, ("c1", "p1"), &wanted, Some(b"unused")).unwrap();
        assert_eq!(fs::read(&tables).unwrap(), b"old", "what is staged is not armed");
        assert!(!policy.exists());
        staged.activate(&LocalSystem).unwrap();
        assert_eq!(
            (fs::read(&tables).unwrap(), fs::read(&policy).unwrap()),
            (b"new".into(), b"levels".into())
        );
        let note = SwapRecord::read_for(&LocalSystem, &tables).unwrap().unwrap();
        assert_eq!((note.plan.as_str(), note.files.len()), ("p1", 2));
        assert!(note.is_of("c1", "p1"));
        assert!(!note.is_of("c2", "p1"), "the same plan, applied again");
        let of_older = SwapRecord { change: None, ..note.clone() };
        assert!(of_older.is_of("c2", "p1") && !of_older.is_of("c2", "p2"));
        assert!(note.is_active(&LocalSystem));
        assert_eq!(note.put_back(&LocalSystem).left, []);
        note.watch_reading(&LocalSystem);
        assert!(
            !note.is_active(&LocalSystem) && !note.was_read(&LocalSystem),
            "the driver's reading does not count"
        );
        assert!(!note.is_active(&LocalSystem));
        assert_eq!(note.put_back(&LocalSystem).left, [], "what is back already stays so");
        assert_eq!(fs::read(&tables).unwrap(), b"old");
        note.finish(&LocalSystem).unwrap();
        assert_eq!(names(folder.path()), ["active.lft"]);
        assert_eq!(SwapRecord::read_for(&LocalSystem, &tables).unwrap(), None);
    }

    #[test]
    fn files_of_other_writers_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let tables = folder.path().join("active.lft");
        fs::write(&tables, "old").unwrap();
        let staged =
            StagedFiles::prepare(&LocalSystem, ("c1", "p1"), &[(tables.clone(), b"new".to_vec())], None)
                .unwrap();
        // The file was never armed, so there is nothing to restore.
        assert_eq!(
            SwapRecord::read_for(&LocalSystem, &tables).unwrap().unwrap().put_back(&LocalSystem).left,
            []
        );
        staged.activate(&LocalSystem).unwrap();
        fs::write(&tables, "other").unwrap();
        let left = SwapRecord::read_for(&LocalSystem, &tables).unwrap().unwrap().put_back(&LocalSystem).left;
        assert!(left.len() == 1 && left[0].why.contains("another program"), "{left:?}");
        assert_eq!(fs::read(&tables).unwrap(), b"other");
        fs::write(&tables, "new").unwrap();
        fs::write(folder.path().join("active.lft.fabdeck-before"), "torn").unwrap();
        let left = SwapRecord::read_for(&LocalSystem, &tables).unwrap().unwrap().put_back(&LocalSystem).left;
        assert!(left[0].why.contains("is not the file that was kept"), "{left:?}");
    }

    #[test]
    fn where_there_was_no_file_another_leads_back() {
        let folder = tempfile::tempdir().unwrap();
        let (tables, policy) = (folder.path().join("active.lft"), folder.path().join("policy"));
        let wanted = [(tables.clone(), b"new".to_vec()), (policy.clone(), b"levels".to_vec())];
        let staged = StagedFiles::prepare(&LocalSystem, ("c1", "p1"), &wanted, Some(b"in force")).unwrap();
        let note = SwapRecord::read_for(&LocalSystem, &tables).unwrap().unwrap();
        assert!(
            note.put_back(&LocalSystem).left.is_empty()
                && !tables.exists()
                && !note.is_stand_in(&LocalSystem),
            "never armed"
        );
        staged.activate(&LocalSystem).unwrap();
        assert_eq!(note.put_back(&LocalSystem).left, []);
        assert_eq!((fs::read(&tables).unwrap(), policy.exists()), (b"in force".into(), false));
        // A later process continues from there.
        let note = SwapRecord::read_for(&LocalSystem, &tables).unwrap().unwrap();
        assert!(note.put_back(&LocalSystem).left.is_empty() && note.is_stand_in(&LocalSystem));
        note.remove_stand_in(&LocalSystem).unwrap();
        assert!(!tables.exists() && !note.is_stand_in(&LocalSystem));
        assert!(note.was_read(&LocalSystem), "the next guard does not wait for it");
        note.finish(&LocalSystem).unwrap();
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn a_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("real.lft"), folder.path().join("active.lft"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(resolve_link(&LocalSystem, &link), fs::canonicalize(&file).unwrap());
        assert_eq!(resolve_link(&LocalSystem, Path::new("/nowhere/x")), Path::new("/nowhere/x"));
    }
}
