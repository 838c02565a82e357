//! The line of progress during a long reading, which renews itself on a terminal.

use std::io::Write;
use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthStr;

use super::column_fit::DEFAULT_WIDTH;
use crate::operations::progress::ProgressLine;

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

/// The line on stderr, which is cleared when it is dropped.
pub struct ProgressMeter<'w> {
    err: &'w mut dyn Write,
    shown: bool,
    visible: bool,
    next: Instant,
}

impl<'w> ProgressMeter<'w> {
    pub fn new(err: &'w mut dyn Write, visible: bool) -> Self {
        Self { err, shown: false, visible, next: Instant::now() + FIRST_DELAY }
    }
}

impl ProgressLine for ProgressMeter<'_> {
    fn show_line(&mut self, text: &dyn Fn() -> String) {
        let now = Instant::now();
        if !self.visible || now < self.next {
            return;
        }
        self.next = now + UPDATE_INTERVAL;
        self.shown = true;
        rewrite_line(self.err, None, &format!("{}, Ctrl-C ends it", text()));
    }
}

impl Drop for ProgressMeter<'_> {
    fn drop(&mut self) {
        if self.shown {
            clear_line(self.err);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::progress::run_engine;

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
        let done = run_engine(Box::new(ProgressMeter::new(&mut err, true)), "nue", None, |progress| {
            progress.report(3, 4);
            std::thread::sleep(FIRST_DELAY + 3 * UPDATE_INTERVAL);
            7
        });
        let output = String::from_utf8(err).unwrap();
        assert!(done == 7 && output.contains("nue: 75 %, Ctrl-C ends it"), "{output:?}");
        assert!(output.ends_with("\r\x1b[K") && !output.contains('\n'), "{output:?}");
        let mut err = Vec::new();
        let line = Box::new(ProgressMeter::new(&mut err, true));
        assert_eq!(run_engine(line, "nue", None, |_| 7), 7);
        assert!(err.is_empty(), "a quick engine shows no line");
    }
}
