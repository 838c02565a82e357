//! What a table gives up to fit its terminal: first columns that say nothing, then the middle of long names, whose ends
//! tell them apart. What goes to a file or a pipe keeps every column.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::output::Terminal;
use super::table::{GAP, widths};
use crate::session::{Column, Kind, Listing, Selection, Value};

/// The fields that hold names of nodes. An element is none of them: it is there to be typed again.
const NAMES: &[&str] = &["name", "node", "a", "b", "peer", "switch", "destination", "next", "description"];

/// A node description has no more.
const LONGEST_NAME: usize = 64;

/// Below this a name tells nothing any more.
const SHORTEST_NAME: usize = 12;

/// Names are cut to this before a spare column is kept for them.
const READABLE_NAME: usize = 24;

/// The field that is a sentence: it goes on below itself, in no less than this.
pub const PROSE: &str = "about";
const SHORTEST_PROSE: usize = 24;

/// Of a terminal that does not tell.
pub const USUAL_WIDTH: usize = 80;

/// Where a table goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Page {
    /// `None`: as wide as it likes.
    columns: Option<usize>,
    terminal: bool,
    utf8: bool,
}

impl Page {
    pub fn of(terminal: &Terminal) -> Self {
        let columns = terminal.columns.filter(|_| terminal.stdout);
        Self { columns, terminal: terminal.stdout, utf8: terminal.utf8 }
    }

    /// How wide prose may be: on a terminal that does not tell, what most have.
    pub fn prose(self) -> Option<usize> {
        self.terminal.then(|| self.columns.unwrap_or(USUAL_WIDTH))
    }

    /// Drops counters that count nothing, on a terminal, and says how many.
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

    /// Drops columns until the table fits, the least missed first: those that nobody said anything about; those that
    /// are marked as spare, and GUIDs, where names would have to be cut short for them; at last the columns on the right,
    /// where not even short names make it fit. Gives the fields that are missed then.
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

    /// Drops columns from the right for as long as the table is too wide; the first column says what a row is about.
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

    /// Takes room from names: always from those that no node can have, and from the widest while the table is too wide.
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

    /// How many cells a row is wider than the page.
    fn excess(self, widths: &[usize]) -> usize {
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        let needed = widths.iter().sum::<usize>() + gaps;
        self.columns.map_or(0, |columns| needed.saturating_sub(columns))
    }

    /// A text without its middle, if it is wider than this.
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

/// As many signs as fit into this many cells.
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
        // Signs of two cells never stick out.
        assert_eq!(page.elided("日本語日本語".into(), 8), "日本…語");
    }
}
