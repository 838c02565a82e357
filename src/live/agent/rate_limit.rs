//! Limits a rate: a token bucket that refills over time.

use std::time::Duration;

/// A burst of `per_second` tokens, and as many again each second.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    per_second: u32,
    /// The fill level in thousandths of a token.
    level: u64,
    last: Duration,
}

impl TokenBucket {
    pub fn new(per_second: u32, now: Duration) -> Self {
        Self { per_second, level: u64::from(per_second) * 1000, last: now }
    }

    /// Takes a token, if there is one.
    pub fn take_token(&mut self, now: Duration) -> bool {
        let passed = now.saturating_sub(self.last).as_millis();
        let more = u64::try_from(passed).unwrap_or(u64::MAX).saturating_mul(self.per_second.into());
        if more > 0 {
            self.last = now;
        }
        self.level = self.level.saturating_add(more).min(u64::from(self.per_second) * 1000);
        let enough = self.level >= 1000;
        self.level -= if enough { 1000 } else { 0 };
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_rate_passes() {
        let mut bucket = TokenBucket::new(5, Duration::ZERO);
        let mut passed = |ms: u64| (0..20).filter(|_| bucket.take_token(Duration::from_millis(ms))).count();
        assert_eq!([passed(0), passed(100), passed(200), passed(1_200), passed(60_000)], [5, 0, 1, 5, 5]);
    }
}
