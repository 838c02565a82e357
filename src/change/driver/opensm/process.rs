//! Finds the process of OpenSM on this host, from `/proc/PID/status`.

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::path::Path;

use fabdeck_files::open_regular;

/// The name that the kernel shows for OpenSM's process.
const NAME: &str = "opensm";
/// Longest pid file in bytes.
const MAX_PID_FILE_BYTES: u64 = 64;

/// A process with the name opensm.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ManagerProcess {
    /// Whether the process is dead, and its parent has not collected it.
    zombie: bool,
    /// The effective user id.
    user: u32,
    /// Whether the process runs in a PID namespace below this one, as in a container.
    contained: bool,
}

impl ManagerProcess {
    /// The process with this PID, if its name is opensm.
    fn read(proc: &Path, pid: u32) -> Option<Self> {
        let status = fs::read_to_string(proc.join(pid.to_string()).join("status")).ok()?;
        let field = |key: &str| {
            let lines = status.lines().filter_map(|line| line.split_once(':'));
            lines.filter(|(name, _)| *name == key).map(|(_, value)| value.trim()).next()
        };
        if field("Name")? != NAME {
            return None;
        }
        Some(Self {
            zombie: field("State")?.starts_with(['Z', 'X']),
            // The fields are the real, effective, saved and file system ids.
            user: field("Uid")?.split_whitespace().nth(1)?.parse().ok()?,
            contained: field("NSpid").is_some_and(|pids| pids.split_whitespace().count() > 1),
        })
    }

    /// Checks a PID that the operator named. The process may belong to another user. SIGHUP ends most other programs,
    /// so the name must match.
    pub fn find_named(proc: &Path, pid: u32) -> Result<u32, String> {
        match Self::read(proc, pid) {
            Some(process) if process.zombie => Err(format!("process {pid} is dead (a zombie)")),
            Some(_) => Ok(pid),
            None => Err(format!("process {pid} is not called opensm")),
        }
    }

    /// The only live process of this user and this PID namespace. Any user can start a program of that name.
    pub fn find_only(proc: &Path) -> Result<u32, String> {
        let own = rustix::process::geteuid().as_raw();
        let entries = fs::read_dir(proc).into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let (mut right, mut others) = (Vec::new(), Vec::new());
        for pid in pids {
            let Some(process) = Self::read(proc, pid) else { continue };
            match process.objection(own) {
                None => right.push(pid),
                Some(why) => others.push((pid, why)),
            }
        }
        right.sort_unstable();
        others.sort_unstable();
        let passed: Vec<String> = others.iter().map(|(pid, why)| format!("; {pid} is {why}")).collect();
        match right.as_slice() {
            [pid] => Ok(*pid),
            [] => Err(format!("no live process of this user is called opensm{}", passed.concat())),
            several => Err(format!("processes {several:?} are called opensm")),
        }
    }

    fn objection(&self, own: u32) -> Option<String> {
        match self {
            Self { zombie: true, .. } => Some("a zombie".to_owned()),
            Self { contained: true, .. } => Some("in another pid namespace".to_owned()),
            Self { user, .. } if *user != own => Some(format!("of user {user}")),
            _ => None,
        }
    }
}

/// The number in a pid file.
pub fn read_pid_file(file: &Path) -> Result<u32, String> {
    let mut text = String::new();
    let read = open_regular(file, OpenOptions::new().read(true))
        .and_then(|open| open.take(MAX_PID_FILE_BYTES).read_to_string(&mut text));
    read.map_err(|error| format!("{}: {error}", file.display()))?;
    text.trim().parse().map_err(|_| format!("{} does not hold the number of a process", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(proc: &Path, pid: u32, name: &str, state: &str, user: u32, pids: &str) {
        let folder = proc.join(pid.to_string());
        fs::create_dir_all(&folder).unwrap();
        let text = format!("Name:\t{name}\nState:\t{state}\nUid:\t0\t{user}\t0\t0\nNSpid:\t{pids}\n");
        fs::write(folder.join("status"), text).unwrap();
    }

    #[test]
    fn zombies_other_users_and_containers_are_not_opensm() {
        let proc = tempfile::tempdir().unwrap();
        let (proc, own) = (proc.path(), rustix::process::geteuid().as_raw());
        list(proc, 5, "opensm", "Z (zombie)", own, "5");
        list(proc, 6, "opensm", "S (sleeping)", own + 1, "6");
        list(proc, 7, "opensm", "S (sleeping)", own, "7\t1");
        list(proc, 8, "osmtest", "S (sleeping)", own, "8");
        let why = ManagerProcess::find_only(proc).unwrap_err();
        let named = format!("5 is a zombie; 6 is of user {}; 7 is in another pid namespace", own + 1);
        assert!(why.contains(&named) && !why.contains('8'), "{why}");
        list(proc, 9, "opensm", "S (sleeping)", own, "9");
        assert_eq!(ManagerProcess::find_only(proc), Ok(9));
        list(proc, 10, "opensm", "R (running)", own, "10");
        assert!(ManagerProcess::find_only(proc).unwrap_err().contains("[9, 10]"));
        // A process that the operator named may be another user's, but not a dead one.
        assert_eq!(ManagerProcess::find_named(proc, 6), Ok(6));
        assert!(ManagerProcess::find_named(proc, 5).unwrap_err().contains("zombie"));
        assert!(ManagerProcess::find_named(proc, 8).unwrap_err().contains("not called opensm"));
    }

    #[test]
    fn a_pid_file_names_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("opensm.pid");
        assert!(read_pid_file(&file).unwrap_err().contains("opensm.pid"));
        fs::write(&file, "4711\n").unwrap();
        assert_eq!(read_pid_file(&file), Ok(4711));
        fs::write(&file, "none").unwrap();
        assert!(read_pid_file(&file).unwrap_err().contains("does not hold"));
        assert!(read_pid_file(Path::new("/dev/zero")).is_err(), "an endless device is read in part");
    }
}
