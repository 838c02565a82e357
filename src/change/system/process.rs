//! Processes that hold locks, as the kernel reports them.

use std::fs;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;

use crate::user_names;

/// The process that holds a lock, from `/proc/locks`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LockHolder {
    pub pid: Option<u32>,
    /// The real user id: it shows who started a set-user-ID program.
    pub uid: Option<u32>,
    pub program: Option<String>,
}

impl LockHolder {
    /// The holder of a lock that could not be taken. A process in another PID namespace or on another machine is
    /// unknown.
    pub(crate) fn read_holder(file: &File) -> io::Result<Self> {
        let list_locks = || fs::read_to_string("/proc/locks").unwrap_or_default();
        let Some(pid) = find_holder(&file.metadata()?, list_locks) else { return Ok(Self::default()) };
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let uid =
            field("Uid:").and_then(|ids| ids.split_whitespace().next()).and_then(|uid| uid.parse().ok());
        Ok(Self { pid: Some(pid), uid, program: field("Name:").map(str::to_owned) })
    }

    pub(crate) fn is_same_process(&self, other: &Self) -> bool {
        self.pid == other.pid && self.uid == other.uid
    }

    /// Whether the holder is neither the owner of the file nor root. The process that took the lock may have ended and
    /// left it to a child. Guards start no process that inherits a lock.
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
            (Some(program), Some(uid)) => write!(f, " ({program}, {})", user_names::user_label(uid)),
            _ => f.write_str(" (ended; a child of it keeps the lock)"),
        }
    }
}

/// A field of `/proc/PID/stat` after the name of the program, which may contain blanks and brackets.
pub(crate) fn stat_field(pid: u32, field: usize) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_whitespace().nth(field).map(str::to_owned)
}

/// How often the list of locks is read before a holder counts as unknown.
const LIST_READS: usize = 8;

/// The process that the kernel lists for a locked file. The kernel hands `/proc/locks` out in pieces, and a lock that
/// another process takes or releases between two pieces hides entries of others. So the list is read again where the
/// file is missing.
fn find_holder(file: &Metadata, mut list_locks: impl FnMut() -> String) -> Option<u32> {
    (0..LIST_READS).find_map(|_| pid_of_lock(&list_locks(), file))
}

/// The process that `/proc/locks` lists for a file: `1: FLOCK  ADVISORY  WRITE 4711 fe:00:131074 0 EOF`. Overlay file
/// systems show the device of the lower layer there, so a single lock on this inode number counts too.
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

    #[test]
    fn a_lock_that_one_reading_of_the_list_missed_is_found_by_the_next() {
        let file = tempfile::tempfile().unwrap().metadata().unwrap();
        let other = "1: FLOCK  ADVISORY  WRITE 17 00:00:1 0 EOF\n";
        let listed = format!("{other}2: FLOCK  ADVISORY  WRITE 4711 ff:ff:{} 0 EOF\n", file.ino());
        let mut lists = [other, "", &listed].into_iter().map(str::to_owned);
        assert_eq!(find_holder(&file, || lists.next().unwrap()), Some(4711));
        assert_eq!(find_holder(&file, || other.to_owned()), None, "another machine's");
    }
}
