//! A disk: files with owner and mode, their locks, and what of them is durable.
//!
//! After a power cut a file holds what was synced and a prefix of what was appended since; a name that was made or removed
//! since its folder was synced may be there or not.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use fabdeck_change::FileKind;
use fabdeck_simulator::SimulatorRng;

use super::scheduler::Pid;

#[derive(Clone, Debug)]
pub struct Inode {
    pub kind: FileKind,
    pub user: u32,
    pub mode: u32,
    pub bytes: Vec<u8>,
    durable: Vec<u8>,
    pub modified_ms: i64,
    /// When it was read last; 0 where nothing is known.
    pub accessed_ms: i64,
    /// The machine that wrote it last.
    pub writer: usize,
    locks: Vec<Lock>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Lock {
    handle: u64,
    pid: Pid,
    host: usize,
    shared: bool,
}

/// Which processes see each other's locks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LockScope {
    /// Of all machines that mount the disk.
    Machines,
    /// Of one machine.
    #[default]
    Machine,
    /// None: each process gets every lock.
    Nobody,
}

#[derive(Debug, Default)]
pub struct Disk {
    names: BTreeMap<PathBuf, u64>,
    durable_names: BTreeMap<PathBuf, u64>,
    inodes: BTreeMap<u64, Inode>,
    next: u64,
    locks: LockScope,
    /// Whether readings leave no time behind, as with `noatime`.
    pub keeps_no_access_times: bool,
    /// Counts what was changed.
    pub written: u64,
}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

fn denied() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

impl Disk {
    pub fn new(locks: LockScope) -> Self {
        let mut disk = Self { locks, ..Self::default() };
        for folder in ["/", "/var", "/var/lib", "/run"] {
            disk.add(Path::new(folder), FileKind::Folder, (0, 0o755));
        }
        disk.durable_names = disk.names.clone();
        disk
    }

    fn add(&mut self, path: &Path, kind: FileKind, (user, mode): (u32, u32)) -> u64 {
        self.next += 1;
        self.written += 1;
        let (bytes, durable) = (Vec::new(), Vec::new());
        let inode = Inode {
            kind,
            user,
            mode,
            bytes,
            durable,
            modified_ms: 0,
            accessed_ms: 0,
            writer: 0,
            locks: Vec::new(),
        };
        self.inodes.insert(self.next, inode);
        self.names.insert(path.to_owned(), self.next);
        self.next
    }

    pub fn inode(&self, number: u64) -> &Inode {
        &self.inodes[&number]
    }

    pub fn inode_mut(&mut self, number: u64) -> &mut Inode {
        self.written += 1;
        self.inodes.get_mut(&number).expect("files that are open stay")
    }

    /// A file is read.
    pub fn note_reading(&mut self, number: u64, now_ms: i64) {
        if let Some(inode) = self.inodes.get_mut(&number).filter(|_| !self.keeps_no_access_times) {
            inode.accessed_ms = now_ms;
        }
    }

    /// Whether a user may read (4), write (2) or pass (1) a file or folder.
    fn allows(inode: &Inode, user: u32, right: u32) -> bool {
        let shift = if inode.user == user { 6 } else { 0 };
        user == 0 || (inode.mode >> shift) & right == right
    }

    /// The folders on the way can be passed.
    fn reach(&self, path: &Path, user: u32) -> io::Result<()> {
        for folder in path.ancestors().skip(1) {
            let number = self.names.get(folder).ok_or_else(missing)?;
            if !Self::allows(self.inode(*number), user, 1) {
                return Err(denied());
            }
        }
        Ok(())
    }

    pub fn find(&self, path: &Path, user: u32) -> io::Result<u64> {
        self.reach(path, user)?;
        self.names.get(path).copied().ok_or_else(missing)
    }

    fn may_write_folder_of(&self, path: &Path, user: u32) -> io::Result<()> {
        self.reach(path, user)?;
        let folder = path.parent().and_then(|folder| self.names.get(folder)).ok_or_else(missing)?;
        if Self::allows(self.inode(*folder), user, 2) { Ok(()) } else { Err(denied()) }
    }

    pub fn open(&self, path: &Path, user: u32, rights: u32) -> io::Result<u64> {
        let number = self.find(path, user)?;
        match self.inode(number) {
            inode if inode.kind != FileKind::File => Err(io::Error::other("no regular file")),
            inode if !Self::allows(inode, user, rights) => Err(denied()),
            _ => Ok(number),
        }
    }

    pub fn make(&mut self, path: &Path, user: u32, (kind, mode): (FileKind, u32)) -> io::Result<u64> {
        self.reach(path, user)?;
        if self.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.may_write_folder_of(path, user)?;
        Ok(self.add(path, kind, (user, mode)))
    }

    pub fn remove(&mut self, path: &Path, user: u32) -> io::Result<()> {
        self.written += 1;
        self.may_write_folder_of(path, user)?;
        self.names.remove(path).map(drop).ok_or_else(missing)
    }

    pub fn rename(&mut self, from: &Path, to: &Path, user: u32) -> io::Result<()> {
        self.written += 1;
        self.may_write_folder_of(to, user)?;
        let number = self.find(from, user)?;
        self.names.remove(from);
        self.names.insert(to.to_owned(), number);
        Ok(())
    }

    pub fn link(&mut self, file: &Path, name: &Path, user: u32) -> io::Result<()> {
        self.written += 1;
        let number = self.find(file, user)?;
        self.may_write_folder_of(name, user)?;
        if self.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.names.insert(name.to_owned(), number);
        Ok(())
    }

    pub fn list(&self, folder: &Path, user: u32) -> io::Result<Vec<PathBuf>> {
        let number = self.find(folder, user)?;
        if !Self::allows(self.inode(number), user, 4) {
            return Err(denied());
        }
        let here = |path: &&PathBuf| path.parent() == Some(folder);
        Ok(self.names.keys().filter(here).cloned().collect())
    }

    pub fn sync(&mut self, number: u64) {
        let inode = self.inode_mut(number);
        inode.durable = inode.bytes.clone();
    }

    /// Names in a folder are durable from now on.
    pub fn sync_folder(&mut self, folder: &Path) {
        let here = |path: &&PathBuf| path.parent() == Some(folder);
        let gone: Vec<PathBuf> = self.durable_names.keys().filter(here).cloned().collect();
        gone.iter().for_each(|path| _ = self.durable_names.remove(path));
        let now: Vec<(PathBuf, u64)> = self
            .names
            .iter()
            .filter(|(path, _)| here(path))
            .map(|(path, number)| (path.clone(), *number))
            .collect();
        self.durable_names.extend(now);
    }

    /// What is durable of a file, by its path.
    pub fn durable(&self, path: &Path) -> Option<&[u8]> {
        let whole = path.ancestors().all(|part| self.durable_names.contains_key(part));
        let number = self.durable_names.get(path).filter(|_| whole)?;
        Some(&self.inodes[number].durable)
    }

    pub fn bytes(&self, path: &Path) -> Option<&[u8]> {
        self.names.get(path).map(|number| self.inodes[number].bytes.as_slice())
    }

    /// What is on the disk without a process that wrote it: a file of an older version, or a flipped bit.
    pub fn put(&mut self, path: &Path, bytes: &[u8], (user, mode): (u32, u32)) {
        let there = self.names.get(path).copied();
        let number = there.unwrap_or_else(|| self.add(path, FileKind::File, (user, mode)));
        let inode = self.inode_mut(number);
        (inode.bytes, inode.durable) = (bytes.to_vec(), bytes.to_vec());
        self.durable_names.insert(path.to_owned(), number);
    }

    pub fn forget(&mut self, path: &Path) {
        self.names.remove(path);
        self.durable_names.remove(path);
    }

    /// Everybody may read what lies below a folder.
    pub fn loosen(&mut self, below: &Path) {
        let numbers: Vec<u64> = self
            .names
            .iter()
            .filter(|(path, _)| path.starts_with(below))
            .map(|(_, number)| *number)
            .collect();
        for number in numbers {
            let inode = self.inode_mut(number);
            inode.mode = if inode.kind == FileKind::Folder { 0o755 } else { 0o644 };
        }
    }

    pub fn count_names(&self, number: u64) -> u64 {
        self.names.values().filter(|other| **other == number).count() as u64
    }

    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.names.keys()
    }

    /// A machine lost its power; `None`: the only one that has this disk, which lost names too.
    pub fn lose_unsynced(&mut self, dice: &mut SimulatorRng, host: Option<usize>) {
        self.written += 1;
        let lost = |inode: &&mut Inode| host.is_none_or(|host| inode.writer == host);
        for inode in self.inodes.values_mut().filter(lost) {
            let grown = inode.bytes.strip_prefix(inode.durable.as_slice()).map(<[u8]>::len);
            let length = match grown {
                Some(grown) => inode.durable.len() + dice.draw_below(grown as u64 + 1) as usize,
                None => 0,
            };
            let left = match grown {
                Some(_) => inode.bytes[..length].to_vec(),
                None if dice.draw_below(2) == 0 => inode.bytes.clone(),
                None => inode.durable.clone(),
            };
            inode.bytes.clone_from(&left);
            inode.durable = left;
        }
        // Locks went with their processes.
        if host.is_some() {
            return;
        }
        let mut left = self.durable_names.clone();
        for (path, number) in &self.names {
            if !left.contains_key(path) && dice.draw_below(2) == 0 {
                left.insert(path.clone(), *number);
            }
        }
        // A removed name may be back; one whose folder is lost is lost with it.
        left.retain(|path, _| self.names.contains_key(path) || dice.draw_below(2) == 0);
        let whole: Vec<PathBuf> = left
            .keys()
            .filter(|path| path.ancestors().all(|part| left.contains_key(part)))
            .cloned()
            .collect();
        left.retain(|path, _| whole.contains(path));
        left.retain(|_, number| self.inodes[number].kind != FileKind::Other);
        (self.names, self.durable_names) = (left.clone(), left);
    }

    /// Tries to take a lock; whether it is had.
    pub fn try_lock(&mut self, number: u64, (handle, pid, host): (u64, Pid, usize), shared: bool) -> bool {
        let scope = self.locks;
        let inode = self.inodes.get_mut(&number).expect("files that are open stay");
        inode.locks.retain(|lock| lock.handle != handle);
        let sees = |lock: &Lock| match scope {
            LockScope::Machines => true,
            LockScope::Machine => lock.host == host,
            LockScope::Nobody => false,
        };
        let bars = |lock: &Lock| sees(lock) && !(lock.shared && shared);
        if inode.locks.iter().any(bars) {
            return false;
        }
        inode.locks.push(Lock { handle, pid, host, shared });
        true
    }

    pub fn unlock(&mut self, number: u64, handle: u64) {
        if let Some(inode) = self.inodes.get_mut(&number) {
            inode.locks.retain(|lock| lock.handle != handle);
        }
    }

    /// The process that holds a lock, as another one of its machine sees it.
    pub fn holder(&self, number: u64, host: usize) -> Option<Pid> {
        self.inode(number).locks.iter().find(|lock| lock.host == host).map(|lock| lock.pid)
    }

    pub fn release(&mut self, pid: Pid) {
        self.inodes.values_mut().for_each(|inode| inode.locks.retain(|lock| lock.pid != pid));
    }
}
