//! Detects a process that hangs: its thread that keeps a change neither ran nor began a new wait for longer than any
//! wait of a guard takes.

use std::fs;
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::system::System;

/// The thread that does the work of the command. Other threads answer callers, also in a guard that hangs.
pub const COMMAND_THREAD: &str = "command";
/// No turn of a guard takes more than some seconds, except a sync. A disk that retries a command, or a switch to
/// another path to the disk, takes a minute.
const HANG_TIMEOUT: Duration = Duration::from_secs(120);

/// The progress of a thread: its context switches and its time on the CPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadProgress {
    pid: u32,
    switches: String,
    times: String,
}

impl ThreadProgress {
    /// Reads the progress. `None`: the process or the thread does not exist, or the kernel does not say.
    pub(super) fn read(pid: u32) -> Option<Self> {
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

/// Compares the progress of a process over time.
#[derive(Default)]
pub(crate) struct HangWatch<'s>(Option<(ThreadProgress, Stopwatch<'s>)>);

impl<'s> HangWatch<'s> {
    /// Whether the process has made no progress for too long. A process that cannot be read does not count as hanging.
    pub fn is_hanging(&mut self, system: &'s dyn System, pid: Option<u32>) -> bool {
        let Some(now) = pid.and_then(|pid| system.progress(pid)) else {
            self.0 = None;
            return false;
        };
        match &self.0 {
            Some((before, since)) if *before == now => since.elapsed() >= HANG_TIMEOUT,
            _ => {
                self.0 = Some((now, Stopwatch::start(system)));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::ThreadProgress;
    use crate::COMMAND_THREAD;

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
