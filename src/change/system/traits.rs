//! The trait that the machinery of changes is written against.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use super::file::{FileStatus, OpenFile, OpenMode};
use crate::clock::Clocks;
use crate::guard::{AccessPolicy, Answer, Ask, DoorError, Order, Status};
use crate::hang::Progress;

/// One machine, as one process of one user sees it.
pub trait System: Clocks + Send + Sync + fmt::Debug {
    /// The number of this process.
    fn pid(&self) -> u32;

    /// The user that this process runs as.
    fn user(&self) -> u32;

    fn host_name(&self) -> String;

    /// What a path leads to, through links.
    fn metadata(&self, path: &Path) -> io::Result<FileStatus>;

    /// What a path leads to, or the link there.
    fn symlink_metadata(&self, path: &Path) -> io::Result<FileStatus>;

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn OpenFile>>;

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Makes a folder with this mode, whatever the mask of the process is.
    fn make_folder(&self, folder: &Path, mode: u32) -> io::Result<()>;

    /// Makes a folder and those that it lies in, where they are missing.
    fn make_folders(&self, folder: &Path) -> io::Result<()>;

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()>;

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file a second name.
    fn link(&self, file: &Path, name: &Path) -> io::Result<()>;

    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Names that were made or removed in a folder outlive the machine once this returns.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// When a process started; no two processes of one number have it in common. `None`: there is no such process.
    fn process_start(&self, pid: u32) -> Option<String>;

    /// Whether a signal has stopped a process.
    fn is_stopped(&self, pid: u32) -> bool;

    /// What the thread that keeps a change has done so far. `None`: it is not there, or this system does not say.
    fn progress(&self, _pid: u32) -> Option<Progress> {
        None
    }

    /// Writes a line to the system log; a system that has none refuses.
    fn tell_log(&self, _socket: &Path, _line: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Ends a process for good and waits until it is gone. `is_meant` is asked once the process is held by a descriptor, so
    /// that no other process of the same number is ended.
    fn end_process(&self, pid: u32, is_meant: &dyn Fn() -> bool) -> io::Result<()>;

    /// Whether a process listens at a socket. A guard that is stopped or busy listens still.
    fn is_listening(&self, socket: &Path) -> bool;

    /// Asks the guard behind a socket.
    fn ask(&self, socket: &Path, ask: &Ask, timeout: Duration) -> Result<Answer, DoorError>;

    /// Opens a guard's socket.
    fn open_door(
        &self,
        socket: &Path,
        orders: Sender<Order>,
        policy: AccessPolicy,
    ) -> io::Result<Box<dyn OpenDoor>>;
}

/// The socket of a guard. It ends with the process.
pub trait OpenDoor {
    /// Ends with the change: callers have their answers, and users who cannot read the journal know how it ended.
    fn close(&self, orders: Receiver<Order>, status: &Status);
}
