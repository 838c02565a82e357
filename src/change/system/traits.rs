//! The trait behind which changes use the operating system.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use super::file::{FileStatus, OpenFile, OpenMode};
use super::process_status::ProcessStatus;
use super::thread_progress::ThreadProgress;
use crate::clock::Clocks;
use crate::guard::access_policy::AccessPolicy;
use crate::guard::protocol::{ChangeStatus, GuardAnswer, GuardRequest, GuardSocketError, QueuedRequest};

/// One machine, as one process of one user sees it.
pub trait System: Clocks + Send + Sync + fmt::Debug {
    /// The PID of this process.
    fn pid(&self) -> u32;

    /// The effective user id of this process.
    fn user(&self) -> u32;

    fn host_name(&self) -> String;

    /// The metadata of the file at a path; follows symbolic links.
    fn metadata(&self, path: &Path) -> io::Result<FileStatus>;

    /// The metadata of the file at a path; does not follow symbolic links.
    fn symlink_metadata(&self, path: &Path) -> io::Result<FileStatus>;

    /// The path behind symbolic links. An error where nothing is there.
    fn resolve_links(&self, path: &Path) -> io::Result<PathBuf>;

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn OpenFile>>;

    fn list_folder(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Creates a folder with this mode, whatever the umask is.
    fn make_folder(&self, folder: &Path, mode: u32) -> io::Result<()>;

    /// Creates a folder and its missing parents.
    fn make_folders(&self, folder: &Path) -> io::Result<()>;

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()>;

    /// Sets the time of the last reading to the beginning of time, so that the next reading sets it again.
    fn clear_access_time(&self, path: &Path) -> io::Result<()>;

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Creates a hard link to a file.
    fn link(&self, file: &Path, name: &Path) -> io::Result<()>;

    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Flushes a folder: names that were added or removed survive a crash of the machine once this returns.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// The PIDs of all processes.
    fn list_pids(&self) -> Vec<u32>;

    /// The status of a process. `None`: there is no such process.
    fn process_status(&self, pid: u32) -> Option<ProcessStatus>;

    /// Sends SIGHUP to a process.
    fn hang_up(&self, pid: u32) -> io::Result<()>;

    /// The start time of a process, which differs between processes that reuse one PID. `None`: there is no such
    /// process.
    fn process_start(&self, pid: u32) -> Option<String>;

    /// Whether a process is stopped by a signal.
    fn is_stopped(&self, pid: u32) -> bool;

    /// The progress of the thread that keeps a change. `None`: the thread does not exist, or this system cannot tell.
    fn progress(&self, _pid: u32) -> Option<ThreadProgress> {
        None
    }

    /// Writes a line to the system log; an error where there is none.
    fn write_system_log(&self, _socket: &Path, _line: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Kills a process and waits until it has ended. `is_meant` runs once a descriptor holds the process, so that no
    /// process that reuses the PID is killed.
    fn end_process(&self, pid: u32, is_meant: &dyn Fn() -> bool) -> io::Result<()>;

    /// Whether a process listens at a socket. A stopped or busy guard still listens.
    fn is_listening(&self, socket: &Path) -> bool;

    /// Sends a request to the guard behind a socket.
    fn ask_guard(
        &self,
        socket: &Path,
        ask: &GuardRequest,
        timeout: Duration,
    ) -> Result<GuardAnswer, GuardSocketError>;

    /// Opens a guard's socket.
    fn open_guard_socket(
        &self,
        socket: &Path,
        orders: Sender<QueuedRequest>,
        policy: AccessPolicy,
    ) -> io::Result<Box<dyn ListeningSocket>>;
}

/// The socket of a guard. It ends with the process.
pub trait ListeningSocket {
    /// Closes the socket at the end of a change. Callers get their answers, and users who cannot read the journal learn
    /// how the change ended.
    fn close(&self, orders: Receiver<QueuedRequest>, status: &ChangeStatus);
}
