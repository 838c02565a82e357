//! The line of progress during a long reading, which renews itself on a terminal.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthStr;

use super::Stop;
use super::fit::USUAL_WIDTH;
use fabdeck_mad::access::{Progress, Watch};
use fabdeck_routing::Pulse;

/// A faster reading shows no line.
const QUIET: Duration = Duration::from_millis(400);
const EVERY: Duration = Duration::from_millis(100);

/// Clears the line; a write error is ignored.
pub fn take_away(err: &mut dyn Write) {
    let _ = err.write_all(b"\r\x1b[K").and_then(|()| err.flush());
}

/// Replaces the line by another one. A wrapped line could not be cleared, so the end of a long line is dropped; its
/// begin matters most.
pub fn renew(err: &mut dyn Write, columns: Option<usize>, line: &str) {
    // Some terminals wrap as soon as the last cell is written.
    let room = columns.unwrap_or(USUAL_WIDTH).saturating_sub(1);
    let line = format!("\r\x1b[K{}", fitting(line, room));
    let _ = err.write_all(line.as_bytes()).and_then(|()| err.flush());
}

/// The first parts of a line that fit, or the begin of the first part.
fn fitting(line: &str, room: usize) -> &str {
    let whole = line.match_indices("; ").map(|(at, _)| &line[..at]).chain([line]);
    let fits = whole.filter(|part| part.width() <= room).last();
    fits.unwrap_or_else(|| {
        let ends = line.char_indices().map(|(at, _)| &line[..at]);
        ends.rev().find(|part| part.width() <= room).unwrap_or_default()
    })
}

/// The line on stderr.
pub struct Meter<'w> {
    err: &'w mut dyn Write,
    shown: bool,
    watched: bool,
    next: Instant,
    stop: Option<Stop>,
}

impl<'w> Meter<'w> {
    pub fn new(err: &'w mut dyn Write, watched: bool) -> Self {
        Self { err, shown: false, watched, next: Instant::now() + QUIET, stop: None }
    }

    /// Makes the reading end when the stop flag is set, for commands with a cleanup.
    pub fn heeding(self, stop: Option<&Stop>) -> Self {
        Self { stop: stop.cloned(), ..self }
    }

    /// Clears the line.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            take_away(self.err);
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
        renew(self.err, None, &format!("{}, Ctrl-C ends it", line()));
    }
}

impl Watch for Meter<'_> {
    fn progress(&mut self, Progress { phase, done, known }: Progress) {
        self.say(|| format!("reading {phase}: {done} of {known}"));
    }

    fn cancelled(&self) -> bool {
        self.stop.as_ref().is_some_and(Stop::is_asked)
    }
}

/// Reports no progress of an engine, but ends it when the stop flag is set.
pub struct Heeding<'s>(pub Option<&'s Stop>);

impl Pulse for Heeding<'_> {
    fn step(&self, _: usize, _: usize) {}

    fn cancelled(&self) -> bool {
        self.0.is_some_and(Stop::is_asked)
    }
}

/// Progress of an engine, reported from any thread. Routing counts separately from the certificate.
#[derive(Default)]
struct Share<'s> {
    done: AtomicUsize,
    of: AtomicUsize,
    stop: Option<&'s Stop>,
}

impl Pulse for Share<'_> {
    fn step(&self, done: usize, of: usize) {
        self.done.store(done, Ordering::Relaxed);
        self.of.store(of, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.stop.is_some_and(Stop::is_asked)
    }
}

impl Share<'_> {
    fn percent(&self) -> usize {
        let (done, of) = (self.done.load(Ordering::Relaxed), self.of.load(Ordering::Relaxed));
        (done.min(of) * 100).checked_div(of).unwrap_or(0)
    }
}

/// Runs work in another thread and shows its progress.
pub fn engine_under_way<T: Send>(
    err: &mut dyn Write,
    (engine, stop): (&str, Option<&Stop>),
    work: impl FnOnce(&dyn Pulse) -> T + Send,
) -> T {
    let (share, watcher) = (Share { stop, ..Share::default() }, std::thread::current());
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
    fn a_line_loses_its_last_parts_where_its_terminal_is_narrow() {
        let line = "change 3f2a91bc applied, not confirmed; 9m 58s left, until 14:12:03 UTC; Ctrl-C leaves it waiting";
        assert_eq!(fitting(line, 120), line);
        assert_eq!(
            fitting(line, 79),
            "change 3f2a91bc applied, not confirmed; 9m 58s left, until 14:12:03 UTC"
        );
        assert_eq!(fitting(line, 40), "change 3f2a91bc applied, not confirmed");
        assert_eq!(fitting(line, 9), "change 3f");
        assert_eq!((fitting("日本語", 5), fitting("日", 1)), ("日本", ""));
    }

    #[test]
    fn an_engine_says_how_far_it_is_once_it_takes_time_and_the_line_goes_away() {
        let mut err = Vec::new();
        let done = engine_under_way(&mut err, ("nue", None), |pulse| {
            pulse.step(3, 4);
            std::thread::sleep(QUIET + 3 * EVERY);
            7
        });
        let said = String::from_utf8(err).unwrap();
        assert!(done == 7 && said.contains("nue: 75 %, Ctrl-C ends it"), "{said:?}");
        assert!(said.ends_with("\r\x1b[K") && !said.contains('\n'), "{said:?}");
        let mut err = Vec::new();
        assert_eq!(engine_under_way(&mut err, ("nue", None), |_| 7), 7);
        assert!(err.is_empty(), "what is quick needs no line");
    }
}
