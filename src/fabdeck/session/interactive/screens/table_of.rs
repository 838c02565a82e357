//! A list over rows that are kept.

use std::sync::Arc;

use crate::session::Rowset;
use crate::session::interactive::known::Known;
use crate::session::interactive::table::Table;
use crate::session::interactive::watch::Listed;

/// Rows, and the list under way over them.
#[derive(Clone, Debug, Default)]
pub struct TableOf {
    pub rows: Arc<Rowset>,
    pub table: Table,
}

impl TableOf {
    /// Other rows under the same filter.
    pub fn show(&mut self, rows: Rowset, known: &Known) {
        self.rows = Arc::new(rows);
        self.refresh(known);
    }

    /// Rows that were made and gone through behind the screen; gone through again where another filter or order is wanted
    /// by now.
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
