//! How patient and how eager a reading is.

use std::time::Duration;

/// Time-outs, repetitions, and how much is on its way at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// How long an answer may take.
    pub timeout: Duration,
    /// How often a question is sent again when no answer came.
    pub retries: u32,
    /// Fresh datagrams on their way at once.
    pub in_flight: usize,
    /// Of these to one node: agents of switches have small buffers and nothing holds the sender back.
    pub per_node: usize,
    /// Everything sent and neither answered nor given up, fresh or not. Some agents stop for good when a thousand
    /// datagrams lie in their socket.
    pub outstanding: usize,
    /// Nodes that a discovery takes in; one that answers without end is no fabric.
    pub nodes: usize,
    /// Sweeps read every block of a table and look at every cable again within this time; zero: never.
    pub drift_period: Duration,
}

impl Default for Policy {
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

impl Policy {
    /// A question that is older counts as lost on the way and holds nobody else back. It may still be answered.
    pub fn fresh(&self) -> Duration {
        self.timeout / 8
    }
}
