//! A list with cached rows.

use std::sync::Arc;

use crate::session::Rowset;
use crate::session::interactive::known::Known;
use crate::session::interactive::table::Table;
use crate::session::interactive::watch::Listed;

/// Cached rows, and the list over them.
#[derive(Clone, Debug, Default)]
pub struct TableOf {
    pub rows: Arc<Rowset>,
    pub table: Table,
}

impl TableOf {
    /// Replaces the rows; the filter stays.
    pub fn show(&mut self, rows: Rowset, known: &Known) {
        self.rows = Arc::new(rows);
        self.refresh(known);
    }

    /// Takes over rows and a selection from a background task. Where the filter or order has changed since,
    /// the rows are selected again.
    pub fn take(&mut self, listed: &Listed, known: &Known) {
        self.rows = listed.rows.clone();
        match &listed.selection {
            Some(selection) if listed.query == self.table.query() => {
                self.table.show_rows(selection.clone(), None);
            }
            _ => self.refresh(known),
        }
    }

    pub fn refresh(&mut self, known: &Known) {
        let Some(look) = &known.look else { return };
        self.table.refresh(&*self.rows.listing(look));
    }
}
