//! The two output streams: data goes to stdout, messages to stderr.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::column_fit::TableLayout;
use super::paint::Paint;
use super::progress::ProgressMeter;
use super::read_statistics::lines;
use super::table::{self, write_table};
use crate::catalogue::field::Listing;
use crate::catalogue::query::Selection;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::operation::Reporter;
use crate::operations::progress::ProgressLine;
use fabdeck_fabric::observe::{Notes, escape_unprintable};

/// Number of notes that are printed without `-v`.
const NOTES_SHOWN: usize = 10;

/// Messages are not wrapped at less than this width.
pub const MIN_COLUMNS: usize = 24;

/// Both streams and their formatting.
pub struct Output<'a> {
    pub out: &'a mut dyn Write,
    pub err: &'a mut dyn Write,
    pub paint: Paint,
    pub page: TableLayout,
    /// Width of messages on a terminal.
    pub margin: Option<usize>,
    pub json: bool,
    pub verbose: bool,
    /// Whether stderr shows the progress of long readings.
    pub progress: bool,
}

impl std::fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").field("json", &self.json).field("verbose", &self.verbose).finish()
    }
}

impl<'a> Output<'a> {
    /// Prints a message; a write error is ignored.
    pub fn print_message(&mut self, line: &str) {
        const PREFIX: &str = "fabdeck: ";
        let line = escape_unprintable(line);
        let room =
            self.margin.map_or(usize::MAX, |margin| margin.saturating_sub(PREFIX.len()).max(MIN_COLUMNS));
        let lines = if line.width() > room { wrap_text(&line, room) } else { vec![line.into_owned()] };
        let _ = writeln!(self.err, "{PREFIX}{}", lines.join("\n         "));
    }

    /// Prints a line that begins with its own label. It is never wrapped, so that a command in it can be copied.
    pub fn print_unwrapped(&mut self, line: &str) {
        let _ = writeln!(self.err, "fabdeck: {}", escape_unprintable(line));
    }

    /// Prints names and values as two aligned columns.
    pub fn write_pairs(&mut self, pairs: &[(&str, String)]) -> io::Result<()> {
        table::write_pairs(self.out, self.paint, self.page, pairs)
    }

    /// Prints rows as a table. All columns are printed if the fields are named or the output is no terminal.
    /// Otherwise those that fit are printed, with a message about the missing ones.
    pub fn write_table(
        &mut self,
        listing: &dyn Listing,
        mut selection: Selection,
        named: bool,
    ) -> io::Result<()> {
        let page = self.page;
        let zeros = if named { 0 } else { page.drop_zeros(listing, &mut selection) };
        let dropped = if named { Vec::new() } else { page.drop_for_room(listing, &mut selection) };
        if zeros > 0 {
            let what = count_words(zeros, "counter is", "counters are");
            self.print_message(&format!(
                "{what} 0 or unknown in every row and not shown; --fields shows them"
            ));
        }
        if !dropped.is_empty() {
            let them = dropped.join(", ");
            self.print_message(&format!("no room for {them}; use a wider terminal, a pipe or --json"));
        }
        write_table(self.out, self.paint, page, listing, &selection)
    }

    /// Prints the notes that were not printed as warnings; in JSON they are part of the object instead.
    pub fn print_notes(&mut self, notes: &Notes) {
        if self.json {
            return;
        }
        let ordinary = || notes.iter().filter(|note| !note.grave);
        let all = ordinary().count();
        let shown = if self.verbose { all } else { all.min(NOTES_SHOWN) };
        for note in ordinary().take(shown) {
            self.print_message(&format!("note: {note}"));
        }
        if shown < all {
            let more = count_words(all - shown, "more note", "more notes");
            self.print_message(&format!("... and {more}; -v shows all"));
        }
    }

    /// Returns stdout for a stream that no other output may interrupt. Later output to stdout is discarded.
    pub fn take_stdout(&mut self) -> &'a mut dyn Write {
        std::mem::replace(&mut self.out, Box::leak(Box::new(io::sink())))
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Reporter for Output<'_> {
    fn report_line(&mut self, line: &str) {
        self.print_message(line);
    }

    /// The warnings are printed with `--json` too, although the object has them among its notes.
    fn report_warnings(&mut self, notes: &Notes) {
        for note in notes.grave_notes() {
            self.print_message(&format!("WARNING: {note}"));
        }
    }

    fn report_notes(&mut self, notes: &Notes) {
        self.print_notes(notes);
    }

    fn report_statistics(&mut self, snapshot: &Snapshot) {
        if self.verbose {
            lines(snapshot).iter().for_each(|line| self.print_message(line));
        }
    }

    fn report_reading(&mut self, snapshot: &Snapshot) {
        self.report_statistics(snapshot);
        self.print_notes(&snapshot.observation.notes);
        if snapshot.observation.is_partial() && !self.json {
            self.print_message("the answer is partial: part of the source did not answer or was cut off");
        }
    }

    fn begin_progress(&mut self) -> Box<dyn ProgressLine + '_> {
        Box::new(ProgressMeter::new(self.err, self.progress))
    }

    fn shows_engines(&self) -> bool {
        self.progress && !self.json
    }
}

/// Prints notes as a command without `--json` does.
pub fn print_notes(notes: &Notes, verbose: bool, out: &mut dyn Write, err: &mut dyn Write) {
    Output {
        out,
        err,
        paint: Paint::default(),
        page: TableLayout::default(),
        margin: None,
        json: false,
        verbose,
        progress: false,
    }
    .print_notes(notes);
}
