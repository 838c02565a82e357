//! The screen Timeline: the events, and the position in time.

use super::detail::event_detail;
use super::event_rows::{EVENTS, EventRow, event_rows};
use crate::catalogue::field::Listing;
use crate::console::features::screen::{EnterResult, Screen};
use crate::console::model::detail_page::DetailPage;
use crate::console::model::fabric_model::Model;
use crate::console::model::layout::{DETAILS_MIN_SCREEN, Size};
use crate::console::model::table::Table;

#[derive(Clone, Debug, Default)]
pub struct TimelineScreen {
    table: Table,
    rows: Vec<EventRow>,
    /// The timeline, the number of its changes, and the snapshot of the rows; the next field is the position
    /// of the cursor of time.
    of: Option<(usize, u64, usize)>,
    place: Option<usize>,
    /// The event to which the cursor of time moved the list.
    led: Option<EventRow>,
}

impl TimelineScreen {
    /// The events, by moment.
    pub fn events(&self) -> &[EventRow] {
        &self.rows
    }

    /// The event at the cursor.
    pub fn event(&self) -> Option<&EventRow> {
        self.rows.get(self.table.row()?)
    }

    /// Moves the list with the cursor of time: to the last event up to its moment.
    fn follow_time_cursor(&mut self, place: usize) {
        if self.place.replace(place) == Some(place) {
            return;
        }
        let rows = self.table.selection.rows.iter();
        let last = rows.filter(|row| self.rows[**row].place <= place).count();
        self.table.move_to(last.saturating_sub(1));
        self.led = self.event().cloned();
    }
}

/// Minimum height of a screen with a text below the list.
const TEXT_MIN_HEIGHT: u16 = 20;

impl Screen for TimelineScreen {
    fn table(&self) -> &Table {
        &self.table
    }

    fn table_mut(&mut self) -> &mut Table {
        &mut self.table
    }

    fn listing<'s>(&'s self, known: &'s Model) -> Option<Box<dyn Listing + 's>> {
        known.playback.as_ref().filter(|playback| !playback.timeline().times.is_empty())?;
        Some(Box::new(EVENTS.of(&self.rows)))
    }

    /// Rows for the clock, signs of events, the bar, its pointer, the events at the moment, and the totals.
    fn rows_above(&self, known: &Model) -> u16 {
        if self.listing(known).is_some() { 6 } else { 0 }
    }

    /// Rows for the whole text of the event at the cursor, where there are no details beside the list.
    fn rows_below(&self, known: &Model, size: Size) -> u16 {
        const TEXT: u16 = 3;
        let room = size.width < DETAILS_MIN_SCREEN && size.height >= TEXT_MIN_HEIGHT;
        if room && self.listing(known).is_some() { TEXT } else { 0 }
    }

    fn row_page(&self, known: &Model) -> Option<DetailPage> {
        event_detail(self, known)
    }

    fn enter(&mut self, _: &Model) -> EnterResult {
        match self.table.row().and_then(|row| self.rows.get(row)) {
            Some(row) => EnterResult::ToMoment(row.place),
            None => EnterResult::Nothing("there is no event to go to"),
        }
    }

    fn can_enter(&self, _: &Model) -> bool {
        self.table.row().is_some()
    }

    fn refresh(&mut self, known: &Model) {
        let (Some(playback), Some(look)) = (&known.playback, &known.look) else {
            (self.rows, self.of, self.place) = (Vec::new(), None, None);
            self.table.set_selection(Default::default(), None);
            return;
        };
        let of = (
            std::sync::Arc::as_ptr(playback.timeline()) as usize,
            playback.changed,
            std::sync::Arc::as_ptr(look) as usize,
        );
        if self.of.replace(of) != Some(of) {
            let here = self.event().cloned();
            self.rows = event_rows(playback, look);
            self.table.refresh(&EVENTS.of(&self.rows));
            // A cursor that the operator moved stays on its event when rows are added; otherwise it follows
            // the cursor of time.
            let moved = here.filter(|here| self.led.as_ref() != Some(here));
            match moved.and_then(|here| self.rows.iter().position(|row| *row == here)) {
                Some(row) => self.table.move_to_row(row),
                None => self.place = None,
            }
        }
        self.follow_time_cursor(playback.place());
    }

    fn command(&self, _: &Model) -> Option<String> {
        None
    }

    fn no_command_reason(&self) -> &'static str {
        "; 'fabdeck capture info FILE' lists what a capture has, and the other screens print commands with --at"
    }

    fn is_printed(&self) -> bool {
        false
    }

    fn empty_text(&self, known: &Model) -> String {
        match known.watch.can_watch() {
            true => "The Timeline goes back in time: it lists the events since the watch began (traps, hot-spots, \
                     errors, notes, what you did), and shows all screens as they were then. This is live: Space pauses \
                     it here, and the watch goes on behind the pause; then [ and ] step, n and N go from event to event, \
                     L goes back to live. i writes a note into it."
                .to_owned(),
            false => "this source has no recording: 'fabdeck record' records a live fabric, and \
                      --source FILE.fdcap plays it"
                .to_owned(),
        }
    }
}
