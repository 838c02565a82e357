//! The folder that changes live in: one for all users of a machine, so that nobody changes a fabric behind another's
//! back.
//!
//! ```text
//! lock                  held while a change is begun
//! audit                 everything that was done, one line each
//! changes/000007/
//!   plan.json           as it was given
//!   journal             durable before the first write
//!   guard.lock          held by the process that keeps the change
//!   guard.sock          where it is asked
//!   guard.log           what it said
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::journal::{Begun, Journal, JournalError, Phase, Read, Record};

const JOURNAL: &str = "journal";
const PLAN: &str = "plan.json";

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
        let mut folders: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(self.changes()).map_err(|error| self.bad(error))? {
            let path = entry.map_err(|error| self.bad(error))?.path();
            // A folder whose journal was never made had nothing written under it.
            if path.join(JOURNAL).exists() {
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
        let mut number = 0;
        for kept in self.all()? {
            let told = kept?.read.told;
            number = number.max(told.begun.number);
            if told.phase.is_pending() && same_fabric(&told.begun, &begun) {
                return Err(pending(&told.begun, told.phase));
            }
        }
        begun.number = number + 1;
        let folder = self.changes().join(format!("{:06}", begun.number));
        let made = fs::remove_dir_all(&folder).or_else(absent_is_fine).and_then(|()| fs::create_dir(&folder));
        made.and_then(|()| write_durably(&folder.join(PLAN), plan)).map_err(|error| self.bad(error))?;
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

fn absent_is_fine(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
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
    let file = OpenOptions::new().create(true).append(true).open(folder.join("guard.lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Keeping(file))),
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

    /// As it is on the disk now, open to be written.
    pub fn journal(&self) -> Result<(Journal, Read), JournalError> {
        let path = self.folder.join(JOURNAL);
        let read = Journal::load(&path)?;
        Ok((Journal::resume(&path, &read)?, read))
    }

    pub fn plan(&self) -> PathBuf {
        self.folder.join(PLAN)
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.join("guard.sock")
    }
}
