//! Fits a table into its terminal. Columns without information go first; then names lose their middle, because both
//! ends distinguish them. A file or a pipe gets every column.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::output::Terminal;
use super::table::{GAP, widths};
use crate::session::{Column, Kind, Listing, Selection, Value};

/// Fields with names of nodes. The field `element` is not among them, because its value is typed into commands.
const NAMES: &[&str] = &["name", "node", "a", "b", "peer", "switch", "destination", "next", "description"];

/// Length of the longest node description.
const LONGEST_NAME: usize = 64;

/// A name that is cut further says nothing.
const SHORTEST_NAME: usize = 12;

/// Names are cut down to this width before a spare column is kept.
const READABLE_NAME: usize = 24;

/// Field with a whole sentence. It wraps within its column, which keeps a minimum width.
pub const PROSE: &str = "about";
const SHORTEST_PROSE: usize = 24;

/// Width of a terminal whose width is unknown.
pub const USUAL_WIDTH: usize = 80;

/// Where a table is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Page {
    /// Width in columns; `None` is unlimited.
    columns: Option<usize>,
    terminal: bool,
    utf8: bool,
}

impl Page {
    pub fn of(terminal: &Terminal) -> Self {
        let columns = terminal.columns.filter(|_| terminal.stdout);
        Self { columns, terminal: terminal.stdout, utf8: terminal.utf8 }
    }

    /// Width of prose; on a terminal of unknown width the usual one.
    pub fn prose(self) -> Option<usize> {
        self.terminal.then(|| self.columns.unwrap_or(USUAL_WIDTH))
    }

    /// Drops counters that are zero or missing in every row, on a terminal. Returns their number.
    pub fn drop_zeros(self, listing: &dyn Listing, selection: &mut Selection) -> usize {
        let before = selection.columns.len();
        if self.terminal {
            let nothing = |value: Value<'_>| matches!(value, Value::Missing | Value::Number(0));
            let Selection { rows, columns, .. } = selection;
            columns.retain(|at| {
                !listing.dull_when_zero(*at) || rows.iter().any(|row| !nothing(listing.cell(*row, *at)))
            });
        }
        before - selection.columns.len()
    }

    /// Drops columns until the table fits, and returns the fields of those that are missed. First go columns without
    /// any value. Then spare columns and GUIDs go, if names would otherwise be cut short. Columns at the right go
    /// last, if even short names leave the table too wide.
    pub fn drop_for_room(self, listing: &dyn Listing, selection: &mut Selection) -> Vec<String> {
        if self.excess(&widths(listing, selection)) == 0 {
            return Vec::new();
        }
        self.drop_unknown(listing, selection);
        let mut dropped = Vec::new();
        let spare = |at: usize| listing.column(at).spare;
        self.drop_while_wide(listing, selection, (READABLE_NAME, &spare), &mut dropped);
        let guid = |at: usize| listing.column(at).kind == Kind::Guid && !listing.tells_apart(at);
        self.drop_while_wide(listing, selection, (READABLE_NAME, &guid), &mut dropped);
        let other = |at: usize| {
            let id = listing.column(at).id.as_ref();
            !NAMES.contains(&id) && id != PROSE && !listing.tells_apart(at)
        };
        self.drop_while_wide(listing, selection, (SHORTEST_NAME, &other), &mut dropped);
        dropped
    }

    /// Drops columns from the right while the table is too wide. The first column stays, because it says what the row
    /// is about.
    fn drop_while_wide(
        self,
        listing: &dyn Listing,
        selection: &mut Selection,
        (name, may_go): (usize, &dyn Fn(usize) -> bool),
        dropped: &mut Vec<String>,
    ) {
        let mut least = widths(listing, selection);
        for (at, width) in selection.columns.iter().zip(&mut least) {
            let column = listing.column(*at);
            *width = match column.id.as_ref() {
                id if NAMES.contains(&id) => (*width).min(name.max(column.title.width())),
                PROSE => (*width).min(SHORTEST_PROSE),
                _ => *width,
            };
        }
        while self.excess(&least) > 0 {
            let last = (1..least.len()).rev().find(|at| may_go(selection.columns[*at]));
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
            (0..columns.len()).filter(|at| NAMES.contains(&columns[*at].id.as_ref())).collect();
        for at in &names {
            widths[*at] = widths[*at].min(LONGEST_NAME);
        }
        if let Some(prose) = columns.iter().position(|column| column.id == PROSE) {
            let least = widths[prose].min(SHORTEST_PROSE);
            widths[prose] = widths[prose].saturating_sub(self.excess(widths)).max(least);
        }
        let floor = |at: usize| titles[at].width().max(SHORTEST_NAME);
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
    pub fn elided(self, text: Cow<'_, str>, width: usize) -> Cow<'_, str> {
        if text.width() <= width {
            return text;
        }
        let sign = if self.utf8 { "…" } else { "..." };
        let room = width.saturating_sub(sign.width());
        // Names differ more often before their end (`node01 mlx5_0`).
        let head_room = room - room / 3;
        let head = taken(text.chars(), head_room);
        let tail: String = taken(text.chars().rev(), room - head_room).chars().rev().collect();
        Cow::Owned(head + sign + &tail)
    }
}

/// Takes as many characters as fit into this many columns.
fn taken(signs: impl Iterator<Item = char>, cells: usize) -> String {
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
        let page = Page { utf8: true, ..Page::default() };
        assert_eq!(page.elided("rack1-leaf switch 07".into(), 9), "rack1-…07");
        assert_eq!(Page::default().elided("rack1-leaf switch 07".into(), 9), "rack...07");
        assert_eq!(page.elided("short".into(), 9), "short");
        // Characters of two columns never exceed the width.
        assert_eq!(page.elided("日本語日本語".into(), 8), "日本…語");
    }
}
