//! The flag by which a signal ends a command that would otherwise run forever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fabdeck_mad::access::{ReadObserver, ReadProgress};

/// The stop flag of the process. Commands that end by themselves do not check it.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<StopFlagState>);

#[derive(Debug, Default)]
struct StopFlagState {
    requested: AtomicBool,
    has_listener: AtomicBool,
    /// Milliseconds that the cleanup needs; 0 means the default.
    cleanup_ms: AtomicU64,
}

impl StopFlag {
    pub fn request(&self) {
        self.0.requested.store(true, Ordering::SeqCst);
    }

    /// Whether a command checks the flag, and so has a cleanup before the process ends.
    pub fn has_listener(&self) -> bool {
        self.0.has_listener.load(Ordering::SeqCst)
    }

    pub fn is_requested(&self) -> bool {
        self.0.requested.load(Ordering::SeqCst)
    }

    /// Declares that the command checks the flag and needs this time for its cleanup, such as a rollback.
    pub fn listen_within(&self, cleanup: Duration) {
        self.0.has_listener.store(true, Ordering::SeqCst);
        self.0.cleanup_ms.store(u64::try_from(cleanup.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }

    /// Time for the cleanup, if it is not the default.
    pub fn shutdown_timeout(&self) -> Option<Duration> {
        let millis = self.0.cleanup_ms.load(Ordering::SeqCst);
        (millis > 0).then(|| Duration::from_millis(millis))
    }

    /// Declares that the command checks the flag from now on, and returns the flag.
    pub fn listen(&self) -> &AtomicBool {
        self.0.has_listener.store(true, Ordering::SeqCst);
        &self.0.requested
    }
}

/// A watch that ends a reading when the stop flag is set.
#[derive(Debug)]
pub struct StopWatch<'s>(pub &'s StopFlag);

impl ReadObserver for StopWatch<'_> {
    fn report_progress(&mut self, _: ReadProgress) {}

    fn is_cancelled(&self) -> bool {
        self.0.is_requested()
    }
}
