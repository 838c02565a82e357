//! A list with cached rows.

use std::sync::Arc;

use crate::console::model::fabric_model::Model;
use crate::console::model::table::Table;
use crate::operations::rowset::Rowset;
use crate::operations::watch::watch_verdict::ListUpdate;

/// Cached rows, and the list over them.
#[derive(Clone, Debug, Default)]
pub struct RowTable {
    pub rows: Arc<Rowset>,
    pub table: Table,
}

impl RowTable {
    /// Replaces the rows; the filter stays.
    pub fn set_rows(&mut self, rows: Rowset, known: &Model) {
        self.rows = Arc::new(rows);
        self.refresh(known);
    }

    /// Takes over rows and a selection from a background task. Where the filter or order has changed since,
    /// the rows are selected again.
    pub fn set_update(&mut self, listed: &ListUpdate, known: &Model) {
        self.rows = listed.rows.clone();
        match &listed.selection {
            Some(selection) if listed.query == self.table.query() => {
                self.table.set_selection(selection.clone(), None);
            }
            _ => self.refresh(known),
        }
    }

    pub fn refresh(&mut self, known: &Model) {
        let Some(look) = &known.look else { return };
        self.table.refresh(&*self.rows.listing(look));
    }
}
