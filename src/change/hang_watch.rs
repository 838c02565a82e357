//! Detects a process that hangs: its thread that keeps a change neither ran nor began a new wait for longer than any
//! wait of a guard takes.

use std::time::Duration;

use crate::clock::Stopwatch;
use crate::system::{System, ThreadProgress};

/// No turn of a guard takes more than some seconds, except a sync. A disk that retries a command, or a switch to
/// another path to the disk, takes a minute.
const HANG_TIMEOUT: Duration = Duration::from_secs(120);

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
