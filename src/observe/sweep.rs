//! All counters of a fabric, read once more while its topology is kept.

use std::time::Duration;

use super::CounterSample;

/// One sweep. Times are those of the clock of the port that it went through.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sweep {
    /// One for each port that answered, in the order of the ports.
    pub samples: Vec<CounterSample>,
    /// When each of the samples came.
    pub at: Vec<Duration>,
    pub began: Duration,
    pub took: Duration,
    /// Ports that were asked, those included that did not answer.
    pub ports: u64,
    /// Datagrams that it took, repetitions included.
    pub sent: u64,
}
