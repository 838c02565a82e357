//! Files as the state folder needs them: regular ones that are appended to, synced, cut and locked.

use std::fmt;
use std::fs::TryLockError;
use std::io;

use jiff::Timestamp;

use super::process::LockHolder;

/// How a file is opened. Links and pipes are refused in every mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenMode {
    /// An existing file, for reading.
    Read,
    /// Like `Read`; leaves no time of access where the file is this user's or root reads it.
    ReadUnnoted,
    /// An existing file, for reading and appending.
    Append,
    /// Like `Append`; a missing file is created with mode 0600.
    AppendOrMake,
    /// A new file with mode 0600; an existing one is an error.
    Make,
    /// An empty file with mode 0600: new, or an existing one truncated.
    Empty,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    File,
    Folder,
    /// A link, a socket or a pipe.
    Other,
}

/// The metadata of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileStatus {
    pub kind: FileKind,
    pub user: u32,
    pub group: u32,
    pub mode: u32,
    pub length: u64,
    /// Number of names that the file has; 0 once it was removed.
    pub links: u64,
    /// Device and inode: two paths with one id lead to one file.
    pub id: (u64, u64),
    pub modified: Option<Timestamp>,
    /// When the file was read last, where the file system keeps that time.
    pub accessed: Option<Timestamp>,
}

/// An open file. Closing it releases its lock.
pub trait OpenFile: Send + Sync + fmt::Debug {
    fn status(&self) -> io::Result<FileStatus>;

    /// Reads at most `most` bytes from the beginning.
    fn read(&self, most: u64) -> io::Result<Vec<u8>> {
        self.read_from(0, most)
    }

    /// Reads at most `most` bytes from an offset.
    fn read_from(&self, offset: u64, most: u64) -> io::Result<Vec<u8>>;

    fn append(&self, bytes: &[u8]) -> io::Result<()>;

    /// Flushes to disk: what was written survives a crash of the machine once this returns.
    fn sync(&self) -> io::Result<()>;

    /// Truncates the file to a length. A crash cannot bring the rest back after the next `sync`.
    fn set_length(&self, length: u64) -> io::Result<()>;

    fn set_mode(&self, mode: u32) -> io::Result<()>;

    /// Tries to take the lock of the file, exclusive or shared, without waiting.
    fn try_lock(&self, shared: bool) -> Result<(), TryLockError>;

    fn unlock(&self) -> io::Result<()>;

    /// The process that holds the lock. A process in another PID namespace or on another machine is unknown.
    fn lock_holder(&self) -> io::Result<LockHolder>;
}
