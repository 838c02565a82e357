//! How a signal reaches a command that would otherwise run for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A wish of the process that its command ends. Commands that end by themselves do not look at it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    asked: AtomicBool,
    heeded: AtomicBool,
}

impl Stop {
    pub fn ask(&self) {
        self.0.asked.store(true, Ordering::SeqCst);
    }

    /// Whether a command looks at the wish, and so has something to do before the process ends.
    pub fn is_heeded(&self) -> bool {
        self.0.heeded.load(Ordering::SeqCst)
    }

    /// The wish, for a command that looks at it from here on.
    pub fn heed(&self) -> &AtomicBool {
        self.0.heeded.store(true, Ordering::SeqCst);
        &self.0.asked
    }
}
