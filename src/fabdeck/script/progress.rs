//! The line of progress during a long reading, which renews itself on a terminal.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthStr;

use super::column_fit::DEFAULT_WIDTH;
use crate::system::stop_flag::StopFlag;
use fabdeck_mad::access::{ReadObserver, ReadProgress};
use fabdeck_routing::RouteProgress;

/// A faster reading shows no line.
const FIRST_DELAY: Duration = Duration::from_millis(400);
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);

/// Clears the line; a write error is ignored.
pub fn clear_line(err: &mut dyn Write) {
    let _ = err.write_all(b"\r\x1b[K").and_then(|()| err.flush());
}

/// Replaces the line by another one. A wrapped line could not be cleared, so the end of a long line is dropped; its
/// beginning matters most.
pub fn rewrite_line(err: &mut dyn Write, columns: Option<usize>, line: &str) {
    // Some terminals wrap as soon as the last cell is written.
    let room = columns.unwrap_or(DEFAULT_WIDTH).saturating_sub(1);
    let line = format!("\r\x1b[K{}", fit_line(line, room));
    let _ = err.write_all(line.as_bytes()).and_then(|()| err.flush());
}

/// The first parts of a line that fit, or the beginning of the first part.
fn fit_line(line: &str, room: usize) -> &str {
    let whole = line.match_indices("; ").map(|(at, _)| &line[..at]).chain([line]);
    let fits = whole.filter(|part| part.width() <= room).last();
    fits.unwrap_or_else(|| {
        let ends = line.char_indices().map(|(at, _)| &line[..at]);
        ends.rev().find(|part| part.width() <= room).unwrap_or_default()
    })
}

/// The line on stderr.
pub struct ProgressMeter<'w> {
    err: &'w mut dyn Write,
    shown: bool,
    visible: bool,
    next: Instant,
    stop: Option<StopFlag>,
}

impl<'w> ProgressMeter<'w> {
    pub fn new(err: &'w mut dyn Write, visible: bool) -> Self {
        Self { err, shown: false, visible, next: Instant::now() + FIRST_DELAY, stop: None }
    }

    /// Makes the reading end when the stop flag is set, for commands with a cleanup.
    pub fn with_stop(self, stop: Option<&StopFlag>) -> Self {
        Self { stop: stop.cloned(), ..self }
    }

    /// Clears the line.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            clear_line(self.err);
        }
    }
}

impl ProgressMeter<'_> {
    pub(super) fn show_line(&mut self, line: impl FnOnce() -> String) {
        let now = Instant::now();
        if !self.visible || now < self.next {
            return;
        }
        self.next = now + UPDATE_INTERVAL;
        self.shown = true;
        rewrite_line(self.err, None, &format!("{}, Ctrl-C ends it", line()));
    }
}

impl ReadObserver for ProgressMeter<'_> {
    fn report_progress(&mut self, ReadProgress { phase, done, known }: ReadProgress) {
        self.show_line(|| format!("reading {phase}: {done} of {known}"));
    }

    fn is_cancelled(&self) -> bool {
        self.stop.as_ref().is_some_and(StopFlag::is_requested)
    }
}

/// Reports no progress of an engine, but ends it when the stop flag is set.
pub struct StopOnlyProgress<'s>(pub Option<&'s StopFlag>);

impl RouteProgress for StopOnlyProgress<'_> {
    fn report(&self, _: usize, _: usize) {}

    fn is_cancelled(&self) -> bool {
        self.0.is_some_and(StopFlag::is_requested)
    }
}

/// Progress of an engine, reported from any thread. Routing counts separately from the certificate.
#[derive(Default)]
struct EngineProgress<'s> {
    done: AtomicUsize,
    of: AtomicUsize,
    stop: Option<&'s StopFlag>,
}

impl RouteProgress for EngineProgress<'_> {
    fn report(&self, done: usize, of: usize) {
        self.done.store(done, Ordering::Relaxed);
        self.of.store(of, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.stop.is_some_and(StopFlag::is_requested)
    }
}

impl EngineProgress<'_> {
    fn percent(&self) -> usize {
        let (done, of) = (self.done.load(Ordering::Relaxed), self.of.load(Ordering::Relaxed));
        (done.min(of) * 100).checked_div(of).unwrap_or(0)
    }
}

/// Runs work in another thread and shows its progress.
pub fn run_with_progress<T: Send>(
    err: &mut dyn Write,
    (engine, stop): (&str, Option<&StopFlag>),
    work: impl FnOnce(&dyn RouteProgress) -> T + Send,
) -> T {
    let (progress, watcher) = (EngineProgress { stop, ..EngineProgress::default() }, std::thread::current());
    let mut meter = ProgressMeter::new(err, true);
    let ended = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let done = work(&progress);
            watcher.unpark();
            done
        });
        while !worker.is_finished() {
            std::thread::park_timeout(UPDATE_INTERVAL / 4);
            meter.show_line(|| format!("{engine}: {} %", progress.percent()));
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
    fn a_line_loses_its_last_parts_on_a_narrow_terminal() {
        let line = "change 3f2a91bc applied, not confirmed; 9m 58s left, until 14:12:03 UTC; Ctrl-C leaves it waiting";
        assert_eq!(fit_line(line, 120), line);
        assert_eq!(
            fit_line(line, 79),
            "change 3f2a91bc applied, not confirmed; 9m 58s left, until 14:12:03 UTC"
        );
        assert_eq!(fit_line(line, 40), "change 3f2a91bc applied, not confirmed");
        assert_eq!(fit_line(line, 9), "change 3f");
        assert_eq!((fit_line("日本語", 5), fit_line("日", 1)), ("日本", ""));
    }

    #[test]
    fn a_slow_engine_shows_a_line_of_progress_that_is_cleared() {
        let mut err = Vec::new();
        let done = run_with_progress(&mut err, ("nue", None), |progress| {
            progress.report(3, 4);
            std::thread::sleep(FIRST_DELAY + 3 * UPDATE_INTERVAL);
            7
        });
        let output = String::from_utf8(err).unwrap();
        assert!(done == 7 && output.contains("nue: 75 %, Ctrl-C ends it"), "{output:?}");
        assert!(output.ends_with("\r\x1b[K") && !output.contains('\n'), "{output:?}");
        let mut err = Vec::new();
        assert_eq!(run_with_progress(&mut err, ("nue", None), |_| 7), 7);
        assert!(err.is_empty(), "a quick engine shows no line");
    }
}
