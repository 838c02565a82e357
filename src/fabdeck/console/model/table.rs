//! The state of a list: filter, order, cursor and scroll position.

use std::collections::BTreeSet;

use crate::catalogue::field::Listing;
use crate::catalogue::query::{Columns, Query, Selection};
use fabdeck_fabric::ElementId;

/// Minimum number of rows of a list that a background task filters.
pub const BACKGROUND_ROWS: usize = 20_000;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    pub filter: String,
    /// The names of the node whose GUID the filter asks for.
    pub names: Vec<String>,
    /// The column of the order, and whether the order is descending.
    pub sort: Option<(String, bool)>,
    /// An order, and the orders of rows that are equal in it. With another order they do not apply.
    pub sort_then: Option<((String, bool), &'static str)>,
    /// Rows and columns of the listing, after filter and order.
    pub selection: Selection,
    pub cursor: usize,
    /// The row of the cursor before there was a filter. A filter that in the end leaves no row moved the cursor while it was
    /// typed, and gives it back.
    before_filter: Option<usize>,
    /// The row of the cursor, while a filter leaves no row.
    pub place: Option<usize>,
    /// The elements of selected rows, to which actions apply; a filter may hide them.
    pub selected: BTreeSet<ElementId>,
    /// The first visible row.
    pub top: usize,
    /// The first visible column after the fixed ones.
    pub left: usize,
    /// The error in the filter or order; the list then shows all rows, in the order if that is not wrong.
    pub problem: Option<String>,
}

impl Table {
    /// Filters and sorts again. The cursor stays on its row if that is still visible.
    pub fn refresh(&mut self, listing: &dyn Listing) {
        let chosen = self.query().select(listing, Columns::Shown);
        match chosen {
            Ok(selection) => self.set_selection(selection, None),
            Err(error) => self.set_selection(self.select_all(listing), Some(error.to_string())),
        }
    }

    /// All rows, in their order where the error is in the filter. Row indexes of an older listing would be wrong.
    fn select_all(&self, listing: &dyn Listing) -> Selection {
        let ordered = Query { filters: Vec::new(), ..self.query() }.select(listing, Columns::Shown);
        ordered.or_else(|_| Query::default().select(listing, Columns::Shown)).unwrap_or_default()
    }

    /// The query for the listing.
    pub fn query(&self) -> Query {
        Query {
            filters: vec![self.filter.clone()],
            fields: None,
            sort: self.sort_words(),
            top: None,
            names: self.names.clone(),
        }
    }

    /// The order, as a query and a command line write it.
    pub fn sort_words(&self) -> Option<String> {
        let (id, down) = self.sort.as_ref()?;
        let then = self.sort_then.as_ref().filter(|(first, _)| Some(first) == self.sort.as_ref());
        let then = then.map_or_else(String::new, |(_, then)| format!(",{then}"));
        Some(format!("{id}:{}{then}", if *down { "desc" } else { "asc" }))
    }

    /// Sets the filter and the names of the node whose GUID it asks for.
    pub fn set_filter(&mut self, filter: String, names: Vec<String>) {
        if self.filter.is_empty() || filter.is_empty() {
            self.before_filter = self.row();
        }
        (self.filter, self.names) = (filter, names);
    }

    /// Sets the visible rows, and the error if they are not the requested ones.
    pub fn set_selection(&mut self, selection: Selection, problem: Option<String>) {
        let here = self.row().or(self.place);
        (self.selection, self.problem) = (selection, problem);
        let again = here.and_then(|row| self.selection.rows.iter().position(|other| *other == row));
        self.cursor = again.unwrap_or(self.cursor);
        self.place = self.before_filter.or(here).filter(|_| self.selection.rows.is_empty());
        self.clamp();
    }

    fn clamp(&mut self) {
        self.cursor = self.cursor.min(self.selection.rows.len().saturating_sub(1));
        self.top = self.top.min(self.cursor);
    }

    /// The row of the listing at the cursor.
    pub fn row(&self) -> Option<usize> {
        self.selection.rows.get(self.cursor).copied()
    }

    pub fn move_by(&mut self, by: isize) {
        self.cursor = self.cursor.saturating_add_signed(by);
        self.clamp();
    }

    pub fn move_to(&mut self, at: usize) {
        self.cursor = at;
        self.clamp();
    }

    pub fn move_to_row(&mut self, row: usize) {
        if let Some(at) = self.selection.rows.iter().position(|other| *other == row) {
            self.cursor = at;
        }
    }

    /// Scrolls until the cursor is within a window of `height` rows.
    pub fn scroll_to_cursor(&mut self, height: usize) {
        let height = height.max(1);
        if self.cursor < self.top {
            self.top = self.cursor;
        } else if self.cursor >= self.top + height {
            self.top = self.cursor + 1 - height;
        }
        // The window has no empty rows below while there are rows above it.
        self.top = self.top.min(self.selection.rows.len().saturating_sub(height));
    }

    /// Sorts by the next column; after the last column, the order of the listing returns.
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

    /// Scrolls the columns after the fixed ones.
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
        table.move_to(7);
        table.scroll_to_cursor(4);
        assert_eq!((table.cursor, table.top), (7, 4));
        table.move_by(-5);
        table.scroll_to_cursor(4);
        assert_eq!((table.cursor, table.top), (2, 2));
        table.move_by(100);
        table.scroll_to_cursor(4);
        assert_eq!((table.cursor, table.top), (9, 6));
        table.scroll_to_cursor(20);
        assert_eq!(table.top, 0);
        let mut none = of(0);
        none.move_by(1);
        none.scroll_to_cursor(0);
        assert_eq!((none.cursor, none.top, none.row()), (0, 0, None));
    }
}
