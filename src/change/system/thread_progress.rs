//! The progress of the thread that keeps a change, as the kernel reports it.

use std::fs;

/// The thread that does the work of the command. Other threads answer callers, also in a guard that hangs.
pub const COMMAND_THREAD: &str = "command";

/// The progress of a thread: its context switches and its time on the CPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadProgress {
    pid: u32,
    switches: String,
    times: String,
}

impl ThreadProgress {
    /// Reads the progress. `None`: the process or the thread does not exist, or the kernel does not say.
    pub(crate) fn read(pid: u32) -> Option<Self> {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten().map(|task| task.path());
        let task = tasks.into_iter().find(|task| {
            fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim_end() == COMMAND_THREAD)
        })?;
        let status = fs::read_to_string(task.join("status")).ok()?;
        let switches = status.lines().filter(|line| line.contains("ctxt_switches:")).collect();
        let stat = fs::read_to_string(task.join("stat")).ok()?;
        // The program name may contain blanks and brackets; user and system time come eleven fields after it.
        let times = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(2).collect();
        Some(Self { pid, switches, times })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::COMMAND_THREAD;
    use super::ThreadProgress;

    #[test]
    fn a_thread_that_waits_again_and_again_makes_progress_and_one_that_waits_once_does_not() {
        let (ends, end) = std::sync::mpsc::channel::<()>();
        let pid = std::process::id();
        std::thread::scope(|scope| {
            let worker = std::thread::Builder::new().name(COMMAND_THREAD.to_owned());
            worker
                .spawn_scoped(scope, move || {
                    // Many short waits, then one wait without an end.
                    for _ in 0..20 {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    let _ = end.recv();
                })
                .unwrap();
            while ThreadProgress::read(pid).is_none() {
                std::thread::yield_now();
            }
            let first = ThreadProgress::read(pid);
            std::thread::sleep(Duration::from_millis(100));
            assert_ne!(ThreadProgress::read(pid), first);
            std::thread::sleep(Duration::from_secs(1));
            let still = ThreadProgress::read(pid);
            std::thread::sleep(Duration::from_millis(200));
            assert_eq!(ThreadProgress::read(pid), still);
            drop(ends);
        });
    }
}
