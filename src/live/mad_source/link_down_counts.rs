//! The counters of a port that say how often its link went down.

/// How often a link went down (LinkDownedCounter), and how often it recovered by itself (LinkErrorRecoveryCounter).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkDownCounts {
    pub downed: u64,
    pub recovered: u64,
}

impl LinkDownCounts {
    /// The increase since an earlier reading. A smaller counter was cleared in between.
    pub fn since(self, before: Self) -> Self {
        let grown = |before: u64, now: u64| if now < before { now } else { now - before };
        Self { downed: grown(before.downed, self.downed), recovered: grown(before.recovered, self.recovered) }
    }

    pub fn combine(self, other: Self, choose: impl Fn(u64, u64) -> u64) -> Self {
        Self { downed: choose(self.downed, other.downed), recovered: choose(self.recovered, other.recovered) }
    }
}
