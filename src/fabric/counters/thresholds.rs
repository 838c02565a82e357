//! From where on something is worth a word. All of them can be set in the configuration.

/// The limits from which a port or link counts as congested, errored or flapping.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// A port is congested from this many ticks of XmitWait per second on (dFtree, section III-C). The length of a
    /// tick depends on the device.
    pub congestion: f64,
    /// An adapter that waits and uses less than this fraction of its link's bandwidth gets less than a fair share
    /// (dFtree, section III-C).
    pub fair_share: f64,
    /// A link is errored from this many errors per hour on.
    pub errors_per_hour: f64,
    /// A link flaps when it goes down this often per hour.
    pub flaps_per_hour: f64,
    /// A hot-spot is brief while no port waits this fraction of the time for it; it is a warning at most. Our choice: below
    /// 1 % of the time, a transfer takes as long as before.
    pub brief_wait: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        // The standard takes a link for sound up to a bit error rate of 10^-12; ten symbol errors an hour are what
        // vendors and site runbooks replace cables at.
        Self {
            congestion: 100_000.0,
            fair_share: 0.5,
            errors_per_hour: 10.0,
            flaps_per_hour: 1.0,
            brief_wait: 0.01,
        }
    }
}
