//! The screen Links: every cable, with the ports at its ends.

use crate::catalogue::field::Listing;
use crate::catalogue::views::links::LINKS;
use crate::console::features::row_table::RowTable;
use crate::console::features::screen::{EnterResult, Screen};
use crate::console::model::fabric_model::Model;
use crate::console::model::table::Table;
use crate::operations::rowset::Rowset;
use crate::operations::view_id::ViewId;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_fabric::ElementId;

#[derive(Clone, Debug, Default)]
pub struct LinksScreen {
    list: RowTable,
    /// The snapshot and the path index of the rows; with others, the rows are made again.
    of: Option<(usize, Option<usize>)>,
}

impl LinksScreen {
    /// Takes over the loads of a sweep, unless the rows have changed since.
    pub fn set_loads(&mut self, reading: &WatchVerdict, known: &Model) {
        if std::sync::Arc::ptr_eq(&self.list.rows, &reading.links_before) {
            self.list.set_update(&reading.links, known);
        }
    }
}

impl LinksScreen {
    /// Makes the rows again, without the loads of a sweep.
    pub fn reset(&mut self, known: &Model) {
        self.of = None;
        self.refresh(known);
    }
}

impl Screen for LinksScreen {
    fn table(&self) -> &Table {
        &self.list.table
    }

    fn table_mut(&mut self) -> &mut Table {
        &mut self.list.table
    }

    fn listing<'s>(&'s self, known: &'s Model) -> Option<Box<dyn Listing + 's>> {
        Some(self.list.rows.listing(known.look.as_deref()?))
    }

    fn stored_rows(&self) -> Option<&std::sync::Arc<Rowset>> {
        Some(&self.list.rows)
    }

    /// The columns for both ends and their ports stay visible.
    fn fixed_columns(&self) -> usize {
        4
    }

    fn element(&self, row: usize, _: &Model) -> Option<ElementId> {
        self.list.rows.element(row)
    }

    fn enter(&mut self, _: &Model) -> EnterResult {
        EnterResult::Nothing("a link has nothing inside; f marks it as failed")
    }

    fn can_enter(&self, _: &Model) -> bool {
        false
    }

    fn refresh(&mut self, known: &Model) {
        let Some(look) = &known.look else { return };
        let of = (
            std::sync::Arc::as_ptr(look) as usize,
            known.paths.as_ref().map(|paths| std::sync::Arc::as_ptr(paths) as usize),
        );
        // Marks change no row, so a walk over 100,000 links is avoided.
        if self.of != Some(of) {
            self.list.set_rows(Rowset::links(look, known.paths.as_deref()), known);
        }
        self.of = Some(of);
    }

    fn command(&self, _: &Model) -> Option<String> {
        Some(ViewId::Links.command().to_owned())
    }

    fn empty_text(&self, _: &Model) -> String {
        LINKS.when_empty.to_owned()
    }
}
