//! The screen Links: every cable, with the ports at its ends.

use super::screen::{Entered, Screen};
use super::table_of::TableOf;
use crate::session::interactive::known::Known;
use crate::session::interactive::table::Table;
use crate::session::interactive::watch::Reading;
use crate::session::{Listing, Rowset};
use fabdeck_fabric::Resolved;

#[derive(Clone, Debug, Default)]
pub struct LinksScreen {
    list: TableOf,
    /// The snapshot and the path index of the rows; with others, the rows are made again.
    of: Option<(usize, Option<usize>)>,
}

impl LinksScreen {
    /// Takes over the loads of a sweep, unless the rows have changed since.
    pub fn weighed(&mut self, reading: &Reading, known: &Known) {
        if std::sync::Arc::ptr_eq(&self.list.rows, &reading.links_before) {
            self.list.take(&reading.links, known);
        }
    }
}

impl LinksScreen {
    /// Makes the rows again, without the loads of a sweep.
    pub fn begin_anew(&mut self, known: &Known) {
        self.of = None;
        self.refresh(known);
    }
}

impl Screen for LinksScreen {
    fn crumbs(&self, _: &Known) -> Vec<String> {
        Vec::new()
    }

    fn table(&self) -> &Table {
        &self.list.table
    }

    fn table_mut(&mut self) -> &mut Table {
        &mut self.list.table
    }

    fn listing<'s>(&'s self, known: &'s Known) -> Option<Box<dyn Listing + 's>> {
        Some(self.list.rows.listing(known.look.as_deref()?))
    }

    fn kept_rows(&self) -> Option<&std::sync::Arc<Rowset>> {
        Some(&self.list.rows)
    }

    /// The columns for both ends and their ports stay visible.
    fn held_columns(&self) -> usize {
        4
    }

    fn what(&self, row: usize, _: &Known) -> Option<Resolved> {
        self.list.rows.what(row)
    }

    fn enter(&mut self, _: &Known) -> Entered {
        Entered::Nothing("a link has nothing inside; f marks it as failed")
    }

    fn can_enter(&self, _: &Known) -> bool {
        false
    }

    fn has_views(&self, _: &Known) -> bool {
        false
    }

    fn out(&mut self, _: &Known) -> bool {
        false
    }

    fn next_view(&mut self, _: &Known, _: bool) -> Result<(), &'static str> {
        Err("links are shown in one way only")
    }

    fn refresh(&mut self, known: &Known) {
        let Some(look) = &known.look else { return };
        let of = (
            std::sync::Arc::as_ptr(look) as usize,
            known.paths.as_ref().map(|paths| std::sync::Arc::as_ptr(paths) as usize),
        );
        // Marks change no row, so a walk over 100,000 links is avoided.
        if self.of != Some(of) {
            self.list.show(Rowset::links(look, known.paths.as_deref()), known);
        }
        self.of = Some(of);
    }

    fn command(&self, _: &Known) -> Option<String> {
        Some("show links".to_owned())
    }

    fn when_empty(&self, _: &Known) -> String {
        "the fabric has no cable".to_owned()
    }
}
