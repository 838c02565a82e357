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

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::journal::{Begun, Journal, JournalError, Phase, Record};
use super::kept::{ENDED, JOURNAL, Keeping, Kept, LOCK, PLAN};
use super::owned;
use super::shared::Shared;

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
    #[error("FD-5635: {folder}: the change cannot be kept: {error}")]
    Kept { folder: String, error: io::Error },
    #[error("FD-5636: {folder}: what is pending there cannot be seen: {error}")]
    Unseen { folder: String, error: io::Error },
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("FD-5634: there is no change {0}; 'fabdeck changes' lists those there are")]
    Unknown(String),
}

/// Where changes are kept.
#[derive(Clone, Debug)]
pub struct Home(PathBuf);

impl Home {
    /// Makes what is missing below a folder.
    pub fn open(folder: &Path) -> Result<Self, HomeError> {
        let home = Self(folder.to_owned());
        let bad = |error| HomeError::Folder { folder: folder.display().to_string(), error };
        fs::create_dir_all(folder).map_err(bad)?;
        home.shared().and_then(|shared| shared.folder(&home.changes())).map_err(bad)?;
        home.file("lock").map_err(bad)?;
        Ok(home)
    }

    /// One that is there, to look into: nothing is made, and nobody has to be let in to write.
    pub fn there(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// Whether there is any change, as far as can be seen: one that cannot be entered may hold some.
    pub fn is_there(&self) -> bool {
        could_be(&self.changes())
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }

    fn changes(&self) -> PathBuf {
        self.0.join("changes")
    }

    /// Who may use what lies in it: whoever may use the folder.
    pub(super) fn shared(&self) -> io::Result<Shared> {
        Shared::of(&self.0)
    }

    /// A file of all who use the folder, open to be appended to.
    pub(super) fn file(&self, name: &str) -> io::Result<File> {
        self.shared()?.file(&self.0.join(name))
    }

    fn bad(&self, error: io::Error) -> HomeError {
        HomeError::Folder { folder: self.0.display().to_string(), error }
    }

    /// Lets everybody in who may write in the folder.
    pub fn open_up(&self, path: &Path) -> io::Result<()> {
        self.shared()?.open_up(path)
    }

    /// Holds everybody else off until it is dropped.
    pub(super) fn alone(&self, name: &str) -> io::Result<File> {
        let file = self.file(name)?;
        file.lock()?;
        Ok(file)
    }

    /// All changes there are, the first first; those that cannot be read with the reason.
    pub fn all(&self) -> Result<Vec<Result<Kept, HomeError>>, HomeError> {
        self.those(|_| true)
    }

    /// Those that are pending; whoever is over has left a sign, for journals may be long.
    pub fn pending(&self) -> Result<Vec<Result<Kept, HomeError>>, HomeError> {
        let mut open = self.those(|folder| !folder.join(ENDED).exists())?;
        open.retain(|kept| kept.as_ref().map_or(true, |kept| kept.read.told.phase.is_pending()));
        Ok(open)
    }

    /// Those whose folders are wanted: each that has a journal is asked for, and only what is wanted is read.
    pub fn those(
        &self,
        mut wanted: impl FnMut(&Path) -> bool,
    ) -> Result<Vec<Result<Kept, HomeError>>, HomeError> {
        let mut folders: Vec<PathBuf> = Vec::new();
        let unseen = |error| HomeError::Unseen { folder: self.changes().display().to_string(), error };
        for entry in fs::read_dir(self.changes()).map_err(unseen)? {
            let path = entry.map_err(unseen)?.path();
            // A folder whose journal was never made had nothing written under it.
            // One that cannot be looked for may be there.
            if could_be(&path.join(JOURNAL)) && wanted(&path) {
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
            last = last.max(name.to_str().and_then(number).unwrap_or(0));
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

    /// Refuses a change while another one is pending on any of its switches, and while it is not known whether one is.
    pub fn refuse_second(&self, begun: &Begun) -> Result<(), HomeError> {
        for kept in self.pending()? {
            let told = kept?.read.told;
            if told.begun.is_of_fabric_of(begun) {
                return Err(HomeError::pending(&told.begun, told.phase));
            }
        }
        Ok(())
    }

    /// Begins a change: its journal is durable when this returns. Refused while another one is pending on any of its
    /// switches, and while it is not known whether one is.
    pub fn begin(&self, mut begun: Begun, plan: &str) -> Result<(Kept, Keeping), HomeError> {
        let alone = self.alone("lock").map_err(|error| self.bad(error))?;
        self.refuse_second(&begun)?;
        let shared = self.shared().map_err(|error| self.bad(error))?;
        let next = self.last_number().map(|last| last.checked_add(1));
        let none = || self.bad(io::Error::other("no number is left"));
        begun.number = next.map_err(|error| self.bad(error))?.ok_or_else(none)?;
        let folder = self.changes().join(format!("{:06}", begun.number));
        // The folder outlives the machine too: a journal in one that is lost is none.
        fs::create_dir(&folder)
            .and_then(|()| shared.show_folder(&folder))
            .and_then(|()| File::open(self.changes())?.sync_all())
            .and_then(|()| write_durably(&folder.join(PLAN), plan))
            .and_then(|()| shared.show(&folder.join(PLAN)))
            .map_err(|error| self.bad(error))?;
        // Whoever looks can tell whether anybody keeps it.
        let keeping =
            Keeping::take(&folder).and_then(|keeping| shared.show(&folder.join(LOCK)).map(|()| keeping));
        let keeping = keeping.map_err(|error| self.bad(error))?;
        let path = folder.join(JOURNAL);
        Journal::create(&path)?.keep(&Record::Begun(Box::new(begun)))?;
        shared.show(&path).map_err(|error| self.bad(error))?;
        let read = Journal::load(&path)?;
        drop(alone);
        // Whoever made the folder is the first that may keep it.
        let keeping = keeping.ok_or_else(|| self.bad(io::ErrorKind::WouldBlock.into()))?;
        Ok((Kept { folder, read }, keeping))
    }

    /// Begins the rollback of a change again that could not be brought to its end: it is pending when this returns, and wants
    /// a guard. Refused while another one is pending on any of its switches. `None`: it is not incomplete any more.
    pub fn begin_again(&self, id: &str, again: &Record) -> Result<Option<Kept>, HomeError> {
        let kept = self.find(id)?;
        let Some(keeping) = kept.keep_incomplete()? else { return Ok(None) };
        let alone = self.alone("lock").map_err(|error| self.bad(error))?;
        let (mut journal, read) = kept.journal()?;
        for other in self.pending()? {
            let told = other?.read.told;
            if told.begun.id != read.told.begun.id && told.begun.is_of_fabric_of(&read.told.begun) {
                return Err(HomeError::pending(&told.begun, told.phase));
            }
        }
        // Without the sign its journal is read, which says that it is pending from the next line on.
        kept.no_end().map_err(|error| self.bad(error))?;
        journal.keep(again)?;
        let (_, read) = kept.journal()?;
        drop((alone, keeping));
        Ok(Some(Kept { read, ..kept }))
    }
}

/// The number of a change's folder; others may lie there too.
fn number(name: &str) -> Option<u64> {
    let digits = (6..=12).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse().ok().filter(|_| digits)
}

/// Whether something is there, or cannot be looked for.
fn could_be(path: &Path) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    !fs::symlink_metadata(path).is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
}

fn write_durably(path: &Path, text: &str) -> io::Result<()> {
    let mut file = owned::open(path, OpenOptions::new().write(true).create_new(true))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

impl HomeError {
    /// Another change has to come to its end first.
    pub fn pending(begun: &Begun, phase: Phase) -> Self {
        let Begun { id, user, time, pid, .. } = begun.clone();
        Self::Pending { id, user, time, pid, phase: phase.title() }
    }
}
