//! Fits a table into its terminal. Columns without information are dropped first. Then names lose their middle,
//! because both ends distinguish them. A file or a pipe gets every column.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::table::{GAP, widths};
use super::terminal_info::TerminalInfo;
use crate::catalogue::field::{Column, ColumnContent, Listing};
use crate::catalogue::query::Selection;
use crate::catalogue::value::{FieldKind, Value};

/// Length of the longest node description.
const MAX_NAME_WIDTH: usize = 64;

/// A shorter name would not identify a node.
const MIN_NAME_WIDTH: usize = 12;

/// Names are cut down to this width before a spare column is kept.
const READABLE_NAME_WIDTH: usize = 24;

/// A column of sentences keeps this width.
const MIN_SENTENCE_WIDTH: usize = 24;

/// Width of a terminal whose width is unknown.
pub const DEFAULT_WIDTH: usize = 80;

/// Where a table is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TableLayout {
    /// Width in columns; `None` is unlimited.
    columns: Option<usize>,
    terminal: bool,
    utf8: bool,
}

impl TableLayout {
    pub fn of(terminal: &TerminalInfo) -> Self {
        let columns = terminal.columns.filter(|_| terminal.stdout);
        Self { columns, terminal: terminal.stdout, utf8: terminal.utf8 }
    }

    /// Width of a plot: that of the terminal, or the usual one.
    pub fn plot_width(self) -> usize {
        self.columns.unwrap_or(DEFAULT_WIDTH)
    }

    /// Whether the terminal shows more than ASCII.
    pub fn has_utf8(self) -> bool {
        self.utf8
    }

    /// Width of prose; on a terminal of unknown width the usual one.
    pub fn prose_width(self) -> Option<usize> {
        self.terminal.then(|| self.columns.unwrap_or(DEFAULT_WIDTH))
    }

    /// Drops counters that are zero or missing in every row, on a terminal. Returns their number.
    pub fn drop_zeros(self, listing: &dyn Listing, selection: &mut Selection) -> usize {
        let before = selection.columns.len();
        if self.terminal {
            let nothing = |value: Value<'_>| matches!(value, Value::Missing | Value::Number(0));
            let Selection { rows, columns, .. } = selection;
            columns.retain(|at| {
                !listing.is_hidden_when_zero(*at) || rows.iter().any(|row| !nothing(listing.cell(*row, *at)))
            });
        }
        before - selection.columns.len()
    }

    /// Drops columns until the table fits, and returns the fields of the dropped columns that have values. Columns
    /// without any value are dropped first, then spare columns and GUIDs if names would otherwise be cut short, and
    /// at last columns at the right if even short names leave the table too wide.
    pub fn drop_for_room(self, listing: &dyn Listing, selection: &mut Selection) -> Vec<String> {
        if self.excess(&widths(listing, selection)) == 0 {
            return Vec::new();
        }
        self.drop_unknown(listing, selection);
        let mut dropped = Vec::new();
        let spare = |at: usize| listing.column(at).spare;
        self.drop_while_wide(listing, selection, READABLE_NAME_WIDTH, &spare, &mut dropped);
        let guid = |at: usize| listing.column(at).kind == FieldKind::Guid && !listing.is_distinguishing(at);
        self.drop_while_wide(listing, selection, READABLE_NAME_WIDTH, &guid, &mut dropped);
        let other = |at: usize| {
            let is_cut =
                matches!(listing.column(at).content, ColumnContent::NodeName | ColumnContent::Sentence);
            !is_cut && !listing.is_distinguishing(at)
        };
        self.drop_while_wide(listing, selection, MIN_NAME_WIDTH, &other, &mut dropped);
        dropped
    }

    /// Drops columns from the right while the table is too wide. The first column stays, because it identifies the
    /// row.
    fn drop_while_wide(
        self,
        listing: &dyn Listing,
        selection: &mut Selection,
        name: usize,
        is_droppable: &dyn Fn(usize) -> bool,
        dropped: &mut Vec<String>,
    ) {
        let mut least = widths(listing, selection);
        for (at, width) in selection.columns.iter().zip(&mut least) {
            let column = listing.column(*at);
            *width = match column.content {
                ColumnContent::NodeName => (*width).min(name.max(column.title.width())),
                ColumnContent::Sentence => (*width).min(MIN_SENTENCE_WIDTH),
                _ => *width,
            };
        }
        while self.excess(&least) > 0 {
            let last = (1..least.len()).rev().find(|at| is_droppable(selection.columns[*at]));
            let Some(last) = last else { return };
            least.remove(last);
            dropped.push(listing.column(selection.columns.remove(last)).id.to_string());
        }
    }

    fn drop_unknown(self, listing: &dyn Listing, selection: &mut Selection) {
        let Selection { rows, columns, .. } = selection;
        columns.retain(|at| rows.iter().any(|row| !listing.cell(*row, *at).is_missing()));
    }

    /// Narrows the name columns: always to the longest possible name, and the widest further while the table is too
    /// wide.
    pub fn narrow(self, columns: &[&Column], titles: &[String], widths: &mut [usize]) {
        let names: Vec<usize> =
            (0..columns.len()).filter(|at| columns[*at].content == ColumnContent::NodeName).collect();
        for at in &names {
            widths[*at] = widths[*at].min(MAX_NAME_WIDTH);
        }
        let is_sentence = |column: &&Column| column.content == ColumnContent::Sentence;
        if let Some(sentence) = columns.iter().position(is_sentence) {
            let least = widths[sentence].min(MIN_SENTENCE_WIDTH);
            widths[sentence] = widths[sentence].saturating_sub(self.excess(widths)).max(least);
        }
        let floor = |at: usize| titles[at].width().max(MIN_NAME_WIDTH);
        for _ in 0..self.excess(widths) {
            let widest =
                names.iter().copied().filter(|at| widths[*at] > floor(*at)).max_by_key(|at| widths[*at]);
            let Some(widest) = widest else { return };
            widths[widest] -= 1;
        }
    }

    /// Number of columns by which a row exceeds the page.
    fn excess(self, widths: &[usize]) -> usize {
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        let needed = widths.iter().sum::<usize>() + gaps;
        self.columns.map_or(0, |columns| needed.saturating_sub(columns))
    }

    /// Cuts the middle of a text that is wider than `width`.
    pub fn elide(self, text: Cow<'_, str>, width: usize) -> Cow<'_, str> {
        if text.width() <= width {
            return text;
        }
        let sign = if self.utf8 { "…" } else { "..." };
        let room = width.saturating_sub(sign.width());
        // Names differ more often before their end (`node01 mlx5_0`).
        let head_room = room - room / 3;
        let head = take_cells(text.chars(), head_room);
        let tail: String = take_cells(text.chars().rev(), room - head_room).chars().rev().collect();
        Cow::Owned(head + sign + &tail)
    }
}

/// Takes as many characters as fit into this many columns.
fn take_cells(signs: impl Iterator<Item = char>, cells: usize) -> String {
    let mut used = 0;
    let fits = |sign: &char| {
        used += sign.width().unwrap_or(0);
        used <= cells
    };
    signs.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_middle() {
        let page = TableLayout { utf8: true, ..TableLayout::default() };
        assert_eq!(page.elide("rack1-leaf switch 07".into(), 9), "rack1-…07");
        assert_eq!(TableLayout::default().elide("rack1-leaf switch 07".into(), 9), "rack...07");
        assert_eq!(page.elide("short".into(), 9), "short");
        // Characters of two columns never exceed the width.
        assert_eq!(page.elide("日本語日本語".into(), 8), "日本…語");
    }
}
