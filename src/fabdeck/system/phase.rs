//! What the phases of a long answer took, for the log at level `debug` (`FABDECK_LOG=fabdeck=debug`).

use std::time::Instant;

/// A phase under way. It is logged when it is dropped.
#[derive(Debug)]
pub struct Phase {
    name: &'static str,
    begun: Instant,
}

impl Phase {
    pub fn begin(name: &'static str) -> Self {
        Self { name, begun: Instant::now() }
    }

    /// Runs work as a phase.
    pub fn time<T>(name: &'static str, work: impl FnOnce() -> T) -> T {
        let _phase = Self::begin(name);
        work()
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        let milliseconds = self.begun.elapsed().as_millis() as u64;
        tracing::debug!(phase = self.name, milliseconds, "phase ended");
    }
}
