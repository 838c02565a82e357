//! The folder of one change: who keeps it, and what lies in it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::file_lock::{FileLock, LockHolder};
use super::guard::is_listening;
use super::home::HomeError;
use super::journal::{Begun, Journal, JournalError, Phase, Read};
use super::lanes::PlanLanes;
use super::owned::{self, Keeper};
use super::plan::{Plan, SCHEMA};

pub(super) const JOURNAL: &str = "journal";
pub(super) const PLAN: &str = "plan.json";
pub(super) const ENDED: &str = "ended";
const LOCK: &str = "guard.lock";
const SOCKET: &str = "socket";

pub(super) const UNKNOWN_WRITES: &str = "FD-5628: the journal holds writes that this version does not know: nothing is written or taken back by it";

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    pub folder: PathBuf,
    pub read: Read,
}

/// The right to keep one change, for as long as it lives.
#[derive(Debug)]
pub struct Keeping(#[allow(dead_code, reason = "the lock goes with the file")] FileLock);

impl Keeping {
    /// Unless another process has it.
    pub(super) fn take(folder: &Path) -> io::Result<Option<Self>> {
        owned::owner(folder)?;
        let Ok(lock) = FileLock::try_acquire(&folder.join(LOCK))? else { return Ok(None) };
        // For people: which process it is. The lock itself asks nobody.
        let mut file = lock.file();
        file.set_len(0)?;
        file.write_all(std::process::id().to_string().as_bytes())?;
        Ok(Some(Self(lock)))
    }
}

impl Kept {
    fn bad(&self, error: io::Error) -> HomeError {
        HomeError::Kept { folder: self.folder.display().to_string(), error }
    }

    /// The right to keep it, unless a process that lives has it.
    pub fn keep(&self) -> Result<Option<Keeping>, HomeError> {
        Keeping::take(&self.folder).map_err(|error| self.bad(error))
    }

    /// The right to keep one that is incomplete: the guard that left it so may be about to go. `None`: it is not incomplete
    /// any more.
    pub(super) fn keep_incomplete(&self) -> Result<Option<Keeping>, HomeError> {
        const ABOUT_TO_GO: Duration = Duration::from_secs(5);
        let since = Instant::now();
        loop {
            let keeping = self.keep()?;
            if Journal::load(&self.folder.join(JOURNAL))?.told.phase != Phase::Incomplete {
                return Ok(None);
            }
            if keeping.is_some() {
                return Ok(keeping);
            }
            if since.elapsed() > ABOUT_TO_GO {
                return Err(self.bad(io::ErrorKind::WouldBlock.into()));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether no guard keeps it. A process that listens at the socket is one; a lock alone proves nothing where other users
    /// may read its file. The process that began the change leaves the lock to the guard, which has this long to take it.
    pub fn is_abandoned(&self) -> bool {
        const HANDED_OVER: Duration = Duration::from_secs(15);
        if is_listening(&self.socket()) {
            return false;
        }
        // A lock that cannot be looked at is as good as held: `trouble` says what is wrong.
        let Ok(file) = self.lock() else { return false };
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::Error(_)) => return false,
            // A guard that has not made its socket yet, or could not; it may be on another machine.
            Err(TryLockError::WouldBlock) => return self.is_lock_foreign(&file),
        }
        let _ = file.unlock();
        let mut holder = String::new();
        let _ = (&file).take(40).read_to_string(&mut holder);
        let age = file.metadata().and_then(|held| held.modified()).ok().and_then(|time| time.elapsed().ok());
        holder != self.read.told.begun.pid.to_string() || age.is_none_or(|age| age > HANDED_OVER)
    }

    /// Whether the lock is held by another user, whose process is no guard of this change.
    fn is_lock_foreign(&self, file: &File) -> bool {
        let owner = file.metadata().map(|held| held.uid());
        owner.and_then(|owner| Ok(LockHolder::of(file)?.is_foreign(owner))).unwrap_or(false)
    }

    /// The process that holds its lock, for an error.
    pub fn lock_holder(&self) -> Option<LockHolder> {
        let file = self.lock().ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => LockHolder::of(&file).ok(),
            _ => None,
        }
    }

    /// The right to wait beside the guard, unless another process does.
    pub fn lock_second(&self) -> io::Result<Option<Keeping>> {
        owned::owner(&self.folder)?;
        Ok(FileLock::try_acquire(&self.folder.join("second.lock"))?.ok().map(Keeping))
    }

    /// Ends the process that holds the lock, for good. The process is held by a descriptor, and its start is compared, so that
    /// no other process of the same number is meant. `None`: no process holds the lock.
    pub fn end_guard(&self) -> io::Result<Option<LockHolder>> {
        let Some(holder) = self.lock_holder() else { return Ok(None) };
        let pid = holder.pid.and_then(|pid| Pid::from_raw(pid.cast_signed()));
        let pid = pid.ok_or_else(|| io::Error::other(format!("{holder} holds its lock")))?;
        let started = holder.started();
        let process = pidfd_open(pid, PidfdFlags::empty())?;
        let same = self.lock_holder().is_some_and(|now| now.pid == holder.pid && now.started() == started);
        if !same {
            return Err(io::Error::other("another process took its lock meanwhile"));
        }
        pidfd_send_signal(&process, Signal::KILL)?;
        let mut ended = [PollFd::new(&process, PollFlags::IN)];
        poll(&mut ended, Some(&Timespec { tv_sec: 5, tv_nsec: 0 }))?;
        Ok(Some(holder))
    }

    fn lock(&self) -> io::Result<File> {
        owned::open(&self.folder.join(LOCK), &owned::reading())
    }

    /// As it is on the disk now, open to be written.
    pub fn journal(&self) -> Result<(Journal, Read), JournalError> {
        let path = self.folder.join(JOURNAL);
        let read = Journal::load(&path)?;
        Ok((Journal::resume(&path, &read)?, read))
    }

    /// Whether it has other records by now than when it was read: a journal only grows.
    pub fn has_grown(&self) -> bool {
        let now = fs::symlink_metadata(self.folder.join(JOURNAL)).map(|file| file.len());
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
        let _ = owned::open(&self.folder.join(ENDED), OpenOptions::new().create(true).append(true));
        let _ = fs::remove_file(self.socket());
    }

    /// It is to be done after all; durable when this returns.
    pub(super) fn no_end(&self) -> io::Result<()> {
        match fs::remove_file(self.folder.join(ENDED)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        File::open(&self.folder)?.sync_all()
    }

    /// The plan that was begun; what is wrong with what lies there else.
    pub fn plan_begun(&self) -> Result<Plan, String> {
        let wrong = |what: String| {
            format!("FD-5627: the plan beside the journal is not the one that was begun ({what})")
        };
        let mut text = String::new();
        owned::open(&self.plan(), &owned::reading())
            .and_then(|mut file| file.read_to_string(&mut text))
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
        let user = rustix::process::geteuid().as_raw();
        owned::owner(&self.folder).map_or(Keeper::Nobody, |owner| Keeper::of(user, owner))
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
        let mut path = Vec::new();
        let read = owned::open(&self.folder.join(SOCKET), &owned::reading())
            .and_then(|file| file.take(PATH_MOST).read_to_end(&mut path));
        match read {
            Ok(_) if path.ends_with(b".sock") => PathBuf::from(OsString::from_vec(path)),
            _ => self.usual_socket(),
        }
    }

    /// The socket in the folder of the change, which only its owner reaches.
    pub fn usual_socket(&self) -> PathBuf {
        self.folder.join("guard.sock")
    }

    /// Writes down where the guard listens.
    pub fn set_socket(&self, socket: &Path) -> io::Result<()> {
        let mut how = OpenOptions::new();
        how.create(true).write(true).truncate(true).mode(0o600);
        let file = owned::open(&self.folder.join(SOCKET), &how)?;
        (&file).write_all(socket.as_os_str().as_encoded_bytes())
    }
}
