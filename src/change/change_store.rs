//! The state folder: journals of changes, locks and the audit trail. It belongs to one user, and others have no right
//! in it (`ownership`). Other users send requests to the guards of changes at their sockets (`guard::socket_folder`).
//!
//! ```text
//! lock                  held while a change is begun
//! audit                 everything that was done, one line each
//! changes/000007/
//!   plan.json           as it was given
//!   journal             durable before the first write
//!   guard.lock          held by the guard of the change; its process id
//!   second.lock         held by the second process beside the guard
//!   socket              the path of the guard's socket
//!   guard.log           messages of the guard
//!   ended               nothing is left to do; the journal says how it ended
//! ```

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::change_dir::{self, ChangeDir, ENDED, GuardLock, JOURNAL, PLAN};
use super::change_owner;
use super::change_store_error::ChangeStoreError;
use super::file_lock::FileLock;
use super::folder_ownership::{self, FolderProblem};
use super::journal::{BeginRecord, Journal, JournalContent, JournalError, JournalRecord};
use super::system::{LocalSystem, OpenFile, OpenMode, System};
use super::user_names;

/// Timeout for another process that is beginning a change.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of bytes of the journals of one other user that are read for a list.
const MAX_FOREIGN_BYTES: u64 = 256 << 20;
/// Number of folder names that are tried for a new change: a process may have left a folder without beginning a change.
const MAX_NUMBERS_TRIED: u64 = 1000;

/// The state folder.
#[derive(Clone, Debug)]
pub struct ChangeStore {
    folder: PathBuf,
    /// The socket of the system log, which gets the length of the audit trail; `None` for no log.
    system_log: Option<PathBuf>,
    system: Arc<dyn System>,
}

impl ChangeStore {
    /// Opens a folder of this machine for new changes: creates it if missing, refuses it if other users could stop a
    /// guard.
    pub fn open(folder: &Path) -> Result<Self, ChangeStoreError> {
        Self::open_on(Arc::new(LocalSystem), folder)
    }

    /// The same on another system, such as that of a test.
    pub fn open_on(system: Arc<dyn System>, folder: &Path) -> Result<Self, ChangeStoreError> {
        let home = Self::open_existing_on(system, folder);
        let system = home.system();
        let bad = |error| home.io_error(error);
        folder_ownership::make_private(system, folder).map_err(bad)?;
        home.check_fitness()?;
        folder_ownership::make_private(system, &home.changes()).map_err(bad)?;
        for path in [folder.to_owned(), home.changes(), home.folder.join("audit")] {
            if system.metadata(&path).is_ok() {
                folder_ownership::restrict(system, &path).map_err(bad)?;
            }
        }
        home.file("lock").map_err(bad)?;
        Ok(home)
    }

    /// Refuses a folder that other users own or can write.
    pub fn check_fitness(&self) -> Result<(), ChangeStoreError> {
        let problem = |problem: FolderProblem| ChangeStoreError::FolderProblem(problem.words(&self.folder));
        folder_ownership::check_fitness(self.system(), &self.folder, &self.changes())
            .map_err(|error| self.io_error(error))?
            .map_err(problem)
    }

    /// A folder for reading: nothing is created, and no right to write is needed.
    pub fn open_existing(folder: &Path) -> Self {
        Self::open_existing_on(Arc::new(LocalSystem), folder)
    }

    /// The same on another system, such as that of a test.
    pub fn open_existing_on(system: Arc<dyn System>, folder: &Path) -> Self {
        Self { folder: folder.to_owned(), system, system_log: None }
    }

    /// Sets the socket of the system log, which gets the length of the audit trail.
    pub fn with_system_log(self, system_log: Option<PathBuf>) -> Self {
        Self { system_log, ..self }
    }

    pub(super) fn system_log(&self) -> Option<&Path> {
        self.system_log.as_deref()
    }

    pub fn system(&self) -> &dyn System {
        &*self.system
    }

    /// Whether there are changes. A folder that this user cannot enter counts, since it may hold some.
    pub fn has_changes(&self) -> bool {
        may_exist(self.system(), &self.changes())
    }

    /// Whether this user may not read the folder, so that only the guards can answer.
    pub fn is_unreadable(&self) -> bool {
        self.system
            .list_folder(&self.changes())
            .is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn changes(&self) -> PathBuf {
        self.folder.join("changes")
    }

    /// Opens a file of the folder for appending.
    pub(super) fn file(&self, name: &str) -> io::Result<Box<dyn OpenFile>> {
        self.system.open(&self.folder.join(name), OpenMode::AppendOrMake)
    }

    fn io_error(&self, error: io::Error) -> ChangeStoreError {
        ChangeStoreError::Folder { folder: self.folder.display().to_string(), error }
    }

    /// Keeps other processes from beginning a change until the lock is dropped.
    fn lock_for_begin(&self) -> Result<FileLock, ChangeStoreError> {
        FileLock::acquire(self.system(), &self.folder.join("lock"), LOCK_TIMEOUT)
            .map_err(|error| self.io_error(error))
    }

    /// All changes, oldest first. Unreadable ones come as errors.
    pub fn list(&self) -> Result<Vec<Result<ChangeDir, ChangeStoreError>>, ChangeStoreError> {
        self.select(|_| true)
    }

    /// The pending changes. Ended changes have a mark, which saves reading their journals: these may be long.
    pub fn list_pending(&self) -> Result<Vec<Result<ChangeDir, ChangeStoreError>>, ChangeStoreError> {
        let mut open = self.select(|folder| self.system.metadata(&folder.join(ENDED)).is_err())?;
        open.retain(|kept| kept.as_ref().map_or(true, |kept| kept.read.state.phase.is_pending()));
        Ok(open)
    }

    /// The changes whose folders `wanted` accepts. Only their journals are read.
    pub fn select(
        &self,
        mut wanted: impl FnMut(&Path) -> bool,
    ) -> Result<Vec<Result<ChangeDir, ChangeStoreError>>, ChangeStoreError> {
        let mut folders: Vec<PathBuf> = Vec::new();
        let unseen = |error| ChangeStoreError::Unseen { folder: self.changes().display().to_string(), error };
        for path in self.system.list_folder(&self.changes()).map_err(unseen)? {
            // Without a journal nothing was written to the fabric. A journal that cannot be looked up counts, since it
            // may exist.
            if may_exist(self.system(), &path.join(JOURNAL)) && wanted(&path) {
                folders.push(path);
            }
        }
        folders.sort();
        let mut budgets = BTreeMap::new();
        let kept = |folder: PathBuf| match self.load_journal(&folder, &mut budgets) {
            Ok(read) => Some(Ok(ChangeDir { folder, read, system: Arc::clone(&self.system) })),
            Err(JournalError::Empty { .. }) => None,
            Err(error) => Some(Err(self.unread_change(&folder, error))),
        };
        Ok(folders.into_iter().filter_map(kept).collect())
    }

    /// Reads the journal of a change. `budgets` has the bytes that are still read of each other user: in a folder of older
    /// versions any user can put large files, which must take neither the time nor the changes of the others.
    fn load_journal(
        &self,
        folder: &Path,
        budgets: &mut BTreeMap<u32, u64>,
    ) -> Result<JournalContent, JournalError> {
        let path = folder.join(JOURNAL);
        let owner = change_owner::read_owner(self.system(), folder).map(|owner| owner.user);
        let Some(user) = owner.ok().filter(|user| *user != self.system.user()) else {
            return Journal::load(self.system(), &path);
        };
        let budget = budgets.entry(user).or_insert(MAX_FOREIGN_BYTES);
        let limit = || {
            let user = user_names::user_label(user);
            format!("the journals of {user} are read up to {} MiB together", MAX_FOREIGN_BYTES >> 20)
        };
        Journal::load_within(self.system(), &path, budget, &limit)
    }

    /// The highest number of a change that was begun.
    fn last_number(&self) -> io::Result<u64> {
        let mut last = 0;
        for entry in self.system.list_folder(&self.changes())? {
            let name = entry.file_name().and_then(|name| name.to_str());
            let number = name.and_then(parse_number).unwrap_or(0);
            if number > last && may_exist(self.system(), &entry.join(PLAN)) {
                last = number;
            }
        }
        Ok(last)
    }

    /// Creates the folder of the next change.
    fn make_folder(&self) -> io::Result<(u64, PathBuf)> {
        let last = self.last_number()?;
        for number in
            (last..last.saturating_add(MAX_NUMBERS_TRIED)).filter_map(|number| number.checked_add(1))
        {
            let folder = self.changes().join(format!("{number:06}"));
            match self.system.make_folder(&folder, 0o700) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| (number, folder)),
            }
        }
        Err(io::Error::other("no number is left for a change"))
    }

    /// The change with this id.
    pub fn find(&self, id: &str) -> Result<ChangeDir, ChangeStoreError> {
        let mut unread = None;
        for kept in self.list()? {
            match kept {
                Ok(kept) if kept.read.state.begun.id == id => return Ok(kept),
                Ok(_) => {}
                Err(error) => unread = Some(error),
            }
        }
        Err(unread.unwrap_or_else(|| ChangeStoreError::Unknown(id.chars().take(40).collect())))
    }

    /// The error of a change whose journal cannot be read.
    fn unread_change(&self, folder: &Path, error: JournalError) -> ChangeStoreError {
        let begun = Journal::load_first(self.system(), &folder.join(JOURNAL)).map(Box::new);
        ChangeStoreError::Unread { folder: folder.display().to_string(), error, begun }
    }

    /// Refuses a change if another one is, or may be, pending on any of its switches. Returns messages about unreadable
    /// changes that it steps over.
    pub fn refuse_second(&self, begun: &BeginRecord) -> Result<Vec<String>, ChangeStoreError> {
        let mut stepped_over = Vec::new();
        for kept in self.list_pending()? {
            match kept {
                Ok(kept) if kept.read.state.begun.meets(begun) => {
                    return Err(ChangeStoreError::pending(&kept.read.state.begun, kept.read.state.phase));
                }
                Err(error) if self.may_meet(&error, begun) => return Err(error),
                Err(error) => stepped_over.push(format!("{error}. The new change does not wait for it")),
                Ok(_) => {}
            }
        }
        Ok(stepped_over)
    }

    /// Whether an unreadable change may be pending on a switch of the new change. Its first record says which switches
    /// it has. Without that record no guard can roll it back, unless one runs already or a newer version wrote it.
    fn may_meet(&self, unread: &ChangeStoreError, new: &BeginRecord) -> bool {
        match unread {
            ChangeStoreError::Unread { begun: Some(begun), .. } => begun.meets(new),
            ChangeStoreError::Unread { error: JournalError::Record { .. }, .. } => true,
            ChangeStoreError::Unread { folder, .. } => self.has_listening_guard(Path::new(folder)),
            _ => true,
        }
    }

    fn has_listening_guard(&self, folder: &Path) -> bool {
        self.system.is_listening(&change_dir::socket_of(self.system(), folder))
    }

    /// Begins a change: its journal is durable when this returns. The change is refused if another one is, or may be,
    /// pending on any of its switches.
    pub fn begin(
        &self,
        mut begun: BeginRecord,
        plan: &str,
    ) -> Result<(ChangeDir, GuardLock), ChangeStoreError> {
        let lock = self.lock_for_begin()?;
        self.check_fitness()?;
        let _reported_before = self.refuse_second(&begun)?;
        let (number, folder) = self.make_folder().map_err(|error| self.io_error(error))?;
        begun.number = number;
        begun.marks_writing = true;
        begun.trail = self.trail_mark();
        self.sync_folders().map_err(|error| self.io_error(error))?;
        self.write_durably(&folder.join(PLAN), plan).map_err(|error| self.io_error(error))?;
        let keeping = GuardLock::acquire(self.system(), &folder).map_err(|error| self.io_error(error))?;
        let path = folder.join(JOURNAL);
        Journal::create(self.system(), &path)?.append_durably(&JournalRecord::Begun(Box::new(begun)))?;
        let read = Journal::load(self.system(), &path)?;
        drop(lock);
        // The process that created the folder is the first to ask for its lock.
        let keeping = keeping.ok_or_else(|| self.io_error(io::ErrorKind::WouldBlock.into()))?;
        Ok((ChangeDir { folder, read, system: Arc::clone(&self.system) }, keeping))
    }

    /// Begins the rollback of an incomplete change again: the change is pending when this returns, and needs a guard.
    /// It is refused if another one is pending on any of its switches. `None`: the change is no longer incomplete.
    pub fn reopen_rollback(
        &self,
        id: &str,
        again: &[JournalRecord],
    ) -> Result<Option<ChangeDir>, ChangeStoreError> {
        let kept = self.find(id)?;
        let Some(keeping) = kept.lock_incomplete()? else { return Ok(None) };
        // An unfit folder exposes its lock to other users and needs none: no other change can begin there.
        let lock = if self.check_fitness().is_ok() { Some(self.lock_for_begin()?) } else { None };
        let (mut journal, read) = kept.journal()?;
        // A neighbour that cannot be read holds no rollback up.
        for other in self.list_pending()?.into_iter().flatten() {
            let told = other.read.state;
            if told.begun.id != read.state.begun.id && told.begun.meets(&read.state.begun) {
                return Err(ChangeStoreError::pending(&told.begun, told.phase));
            }
        }
        // Without the mark its journal is read, which says from the next line on that the change is pending.
        kept.remove_end_mark().map_err(|error| self.io_error(error))?;
        again.iter().try_for_each(|record| journal.append_durably(record))?;
        let (_, read) = kept.journal()?;
        drop((lock, keeping));
        Ok(Some(ChangeDir { read, ..kept }))
    }

    /// Syncs the folders, because a crash would lose the journal with them. A process that was killed before it synced
    /// may have created them just now.
    fn sync_folders(&self) -> io::Result<()> {
        self.system.sync_folder(&self.changes())?;
        self.system.sync_folder(&self.folder)?;
        let parent = self.folder.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        match self.system.sync_folder(parent) {
            // This user cannot have created a folder that it cannot open.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            synced => synced,
        }
    }

    fn write_durably(&self, path: &Path, text: &str) -> io::Result<()> {
        let file = change_owner::open_file(self.system(), path, OpenMode::Make)?;
        file.append(text.as_bytes())?;
        file.sync()
    }
}

/// The number of a change's folder; `None` for other names.
fn parse_number(name: &str) -> Option<u64> {
    let digits = (6..=12).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse().ok().filter(|_| digits)
}

/// Whether the path exists, or cannot be looked up.
fn may_exist(system: &dyn System, path: &Path) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    !system.symlink_metadata(path).is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::chain_line;

    /// Its change may be pending on any fabric, and its guard may run.
    #[test]
    fn a_journal_of_a_newer_version_refuses_every_change() {
        let folder = tempfile::tempdir().unwrap();
        let home = ChangeStore::open(folder.path()).unwrap();
        let (kept, keeping) = home.begin(BeginRecord::default(), "{}").unwrap();
        drop(keeping);
        let (line, _) = chain_line(Default::default(), r#"{"record":"newer"}"#);
        std::fs::write(kept.folder.join(JOURNAL), line).unwrap();
        let refused = home.refuse_second(&BeginRecord::default()).unwrap_err();
        assert!(refused.to_string().contains("FD-5603"), "{refused}");
    }
}
