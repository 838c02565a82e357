//! The trait of all screens.

use std::sync::Arc;

use super::screens::ScreenId;
use crate::catalogue::field::Listing;
use crate::console::model::detail_page::DetailPage;
use crate::console::model::fabric_model::Model;
use crate::console::model::layout::{Areas, Size};
use crate::console::model::panes::{BODY, PanePlan};
use crate::console::model::table::Table;
use crate::operations::rowset::Rowset;
use fabdeck_fabric::{Element, ElementId, LinkId};

/// The result of Enter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EnterResult {
    Done,
    /// Shows the details over the screen.
    Show,
    /// There is nothing to open, for the reason given.
    Nothing(&'static str),
    /// Opens the input line.
    Ask(crate::console::model::prompt::Purpose),
    /// Shows another moment of the recording.
    ToMoment(usize),
    /// Moves the cursor of live charts to a time of the session.
    ToTime(u64),
    /// Opens another screen at a row.
    Open(ScreenTarget),
}

/// What another screen opens at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ScreenTarget {
    Element(ScreenId, ElementId),
    Job(String),
    /// The page of a cable.
    Cable(LinkId),
    /// The list of cables with this filter.
    Cables(&'static str),
    /// The events: on the Timeline of a recording, otherwise in the log.
    Events,
}

/// The direction of an arrow key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CursorDirection {
    Up,
    Down,
    Left,
    Right,
}

/// A screen of the session. Its content besides the list follows from the state.
pub trait Screen {
    /// The path of the current page within the screen, outermost first.
    fn crumbs(&self, _known: &Model) -> Vec<String> {
        Vec::new()
    }

    /// The text at the right of the pane's border, instead of the place in the list.
    fn pane_note(&self, _known: &Model) -> Option<String> {
        None
    }

    fn table(&self) -> &Table;

    fn table_mut(&mut self) -> &mut Table;

    /// The content of the list; `None` while there is nothing to show.
    fn listing<'s>(&'s self, known: &'s Model) -> Option<Box<dyn Listing + 's>>;

    /// Number of rows of the body above the list.
    fn rows_above(&self, _known: &Model) -> u16 {
        0
    }

    /// Number of rows of the body below the list, at this size.
    fn rows_below(&self, _known: &Model, _size: Size) -> u16 {
        0
    }

    /// How the screen is split into panes.
    fn panes(&self, areas: &Areas) -> PanePlan {
        areas.list_and_details().into()
    }

    /// The pane that has the keys.
    fn focused_pane(&self) -> &'static str {
        BODY
    }

    /// Whether the key for the next pane stops at this one.
    fn can_focus(&self, _: &str) -> bool {
        true
    }

    /// Gives the keys to a pane; returns false where it takes none.
    fn focus_pane(&mut self, pane: &str) -> bool {
        pane == self.focused_pane()
    }

    /// Number of rows in sight, for a screen with panes of its own.
    fn page_rows(&self, _areas: &Areas) -> Option<usize> {
        None
    }

    /// The cached rows of the list, if there are any; background tasks can filter them.
    fn stored_rows(&self) -> Option<&Arc<Rowset>> {
        None
    }

    /// Whether all rows are switches.
    fn has_only_switches(&self) -> bool {
        false
    }

    /// Number of leading columns that do not scroll, because they identify the row.
    fn fixed_columns(&self) -> usize {
        1
    }

    /// The element of a row, where rows are elements of the fabric.
    fn element(&self, _row: usize, _known: &Model) -> Option<ElementId> {
        None
    }

    /// The element at the cursor.
    fn current(&self, known: &Model) -> Option<ElementId> {
        self.element(self.table().row()?, known)
    }

    /// The details of a row, where they are not those of an element of the fabric.
    fn row_page(&self, _row: usize, _known: &Model) -> Option<DetailPage> {
        None
    }

    /// What such a row is about, the same in later readings.
    fn row_key(&self, _row: usize, _known: &Model) -> Option<String> {
        None
    }

    /// What a row of a pane is about, by its place among the rows that the filter leaves: the same however rows are sorted.
    fn row_id(&self, _pane: &str, place: usize, known: &Model) -> Option<String> {
        const COLUMNS: usize = 3;
        let row = *self.table().selection.rows.get(place)?;
        if let Some(key) = self.row_key(row, known) {
            return Some(key);
        }
        if let (Some(what), Some(look)) = (self.element(row, known), known.look.as_deref()) {
            return Some(Element::from_id(look.fabric(), &look.names, what).to_string());
        }
        let listing = self.listing(known).filter(|listing| row < listing.row_count())?;
        let columns = 0..listing.column_count().min(COLUMNS);
        let cells = columns.map(|column| listing.cell(row, column).to_string());
        Some(cells.collect::<Vec<_>>().join(" "))
    }

    fn enter(&mut self, known: &Model) -> EnterResult;

    /// Whether Enter has an effect at the cursor.
    fn can_enter(&self, known: &Model) -> bool;

    /// Moves by an arrow on a map of this width; returns false where the cursor moves by rows and columns.
    fn move_by_arrow(&mut self, _known: &Model, _direction: CursorDirection, _width: u16) -> bool {
        false
    }

    /// Whether the screen has another view.
    fn has_views(&self, _known: &Model) -> bool {
        false
    }

    /// The names of the views, which [`Screen::next_view`] goes through, and of the one that is shown.
    fn view_names(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn view_name(&self) -> Option<&'static str> {
        None
    }

    /// The order of rows in which the view opens; `None` for that of the fabric.
    fn usual_order(&self) -> Option<(String, bool)> {
        None
    }

    /// Whether a page covers the list. The filter of the list then stays as it is, unseen.
    fn covers_list(&self) -> bool {
        false
    }

    /// Steps out by one level; returns false at the outermost one.
    fn step_out(&mut self, _known: &Model) -> bool {
        false
    }

    /// Switches to the next or the previous view; an error where there is none.
    fn next_view(&mut self, _known: &Model, _forward: bool) -> Result<(), &'static str> {
        Err("this screen has only one view")
    }

    /// Updates the screen after the filter of its list has changed.
    fn update_filter(&mut self, _known: &Model) {}

    /// Turns to the view of this name; false where the screen goes through its views one by one.
    fn open_view(&mut self, _known: &Model, _name: &str) -> bool {
        false
    }

    /// Converts stored ids to those of a new snapshot.
    fn carry_over(&mut self, again: &dyn Fn(ElementId) -> Option<ElementId>) {
        let selected = &mut self.table_mut().selected;
        *selected = selected.iter().filter_map(|what| again(*what)).collect();
    }

    /// Updates the screen after the model has changed.
    fn refresh(&mut self, known: &Model);

    /// The command that shows the same, without the source; `None` where there is none.
    fn command(&self, known: &Model) -> Option<String>;

    /// The text after "no command line shows this".
    fn no_command_reason(&self) -> &'static str {
        ""
    }

    /// Whether the rows of the command have the fields of this list.
    fn is_printed(&self) -> bool {
        true
    }

    /// The text of an empty screen.
    fn empty_text(&self, known: &Model) -> String;
}
