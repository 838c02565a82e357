//! The screen Timeline: the events, and the position in time.

use std::sync::Arc;

use super::detail::{difference_detail, event_detail};
use super::event_rows::{EVENTS, EventRow, event_rows, live_rows};
use super::moment_compare;
use super::strips::TimelineStrips;
use super::timeline_panes::{EVENTS as EVENT_PANE, TimelinePanes, timeline_panes};
use crate::catalogue::field::Listing;
use crate::console::features::screen::{CursorDirection, EnterResult, Screen};
use crate::console::model::detail_page::DetailPage;
use crate::console::model::fabric_model::Model;
use crate::console::model::layout::Areas;
use crate::console::model::panes::PanePlan;
use crate::console::model::table::Table;
use crate::operations::replay::moment_comparison::MomentComparison;

#[derive(Clone, Debug, Default)]
pub struct TimelineScreen {
    table: Table,
    rows: Vec<EventRow>,
    /// The timeline, the number of its changes, and the snapshot of the rows; the next field is the position
    /// of the cursor of time: a moment, or a time where the screens are live.
    of: Option<(usize, u64, usize)>,
    place: Option<u64>,
    pub strips: TimelineStrips,
    /// The moment that was chosen as the first of a comparison.
    pub compare_from: Option<i64>,
    /// The differences between two moments, which take the place of the events, and their list.
    compared: Option<(Arc<MomentComparison>, Table)>,
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

    /// Shows the differences between two moments.
    pub(super) fn show_comparison(&mut self, comparison: Arc<MomentComparison>) {
        let mut table = Table::default();
        table.refresh(&*moment_compare::listing(&comparison));
        self.compared = Some((comparison, table));
    }

    /// The comparison that is open.
    pub fn comparison(&self) -> Option<&MomentComparison> {
        self.compared.as_ref().map(|(comparison, _)| &**comparison)
    }

    /// Makes the strips again, where something of them changed.
    pub(super) fn update_strips(&mut self, known: &Model, areas: &Areas) {
        let changed = self.of.map_or(0, |(_, changed, _)| changed);
        self.strips.update(known, &TimelinePanes::new(areas), &self.rows, changed);
    }

    /// Lists the events of a live watch.
    pub(super) fn refresh_live(&mut self, known: &Model) {
        let of = (0, known.problems.event_count() as u64, 0);
        if self.of.replace(of) != Some(of) {
            let here = self.event().cloned();
            self.rows = live_rows(known);
            self.show_rows(here);
        }
        self.follow_time_cursor(known.chart_cursor.unwrap_or(u64::MAX));
    }

    /// Shows other rows. A cursor that the operator moved stays on its event when rows are added; otherwise it follows
    /// the cursor of time.
    fn show_rows(&mut self, here: Option<EventRow>) {
        self.table.refresh(&EVENTS.of(&self.rows));
        let moved = here.filter(|here| self.led.as_ref() != Some(here));
        match moved.and_then(|here| self.rows.iter().position(|row| *row == here)) {
            Some(row) => self.table.move_to_row(row),
            None => self.place = None,
        }
    }

    /// Moves the list with the cursor of time: to the worst event of its moment, or else to the last event up to it.
    fn follow_time_cursor(&mut self, place: u64) {
        if self.place.replace(place) == Some(place) {
            return;
        }
        let is_up_to = |row: &EventRow| match row.place {
            Some(own) => own as u64 <= place,
            None => u64::try_from(row.at_ms).unwrap_or(0) <= place,
        };
        // Several events may belong to the moment: the cursor stays on the one from which the operator came.
        if self.event().is_none_or(|row| row.place != usize::try_from(place).ok() || row.place.is_none()) {
            let rows = self.table.selection.rows.iter();
            let of_moment = rows
                .clone()
                .enumerate()
                .filter(|(_, row)| self.rows[**row].place.is_some_and(|own| own as u64 == place));
            let worst = of_moment.min_by_key(|(at, row)| (self.rows[**row].kind, *at)).map(|(at, _)| at);
            let last = rows.filter(|row| is_up_to(&self.rows[**row])).count().saturating_sub(1);
            self.table.move_to(worst.unwrap_or(last));
        }
        self.led = self.event().cloned();
    }
}

impl Screen for TimelineScreen {
    fn table(&self) -> &Table {
        self.compared.as_ref().map_or(&self.table, |(_, table)| table)
    }

    fn table_mut(&mut self) -> &mut Table {
        self.compared.as_mut().map_or(&mut self.table, |(_, table)| table)
    }

    fn listing<'s>(&'s self, known: &'s Model) -> Option<Box<dyn Listing + 's>> {
        if let Some((comparison, _)) = &self.compared {
            return Some(moment_compare::listing(comparison));
        }
        let is_recorded =
            known.playback.as_ref().is_some_and(|playback| !playback.timeline().times.is_empty());
        (is_recorded || !self.rows.is_empty())
            .then(|| -> Box<dyn Listing + 's> { Box::new(EVENTS.of(&self.rows)) })
    }

    fn panes(&self, areas: &Areas) -> PanePlan {
        timeline_panes(areas)
    }

    fn focused_pane(&self) -> &'static str {
        EVENT_PANE
    }

    fn page_rows(&self, areas: &Areas) -> Option<usize> {
        Some(TimelinePanes::new(areas).list_rows())
    }

    /// The keys to the left and to the right move the cursor in time.
    fn move_by_arrow(&mut self, _: &Model, direction: CursorDirection, _: u16) -> bool {
        matches!(direction, CursorDirection::Left | CursorDirection::Right)
    }

    fn row_page(&self, row: usize, known: &Model) -> Option<DetailPage> {
        match &self.compared {
            Some((comparison, _)) => difference_detail(comparison, row),
            None => Some(event_detail(self.rows.get(row)?, known)),
        }
    }

    fn row_key(&self, row: usize, _: &Model) -> Option<String> {
        if let Some((comparison, _)) = &self.compared {
            let row = comparison.rows.get(row)?;
            return Some(format!("{} {}", row.kind, row.name));
        }
        let row = self.rows.get(row)?;
        Some(format!("{} {} {}", row.at_ms, row.label, row.text))
    }

    fn enter(&mut self, _: &Model) -> EnterResult {
        if self.compared.is_some() {
            return EnterResult::Show;
        }
        match self.table.row().and_then(|row| self.rows.get(row)) {
            Some(EventRow { place: Some(place), .. }) => EnterResult::ToMoment(*place),
            Some(row) => EnterResult::ToTime(u64::try_from(row.at_ms).unwrap_or(0)),
            None => EnterResult::Nothing("there is no event to go to"),
        }
    }

    fn can_enter(&self, _: &Model) -> bool {
        self.table().row().is_some()
    }

    /// Out of a comparison to the events.
    fn step_out(&mut self, _: &Model) -> bool {
        self.compared.take().is_some()
    }

    fn refresh(&mut self, known: &Model) {
        let (Some(playback), Some(look)) = (&known.playback, &known.look) else {
            return self.refresh_live(known);
        };
        let of = (
            std::sync::Arc::as_ptr(playback.timeline()) as usize,
            playback.changed,
            std::sync::Arc::as_ptr(look) as usize,
        );
        if self.of.replace(of) != Some(of) {
            let here = self.event().cloned();
            self.rows = event_rows(playback, look);
            self.show_rows(here);
        }
        self.follow_time_cursor(playback.place() as u64);
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
