//! The folder of one change: who keeps it, and what lies in it.

use std::ffi::OsString;
use std::fs::TryLockError;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::clock::Stopwatch;
use super::file_lock::FileLock;
use super::home::HomeError;
use super::journal::{Begun, Journal, JournalError, Phase, Read};
use super::lanes::PlanLanes;
use super::owned::{self, Keeper};
use super::plan::{Plan, SCHEMA};
use super::system::{LockHolder, OpenFile, OpenMode, System};

pub(super) const JOURNAL: &str = "journal";
pub(super) const PLAN: &str = "plan.json";
pub(super) const ENDED: &str = "ended";
const LOCK: &str = "guard.lock";
const SOCKET: &str = "socket";

pub(super) const UNKNOWN_WRITES: &str = "FD-5628: the journal holds writes that this version does not know: nothing is written or taken back by it";

#[derive(Clone, Debug)]
pub struct Kept {
    pub folder: PathBuf,
    pub read: Read,
    pub(super) system: Arc<dyn System>,
}

/// The right to keep one change, for as long as it lives.
#[derive(Debug)]
pub struct Keeping(#[allow(dead_code, reason = "the lock goes with the file")] FileLock);

impl Keeping {
    /// Unless another process has it.
    pub(super) fn take(system: &dyn System, folder: &Path) -> io::Result<Option<Self>> {
        owned::owner(system, folder)?;
        let Ok(lock) = FileLock::try_acquire(system, &folder.join(LOCK))? else { return Ok(None) };
        // For people: which process it is. The lock itself asks nobody.
        lock.file().set_length(0)?;
        lock.file().append(system.pid().to_string().as_bytes())?;
        Ok(Some(Self(lock)))
    }
}

impl Kept {
    fn bad(&self, error: io::Error) -> HomeError {
        HomeError::Kept { folder: self.folder.display().to_string(), error }
    }

    /// The right to keep it, unless a process that lives has it.
    pub fn keep(&self) -> Result<Option<Keeping>, HomeError> {
        Keeping::take(self.system(), &self.folder).map_err(|error| self.bad(error))
    }

    /// The right to keep one that is incomplete: the guard that left it so may be about to go. `None`: it is not incomplete
    /// any more.
    pub(super) fn keep_incomplete(&self) -> Result<Option<Keeping>, HomeError> {
        const ABOUT_TO_GO: Duration = Duration::from_secs(5);
        let since = Stopwatch::start(self.system());
        loop {
            let keeping = self.keep()?;
            if Journal::load(self.system(), &self.folder.join(JOURNAL))?.told.phase != Phase::Incomplete {
                return Ok(None);
            }
            if keeping.is_some() {
                return Ok(keeping);
            }
            if since.elapsed() > ABOUT_TO_GO {
                return Err(self.bad(io::ErrorKind::WouldBlock.into()));
            }
            self.system.sleep(Duration::from_millis(10));
        }
    }

    /// Whether no guard keeps it. A process that listens at the socket is one; a lock alone proves nothing where other users
    /// may read its file. The process that began the change leaves the lock to the guard, which has this long to take it.
    pub fn is_abandoned(&self) -> bool {
        const HANDED_OVER: Duration = Duration::from_secs(15);
        if self.system.is_listening(&self.socket()) {
            return false;
        }
        // A lock that cannot be looked at is as good as held: `trouble` says what is wrong.
        let Ok(file) = self.lock() else { return false };
        match file.try_lock(true) {
            Ok(()) => {}
            Err(TryLockError::Error(_)) => return false,
            // A guard that has not made its socket yet, or could not; it may be on another machine.
            Err(TryLockError::WouldBlock) => return is_lock_foreign(&*file),
        }
        let _ = file.unlock();
        let holder = String::from_utf8(file.read(40).unwrap_or_default()).unwrap_or_default();
        let modified = file.status().ok().and_then(|held| held.modified);
        let age = modified.and_then(|time| Duration::try_from(self.system.now().duration_since(time)).ok());
        holder != self.read.told.begun.pid.to_string() || age.is_none_or(|age| age > HANDED_OVER)
    }

    /// The process that holds its lock, for an error.
    pub fn lock_holder(&self) -> Option<LockHolder> {
        let file = self.lock().ok()?;
        match file.try_lock(true) {
            Err(TryLockError::WouldBlock) => file.lock_holder().ok(),
            _ => None,
        }
    }

    /// The right to wait beside the guard, unless another process does.
    pub fn lock_second(&self) -> io::Result<Option<Keeping>> {
        owned::owner(self.system(), &self.folder)?;
        Ok(FileLock::try_acquire(self.system(), &self.folder.join("second.lock"))?.ok().map(Keeping))
    }

    /// Ends the process that holds the lock, for good. The process is held by a descriptor, and its start is compared, so that
    /// no other process of the same number is meant. `None`: no process holds the lock.
    pub fn end_guard(&self) -> io::Result<Option<LockHolder>> {
        let Some(holder) = self.lock_holder() else { return Ok(None) };
        let pid = holder.pid.ok_or_else(|| io::Error::other(format!("{holder} holds its lock")))?;
        let started = self.system.process_start(pid);
        self.system.end_process(pid, &|| {
            let holds = self.lock_holder().is_some_and(|now| now.pid == holder.pid);
            holds && self.system.process_start(pid) == started
        })?;
        Ok(Some(holder))
    }

    /// Whether a signal has stopped the process that holds the lock.
    pub fn is_guard_stopped(&self) -> bool {
        let pid = self.lock_holder().and_then(|holder| holder.pid);
        pid.is_some_and(|pid| self.system.is_stopped(pid))
    }

    pub fn system(&self) -> &dyn System {
        &*self.system
    }

    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Box<dyn OpenFile>> {
        owned::open(self.system(), &self.folder.join(name), mode)
    }

    fn lock(&self) -> io::Result<Box<dyn OpenFile>> {
        self.open(LOCK, OpenMode::Read)
    }

    /// As it is on the disk now, open to be written.
    pub fn journal(&self) -> Result<(Journal, Read), JournalError> {
        let path = self.folder.join(JOURNAL);
        let read = Journal::load(self.system(), &path)?;
        Ok((Journal::resume(self.system(), &path, &read)?, read))
    }

    /// Whether it has other records by now than when it was read: a journal only grows.
    pub fn has_grown(&self) -> bool {
        let now = self.system.symlink_metadata(&self.folder.join(JOURNAL)).map(|file| file.length);
        now.map_or(true, |now| now != self.read.size())
    }

    pub fn plan(&self) -> PathBuf {
        self.folder.join(PLAN)
    }

    pub fn log(&self) -> PathBuf {
        self.folder.join("guard.log")
    }

    /// Nothing is left to do. Without the sign its journal is read once more.
    pub fn end(&self) {
        let _ = self.open(ENDED, OpenMode::AppendOrMake);
        let _ = self.system.remove(&self.socket());
    }

    /// It is to be done after all; durable when this returns.
    pub(super) fn no_end(&self) -> io::Result<()> {
        match self.system.remove(&self.folder.join(ENDED)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.system.sync_folder(&self.folder)
    }

    /// The plan that was begun; what is wrong with what lies there else.
    pub fn plan_begun(&self) -> Result<Plan, String> {
        let wrong = |what: String| {
            format!("FD-5627: the plan beside the journal is not the one that was begun ({what})")
        };
        let text = self
            .open(PLAN, OpenMode::Read)
            .and_then(|file| file.read(u64::MAX))
            .and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other))
            .map_err(|error| wrong(error.to_string()))?;
        let plan = Plan::read(&text).map_err(|error| wrong(error.to_string()))?;
        match plan.hash == self.read.told.begun.plan {
            true => Ok(plan),
            false => Err(wrong(format!("it is plan {:.12}", plan.hash))),
        }
    }

    /// What the journal alone says of the plan: enough to take it back.
    pub fn plan_of_journal(&self) -> Plan {
        let Begun { source, engine, plan, writes, migrations, .. } = self.read.told.begun.clone();
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
            migrations,
            phases: None,
            certificate: Default::default(),
            impact: Default::default(),
            jobs: Default::default(),
            transition: Default::default(),
            cut_off: crate::CutOff::default(),
            findings: Vec::new(),
            writes,
            hash: plan,
        }
    }

    /// What keeps a guard from doing what it is there for, as far as it can be told without one.
    pub fn trouble(&self) -> Option<String> {
        let unknown = self.read.told.begun.writes.iter().any(|write| write.step().is_err());
        let unknown = unknown.then(|| UNKNOWN_WRITES.to_owned());
        // One that is not there yet is made by whoever keeps it.
        let lock = || self.lock().err().filter(|error| error.kind() != io::ErrorKind::NotFound);
        unknown
            .or_else(|| lock().map(|error| self.bad(error).to_string()))
            .or_else(|| self.plan_begun().err())
    }

    /// Who may keep it. Its journal is opened only where it is of whoever owns the folder.
    pub fn keeper(&self) -> Keeper {
        let owner = owned::owner(self.system(), &self.folder);
        owner.map_or(Keeper::Nobody, |owner| Keeper::of(self.system.user(), owner))
    }

    /// Whether this process may keep it: nobody else's, root's neither.
    pub fn is_own(&self) -> bool {
        self.keeper() == Keeper::Here
    }

    /// Whether this user may give it a guard: whoever began it, and root.
    pub fn may_have_guard(&self) -> bool {
        self.keeper() != Keeper::Nobody
    }

    /// Where its guard is asked: the guard writes down where that is. Guards of older versions listen in the folder itself.
    pub fn socket(&self) -> PathBuf {
        const PATH_MOST: u64 = 4096;
        match self.open(SOCKET, OpenMode::Read).and_then(|file| file.read(PATH_MOST)) {
            Ok(path) if path.ends_with(b".sock") => PathBuf::from(OsString::from_vec(path)),
            _ => self.usual_socket(),
        }
    }

    /// The socket in the folder of the change, which only its owner reaches.
    pub fn usual_socket(&self) -> PathBuf {
        self.folder.join("guard.sock")
    }

    /// Writes down where the guard listens.
    pub fn set_socket(&self, socket: &Path) -> io::Result<()> {
        self.open(SOCKET, OpenMode::Empty)?.append(socket.as_os_str().as_encoded_bytes())
    }
}

/// Whether a lock is held by another user, whose process is no guard of this change.
fn is_lock_foreign(file: &dyn OpenFile) -> bool {
    let owner = file.status().map(|held| held.user);
    owner.and_then(|owner| Ok(file.lock_holder()?.is_foreign(owner))).unwrap_or(false)
}
