//! Locks on files of the state folder.
//!
//! `flock` asks for no right to write, so any user who may read a file may hold its lock for ever. Three rules keep that
//! from stopping a guard:
//!
//! - a lock file is readable for its owner alone (0600);
//! - every wait ends after a timeout, with an error that names the process that holds the lock;
//! - where another user opened the file of an older version (0644, 0666), the file is replaced and the new one is locked, but
//!   in a folder that several users write in, where another user may hold the lock rightly.

use std::fs::{self, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::owned::open_or_make;
use super::{ownership, users};

/// Time from one attempt to the next.
const RETRY_INTERVAL: Duration = Duration::from_millis(2);
/// How often a file may be replaced by others before the lock is given up.
const REPLACEMENTS_MOST: u32 = 16;

/// How long a process of the owner that took the lock of a file that is being replaced may keep it.
const REPLACED_RELEASE_MOST: Duration = Duration::from_secs(5);

/// A lock that is held until this value is dropped.
#[derive(Debug)]
pub(super) struct FileLock(File);

/// The process that holds a lock, as `/proc/locks` shows it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LockHolder {
    pub pid: Option<u32>,
    /// The real user id: a program that is set-user-ID does not hide who started it.
    pub uid: Option<u32>,
    pub program: Option<String>,
}

impl FileLock {
    /// Waits at most `timeout` for the lock of a file, which is made where it is missing.
    pub fn acquire(path: &Path, timeout: Duration) -> io::Result<Self> {
        let since = Instant::now();
        loop {
            match Self::try_acquire(path)? {
                Ok(lock) => return Ok(lock),
                Err(holder) if since.elapsed() >= timeout => return Err(held_error(path, &holder, timeout)),
                Err(_) => thread::sleep(RETRY_INTERVAL),
            }
        }
    }

    /// One attempt: the lock, or who holds it.
    pub fn try_acquire(path: &Path) -> io::Result<Result<Self, LockHolder>> {
        for _ in 0..REPLACEMENTS_MOST {
            let file = open_private(path)?;
            match file.try_lock() {
                Ok(()) if is_at(path, &file)? => return Ok(Ok(Self(file))),
                // Another process replaced the file in between.
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) => {
                    let holder = LockHolder::of(&file)?;
                    if !holder.is_foreign(file.metadata()?.uid()) || ownership::is_in_shared_folder(path)? {
                        return Ok(Err(holder));
                    }
                    if let Some(replaced) = replace(path, &file, &holder)? {
                        return Ok(replaced);
                    }
                }
            }
        }
        Err(io::Error::other(format!(
            "{}: other processes replace the lock file again and again",
            path.display()
        )))
    }

    pub fn file(&self) -> &File {
        &self.0
    }
}

impl LockHolder {
    /// The holder of a lock that could not be had. Nothing is known of a process in another PID namespace or on another
    /// machine.
    pub fn of(file: &File) -> io::Result<Self> {
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        let Some(pid) = pid_of_lock(&locks, &file.metadata()?) else { return Ok(Self::default()) };
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let uid =
            field("Uid:").and_then(|ids| ids.split_whitespace().next()).and_then(|uid| uid.parse().ok());
        Ok(Self { pid: Some(pid), uid, program: field("Name:").map(str::to_owned) })
    }

    /// When the process started, in ticks since the start of the machine: no two processes of one number have it in common.
    pub fn started(&self) -> Option<String> {
        self.stat(19)
    }

    fn is_same_process(&self, other: &Self) -> bool {
        self.pid == other.pid && self.uid == other.uid
    }

    /// Whether a signal has stopped the process.
    pub fn is_stopped(&self) -> bool {
        self.stat(0).is_some_and(|state| state == "T" || state == "t")
    }

    /// A field of `/proc/PID/stat` behind the name of the program, which may hold blanks and brackets.
    fn stat(&self, field: usize) -> Option<String> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.pid?)).ok()?;
        let (_, fields) = text.rsplit_once(')')?;
        fields.split_whitespace().nth(field).map(str::to_owned)
    }

    /// Whether the holder is neither the owner of the file nor root. The process that took the lock may have ended and have
    /// left it to a child: guards start no process that inherits a lock.
    pub fn is_foreign(&self, owner: u32) -> bool {
        self.pid.is_some() && self.uid.is_none_or(|uid| uid != owner && uid != 0)
    }
}

impl std::fmt::Display for LockHolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(pid) = self.pid else {
            return f.write_str("a process that this system does not show (another machine or container)");
        };
        write!(f, "process {pid}")?;
        match (&self.program, self.uid) {
            (Some(program), Some(uid)) => write!(f, " ({program}, {})", users::name_of(uid)),
            _ => f.write_str(" (ended; a child of it keeps the lock)"),
        }
    }
}

fn held_error(path: &Path, holder: &LockHolder, timeout: Duration) -> io::Error {
    let what = format!(
        "{} is locked by {holder} and was not released within {} s",
        path.display(),
        timeout.as_secs()
    );
    io::Error::new(io::ErrorKind::TimedOut, what)
}

/// Opens a lock file, and takes the right to read it from all users but its owner.
fn open_private(path: &Path) -> io::Result<File> {
    let file = open_or_make(path, OpenOptions::new().append(true).read(true))?;
    let held = file.metadata()?;
    if held.uid() == rustix::process::geteuid().as_raw() && held.mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Puts a new lock file in the place of one that another user holds, and takes its lock; `None`: the file at the path is
/// another one by now.
///
/// The foreign holder may release the old file meanwhile, and a process of the owner take it. So the lock of the new file is
/// not given away before the old one is either free or still held by the same foreign process. Whoever replaces holds the lock
/// of the new file before it is renamed, so that no two processes replace at once.
fn replace(
    path: &Path,
    old: &File,
    foreign: &LockHolder,
) -> io::Result<Option<Result<FileLock, LockHolder>>> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = path.with_file_name(name);
    let new = open_private(&beside)?;
    match new.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Some(Err(LockHolder::of(&new)?))),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    if !is_at(&beside, &new)? || !is_at(path, old)? {
        return Ok(None);
    }
    fs::rename(&beside, path)?;
    let since = Instant::now();
    loop {
        match old.try_lock() {
            Ok(()) => return Ok(Some(Ok(FileLock(new)))),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        let holder = LockHolder::of(old)?;
        if holder.is_same_process(foreign) && holder.is_foreign(old.metadata()?.uid()) {
            return Ok(Some(Ok(FileLock(new))));
        }
        if since.elapsed() > REPLACED_RELEASE_MOST {
            return Ok(Some(Err(holder)));
        }
        thread::sleep(RETRY_INTERVAL);
    }
}

/// Whether a path still leads to an open file.
fn is_at(path: &Path, file: &File) -> io::Result<bool> {
    let (there, held) = (fs::symlink_metadata(path), file.metadata()?);
    Ok(there.is_ok_and(|there| (there.dev(), there.ino()) == (held.dev(), held.ino())))
}

/// The process that `/proc/locks` names for a file: `1: FLOCK  ADVISORY  WRITE 4711 fe:00:131074 0 EOF`. Overlay file
/// systems show the device below there, so a single lock on a file of this number counts too.
fn pid_of_lock(locks: &str, file: &Metadata) -> Option<u32> {
    let (major, minor) = (rustix::fs::major(file.dev()), rustix::fs::minor(file.dev()));
    let (id, inode) = (format!("{major:02x}:{minor:02x}:{}", file.ino()), format!(":{}", file.ino()));
    let holders: Vec<(u32, &str)> = locks
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace().skip_while(|word| *word != "FLOCK");
            let (pid, of) = (words.nth(3)?, words.next()?);
            Some((pid.parse().ok()?, of)).filter(|(_, of)| of.ends_with(&inode))
        })
        .collect();
    let exact = holders.iter().find(|(_, of)| *of == id);
    exact.or_else(|| holders.first().filter(|_| holders.len() == 1)).map(|(pid, _)| *pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_names_its_holder_and_is_waited_for_in_bounded_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = FileLock::acquire(&path, Duration::ZERO).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let since = Instant::now();
        let error = FileLock::acquire(&path, Duration::from_millis(50)).unwrap_err();
        assert!(since.elapsed() < Duration::from_secs(5));
        let own = format!("process {}", std::process::id());
        assert!(error.to_string().contains(&own), "{error}");
        drop(first);
        FileLock::acquire(&path, Duration::ZERO).unwrap();
    }

    #[test]
    fn the_mode_of_an_older_lock_file_is_narrowed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        FileLock::acquire(&path, Duration::ZERO).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_replaced_lock_is_not_given_away_while_a_process_of_the_owner_has_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        // The foreign holder released it, and this process took it before it was replaced.
        let taken = FileLock::acquire(&path, Duration::ZERO).unwrap();
        let foreign = LockHolder { pid: Some(1), uid: Some(4242), program: None };
        let old = File::open(&path).unwrap();
        let released = Duration::from_millis(200);
        let since = Instant::now();
        thread::scope(|scope| {
            scope.spawn(move || {
                thread::sleep(released);
                drop(taken);
            });
            assert!(matches!(replace(&path, &old, &foreign), Ok(Some(Ok(_)))));
        });
        assert!(since.elapsed() >= released);
        assert!(!is_at(&path, &old).unwrap());
        // Another one that saw the same holder finds that it is done.
        assert!(replace(&path, &old, &foreign).unwrap().is_none());
        FileLock::acquire(&path, Duration::ZERO).unwrap();
    }

    #[test]
    fn only_the_owner_and_root_hold_a_lock_rightly() {
        let holder = |pid, uid| LockHolder { pid, uid, program: None };
        for (holder, foreign) in [
            (holder(None, None), false),
            (holder(Some(7), Some(1000)), false),
            (holder(Some(7), Some(0)), false),
            (holder(Some(7), Some(1001)), true),
            (holder(Some(7), None), true),
        ] {
            assert_eq!(holder.is_foreign(1000), foreign, "{holder:?}");
        }
    }
}
