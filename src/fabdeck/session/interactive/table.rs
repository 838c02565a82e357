//! A list under way: what is filtered, how it is sorted, which row the cursor is on and which is the first to be seen.

use std::collections::BTreeSet;

use crate::session::{Columns, Listing, Query, Selection};
use fabdeck_fabric::Resolved;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    pub filter: String,
    /// What the node is called whose GUID the filter asks for.
    pub names: Vec<String>,
    /// The column that it is sorted by, and whether downwards.
    pub sort: Option<(String, bool)>,
    /// Rows and columns of the listing, after filter and sort.
    pub selection: Selection,
    pub cursor: usize,
    /// The row that the cursor was on before a filter left none.
    pub place: Option<usize>,
    /// Rows that actions are to take together, by what they are about: they may be out of sight, behind a filter.
    pub selected: BTreeSet<Resolved>,
    /// The first row to be seen.
    pub top: usize,
    /// The first column to be seen after those that always are.
    pub left: usize,
    /// Why the filter or the order cannot be read; the rows are then all there are.
    pub problem: Option<String>,
}

impl Table {
    /// Filters and sorts again. The cursor stays on its row as far as that is still there.
    pub fn refresh(&mut self, listing: &dyn Listing) {
        let chosen = self.query().select(listing, Columns::Shown);
        // Rows of an older listing would lead nowhere.
        let all = || Query::default().select(listing, Columns::Shown).unwrap_or_default();
        match chosen {
            Ok(selection) => self.show_rows(selection, None),
            Err(error) => self.show_rows(all(), Some(error.to_string())),
        }
    }

    /// What is asked of the listing.
    pub fn query(&self) -> Query {
        Query {
            filters: vec![self.filter.clone()],
            fields: None,
            sort: self.sort.as_ref().map(|(id, down)| format!("{id}:{}", if *down { "desc" } else { "asc" })),
            top: None,
            names: self.names.clone(),
        }
    }

    /// Rows that were selected, and why they are not those that were asked for.
    pub fn show_rows(&mut self, selection: Selection, problem: Option<String>) {
        let here = self.row().or(self.place);
        (self.selection, self.problem) = (selection, problem);
        let again = here.and_then(|row| self.selection.rows.iter().position(|other| *other == row));
        self.cursor = again.unwrap_or(self.cursor);
        self.place = here.filter(|_| self.selection.rows.is_empty());
        self.clamp();
    }

    fn clamp(&mut self) {
        self.cursor = self.cursor.min(self.selection.rows.len().saturating_sub(1));
        self.top = self.top.min(self.cursor);
    }

    /// The row of the listing under the cursor.
    pub fn row(&self) -> Option<usize> {
        self.selection.rows.get(self.cursor).copied()
    }

    pub fn step(&mut self, by: isize) {
        self.cursor = self.cursor.saturating_add_signed(by);
        self.clamp();
    }

    pub fn to(&mut self, at: usize) {
        self.cursor = at;
        self.clamp();
    }

    pub fn put_on(&mut self, row: usize) {
        if let Some(at) = self.selection.rows.iter().position(|other| *other == row) {
            self.cursor = at;
        }
    }

    /// Scrolls as far as needed for the cursor to be within a window of so many rows.
    pub fn show(&mut self, height: usize) {
        let height = height.max(1);
        if self.cursor < self.top {
            self.top = self.cursor;
        } else if self.cursor >= self.top + height {
            self.top = self.cursor + 1 - height;
        }
        // No empty rows below while there are rows above.
        self.top = self.top.min(self.selection.rows.len().saturating_sub(height));
    }

    /// The next column to sort by, and behind the last the order of the listing again.
    pub fn sort_by_next(&mut self, listing: &dyn Listing) {
        let shown = &self.selection.columns;
        let at = self.sort.as_ref().and_then(|(id, _)| {
            shown.iter().position(|column| listing.column(*column).id.as_ref() == id.as_str())
        });
        let next = shown.get(at.map_or(0, |at| at + 1));
        let order = |column: &usize| {
            let about = listing.column(*column);
            (about.id.to_string(), about.largest_first)
        };
        self.sort = next.map(order);
    }

    pub fn reverse(&mut self, listing: &dyn Listing) {
        match &mut self.sort {
            Some((_, down)) => *down = !*down,
            None => {
                let first = self.selection.columns.first();
                self.sort = first.map(|column| (listing.column(*column).id.to_string(), true));
            }
        }
    }

    /// Scrolls the columns behind those that are held.
    pub fn scroll_columns(&mut self, by: isize, held: usize) {
        let most = self.selection.columns.len().saturating_sub(held + 1);
        self.left = self.left.saturating_add_signed(by).min(most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: usize) -> Table {
        let selection = Selection { rows: (0..rows).collect(), columns: vec![0], of: rows };
        Table { selection, ..Table::default() }
    }

    #[test]
    fn the_window_follows_the_cursor_and_shows_no_gap() {
        let mut table = of(10);
        table.to(7);
        table.show(4);
        assert_eq!((table.cursor, table.top), (7, 4));
        table.step(-5);
        table.show(4);
        assert_eq!((table.cursor, table.top), (2, 2));
        table.step(100);
        table.show(4);
        assert_eq!((table.cursor, table.top), (9, 6));
        table.show(20);
        assert_eq!(table.top, 0);
        let mut none = of(0);
        none.step(1);
        none.show(0);
        assert_eq!((none.cursor, none.top, none.row()), (0, 0, None));
    }
}
