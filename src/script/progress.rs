//! What is said while a long look is under way: a line that renews itself while somebody watches.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::access::{Progress, Watch};

/// A look that is quicker needs no line.
const QUIET: Duration = Duration::from_millis(400);
const EVERY: Duration = Duration::from_millis(100);

/// The line on stderr.
pub struct Meter<'w> {
    err: &'w mut dyn Write,
    shown: bool,
    watched: bool,
    next: Instant,
}

impl<'w> Meter<'w> {
    pub fn new(err: &'w mut dyn Write, watched: bool) -> Self {
        Self { err, shown: false, watched, next: Instant::now() + QUIET }
    }

    /// Takes the line away again.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            // Nobody being there to look is no reason to fail.
            let _ = self.err.write_all(b"\r\x1b[K").and_then(|()| self.err.flush());
        }
    }
}

impl Watch for Meter<'_> {
    fn progress(&mut self, progress: Progress) {
        let now = Instant::now();
        if !self.watched || now < self.next {
            return;
        }
        self.next = now + EVERY;
        self.shown = true;
        let Progress { phase, done, known } = progress;
        let line = format!("\r\x1b[Kreading {phase}: {done} of {known}, Ctrl-C ends it");
        let _ = self.err.write_all(line.as_bytes()).and_then(|()| self.err.flush());
    }
}
