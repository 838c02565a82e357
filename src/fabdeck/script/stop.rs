//! How a signal reaches a command that would otherwise run for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fabdeck_mad::access::{Progress, Watch};

/// A wish of the process that its command ends. Commands that end by themselves do not look at it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    asked: AtomicBool,
    heeded: AtomicBool,
    /// Milliseconds that whoever heeds it needs; 0: the usual.
    farewell: AtomicU64,
}

impl Stop {
    pub fn ask(&self) {
        self.0.asked.store(true, Ordering::SeqCst);
    }

    /// Whether a command looks at the wish, and so has something to do before the process ends.
    pub fn is_heeded(&self) -> bool {
        self.0.heeded.load(Ordering::SeqCst)
    }

    pub fn is_asked(&self) -> bool {
        self.0.asked.load(Ordering::SeqCst)
    }

    /// Heeded by a command that has more to put away than fits into the usual time: it takes a change back.
    pub fn heed_within(&self, farewell: Duration) {
        self.0.heeded.store(true, Ordering::SeqCst);
        self.0.farewell.store(u64::try_from(farewell.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }

    /// How long whoever heeds it may take, where that is not the usual time.
    pub fn farewell(&self) -> Option<Duration> {
        let asked = self.0.farewell.load(Ordering::SeqCst);
        (asked > 0).then(|| Duration::from_millis(asked))
    }

    /// The wish, for a command that looks at it from here on.
    pub fn heed(&self) -> &AtomicBool {
        self.0.heeded.store(true, Ordering::SeqCst);
        &self.0.asked
    }
}

/// Ends a look when somebody wants its command to end.
#[derive(Debug)]
pub struct Ending<'s>(pub &'s Stop);

impl Watch for Ending<'_> {
    fn progress(&mut self, _: Progress) {}

    fn cancelled(&self) -> bool {
        self.0.is_asked()
    }
}
