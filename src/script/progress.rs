//! What is said while a long look is under way: a line that renews itself while somebody watches.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::access::{Progress, Watch};
use crate::routing::Pulse;

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

impl Meter<'_> {
    pub(super) fn say(&mut self, line: impl FnOnce() -> String) {
        let now = Instant::now();
        if !self.watched || now < self.next {
            return;
        }
        self.next = now + EVERY;
        self.shown = true;
        let line = format!("\r\x1b[K{}, Ctrl-C ends it", line());
        let _ = self.err.write_all(line.as_bytes()).and_then(|()| self.err.flush());
    }
}

impl Watch for Meter<'_> {
    fn progress(&mut self, Progress { phase, done, known }: Progress) {
        self.say(|| format!("reading {phase}: {done} of {known}"));
    }
}

/// How far an engine is, from whatever thread it says so. Routes are one stretch of work, their certificate another.
#[derive(Default)]
struct Share {
    done: AtomicUsize,
    of: AtomicUsize,
}

impl Pulse for Share {
    fn step(&self, done: usize, of: usize) {
        self.done.store(done, Ordering::Relaxed);
        self.of.store(of, Ordering::Relaxed);
    }
}

impl Share {
    fn percent(&self) -> usize {
        let (done, of) = (self.done.load(Ordering::Relaxed), self.of.load(Ordering::Relaxed));
        (done.min(of) * 100).checked_div(of).unwrap_or(0)
    }
}

/// Carries work out beside the line that tells of it.
pub fn engine_under_way<T: Send>(
    err: &mut dyn Write,
    engine: &str,
    work: impl FnOnce(&dyn Pulse) -> T + Send,
) -> T {
    let (share, watcher) = (Share::default(), std::thread::current());
    let mut meter = Meter::new(err, true);
    let ended = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let done = work(&share);
            watcher.unpark();
            done
        });
        while !worker.is_finished() {
            std::thread::park_timeout(EVERY / 4);
            meter.say(|| format!("{engine}: {} %", share.percent()));
        }
        worker.join()
    });
    meter.clear();
    ended.unwrap_or_else(|bug| std::panic::resume_unwind(bug))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_says_how_far_it_is_once_it_takes_time_and_the_line_goes_away() {
        let mut err = Vec::new();
        let done = engine_under_way(&mut err, "nue", |pulse| {
            pulse.step(3, 4);
            std::thread::sleep(QUIET + 3 * EVERY);
            7
        });
        let said = String::from_utf8(err).unwrap();
        assert!(done == 7 && said.contains("nue: 75 %, Ctrl-C ends it"), "{said:?}");
        assert!(said.ends_with("\r\x1b[K") && !said.contains('\n'), "{said:?}");
        let mut err = Vec::new();
        assert_eq!(engine_under_way(&mut err, "nue", |_| 7), 7);
        assert!(err.is_empty(), "what is quick needs no line");
    }
}
