//! From where on something is worth a word. All of them can be set in the configuration.

use super::trouble::Why;

/// What a verdict is measured by.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// Ticks of XmitWait a second from which a port is congested (dFtree, section III-C). How long a tick is depends on
    /// the device.
    pub congestion: f64,
    /// Below this share of its link's bandwidth an adapter that waits gets less than its fair part (same place).
    pub fair_share: f64,
    /// Errors of a link an hour from which it is errored.
    pub errors_per_hour: f64,
    /// Times that a link went down an hour from which it flaps.
    pub flaps_per_hour: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        // The standard takes a link for sound up to a bit error rate of 10^-12; ten symbol errors an hour are what
        // vendors and site runbooks replace cables at.
        Self { congestion: 100_000.0, fair_share: 0.5, errors_per_hour: 10.0, flaps_per_hour: 1.0 }
    }
}

impl Thresholds {
    /// From where on a link is in trouble for this reason.
    pub fn of(&self, why: Why) -> f64 {
        match why {
            Why::Flaps { .. } => self.flaps_per_hour,
            Why::Errored { .. } | Why::Degraded => self.errors_per_hour,
        }
    }
}
