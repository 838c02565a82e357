//! Times of sweeps by a clock.

use std::time::Duration;

use jiff::Timestamp;

use fabdeck_fabric::observe::Sweep;

/// Time of a sweep in milliseconds since 1970: that of the machine, or in a simulator the first sweep's plus the simulated
/// time. A simulated clock starts at SOURCE_DATE_EPOCH if that is set, so that results can be reproduced byte for byte.
#[derive(Clone, Debug)]
pub struct SweepClock {
    simulated: bool,
    start: i64,
    first: Option<Duration>,
}

impl SweepClock {
    pub fn new(simulated: bool) -> Self {
        let seconds = std::env::var("SOURCE_DATE_EPOCH").ok().filter(|_| simulated);
        let seconds = seconds.and_then(|seconds| seconds.parse::<i64>().ok());
        let start = seconds.and_then(|seconds| seconds.checked_mul(1000)).unwrap_or_else(now);
        Self { simulated, start, first: None }
    }

    pub fn is_simulated(&self) -> bool {
        self.simulated
    }

    /// When the first sweep began, by the time of the source.
    pub fn first_began(&self) -> Option<Duration> {
        self.first
    }

    /// The time of a sweep.
    pub fn time(&mut self, sweep: &Sweep) -> i64 {
        let first = *self.first.get_or_insert(sweep.began);
        match self.simulated {
            true => self.after(sweep.began.saturating_sub(first)),
            false => now(),
        }
    }

    /// The time after `sweeps` intervals.
    pub fn last(&self, interval: Duration, sweeps: u32) -> i64 {
        if self.simulated { self.after(interval * sweeps) } else { now() }
    }

    fn after(&self, passed: Duration) -> i64 {
        self.start.saturating_add(i64::try_from(passed.as_millis()).unwrap_or(i64::MAX))
    }
}

fn now() -> i64 {
    Timestamp::now().as_millisecond()
}
