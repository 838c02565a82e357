//! The two clocks of a change. The wall clock gives times for people, and can be set at any moment. The time since boot
//! cannot be set and counts while the machine sleeps, but means nothing after a reboot.

use std::sync::OnceLock;
use std::time::Duration;

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// A moment in time since boot.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BootTime {
    /// The boot id of the machine.
    pub boot: String,
    pub ms: u64,
}

/// Both clocks, and waiting.
pub trait Clocks {
    fn now(&self) -> Timestamp;

    fn boot_time(&self) -> BootTime;

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }

    /// Waits for a message: `attempt` gets the longest time that it may block, until it returns true or the time is
    /// over.
    fn wait(&self, time: Duration, attempt: &mut dyn FnMut(Duration) -> bool) {
        attempt(time);
    }
}

/// The time since a moment, by the clock that cannot be set.
pub(crate) struct Stopwatch<'c> {
    clock: &'c dyn Clocks,
    since: BootTime,
}

impl<'c> Stopwatch<'c> {
    pub fn start(clock: &'c dyn Clocks) -> Self {
        Self { clock, since: clock.boot_time() }
    }

    pub fn elapsed(&self) -> Duration {
        self.since.until(&self.clock.boot_time()).unwrap_or(Duration::MAX)
    }
}

/// The clocks of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClocks;

impl Clocks for SystemClocks {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn boot_time(&self) -> BootTime {
        let time = clock_gettime(ClockId::Boottime);
        let ms = u64::try_from(time.tv_sec).unwrap_or_default() * 1000 + time.tv_nsec as u64 / 1_000_000;
        BootTime { boot: boot_id().to_owned(), ms }
    }
}

/// The boot id of the kernel, or an id of this process if the kernel has none.
fn boot_id() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let own = || format!("process {} of {}", std::process::id(), Timestamp::now());
        Some(id.trim()).filter(|id| !id.is_empty()).map_or_else(own, str::to_owned)
    })
}

impl BootTime {
    /// The time from this moment to a later one of the same boot; `None` for another boot.
    pub fn until(&self, later: &Self) -> Option<Duration> {
        self.is_of_run_of(later).then(|| Duration::from_millis(later.ms.saturating_sub(self.ms)))
    }

    /// Whether both moments are of the same boot.
    pub fn is_of_run_of(&self, other: &Self) -> bool {
        self.boot == other.boot
    }

    pub fn plus(&self, time: Duration) -> Self {
        Self { boot: self.boot.clone(), ms: self.ms + time.as_millis() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_since_the_start_goes_on_and_belongs_to_one_run() {
        let (first, second) = (SystemClocks.boot_time(), SystemClocks.boot_time());
        assert!(first.is_of_run_of(&second) && first.ms <= second.ms && first.boot.len() == 36, "{first:?}");
        assert_eq!(first.until(&first.plus(Duration::from_secs(3))), Some(Duration::from_secs(3)));
        let other = BootTime { boot: "another run".into(), ms: first.ms + 1 };
        assert_eq!(first.until(&other), None);
    }
}
