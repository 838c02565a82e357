//! Files as the state folder needs them: regular ones that are appended to, synced, cut and locked.

use std::fmt;
use std::fs::TryLockError;
use std::io;

use jiff::Timestamp;

use super::process::LockHolder;

/// How a file is opened. Links and pipes are refused in every mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenMode {
    /// An existing file, to be read.
    Read,
    /// An existing file, to be read and appended to.
    Append,
    /// The same; a missing file is made, for its owner alone.
    AppendOrMake,
    /// A new file, for its owner alone.
    Make,
    /// An empty file, new or emptied, for its owner alone.
    Empty,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    File,
    Folder,
    /// A link, a socket or a pipe.
    Other,
}

/// What the system knows of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileStatus {
    pub kind: FileKind,
    pub user: u32,
    pub group: u32,
    pub mode: u32,
    pub length: u64,
    /// Device and number: two paths with one id lead to one file.
    pub id: (u64, u64),
    pub modified: Option<Timestamp>,
}

/// An open file. Its lock ends with it.
pub trait OpenFile: Send + Sync + fmt::Debug {
    fn status(&self) -> io::Result<FileStatus>;

    /// Reads at most so many bytes from the beginning.
    fn read(&self, most: u64) -> io::Result<Vec<u8>>;

    fn append(&self, bytes: &[u8]) -> io::Result<()>;

    /// What was written outlives the machine once this returns.
    fn sync(&self) -> io::Result<()>;

    /// Cuts it to a length; what was cut off is gone for good after the next `sync`.
    fn set_length(&self, length: u64) -> io::Result<()>;

    fn set_mode(&self, mode: u32) -> io::Result<()>;

    /// Tries to take its lock: alone, or beside others that share it.
    fn try_lock(&self, shared: bool) -> Result<(), TryLockError>;

    fn unlock(&self) -> io::Result<()>;

    /// The process that holds its lock. Nothing is known of a process in another PID namespace or on another machine.
    fn lock_holder(&self) -> io::Result<LockHolder>;
}
