//! What is said about a long look: a line that renews itself while somebody watches, and with -v what each phase took.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::access::{Progress, Watch};
use crate::observe::Reading;
use crate::session::counted;

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
        let line =
            format!("\r\x1b[Kreading {phase}: {done} of {known} answers known to be due (Ctrl-C ends it)");
        let _ = self.err.write_all(line.as_bytes()).and_then(|()| self.err.flush());
    }
}

/// A line for each phase.
pub fn phases(reading: &Reading) -> Vec<String> {
    let mut lines = vec![format!("read from {}", reading.from)];
    for phase in &reading.phases {
        let mut line = format!(
            "{}: {} sent, at most {} in flight, {} answered in {:.3} s",
            phase.name,
            counted(phase.sent as usize, "MAD", "MADs"),
            phase.in_flight,
            phase.answered,
            phase.took.as_secs_f64()
        );
        for (count, what) in [
            (phase.repeated, "sent again"),
            (phase.unanswered, "given up"),
            (phase.refused, "refused"),
            (phase.strangers, "answers to nobody's question"),
        ] {
            if count > 0 {
                line += &format!(", {count} {what}");
            }
        }
        lines.push(line);
    }
    lines
}
