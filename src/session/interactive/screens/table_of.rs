//! A list over rows that are kept.

use std::sync::Arc;

use crate::session::Rowset;
use crate::session::interactive::known::Known;
use crate::session::interactive::table::Table;

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

    pub fn refresh(&mut self, known: &Known) {
        let Some(look) = &known.look else { return };
        self.table.refresh(&*self.rows.listing(look));
    }
}
