//! The screen Changes: all changes of the fabric with their results, the last one first. The operator decides
//! about pending changes here.

use super::changes_panes::{MIN_SUMMARY_HEIGHT, changes_panes, has_room};
use super::detail::change_detail;
use crate::catalogue::field::Listing;
use crate::catalogue::summary::count_words;
use crate::console::features::screen::{EnterResult, Screen};
use crate::console::model::detail_page::DetailPage;
use crate::console::model::fabric_model::Model;
use crate::console::model::layout::{Areas, Size};
use crate::console::model::panes::PanePlan;
use crate::console::model::table::Table;
use crate::operations::changes::change_row::ChangeRow;
use crate::operations::changes::rows::CHANGES;

#[derive(Clone, Debug, Default)]
pub struct ChangesScreen {
    table: Table,
    rows: Vec<ChangeRow>,
    empty: String,
}

impl ChangesScreen {
    /// The change at the cursor.
    pub fn change(&self) -> Option<&ChangeRow> {
        self.rows.get(self.table.row()?)
    }

    /// Whether no change was made here at all.
    pub(super) fn has_no_change(&self) -> bool {
        self.rows.is_empty() && self.table.filter.is_empty()
    }

    pub(super) fn empty_words(&self) -> String {
        self.empty.clone()
    }

    /// Rows below the list that stand for the panes of a larger screen.
    pub(super) fn summary_rows(&self, size: Size) -> u16 {
        let areas = Areas::new(size, false);
        let middle = areas.middle.height;
        match self.change().is_some() && !has_room(&areas) && middle >= MIN_SUMMARY_HEIGHT {
            true => middle / 2,
            false => 0,
        }
    }

    /// Moves the cursor to the newest change, where it stays when a newer one comes.
    pub(super) fn move_to_newest(&mut self) {
        self.table.move_to(0);
    }

    /// Moves the cursor to a change; returns whether it has a row.
    pub(in crate::console) fn move_to_change(&mut self, id: &str) -> bool {
        let row = self.rows.iter().position(|row| row.id == id);
        row.inspect(|row| self.table.move_to_row(*row)).is_some()
    }
}

impl Screen for ChangesScreen {
    fn table(&self) -> &Table {
        &self.table
    }

    fn table_mut(&mut self) -> &mut Table {
        &mut self.table
    }

    fn listing<'s>(&'s self, known: &'s Model) -> Option<Box<dyn Listing + 's>> {
        Some(Box::new(CHANGES.rows_in(known.changes.clock(), &self.rows).when_empty(&self.empty)))
    }

    fn rows_below(&self, _: &Model, size: Size) -> u16 {
        self.summary_rows(size)
    }

    fn panes(&self, areas: &Areas) -> PanePlan {
        match self.change() {
            Some(_) => changes_panes(areas, self.rows.len()),
            None => areas.list_and_details().into(),
        }
    }

    fn row_page(&self, row: usize, known: &Model) -> Option<DetailPage> {
        Some(change_detail(self.rows.get(row)?, known))
    }

    fn row_key(&self, row: usize, _: &Model) -> Option<String> {
        Some(self.rows.get(row)?.id.clone())
    }

    fn enter(&mut self, _: &Model) -> EnterResult {
        match self.change() {
            Some(_) => EnterResult::Show,
            None => EnterResult::Nothing("no change was made here"),
        }
    }

    fn can_enter(&self, _: &Model) -> bool {
        self.change().is_some()
    }

    /// Updates the rows. The cursor stays on its change when new ones come before it; on the newest change,
    /// it stays on the newest.
    fn refresh(&mut self, known: &Model) {
        let rows: Vec<ChangeRow> = known.changes.rows_here().cloned().collect();
        let here = self.change().filter(|_| self.table.cursor > 0).map(|row| row.id.clone());
        self.rows = rows;
        let (rows, now) = (&self.rows, known.changes.clock());
        let first = self.table.cursor == 0;
        self.empty = no_change_text(known);
        self.table.refresh(&CHANGES.rows_in(now, rows).when_empty(&self.empty));
        match here.and_then(|id| rows.iter().position(|row| row.id == id)) {
            Some(row) => self.table.move_to_row(row),
            None if first => self.table.move_to(0),
            None => {}
        }
    }

    fn command(&self, _: &Model) -> Option<String> {
        Some("changes".to_owned())
    }

    fn no_command_reason(&self) -> &'static str {
        ": a change of a simulator in this process ends with it, and no other process sees it"
    }

    fn is_printed(&self) -> bool {
        false
    }

    fn empty_text(&self, _: &Model) -> String {
        self.empty.clone()
    }
}

fn no_change_text(known: &Model) -> String {
    let recorded = known.playback.as_ref().is_some_and(|playback| playback.live.is_none());
    match known.changes.rows().len() {
        0 if recorded => "no change was made here, and nothing can be applied to a recording; on What-if p runs the \
                          engines on it"
            .to_owned(),
        0 => "no change was made here: on What-if p runs the engines, and a applies the proposal of the one under \
              the cursor; here a applies a plan from a file"
            .to_owned(),
        some => {
            let some = count_words(some, "change", "changes");
            format!("no change was made here; 'fabdeck changes' lists {some} of other fabrics")
        }
    }
}
