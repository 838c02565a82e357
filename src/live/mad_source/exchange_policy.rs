//! The timeouts and limits of a reading.

use std::time::Duration;

/// Timeouts, retries, and how much is under way at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExchangePolicy {
    /// Timeout for an answer.
    pub timeout: Duration,
    /// How often an unanswered query is sent again.
    pub retries: u32,
    /// Largest number of fresh MADs under way at once.
    pub in_flight: usize,
    /// Largest number of fresh MADs to one node: agents of switches have small buffers, and MADs have no flow control.
    pub per_node: usize,
    /// Largest number of MADs without an answer or a timeout, fresh or not. Some agents stop for good when a thousand
    /// MADs are in their socket.
    pub outstanding: usize,
    /// Largest number of nodes of a discovery; more answers than that come from no real fabric.
    pub nodes: usize,
    /// Period in which sweeps read every block of a table and every cable again; zero: never.
    pub drift_period: Duration,
}

impl Default for ExchangePolicy {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(1),
            retries: 2,
            in_flight: 64,
            per_node: 8,
            outstanding: 512,
            nodes: 65_536,
            drift_period: Duration::from_secs(300),
        }
    }
}

impl ExchangePolicy {
    /// How long a try counts in the window. After that it counts as lost, though an answer is still accepted.
    pub fn fresh_time(&self) -> Duration {
        self.timeout / 8
    }
}
