//! The folder that changes live in: one for all users of a machine, so that nobody changes a fabric behind another's
//! back.
//!
//! ```text
//! lock                  held while a change is begun
//! audit                 everything that was done, one line each
//! changes/000007/
//!   plan.json           as it was given
//!   journal             durable before the first write
//!   guard.lock          held by the process that keeps the change; its number
//!   guard.sock          where it is asked
//!   guard.log           what it said
//!   ended               nothing is left to do; the journal says how it ended
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::journal::{Begun, Journal, JournalError, Phase, Read, Record};

const JOURNAL: &str = "journal";
const PLAN: &str = "plan.json";
const ENDED: &str = "ended";
const LOCK: &str = "guard.lock";

/// Why the folder cannot be used, or no change begun.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error(
        "FD-5631: {folder}: journals of changes cannot be kept there: {error}; nothing is written to a fabric without. Make \
         the folder (as root: install -d -m 1777 {folder}), or name another with --state-dir"
    )]
    Folder { folder: String, error: io::Error },
    #[error(
        "FD-5632: change {id} is pending on this fabric: {user} began it {time} (process {pid}, {phase}); confirm it or roll it back first, \
         'fabdeck changes' lists it"
    )]
    Pending { id: String, user: String, time: String, pid: u32, phase: &'static str },
    #[error(
        "FD-5633: {folder}: what is there of an earlier change cannot be read, so whether it is pending is not known: {error}"
    )]
    Unread { folder: String, error: JournalError },
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("FD-5634: there is no change {0}; 'fabdeck changes' lists those there are")]
    Unknown(String),
}

/// Where changes are kept.
#[derive(Clone, Debug)]
pub struct Home(PathBuf);

/// The folder of one change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    pub folder: PathBuf,
    pub read: Read,
}

/// The right to keep one change, for as long as it lives.
#[derive(Debug)]
pub struct Keeping(#[allow(dead_code, reason = "the lock goes with the file")] File);

impl Home {
    /// Makes what is missing below a folder.
    pub fn open(folder: &Path) -> Result<Self, HomeError> {
        let home = Self(folder.to_owned());
        let bad = |error| HomeError::Folder { folder: folder.display().to_string(), error };
        fs::create_dir_all(home.changes()).map_err(bad)?;
        home.lock_file("lock").map_err(bad)?;
        Ok(home)
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }

    fn changes(&self) -> PathBuf {
        self.0.join("changes")
    }

    fn lock_file(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().create(true).append(true).open(self.0.join(name))
    }

    fn bad(&self, error: io::Error) -> HomeError {
        HomeError::Folder { folder: self.0.display().to_string(), error }
    }

    /// Holds everybody else off until it is dropped.
    pub(super) fn alone(&self, name: &str) -> io::Result<File> {
        let file = self.lock_file(name)?;
        file.lock()?;
        Ok(file)
    }

    /// All changes there are, the first first; those that cannot be read with the reason.
    pub fn all(&self) -> Result<Vec<Result<Kept, HomeError>>, HomeError> {
        self.read(|_| true)
    }

    /// Those that are pending; whoever is over has left a sign, for journals may be long.
    pub fn pending(&self) -> Result<Vec<Result<Kept, HomeError>>, HomeError> {
        let mut open = self.read(|folder| !folder.join(ENDED).exists())?;
        open.retain(|kept| kept.as_ref().map_or(true, |kept| kept.read.told.phase.is_pending()));
        Ok(open)
    }

    fn read(&self, wanted: impl Fn(&Path) -> bool) -> Result<Vec<Result<Kept, HomeError>>, HomeError> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(self.changes()).map_err(|error| self.bad(error))? {
            let path = entry.map_err(|error| self.bad(error))?.path();
            // A folder whose journal was never made had nothing written under it.
            if path.join(JOURNAL).exists() && wanted(&path) {
                folders.push(path);
            }
        }
        folders.sort();
        let kept = |folder: PathBuf| match Journal::load(&folder.join(JOURNAL)) {
            Ok(read) => Some(Ok(Kept { folder, read })),
            Err(JournalError::Empty { .. }) => None,
            Err(error) => Some(Err(HomeError::Unread { folder: folder.display().to_string(), error })),
        };
        Ok(folders.into_iter().filter_map(kept).collect())
    }

    /// The highest number that a folder has, one that was never begun included.
    fn last_number(&self) -> io::Result<u64> {
        let mut last = 0;
        for entry in fs::read_dir(self.changes())? {
            let name = entry?.file_name();
            last = last.max(name.to_str().and_then(|name| name.parse().ok()).unwrap_or(0));
        }
        Ok(last)
    }

    /// The change of an id.
    pub fn find(&self, id: &str) -> Result<Kept, HomeError> {
        let mut unread = None;
        for kept in self.all()? {
            match kept {
                Ok(kept) if kept.read.told.begun.id == id => return Ok(kept),
                Ok(_) => {}
                Err(error) => unread = Some(error),
            }
        }
        Err(unread.unwrap_or_else(|| HomeError::Unknown(id.chars().take(40).collect())))
    }

    /// Begins a change: its journal is durable when this returns. Refused while another one is pending on any of its
    /// switches, and while it is not known whether one is.
    pub fn begin(&self, mut begun: Begun, plan: &str) -> Result<(Kept, Keeping), HomeError> {
        let alone = self.alone("lock").map_err(|error| self.bad(error))?;
        for kept in self.pending()? {
            let told = kept?.read.told;
            if same_fabric(&told.begun, &begun) {
                return Err(pending(&told.begun, told.phase));
            }
        }
        begun.number = self.last_number().map_err(|error| self.bad(error))? + 1;
        let folder = self.changes().join(format!("{:06}", begun.number));
        fs::create_dir(&folder)
            .and_then(|()| write_durably(&folder.join(PLAN), plan))
            .map_err(|error| self.bad(error))?;
        let keeping = keep(&folder).map_err(|error| self.bad(error))?;
        let path = folder.join(JOURNAL);
        Journal::create(&path)?.keep(&Record::Begun(Box::new(begun)))?;
        let read = Journal::load(&path)?;
        drop(alone);
        // Whoever made the folder is the first that may keep it.
        let keeping = keeping.ok_or_else(|| self.bad(io::ErrorKind::WouldBlock.into()))?;
        Ok((Kept { folder, read }, keeping))
    }
}

fn write_durably(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Two changes of one fabric: they share a switch, and a simulator where there is one.
fn same_fabric(a: &Begun, b: &Begun) -> bool {
    a.simulator == b.simulator && a.switches.intersection(&b.switches).next().is_some()
}

fn pending(begun: &Begun, phase: Phase) -> HomeError {
    let Begun { id, user, time, pid, .. } = begun.clone();
    HomeError::Pending { id, user, time, pid, phase: phase.title() }
}

fn keep(folder: &Path) -> io::Result<Option<Keeping>> {
    let file = OpenOptions::new().create(true).append(true).open(folder.join(LOCK))?;
    match file.try_lock() {
        // For people: who it is that keeps it. The lock itself asks nobody.
        Ok(()) => file
            .set_len(0)
            .and_then(|()| (&file).write_all(std::process::id().to_string().as_bytes()))
            .map(|()| Some(Keeping(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Kept {
    /// The right to keep it, unless a process that lives has it.
    pub fn keep(&self) -> Result<Option<Keeping>, HomeError> {
        keep(&self.folder)
            .map_err(|error| HomeError::Folder { folder: self.folder.display().to_string(), error })
    }

    /// Whether nobody keeps it. Whoever began it lets go of it for its guard to take it, which has so much time for that.
    pub fn is_abandoned(&self) -> bool {
        const HANDED_OVER: Duration = Duration::from_secs(15);
        let path = self.folder.join(LOCK);
        // A lock that cannot be looked at is as good as held: its guard says what is wrong.
        let Ok(file) = File::open(&path) else { return false };
        if file.try_lock_shared().is_err() {
            return false;
        }
        drop(file);
        let holder = fs::read_to_string(&path).unwrap_or_default();
        let age =
            fs::metadata(&path).and_then(|held| held.modified()).ok().and_then(|time| time.elapsed().ok());
        holder != self.read.told.begun.pid.to_string() || age.is_none_or(|age| age > HANDED_OVER)
    }

    /// As it is on the disk now, open to be written.
    pub fn journal(&self) -> Result<(Journal, Read), JournalError> {
        let path = self.folder.join(JOURNAL);
        let read = Journal::load(&path)?;
        Ok((Journal::resume(&path, &read)?, read))
    }

    pub fn plan(&self) -> PathBuf {
        self.folder.join(PLAN)
    }

    pub fn log(&self) -> PathBuf {
        self.folder.join("guard.log")
    }

    /// Nothing is left to do. Without the sign its journal is read once more.
    pub fn end(&self) {
        let _ = File::create(self.folder.join(ENDED));
        let _ = fs::remove_file(self.socket());
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.join("guard.sock")
    }
}
