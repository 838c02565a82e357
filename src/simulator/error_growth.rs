//! Symbol errors of a worn cable.

/// Symbol errors of a port that grow with time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ErrorGrowth {
    /// Errors up to `since`, in units of one error a minute times one nanosecond.
    counted: u128,
    since: u64,
    per_minute: u32,
}

impl ErrorGrowth {
    const MINUTE: u128 = 60_000_000_000;

    fn elapsed_parts(&self, now: u64) -> u128 {
        self.counted + u128::from(now.saturating_sub(self.since)) * u128::from(self.per_minute)
    }

    pub fn error_count(&self, now: u64) -> u64 {
        u64::try_from(self.elapsed_parts(now) / Self::MINUTE).unwrap_or(u64::MAX)
    }

    pub fn set_rate(&mut self, now: u64, per_minute: u32) {
        (self.counted, self.since, self.per_minute) = (self.elapsed_parts(now), now, per_minute);
    }
}
