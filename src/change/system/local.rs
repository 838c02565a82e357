//! The operating system of this machine.

use std::fs::{self, DirBuilder, File, FileTimes, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::time::{Duration, SystemTime};

use fabdeck_files::open_regular;
use jiff::Timestamp;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::file::{FileKind, FileStatus, OpenFile, OpenMode};
use super::process::{LockHolder, stat_field};
use super::process_status::{ProcessStatus, list_pids};
use super::thread_progress::ThreadProgress;
use super::traits::{ListeningSocket, System};
use crate::clock::{BootTime, Clocks, SystemClocks};
use crate::guard::access_policy::AccessPolicy;
use crate::guard::guard_socket::{GuardSocket, is_listening, send_request_within};
use crate::guard::protocol::{GuardAnswer, GuardRequest, GuardSocketError, QueuedRequest};

/// The operating system and the process that this code runs in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LocalSystem;

impl Clocks for LocalSystem {
    fn now(&self) -> Timestamp {
        SystemClocks.now()
    }

    fn boot_time(&self) -> BootTime {
        SystemClocks.boot_time()
    }
}

impl System for LocalSystem {
    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn user(&self) -> u32 {
        rustix::process::geteuid().as_raw()
    }

    fn host_name(&self) -> String {
        rustix::system::uname().nodename().to_string_lossy().into_owned()
    }

    fn metadata(&self, path: &Path) -> io::Result<FileStatus> {
        fs::metadata(path).map(|held| status_of(&held))
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<FileStatus> {
        fs::symlink_metadata(path).map(|held| status_of(&held))
    }

    fn resolve_links(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn OpenFile>> {
        let mut how = OpenOptions::new();
        match mode {
            OpenMode::Read | OpenMode::ReadUnnoted => how.read(true),
            OpenMode::Append | OpenMode::AppendOrMake => how.read(true).append(true),
            OpenMode::Make => how.append(true).create_new(true).mode(0o600),
            OpenMode::Empty => how.write(true).truncate(true).create(true).mode(0o600),
        };
        match open_regular(path, &how) {
            // In a sticky folder that all users can write, the kernel refuses `O_CREAT` on another user's file
            // (fs.protected_regular). So the first attempt is without it.
            Err(error) if mode == OpenMode::AppendOrMake && error.kind() == io::ErrorKind::NotFound => {
                open_regular(path, how.create(true).mode(0o600))
            }
            opened => opened,
        }
        .inspect(|file| {
            if mode == OpenMode::ReadUnnoted {
                let _ = fcntl_setfl(file, OFlags::NOATIME);
            }
        })
        .map(|file| Box::new(LocalFile(file)) as Box<dyn OpenFile>)
    }

    fn list_folder(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect()
    }

    fn make_folder(&self, folder: &Path, mode: u32) -> io::Result<()> {
        DirBuilder::new().mode(mode).create(folder)?;
        // The umask may have removed rights of the owner.
        fs::set_permissions(folder, Permissions::from_mode(mode))
    }

    fn make_folders(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        fs::set_permissions(path, Permissions::from_mode(mode))
    }

    fn clear_access_time(&self, path: &Path) -> io::Result<()> {
        let file = open_regular(path, OpenOptions::new().read(true))?;
        file.set_times(FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, file: &Path, name: &Path) -> io::Result<()> {
        fs::hard_link(file, name)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn list_pids(&self) -> Vec<u32> {
        list_pids()
    }

    fn process_status(&self, pid: u32) -> Option<ProcessStatus> {
        ProcessStatus::read(pid)
    }

    fn hang_up(&self, pid: u32) -> io::Result<()> {
        Ok(kill_process(raw_pid(pid)?, Signal::HUP)?)
    }

    fn process_start(&self, pid: u32) -> Option<String> {
        stat_field(pid, 19)
    }

    fn is_stopped(&self, pid: u32) -> bool {
        stat_field(pid, 0).is_some_and(|state| state == "T" || state == "t")
    }

    fn progress(&self, pid: u32) -> Option<ThreadProgress> {
        ThreadProgress::read(pid)
    }

    fn write_system_log(&self, socket: &Path, line: &str) -> io::Result<()> {
        let log = UnixDatagram::unbound()?;
        // A log that accepts nothing must not block the guard.
        log.set_nonblocking(true)?;
        log.send_to(line.as_bytes(), socket).map(drop)
    }

    fn end_process(&self, pid: u32, is_meant: &dyn Fn() -> bool) -> io::Result<()> {
        let process = pidfd_open(raw_pid(pid)?, PidfdFlags::empty())?;
        if !is_meant() {
            return Err(io::Error::other("another process took its lock meanwhile"));
        }
        pidfd_send_signal(&process, Signal::KILL)?;
        let mut ended = [PollFd::new(&process, PollFlags::IN)];
        match poll(&mut ended, Some(&Timespec { tv_sec: 5, tv_nsec: 0 }))? {
            0 => Err(io::Error::new(io::ErrorKind::TimedOut, "it was killed and has not ended")),
            _ => Ok(()),
        }
    }

    fn is_listening(&self, socket: &Path) -> bool {
        is_listening(socket)
    }

    fn ask_guard(
        &self,
        socket: &Path,
        ask: &GuardRequest,
        timeout: Duration,
    ) -> Result<GuardAnswer, GuardSocketError> {
        send_request_within(socket, ask, timeout)
    }

    fn open_guard_socket(
        &self,
        socket: &Path,
        orders: Sender<QueuedRequest>,
        policy: AccessPolicy,
    ) -> io::Result<Box<dyn ListeningSocket>> {
        Ok(Box::new(GuardSocket::open(socket, orders, policy)?))
    }
}

/// A PID for a system call. Zero and negative numbers mean groups of processes there.
fn raw_pid(pid: u32) -> io::Result<Pid> {
    let positive = i32::try_from(pid).ok().filter(|pid| *pid > 0);
    Ok(positive.and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?)
}

fn status_of(held: &Metadata) -> FileStatus {
    let kind = match () {
        () if held.is_file() => FileKind::File,
        () if held.is_dir() => FileKind::Folder,
        () => FileKind::Other,
    };
    FileStatus {
        kind,
        user: held.uid(),
        group: held.gid(),
        mode: held.mode() & 0o7777,
        length: held.len(),
        links: held.nlink(),
        id: (held.dev(), held.ino()),
        modified: held.modified().ok().and_then(|time| Timestamp::try_from(time).ok()),
        accessed: held.accessed().ok().and_then(|time| Timestamp::try_from(time).ok()),
    }
}

/// A file of this machine.
#[derive(Debug)]
struct LocalFile(File);

impl OpenFile for LocalFile {
    fn status(&self) -> io::Result<FileStatus> {
        self.0.metadata().map(|held| status_of(&held))
    }

    fn read_from(&self, offset: u64, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&self.0).seek(SeekFrom::Start(offset))?;
        (&self.0).take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.0).write_all(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.0.set_permissions(Permissions::from_mode(mode))
    }

    fn try_lock(&self, shared: bool) -> Result<(), TryLockError> {
        if shared { self.0.try_lock_shared() } else { self.0.try_lock() }
    }

    fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }

    fn lock_holder(&self) -> io::Result<LockHolder> {
        LockHolder::read_holder(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::Instant;

    #[test]
    fn a_process_is_stopped_from_a_signal_until_the_next() {
        let mut child = Command::new("sleep").arg("60").stdout(Stdio::null()).spawn().unwrap();
        let pid = child.id();
        let becomes = |stopped: bool| {
            let since = Instant::now();
            while LocalSystem.is_stopped(pid) != stopped && since.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(1));
            }
            LocalSystem.is_stopped(pid)
        };
        let states = [Signal::STOP, Signal::CONT].map(|signal| {
            kill_process(raw_pid(pid).unwrap(), signal).unwrap();
            becomes(signal == Signal::STOP)
        });
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(states, [true, false]);
        assert!(!LocalSystem.is_stopped(pid), "it is gone");
    }
}
