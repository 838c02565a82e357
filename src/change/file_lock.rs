//! Locks on files of the state folder.
//!
//! `flock` needs no right to write, so any user who can read a file can hold its lock forever. Three rules keep that
//! from blocking a guard:
//!
//! - Only the owner can read a lock file (0600).
//! - Every wait ends after a timeout, with an error that names the process that holds the lock.
//! - If another user has opened a lock file of an older version (0644, 0666), the file is replaced and the new one is
//!   locked. In a folder that several users write in, it is not: there another user may hold the lock rightly. The
//!   replaced file stays beside the new one (`.old`), because a process of the owner may have locked it meanwhile. The
//!   new lock is not granted before that one is released.

use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::clock::Stopwatch;
use super::folder_ownership;
use super::system::{FileKind, FileStatus, LockHolder, OpenFile, OpenMode, System};

/// Time between two attempts.
const RETRY_INTERVAL: Duration = Duration::from_millis(2);
/// How often other processes may replace the file before an attempt fails.
const MAX_REPLACEMENTS: u32 = 16;

/// How long the process that replaced a file waits for a process of the owner that has locked the old file.
const MAX_REPLACED_RELEASE: Duration = Duration::from_secs(5);

/// Whether the holder of a lock file has no right to it, so that the file is replaced.
pub(super) type WrongHolder<'f> = &'f dyn Fn(&LockHolder, &FileStatus) -> bool;

/// Whether another user than the owner of the file holds its lock.
pub(super) fn is_foreign(holder: &LockHolder, file: &FileStatus) -> bool {
    holder.is_foreign(file.user)
}

/// A lock that is held until this value is dropped.
#[derive(Debug)]
pub(super) struct FileLock(Box<dyn OpenFile>);

impl FileLock {
    /// Waits at most `timeout` for the lock of a file, which is created if it is missing.
    pub fn acquire(system: &dyn System, path: &Path, timeout: Duration) -> io::Result<Self> {
        let since = Stopwatch::start(system);
        loop {
            match Self::try_acquire(system, path)? {
                Ok(lock) => return Ok(lock),
                Err(holder) if since.elapsed() >= timeout => return Err(held_error(path, &holder, timeout)),
                Err(_) => system.sleep(RETRY_INTERVAL),
            }
        }
    }

    /// Tries once. Returns the lock, or the process that holds it.
    pub fn try_acquire(system: &dyn System, path: &Path) -> io::Result<Result<Self, LockHolder>> {
        Self::try_acquire_unless(system, path, &is_foreign)
    }

    /// Tries once, and replaces the file if its holder is one that `is_wrong` says something against.
    pub fn try_acquire_unless(
        system: &dyn System,
        path: &Path,
        is_wrong: WrongHolder<'_>,
    ) -> io::Result<Result<Self, LockHolder>> {
        for _ in 0..MAX_REPLACEMENTS {
            let file = open_private(system, path)?;
            match file.try_lock(false) {
                Ok(()) if is_at(system, path, &*file)? => {
                    let replaced = find_earlier_holder(system, path, &*file, is_wrong)?;
                    return Ok(replaced.map_or(Ok(Self(file)), Err));
                }
                // Another process replaced the file in between.
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) => {
                    let holder = file.lock_holder()?;
                    if !is_wrong(&holder, &file.status()?)
                        || folder_ownership::is_in_shared_folder(system, path)?
                    {
                        return Ok(Err(holder));
                    }
                    if let Some(replaced) =
                        replace(system, path, &*file, &holder, MAX_REPLACED_RELEASE, is_wrong)?
                    {
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

    pub fn file(&self) -> &dyn OpenFile {
        &*self.0
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

/// Opens a lock file, and makes it readable for its owner only.
fn open_private(system: &dyn System, path: &Path) -> io::Result<Box<dyn OpenFile>> {
    let file = system.open(path, OpenMode::AppendOrMake)?;
    let held = file.status()?;
    if held.user == system.user() && held.mode & 0o077 != 0 {
        file.set_mode(0o600)?;
    }
    Ok(file)
}

/// A name beside a lock file: `lock.new`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

/// The process of the owner that holds the lock of the file that was replaced last, for any length of time.
/// `held` is the file at the path. Where a process was killed between naming the old file and replacing it, both names are of
/// that one.
fn find_earlier_holder(
    system: &dyn System,
    path: &Path,
    held: &dyn OpenFile,
    is_wrong: WrongHolder<'_>,
) -> io::Result<Option<LockHolder>> {
    let (replaced, held) = (beside(path, ".old"), held.status()?);
    let owner = held.user;
    let is_owners =
        |there: FileStatus| there.kind == FileKind::File && there.user == owner && there.id != held.id;
    if !system.symlink_metadata(&replaced).is_ok_and(is_owners) {
        return Ok(None);
    }
    let file = match system.open(&replaced, OpenMode::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    // A shared lock: two processes that test at once do not take each other for the holder.
    match file.try_lock(true) {
        Ok(()) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
        Err(TryLockError::WouldBlock) => {
            let status = file.status()?;
            Ok(Some(file.lock_holder()?).filter(|holder| !is_wrong(holder, &status)))
        }
    }
}

/// Replaces a lock file that another user holds, and takes the lock of the new file. `None`: the path already has
/// another file.
///
/// The foreign holder may release the old file meanwhile, and a process of the owner may lock it. So the old file keeps
/// a name (`.old`), and the new lock is granted only while no process of the owner holds the old one. This process
/// waits for that within `patience`; later ones check it at each attempt. The new file is locked before it is renamed,
/// so that no two processes replace at once.
fn replace(
    system: &dyn System,
    path: &Path,
    old: &dyn OpenFile,
    wrong: &LockHolder,
    patience: Duration,
    is_wrong: WrongHolder<'_>,
) -> io::Result<Option<Result<FileLock, LockHolder>>> {
    let (new_path, old_path) = (beside(path, ".new"), beside(path, ".old"));
    let new = open_private(system, &new_path)?;
    match new.try_lock(false) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Some(Err(new.lock_holder()?))),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    if !is_at(system, &new_path, &*new)? || !is_at(system, path, old)? {
        return Ok(None);
    }
    if let Some(holder) = find_earlier_holder(system, path, old, is_wrong)? {
        return Ok(Some(Err(holder)));
    }
    match system.remove(&old_path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => system.link(path, &old_path)?,
    }
    if !is_at(system, &old_path, old)? {
        return Ok(None);
    }
    system.rename(&new_path, path)?;
    let since = Stopwatch::start(system);
    loop {
        match old.try_lock(false) {
            Ok(()) => {
                old.unlock()?;
                return Ok(Some(Ok(FileLock(new))));
            }
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        let holder = old.lock_holder()?;
        if holder.is_same_process(wrong) && is_wrong(&holder, &old.status()?) {
            return Ok(Some(Ok(FileLock(new))));
        }
        if since.elapsed() > patience {
            return Ok(Some(Err(holder)));
        }
        system.sleep(RETRY_INTERVAL);
    }
}

/// Whether a path still leads to an open file.
fn is_at(system: &dyn System, path: &Path, file: &dyn OpenFile) -> io::Result<bool> {
    let (there, held) = (system.symlink_metadata(path), file.status()?);
    Ok(there.is_ok_and(|there| there.id == held.id))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::thread;
    use std::time::Instant;

    use super::*;
    use crate::system::LocalSystem;

    #[test]
    fn a_lock_names_its_holder_and_is_waited_for_in_bounded_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = FileLock::acquire(&LocalSystem, &path, Duration::ZERO).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let since = Instant::now();
        let error = FileLock::acquire(&LocalSystem, &path, Duration::from_millis(50)).unwrap_err();
        assert!(since.elapsed() < Duration::from_secs(5));
        let own = format!("process {}", std::process::id());
        assert!(error.to_string().contains(&own), "{error}");
        drop(first);
        FileLock::acquire(&LocalSystem, &path, Duration::ZERO).unwrap();
    }

    #[test]
    fn the_mode_of_an_older_lock_file_is_narrowed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        FileLock::acquire(&LocalSystem, &path, Duration::ZERO).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_replaced_lock_is_not_given_away_while_a_process_of_the_owner_has_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        // The foreign holder released the lock, and this process took it before the file was replaced.
        let taken = FileLock::acquire(&LocalSystem, &path, Duration::ZERO).unwrap();
        let foreign = LockHolder { pid: Some(1), uid: Some(4242), program: None };
        let old = LocalSystem.open(&path, OpenMode::Append).unwrap();
        let released = Duration::from_millis(200);
        let since = Instant::now();
        thread::scope(|scope| {
            scope.spawn(move || {
                thread::sleep(released);
                drop(taken);
            });
            assert!(matches!(
                replace(&LocalSystem, &path, &*old, &foreign, MAX_REPLACED_RELEASE, &is_foreign),
                Ok(Some(Ok(_)))
            ));
        });
        assert!(since.elapsed() >= released);
        assert!(!is_at(&LocalSystem, &path, &*old).unwrap());
        // Another process that saw the same holder finds the file already replaced.
        assert!(
            replace(&LocalSystem, &path, &*old, &foreign, MAX_REPLACED_RELEASE, &is_foreign)
                .unwrap()
                .is_none()
        );
        FileLock::acquire(&LocalSystem, &path, Duration::ZERO).unwrap();
    }

    /// As long as a process of the owner holds the old file, no other process gets the new lock.
    #[test]
    fn a_replaced_lock_is_given_to_nobody_before_a_process_of_the_owner_releases_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let taken = FileLock::acquire(&LocalSystem, &path, Duration::ZERO).unwrap();
        let foreign = LockHolder { pid: Some(1), uid: Some(4242), program: None };
        let old = LocalSystem.open(&path, OpenMode::Append).unwrap();
        let replaced = replace(&LocalSystem, &path, &*old, &foreign, Duration::ZERO, &is_foreign);
        assert!(matches!(replaced, Ok(Some(Err(_)))), "{replaced:?}");
        assert!(!is_at(&LocalSystem, &path, &*old).unwrap());
        let other = FileLock::try_acquire(&LocalSystem, &path).unwrap();
        assert_eq!(other.unwrap_err().pid, Some(std::process::id()));
        drop((taken, old));
        FileLock::acquire(&LocalSystem, &path, Duration::ZERO).unwrap();
        // The next replaced file takes the place of the old one.
        let old = LocalSystem.open(&path, OpenMode::Append).unwrap();
        let replaced = replace(&LocalSystem, &path, &*old, &foreign, Duration::ZERO, &is_foreign);
        assert!(matches!(replaced, Ok(Some(Ok(_)))), "{replaced:?}");
        assert!(is_at(&LocalSystem, &beside(&path, ".old"), &*old).unwrap());
    }

    /// Killed between naming the old file and replacing it: seed 29292 of the simulated world.
    #[test]
    fn a_replacement_that_was_cut_short_leaves_a_lock_that_can_be_had() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        drop(FileLock::acquire(&LocalSystem, &path, Duration::ZERO).unwrap());
        LocalSystem.link(&path, &beside(&path, ".old")).unwrap();
        let lock = FileLock::acquire(&LocalSystem, &path, Duration::ZERO).unwrap();
        drop(lock);
        let foreign = LockHolder { pid: Some(1), uid: Some(4242), program: None };
        let old = LocalSystem.open(&path, OpenMode::Append).unwrap();
        let replaced = replace(&LocalSystem, &path, &*old, &foreign, Duration::ZERO, &is_foreign);
        assert!(matches!(replaced, Ok(Some(Ok(_)))), "{replaced:?}");
    }
}
