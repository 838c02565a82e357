//! The folder of one change: its files, and which process keeps it.

use std::ffi::OsString;
use std::fs::TryLockError;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::change_owner::{self, ChangeAccess};
use super::change_store_error::ChangeStoreError;
use super::clock::Stopwatch;
use super::file_lock::{FileLock, WrongHolder, is_foreign};
use super::journal::{BeginRecord, ChangePhase, Journal, JournalContent, JournalError};
use super::plan::{MAX_PLAN_BYTES, Plan, SCHEMA};
use super::plan_lanes::PlanLanes;
use super::system::{FileStatus, LockHolder, OpenFile, OpenMode, System};

pub(super) const JOURNAL: &str = "journal";
pub(super) const PLAN: &str = "plan.json";
pub(super) const ENDED: &str = "ended";
const LOCK: &str = "guard.lock";
const SOCKET: &str = "socket";
const DEFAULT_SOCKET: &str = "guard.sock";
/// How long a process that took the lock has to listen at the socket, or to write a record.
const HANDED_OVER: Duration = Duration::from_secs(15);
/// How long a guard that writes or rolls back stays stopped before another process ends it.
const STOPPED_GRACE: Duration = Duration::from_secs(2);
/// Age of the last record from which such a change counts as stalled: if its guard is stopped, and if it is silent. A
/// second process ends a stopped guard earlier.
const STOPPED_STALL: Duration = Duration::from_secs(5);
const SILENT_STALL: Duration = Duration::from_secs(60);

pub(super) const UNKNOWN_WRITES: &str = "FD-5628: the journal has writes that this version does not know, so this \
 version writes nothing and rolls nothing back";

#[derive(Clone, Debug)]
pub struct ChangeDir {
    pub folder: PathBuf,
    pub read: JournalContent,
    pub(super) system: Arc<dyn System>,
}

/// The lock of the guard on one change, until it is dropped.
#[derive(Debug)]
pub struct GuardLock(#[allow(dead_code, reason = "the lock goes with the file")] FileLock);

impl GuardLock {
    /// Takes the lock of a new change; `None` if another process has it.
    pub(super) fn acquire(system: &dyn System, folder: &Path) -> io::Result<Option<Self>> {
        Self::acquire_unless(system, folder, &is_foreign)
    }

    /// Takes the lock; `None` if another process has it, unless that is no guard.
    fn acquire_unless(
        system: &dyn System,
        folder: &Path,
        is_no_guard: WrongHolder<'_>,
    ) -> io::Result<Option<Self>> {
        change_owner::read_owner(system, folder)?;
        let Ok(lock) = FileLock::try_acquire_unless(system, &folder.join(LOCK), is_no_guard)? else {
            return Ok(None);
        };
        // The PID is for people, and for detecting an abandoned change; the lock itself does not depend on it.
        lock.file().set_length(0)?;
        lock.file().append(system.pid().to_string().as_bytes())?;
        Ok(Some(Self(lock)))
    }
}

impl ChangeDir {
    fn io_error(&self, error: io::Error) -> ChangeStoreError {
        ChangeStoreError::Kept { folder: self.folder.display().to_string(), error }
    }

    /// Takes the lock to keep the change; `None` if a living process has it.
    pub fn lock_guard(&self) -> Result<Option<GuardLock>, ChangeStoreError> {
        let is_no_guard = |holder: &LockHolder, file: &FileStatus| self.is_no_guard(holder, file);
        GuardLock::acquire_unless(self.system(), &self.folder, &is_no_guard)
            .map_err(|error| self.io_error(error))
    }

    /// Takes the lock on an incomplete change, whose guard may be about to end. `None`: the change is no longer
    /// incomplete.
    pub(super) fn lock_incomplete(&self) -> Result<Option<GuardLock>, ChangeStoreError> {
        const ABOUT_TO_GO: Duration = Duration::from_secs(5);
        let since = Stopwatch::start(self.system());
        loop {
            let keeping = self.lock_guard()?;
            if Journal::load(self.system(), &self.folder.join(JOURNAL))?.state.phase
                != ChangePhase::Incomplete
            {
                return Ok(None);
            }
            if keeping.is_some() {
                return Ok(keeping);
            }
            if since.elapsed() > ABOUT_TO_GO {
                let holder = self.lock_holder().unwrap_or_default();
                return Err(self.io_error(io::Error::other(format!("{holder} holds its lock"))));
            }
            self.system.sleep(Duration::from_millis(10));
        }
    }

    /// Whether no guard keeps the change. A process that listens at the socket is a guard. A lock alone proves nothing
    /// where other users may read its file. The process that began the change leaves the lock to the guard, which has a
    /// limited time to take it.
    pub fn is_abandoned(&self) -> bool {
        if self.system.is_listening(&self.socket()) {
            return false;
        }
        // A lock that cannot be tested counts as held; the change's trouble reports the reason.
        let Ok(file) = self.open_lock_file() else { return false };
        match file.try_lock(true) {
            Ok(()) => {}
            Err(TryLockError::Error(_)) => return false,
            // The holder may be a guard without a socket so far, perhaps on another machine.
            Err(TryLockError::WouldBlock) => {
                let holder = file.lock_holder().and_then(|holder| Ok((holder, file.status()?)));
                return holder.is_ok_and(|(holder, status)| self.is_no_guard(&holder, &status));
            }
        }
        let _ = file.unlock();
        let holder = String::from_utf8(file.read(40).unwrap_or_default()).unwrap_or_default();
        holder != self.read.state.begun.pid.to_string()
            || file.status().is_ok_and(|status| self.is_handed_over(&status))
    }

    /// Whether the process that wrote its PID into the lock file has had its time.
    fn is_handed_over(&self, lock: &FileStatus) -> bool {
        let age =
            lock.modified.and_then(|time| Duration::try_from(self.system.now().duration_since(time)).ok());
        age.is_none_or(|age| age > HANDED_OVER)
    }

    /// Whether a process that holds the lock is no guard: another user's, or one that this machine does not show although
    /// the journal says that the guard runs here. A guard of another machine that takes the change over writes into the
    /// lock file and, soon after, into the journal.
    fn is_no_guard(&self, holder: &LockHolder, lock: &FileStatus) -> bool {
        let is_here = self.read.state.host == self.system.host_name();
        is_foreign(holder, lock) || (holder.pid.is_none() && is_here && self.is_handed_over(lock))
    }

    /// The process that holds the lock, for messages.
    pub fn lock_holder(&self) -> Option<LockHolder> {
        holder_of(&*self.open_lock_file().ok()?)
    }

    /// The guard that holds the lock. A process of another user is no guard: it cannot be ended, and the next guard
    /// replaces the lock file that it holds.
    pub(crate) fn guard_holder(&self) -> Option<LockHolder> {
        let file = self.open_lock_file().ok()?;
        let status = file.status();
        holder_of(&*file).filter(|holder| !status.is_ok_and(|status| self.is_no_guard(holder, &status)))
    }

    /// Takes the lock of the second process beside the guard; `None` if another process has it.
    pub fn lock_standby(&self) -> io::Result<Option<GuardLock>> {
        change_owner::read_owner(self.system(), &self.folder)?;
        Ok(FileLock::try_acquire(self.system(), &self.folder.join("second.lock"))?.ok().map(GuardLock))
    }

    /// Kills the guard that holds the lock. A descriptor holds the process, and its start time is compared, so that no
    /// process that reuses the PID is killed. `None`: no guard holds the lock.
    pub fn end_guard(&self) -> io::Result<Option<LockHolder>> {
        let Some(holder) = self.guard_holder() else { return Ok(None) };
        let pid = holder.pid.ok_or_else(|| io::Error::other(format!("{holder} holds its lock")))?;
        let started = self.system.process_start(pid);
        self.system.end_process(pid, &|| {
            let holds = self.guard_holder().is_some_and(|now| now.pid == holder.pid);
            holds && self.system.process_start(pid) == started
        })?;
        Ok(Some(holder))
    }

    /// Whether the guard that holds the lock is stopped by a signal.
    pub fn is_guard_stopped(&self) -> bool {
        let pid = self.guard_holder().and_then(|holder| holder.pid);
        pid.is_some_and(|pid| self.system.is_stopped(pid))
    }

    /// Whether the guard is stopped by a signal while it writes or rolls back, and stays stopped. Such a change is
    /// half written, so it waits for no deadline.
    pub fn is_stopped_under_way(&self) -> bool {
        if !self.is_under_way() || !self.is_guard_stopped() {
            return false;
        }
        self.system.sleep(STOPPED_GRACE);
        self.is_guard_stopped()
    }

    /// Whether a change that is being written or rolled back has had no record for too long, if its guard is stopped
    /// or gone, or was asked and did not answer.
    pub fn is_stalled(&self) -> bool {
        if !self.is_under_way() {
            return false;
        }
        let limit = if self.is_guard_stopped() { STOPPED_STALL } else { SILENT_STALL };
        let modified =
            self.system.symlink_metadata(&self.folder.join(JOURNAL)).ok().and_then(|file| file.modified);
        let age = modified.and_then(|time| Duration::try_from(self.system.now().duration_since(time)).ok());
        age.is_none_or(|age| age > limit)
    }

    fn is_under_way(&self) -> bool {
        matches!(self.read.state.phase, ChangePhase::Applying | ChangePhase::RollingBack)
    }

    pub fn system(&self) -> &dyn System {
        &*self.system
    }

    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Box<dyn OpenFile>> {
        change_owner::open_file(self.system(), &self.folder.join(name), mode)
    }

    fn open_lock_file(&self) -> io::Result<Box<dyn OpenFile>> {
        self.open(LOCK, OpenMode::Read)
    }

    /// The journal as it is on the disk now, open for appending.
    pub fn journal(&self) -> Result<(Journal, JournalContent), JournalError> {
        let path = self.folder.join(JOURNAL);
        let read = Journal::load(self.system(), &path)?;
        Ok((Journal::resume(self.system(), &path, &read)?, read))
    }

    /// The journal as an open file, which stays the same one where its folder is moved.
    pub(crate) fn open_journal(&self) -> io::Result<Box<dyn OpenFile>> {
        self.open(JOURNAL, OpenMode::Read)
    }

    /// Whether no process waits beside the guard.
    pub(crate) fn lacks_standby(&self) -> bool {
        self.lock_standby().is_ok_and(|lock| lock.is_some())
    }

    /// Whether the journal has more records now than when it was read.
    pub fn has_new_records(&self) -> bool {
        let now = self.system.symlink_metadata(&self.folder.join(JOURNAL)).map(|file| file.length);
        now.map_or(true, |now| now != self.read.size())
    }

    pub fn plan(&self) -> PathBuf {
        self.folder.join(PLAN)
    }

    pub fn log(&self) -> PathBuf {
        self.folder.join("guard.log")
    }

    /// Marks the change as ended. Without the mark, listing pending changes reads its journal again.
    pub fn mark_ended(&self) {
        let _ = self.open(ENDED, OpenMode::AppendOrMake);
        let _ = self.system.remove(&self.socket());
    }

    /// Removes the mark again, durably: the change is pending.
    pub(super) fn remove_end_mark(&self) -> io::Result<()> {
        match self.system.remove(&self.folder.join(ENDED)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.system.sync_folder(&self.folder)
    }

    /// The plan of the change, or why the file is not the plan that was begun.
    pub fn plan_begun(&self) -> Result<Plan, String> {
        let wrong = |what: String| {
            format!("FD-5627: the plan beside the journal is not the one that was begun ({what})")
        };
        let text = self
            .open(PLAN, OpenMode::Read)
            .and_then(|file| read_plan(&*file))
            .and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other))
            .map_err(|error| wrong(error.to_string()))?;
        let plan = Plan::read(&text).map_err(|error| wrong(error.to_string()))?;
        match plan.hash == self.read.state.begun.plan {
            true => Ok(plan),
            false => Err(wrong(format!("it is plan {:.12}", plan.hash))),
        }
    }

    /// The plan as far as the journal knows it: enough for a rollback.
    pub fn plan_of_journal(&self) -> Plan {
        let BeginRecord { source, engine, plan, writes, migrations, .. } = self.read.state.begun.clone();
        Plan {
            schema: SCHEMA.to_owned(),
            source,
            engine,
            assumed: None,
            failed: Vec::new(),
            scope: Default::default(),
            created: None,
            author: None,
            fingerprint: Default::default(),
            names: Default::default(),
            lanes: PlanLanes::default(),
            path_bits: Default::default(),
            migrations,
            phases: None,
            certificate: Default::default(),
            impact: Default::default(),
            jobs: Default::default(),
            transition: Default::default(),
            cut_off: crate::CutOffReport::default(),
            findings: Vec::new(),
            writes,
            hash: plan,
        }
    }

    /// What keeps a guard from working on this change, as far as it shows without a guard.
    pub fn find_problem(&self) -> Option<String> {
        let unknown = self.read.state.begun.writes.iter().any(|write| write.to_step().is_err());
        let unknown = unknown.then(|| UNKNOWN_WRITES.to_owned());
        // A missing lock is fine: the guard that keeps the change creates it.
        let lock = || self.open_lock_file().err().filter(|error| error.kind() != io::ErrorKind::NotFound);
        unknown
            .or_else(|| lock().map(|error| self.io_error(error).to_string()))
            .or_else(|| self.plan_begun().err())
    }

    /// Which guard may keep the change. Its journal is opened only if the owner of the folder owns it.
    pub fn access(&self) -> ChangeAccess {
        let owner = change_owner::read_owner(self.system(), &self.folder);
        owner.map_or(ChangeAccess::Nobody, |owner| ChangeAccess::of(self.system.user(), owner))
    }

    /// Whether this process may keep the change itself. Even root may not keep another user's change.
    pub fn is_own(&self) -> bool {
        self.access() == ChangeAccess::Here
    }

    /// Whether this user may start a guard for it: the owner of the change, and root.
    pub fn may_have_guard(&self) -> bool {
        self.access() != ChangeAccess::Nobody
    }

    /// The guard's socket, from the file that the guard writes. Guards of older versions listen in the folder itself.
    pub fn socket(&self) -> PathBuf {
        socket_of(self.system(), &self.folder)
    }

    /// The socket in the folder of the change, which only the owner reaches.
    pub fn default_socket(&self) -> PathBuf {
        self.folder.join(DEFAULT_SOCKET)
    }

    /// Stores the path of the guard's socket.
    pub fn set_socket(&self, socket: &Path) -> io::Result<()> {
        self.open(SOCKET, OpenMode::Empty)?.append(socket.as_os_str().as_encoded_bytes())
    }
}

/// The socket of the guard of the change in this folder.
pub(super) fn socket_of(system: &dyn System, folder: &Path) -> PathBuf {
    const MAX_PATH_BYTES: u64 = 4096;
    let file = change_owner::open_file(system, &folder.join(SOCKET), OpenMode::Read);
    match file.and_then(|file| file.read(MAX_PATH_BYTES)) {
        Ok(path) if path.ends_with(b".sock") => PathBuf::from(OsString::from_vec(path)),
        _ => folder.join(DEFAULT_SOCKET),
    }
}

/// Reads a plan, which is no larger than `apply` accepts.
fn read_plan(file: &dyn OpenFile) -> io::Result<Vec<u8>> {
    match file.status()?.length {
        bytes if bytes > MAX_PLAN_BYTES => {
            Err(io::Error::other(format!("it has {bytes} bytes, and a plan has at most {MAX_PLAN_BYTES}")))
        }
        _ => file.read(MAX_PLAN_BYTES),
    }
}

/// The process that holds the lock of an open file.
fn holder_of(file: &dyn OpenFile) -> Option<LockHolder> {
    match file.try_lock(true) {
        Err(TryLockError::WouldBlock) => file.lock_holder().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::change_store::ChangeStore;
    use crate::journal::BeginRecord;

    #[test]
    fn a_change_without_its_folder_gets_no_guard() {
        let folder = tempfile::tempdir().unwrap();
        let home = ChangeStore::open(folder.path()).unwrap();
        let begun = BeginRecord { id: "aaaa0001".to_owned(), ..BeginRecord::default() };
        let (kept, _lock) = home.begin(begun, "{}").unwrap();
        assert!(kept.may_have_guard() && kept.is_own());
        std::fs::remove_dir_all(&kept.folder).unwrap();
        assert!(!kept.may_have_guard() && !kept.is_own());
    }
}
