//! Processes, as `/proc/PID/status` shows them.

use std::fs;
use std::path::PathBuf;

/// A process of this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessStatus {
    /// The name that the kernel shows.
    pub name: String,
    /// The effective user id.
    pub user: u32,
    /// Whether the process is dead, and its parent has not collected it.
    pub is_zombie: bool,
    /// Whether the process is stopped by a signal or a debugger.
    pub is_stopped: bool,
    /// Whether the process runs in a PID namespace below this one, as in a container.
    pub is_contained: bool,
    /// The path of the program. `None`: it cannot be seen, as that of another user's process.
    pub program: Option<PathBuf>,
}

impl ProcessStatus {
    /// The status of a process. `None`: there is no such process.
    pub fn read(pid: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        Some(Self { program: fs::read_link(format!("/proc/{pid}/exe")).ok(), ..Self::parse(&text)? })
    }

    /// Reads the text of `/proc/PID/status`.
    fn parse(text: &str) -> Option<Self> {
        let field = |key: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(name, _)| *name == key).map(|(_, value)| value.trim())
        };
        Some(Self {
            name: field("Name")?.to_owned(),
            // The fields are the real, effective, saved and file system ids.
            user: field("Uid")?.split_whitespace().nth(1)?.parse().ok()?,
            is_zombie: field("State")?.starts_with(['Z', 'X']),
            is_stopped: field("State")?.starts_with(['T', 't']),
            is_contained: field("NSpid").is_some_and(|pids| pids.split_whitespace().count() > 1),
            program: None,
        })
    }
}

/// The PIDs of all processes.
pub fn list_pids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_a_process_is_read() {
        let parse = |state: &str, pids: &str| {
            let text = format!("Name:\topensm\nState:\t{state}\nUid:\t0\t7\t0\t0\nNSpid:\t{pids}\n");
            ProcessStatus::parse(&text).unwrap()
        };
        let status = parse("S (sleeping)", "5");
        assert_eq!(
            (status.name.as_str(), status.user, status.is_zombie, status.is_contained),
            ("opensm", 7, false, false)
        );
        assert!(parse("Z (zombie)", "5").is_zombie && parse("T (stopped)", "5").is_stopped);
        assert!(parse("S (sleeping)", "5\t1").is_contained);
        let own = ProcessStatus::read(std::process::id()).unwrap();
        assert!(!own.is_zombie && own.program.is_some() && list_pids().contains(&std::process::id()));
    }
}
