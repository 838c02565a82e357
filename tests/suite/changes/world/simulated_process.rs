//! The system that a simulated process sees: every call is a step of the world.

use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

use jiff::Timestamp;

use super::scheduler::{Pid, Process, State, World};
use super::sockets::Listener;
use fabdeck_change::{
    AccessPolicy, BootTime, Caller, ChangeStatus, Clocks, FileKind, FileStatus, GuardAnswer, GuardRequest,
    GuardSocketError, ListeningSocket, LockHolder, OpenFile, OpenMode, ProcessStatus, QueuedRequest, System,
};

/// The wall clock of every machine at the beginning.
const WALL_BEGIN_MS: i64 = 1_790_000_000_000;

/// One process on one machine.
#[derive(Clone, Debug)]
pub struct SimulatedProcess {
    pub world: Arc<World>,
    pub host: usize,
    pub pid: Pid,
    pub user: u32,
}

impl SimulatedProcess {
    /// A step, and what it does to the world. A process that is gone does nothing.
    fn act<T>(
        &self,
        what: impl FnOnce() -> String,
        act: impl FnOnce(&mut State) -> io::Result<T>,
    ) -> io::Result<T> {
        self.world.step(what);
        let mut state = self.world.lock();
        if !state.is_alive(self.pid) {
            return Err(io::Error::other("the process is gone"));
        }
        act(&mut state)
    }

    fn disk(&self, state: &State) -> usize {
        state.hosts[self.host].disk
    }

    /// Whether the disk takes nothing just now.
    fn check_disk(&self, state: &State) -> io::Result<()> {
        match state.now_ms < state.hosts[self.host].disk_fails_until_ms {
            true => Err(io::Error::other("input/output error")),
            false => Ok(()),
        }
    }

    fn status_of(&self, state: &State, number: u64) -> FileStatus {
        let disk = self.disk(state);
        let inode = state.disks[disk].inode(number);
        FileStatus {
            kind: inode.kind,
            user: inode.user,
            group: inode.user,
            mode: inode.mode,
            length: inode.bytes.len() as u64,
            links: state.disks[disk].count_names(number),
            id: (disk as u64, number),
            modified: Timestamp::from_millisecond(inode.modified_ms).ok(),
            accessed: Timestamp::from_millisecond(inode.accessed_ms).ok(),
        }
    }

    pub fn has_to_end(&self) -> bool {
        self.world.lock().process(self.pid).asked_to_end
    }
}

/// The wall clock of a machine.
pub fn wall_ms(state: &State, host: usize) -> i64 {
    WALL_BEGIN_MS + state.now_ms as i64 + state.hosts[host].wall_ms
}

impl Clocks for SimulatedProcess {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(wall_ms(&self.world.lock(), self.host)).unwrap()
    }

    fn boot_time(&self) -> BootTime {
        let state = self.world.lock();
        let host = &state.hosts[self.host];
        BootTime { boot: format!("{} {}", host.name, host.boot), ms: state.now_ms - host.booted_ms }
    }

    fn sleep(&self, time: Duration) {
        self.world.sleep(time.as_millis() as u64);
    }

    fn wait(&self, time: Duration, attempt: &mut dyn FnMut(Duration) -> bool) {
        let until = self.world.lock().now_ms + time.as_millis() as u64;
        while !attempt(Duration::ZERO) {
            let now = self.world.lock().now_ms;
            if now >= until {
                return;
            }
            self.world.sleep(until - now);
        }
    }
}

impl System for SimulatedProcess {
    fn pid(&self) -> u32 {
        self.pid
    }

    fn user(&self) -> u32 {
        self.user
    }

    fn host_name(&self) -> String {
        self.world.lock().hosts[self.host].name.clone()
    }

    fn metadata(&self, path: &Path) -> io::Result<FileStatus> {
        self.symlink_metadata(path)
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<FileStatus> {
        self.act(
            || format!("looks at {}", path.display()),
            |state| {
                let number = state.disks[self.disk(state)].find(path, self.user)?;
                Ok(self.status_of(state, number))
            },
        )
    }

    fn resolve_links(&self, path: &Path) -> io::Result<PathBuf> {
        self.symlink_metadata(path).map(|_| path.to_owned())
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn OpenFile>> {
        self.act(
            || format!("opens {} ({mode:?})", path.display()),
            |state| {
                let disk = self.disk(state);
                let reads = matches!(mode, OpenMode::Read | OpenMode::ReadUnnoted);
                let rights = if reads { 4 } else { 6 };
                let there = state.disks[disk].open(path, self.user, rights);
                let is_missing = matches!(&there, Err(error) if error.kind() == io::ErrorKind::NotFound);
                let number = match mode {
                    OpenMode::Read | OpenMode::ReadUnnoted | OpenMode::Append => there?,
                    OpenMode::Make | OpenMode::AppendOrMake | OpenMode::Empty if is_missing => {
                        self.check_disk(state)?;
                        let made = wall_ms(state, self.host);
                        let number = state.disks[disk].make(path, self.user, (FileKind::File, 0o600))?;
                        state.disks[disk].inode_mut(number).modified_ms = made;
                        number
                    }
                    OpenMode::Make => return Err(io::ErrorKind::AlreadyExists.into()),
                    OpenMode::AppendOrMake | OpenMode::Empty => there?,
                };
                if mode == OpenMode::Empty {
                    state.disks[disk].inode_mut(number).bytes.clear();
                }
                state.monitor.handles += 1;
                let handle = state.monitor.handles;
                let (machine, path) = (self.clone(), path.to_owned());
                let is_noted = mode != OpenMode::ReadUnnoted;
                Ok(Box::new(SimulatedFile { machine, disk, number, handle, path, is_noted })
                    as Box<dyn OpenFile>)
            },
        )
    }

    fn list_folder(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.act(
            || format!("lists {}", folder.display()),
            |state| state.disks[self.disk(state)].list(folder, self.user),
        )
    }

    fn make_folder(&self, folder: &Path, mode: u32) -> io::Result<()> {
        self.act(
            || format!("makes {}", folder.display()),
            |state| {
                self.check_disk(state)?;
                let disk = self.disk(state);
                state.disks[disk].make(folder, self.user, (FileKind::Folder, mode)).map(drop)
            },
        )
    }

    fn make_folders(&self, folder: &Path) -> io::Result<()> {
        let made = |path: &Path| match self.make_folder(path, 0o755) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        };
        if self.symlink_metadata(folder).is_ok() {
            return Ok(());
        }
        folder.parent().map_or(Ok(()), |parent| self.make_folders(parent)).and_then(|()| made(folder))
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.act(
            || format!("sets the mode of {} to {mode:o}", path.display()),
            |state| {
                let disk = self.disk(state);
                let number = state.disks[disk].find(path, self.user)?;
                state.disks[disk].inode_mut(number).mode = mode;
                Ok(())
            },
        )
    }

    fn clear_access_time(&self, path: &Path) -> io::Result<()> {
        self.act(
            || format!("clears the access time of {}", path.display()),
            |state| {
                let disk = self.disk(state);
                let number = state.disks[disk].find(path, self.user)?;
                state.disks[disk].inode_mut(number).accessed_ms = 0;
                Ok(())
            },
        )
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.act(
            || format!("renames {} to {}", from.display(), to.display()),
            |state| {
                let disk = self.disk(state);
                state.disks[disk].rename(from, to, self.user)
            },
        )
    }

    fn link(&self, file: &Path, name: &Path) -> io::Result<()> {
        self.act(
            || format!("links {} to {}", name.display(), file.display()),
            |state| {
                let disk = self.disk(state);
                state.disks[disk].link(file, name, self.user)
            },
        )
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.act(
            || format!("removes {}", path.display()),
            |state| {
                let disk = self.disk(state);
                state.disks[disk].remove(path, self.user)
            },
        )
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.act(
            || format!("syncs {}", folder.display()),
            |state| {
                self.check_disk(state)?;
                let disk = self.disk(state);
                state.disks[disk].find(folder, self.user)?;
                state.disks[disk].sync_folder(folder);
                Ok(())
            },
        )
    }

    fn list_pids(&self) -> Vec<u32> {
        let state = self.world.lock();
        let here = state.processes.iter().filter(|(_, process)| process.host == self.host);
        here.map(|(pid, _)| *pid).collect()
    }

    /// A process that has ended is a zombie until the machine starts again.
    fn process_status(&self, pid: u32) -> Option<ProcessStatus> {
        let state = self.world.lock();
        let booted = state.hosts[self.host].booted_ms;
        let is_here = |process: &&Process| process.host == self.host && process.started_ms >= booted;
        state.processes.get(&pid).filter(is_here).map(|process| ProcessStatus {
            name: process.name.clone(),
            user: process.user,
            is_zombie: !state.is_alive(pid),
            is_stopped: process.stopped,
            is_contained: false,
            program: None,
        })
    }

    fn hang_up(&self, pid: u32) -> io::Result<()> {
        self.act(
            || format!("sends SIGHUP to {pid}"),
            |state| {
                state.hang_up(pid);
                Ok(())
            },
        )
    }

    fn process_start(&self, pid: u32) -> Option<String> {
        let state = self.world.lock();
        let process = state.processes.get(&pid).filter(|process| process.host == self.host)?;
        state.is_alive(pid).then(|| process.started_ms.to_string())
    }

    fn is_stopped(&self, pid: u32) -> bool {
        self.world.lock().processes.get(&pid).is_some_and(|process| process.stopped)
    }

    fn end_process(&self, pid: u32, is_meant: &dyn Fn() -> bool) -> io::Result<()> {
        if !is_meant() {
            return Err(io::Error::other("another process took its lock meanwhile"));
        }
        self.act(
            || format!("kills {pid}"),
            |state| {
                let of = state.processes.get(&pid).filter(|process| process.host == self.host);
                match of.map(|process| process.user) {
                    Some(user) if user != self.user && self.user != 0 => {
                        Err(io::ErrorKind::PermissionDenied.into())
                    }
                    Some(_) => {
                        state.kill(pid, "by another process");
                        Ok(())
                    }
                    None => Err(io::ErrorKind::NotFound.into()),
                }
            },
        )
    }

    fn is_listening(&self, socket: &Path) -> bool {
        let found = self.act(
            || format!("knocks at {}", socket.display()),
            |state| {
                state.disks[self.disk(state)].find(socket, self.user)?;
                Ok(state.sockets.get(self.host, socket).is_some())
            },
        );
        found.unwrap_or(false)
    }

    fn ask_guard(
        &self,
        socket: &Path,
        ask: &GuardRequest,
        timeout: Duration,
    ) -> Result<GuardAnswer, GuardSocketError> {
        let listener = self.act(
            || format!("asks {} for {}", socket.display(), ask.command_name()),
            |state| {
                state.disks[self.disk(state)].find(socket, self.user)?;
                let listener = state.sockets.get(self.host, socket).cloned();
                listener.ok_or_else(|| io::ErrorKind::ConnectionRefused.into())
            },
        );
        let listener = listener.map_err(GuardSocketError::Silent)?;
        let caller = Caller { uid: self.user, gid: self.user, name: format!("uid {}", self.user) };
        let ask = match listener.policy.authorize(ask.clone(), &caller, listener.user) {
            Ok(ask) => ask,
            Err(refused) => return Ok(*refused),
        };
        let (reply, answered) = channel();
        if listener.orders.send(QueuedRequest { ask, reply }).is_err() {
            return Err(GuardSocketError::Unanswered(io::ErrorKind::UnexpectedEof.into()));
        }
        self.world.lock().wake(listener.pid);
        self.await_answer(&listener, &answered, timeout)
    }

    fn open_guard_socket(
        &self,
        socket: &Path,
        orders: Sender<QueuedRequest>,
        policy: AccessPolicy,
    ) -> io::Result<Box<dyn ListeningSocket>> {
        let policy = Arc::new(policy);
        self.act(
            || format!("listens at {}", socket.display()),
            |state| {
                let disk = self.disk(state);
                match state.disks[disk].remove(socket, self.user) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
                state.disks[disk].make(socket, self.user, (FileKind::Other, 0o666))?;
                let listener =
                    Listener { pid: self.pid, user: self.user, orders, policy: Arc::clone(&policy) };
                state.sockets.open(self.host, socket, listener);
                Ok(())
            },
        )?;
        Ok(Box::new(SimulatedDoor { machine: self.clone(), policy }))
    }
}

impl SimulatedProcess {
    fn await_answer(
        &self,
        listener: &Listener,
        answered: &Receiver<GuardAnswer>,
        timeout: Duration,
    ) -> Result<GuardAnswer, GuardSocketError> {
        let until = self.world.lock().now_ms + timeout.as_millis() as u64;
        let mut pause = 1;
        loop {
            let is_alive = self.world.lock().is_alive(listener.pid);
            match answered.try_recv() {
                Ok(answer) => {
                    self.world.lock().observe_answer(self.pid, &answer);
                    return Ok(answer);
                }
                Err(TryRecvError::Disconnected) => {
                    return Err(GuardSocketError::Unanswered(io::ErrorKind::UnexpectedEof.into()));
                }
                Err(TryRecvError::Empty) if !is_alive => {
                    return Err(GuardSocketError::Unanswered(io::ErrorKind::ConnectionReset.into()));
                }
                Err(TryRecvError::Empty) => {}
            }
            if self.world.lock().now_ms >= until {
                return Err(GuardSocketError::Unanswered(io::ErrorKind::TimedOut.into()));
            }
            self.world.sleep(pause);
            pause = (pause * 2).min(250);
        }
    }
}

/// A guard's socket.
struct SimulatedDoor {
    machine: SimulatedProcess,
    policy: Arc<AccessPolicy>,
}

impl ListeningSocket for SimulatedDoor {
    fn close(&self, orders: Receiver<QueuedRequest>, status: &ChangeStatus) {
        const REPORTED: Duration = Duration::from_secs(2);
        let asked = self.policy.asked_by_others.load(Ordering::SeqCst);
        if !status.phase.is_pending() && asked {
            let mut order = Err(RecvTimeoutError::Timeout);
            self.machine.wait(REPORTED, &mut |most| {
                order = orders.recv_timeout(most);
                order.is_ok()
            });
            if let Ok(order) = order {
                let _ = order.reply.send(GuardAnswer::Status(status.clone()));
            }
        }
        self.policy.refusals.flush();
    }
}

/// An open file.
#[derive(Debug)]
struct SimulatedFile {
    machine: SimulatedProcess,
    disk: usize,
    number: u64,
    handle: u64,
    path: PathBuf,
    /// Whether a reading leaves its time.
    is_noted: bool,
}

impl SimulatedFile {
    fn act<T>(&self, what: &str, act: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        self.machine.act(|| format!("{what} {}", self.path.display()), act)
    }
}

impl OpenFile for SimulatedFile {
    fn status(&self) -> io::Result<FileStatus> {
        // No step: nothing happens in between that the next step would not show.
        let state = self.machine.world.lock();
        if state.now_ms < state.hosts[self.machine.host].folder_lost_until_ms {
            return Err(io::Error::other("stale file handle"));
        }
        Ok(self.machine.status_of(&state, self.number))
    }

    fn read_from(&self, offset: u64, most: u64) -> io::Result<Vec<u8>> {
        self.act("reads", |state| {
            let now = wall_ms(state, self.machine.host);
            if self.is_noted {
                state.disks[self.disk].note_reading(self.number, now);
            }
            let bytes = &state.disks[self.disk].inode(self.number).bytes;
            let bytes = &bytes[bytes.len().min(offset.try_into().unwrap_or(usize::MAX))..];
            Ok(bytes[..bytes.len().min(most.try_into().unwrap_or(usize::MAX))].to_vec())
        })
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        {
            let mut state = self.machine.world.lock();
            let now = state.now_ms;
            // The bytes are from before the call: whatever stops the process within it does not make them younger.
            state.monitor.append_calls.insert((self.disk, self.path.clone()), now);
        }
        self.act("appends to", |state| {
            let modified = wall_ms(state, self.machine.host);
            let is_full = state.now_ms < state.hosts[self.machine.host].disk_full_until_ms;
            let fails = is_full || self.machine.check_disk(state).is_err();
            let length = match fails {
                true => state.dice.draw_below(bytes.len() as u64) as usize,
                false => bytes.len(),
            };
            let inode = state.disks[self.disk].inode_mut(self.number);
            inode.bytes.extend_from_slice(&bytes[..length]);
            (inode.modified_ms, inode.writer) = (modified, self.machine.host);
            if fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.act("syncs", |state| {
            self.machine.check_disk(state)?;
            let host = &mut state.hosts[self.machine.host];
            if std::mem::take(&mut host.fails_sync) {
                host.sync_failed = true;
                return Err(io::Error::other("input/output error"));
            }
            state.disks[self.disk].sync(self.number);
            Ok(())
        })
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.act("cuts", |state| {
            self.machine.check_disk(state)?;
            let inode = state.disks[self.disk].inode_mut(self.number);
            inode.bytes.resize(length as usize, 0);
            inode.writer = self.machine.host;
            Ok(())
        })
    }

    fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.act("sets the mode of", |state| {
            state.disks[self.disk].inode_mut(self.number).mode = mode;
            Ok(())
        })
    }

    fn try_lock(&self, shared: bool) -> Result<(), TryLockError> {
        let (handle, pid, host) = (self.handle, self.machine.pid, self.machine.host);
        let had = self.act("locks", |state| {
            Ok(state.disks[self.disk].try_lock(self.number, (handle, pid, host), shared))
        });
        match had {
            Ok(true) => Ok(()),
            Ok(false) => Err(TryLockError::WouldBlock),
            Err(error) => Err(TryLockError::Error(error)),
        }
    }

    fn unlock(&self) -> io::Result<()> {
        self.machine.world.lock().disks[self.disk].unlock(self.number, self.handle);
        Ok(())
    }

    fn lock_holder(&self) -> io::Result<LockHolder> {
        let state = self.machine.world.lock();
        let pid = state.disks[self.disk].holder(self.number, self.machine.host);
        let process = pid.and_then(|pid| state.processes.get(&pid));
        Ok(LockHolder {
            pid,
            uid: process.map(|process| process.user),
            program: process.map(|process| process.name.clone()),
        })
    }
}

impl Drop for SimulatedFile {
    fn drop(&mut self) {
        let _ = self.unlock();
    }
}

/// What a folder with right `mode` is, for a test's own preparations.
pub fn prepare_folder(state: &mut State, disk: usize, path: &str, (user, mode): (u32, u32)) {
    let made = state.disks[disk].make(Path::new(path), 0, (FileKind::Folder, mode)).unwrap();
    state.disks[disk].inode_mut(made).user = user;
    let parent = Path::new(path).parent().unwrap();
    state.disks[disk].sync_folder(parent);
}
