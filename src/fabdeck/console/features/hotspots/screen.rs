//! The screen Hot-spots has two lists: ports with a verdict, and all ports in the order of a rate.

use std::sync::Arc;

use super::draw_backlog::rows_of;
use super::hotspot_panes::{HotspotPanes, LIST, hotspot_panes};
use crate::catalogue::field::Listing;
use crate::catalogue::view::ViewOrder;
use crate::console::features::row_table::RowTable;
use crate::console::features::screen::{EnterResult, Screen, ScreenTarget};
use crate::console::features::timeline::playback::Playback;
use crate::console::features::watch::watch_text::{empty_words, interval_words};
use crate::console::model::fabric_model::Model;
use crate::console::model::layout::Areas;
use crate::console::model::panes::{BODY, PanePlan};
use crate::console::model::table::Table;
use crate::operations::rowset::Rowset;
use crate::operations::view_id::ViewId;
use crate::operations::watch::backlog::Backlog;
use crate::operations::watch::fabric_history::WaitingSpan;
use crate::operations::watch::hot_ports::HOT_PORTS;
use crate::operations::watch::port_values::port_identity;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_fabric::{ElementId, LinkId, PortId};

/// The list: ports with a verdict, or all ports in an order of their view.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HotspotsView {
    #[default]
    Verdicts,
    AllPorts(&'static ViewOrder),
}

impl HotspotsView {
    fn all() -> Vec<Self> {
        std::iter::once(Self::Verdicts).chain(HOT_PORTS.orders.iter().map(Self::AllPorts)).collect()
    }

    pub fn title(self) -> &'static str {
        self.order().map_or("verdicts", |order| order.title)
    }

    /// The order of all ports, where the list has them.
    pub fn order(self) -> Option<&'static ViewOrder> {
        match self {
            Self::Verdicts => None,
            Self::AllPorts(order) => Some(order),
        }
    }
}

#[derive(Debug, Default)]
pub struct HotspotsScreen {
    pub view: HotspotsView,
    verdicts: RowTable,
    /// The rows in the order of ports, so that a row has the same port after every sweep.
    ports: RowTable,
    /// The chosen hot-spot, by the switch port in front of it; the worst one where it is none.
    spot: Option<PortId>,
    /// Rows of its backlog where it is drawn whole.
    backlog_rows: u16,
    /// How long the port in front of it has waited.
    waiting: Option<WaitingSpan>,
}

/// A backlog, and its place among those of all hot-spots.
#[derive(Clone, Copy, Debug)]
pub struct ChosenBacklog<'k> {
    pub backlog: &'k Backlog,
    pub place: usize,
    pub count: usize,
}

impl HotspotsScreen {
    /// The backlog of the chosen hot-spot, or of the worst one.
    pub fn backlog<'k>(&self, known: &'k Model) -> Option<ChosenBacklog<'k>> {
        let reading = known.watch.reading.as_ref()?;
        let all = &reading.backlogs;
        let place = all.iter().position(|backlog| Some(backlog.root) == self.spot).unwrap_or(0);
        let count = reading.watched.verdict.hot_spots.len();
        Some(ChosenBacklog { backlog: all.get(place)?, place, count })
    }

    /// Shows the backlog of the next hot-spot, or of the previous one; the first follows the last.
    pub(in crate::console) fn turn_backlog(&mut self, known: &Model, forward: bool) {
        let Some(reading) = &known.watch.reading else { return };
        let count = reading.backlogs.len();
        let Some(chosen) = self.backlog(known) else { return };
        let next = (chosen.place + if forward { 1 } else { count - 1 }) % count;
        self.spot = reading.backlogs.get(next).map(|backlog| backlog.root);
        self.measure_backlog(known);
    }

    fn measure_backlog(&mut self, known: &Model) {
        let chosen = self.backlog(known);
        let span =
            |root| known.watch.totals.waiting_span(&port_identity(known.look.as_ref()?.fabric(), root));
        let waiting = chosen.and_then(|chosen| span(chosen.backlog.root));
        self.backlog_rows = chosen.map_or(0, |chosen| rows_of(chosen.backlog));
        self.waiting = waiting;
    }

    /// How long the port in front of the hot-spot has waited; `None` where that is not known.
    pub(super) fn waiting(&self) -> Option<WaitingSpan> {
        self.waiting
    }

    /// The cable of the port at the cursor.
    fn cable(&self, known: &Model) -> Option<LinkId> {
        match self.current(known)? {
            ElementId::Port(port) => known.look.as_ref()?.fabric().port(port).link,
            _ => None,
        }
    }

    fn list(&self) -> &RowTable {
        if self.view == HotspotsView::Verdicts { &self.verdicts } else { &self.ports }
    }

    /// The list of all ports.
    pub fn all_ports(&self) -> &Table {
        &self.ports.table
    }

    /// Shows all ports, by waiting.
    pub(in crate::console) fn show_all_ports(&mut self) {
        if let Some(order) = HOT_PORTS.orders.first() {
            self.view = HotspotsView::AllPorts(order);
        }
    }

    /// Takes over the rows of a sweep. The cursor stays on its port.
    pub fn set_verdict(&mut self, reading: &WatchVerdict, known: &Model) {
        let port = self.verdicts.table.row().and_then(|row| self.verdicts.rows.element(row));
        self.verdicts.rows = reading.verdicts.clone();
        self.verdicts.refresh(known);
        let rows = self.verdicts.table.selection.rows.iter();
        let same =
            rows.enumerate().find(|(_, row)| port.is_some() && self.verdicts.rows.element(**row) == port);
        if let Some(at) = same.map(|(at, _)| at) {
            self.verdicts.table.move_to(at);
        }
        self.ports.set_update(&reading.ports, known);
        self.measure_backlog(known);
    }

    /// Clears the rows, when their ports are no longer valid.
    pub fn reset(&mut self, known: &Model) {
        for list in [&mut self.verdicts, &mut self.ports] {
            list.set_rows(Rowset::Hot(Vec::new()), known);
        }
        (self.spot, self.backlog_rows, self.waiting) = (None, 0, None);
    }
}

impl Screen for HotspotsScreen {
    fn crumbs(&self, _: &Model) -> Vec<String> {
        vec![self.view.title().to_owned()]
    }

    fn table(&self) -> &Table {
        &self.list().table
    }

    fn table_mut(&mut self) -> &mut Table {
        if self.view == HotspotsView::Verdicts { &mut self.verdicts.table } else { &mut self.ports.table }
    }

    /// `None` for an empty list, because the screen has a more specific text for it.
    fn listing<'s>(&'s self, known: &'s Model) -> Option<Box<dyn Listing + 's>> {
        let rows = &self.list().rows;
        if rows.count() == 0 { None } else { Some(rows.listing(known.look.as_deref()?)) }
    }

    /// A row for the summary of the verdict.
    fn rows_above(&self, known: &Model) -> u16 {
        u16::from(known.watch.reading.is_some())
    }

    fn panes(&self, areas: &Areas) -> PanePlan {
        match self.view {
            HotspotsView::Verdicts => hotspot_panes(areas, self.backlog_rows),
            HotspotsView::AllPorts(_) => areas.list_and_details().into(),
        }
    }

    fn focused_pane(&self) -> &'static str {
        if self.view == HotspotsView::Verdicts { LIST } else { BODY }
    }

    fn page_rows(&self, areas: &Areas) -> Option<usize> {
        (self.view == HotspotsView::Verdicts).then(|| HotspotPanes::new(areas).rows_in_sight())
    }

    fn stored_rows(&self) -> Option<&Arc<Rowset>> {
        Some(&self.list().rows)
    }

    fn element(&self, row: usize, _: &Model) -> Option<ElementId> {
        self.list().rows.element(row)
    }

    fn enter(&mut self, known: &Model) -> EnterResult {
        match self.cable(known) {
            Some(link) => EnterResult::Open(ScreenTarget::Cable(link)),
            None => EnterResult::Nothing("this port has no cable"),
        }
    }

    fn can_enter(&self, known: &Model) -> bool {
        self.cable(known).is_some()
    }

    fn has_views(&self, _: &Model) -> bool {
        true
    }

    fn view_names(&self) -> Vec<&'static str> {
        HotspotsView::all().into_iter().map(HotspotsView::title).collect()
    }

    fn view_name(&self) -> Option<&'static str> {
        Some(self.view.title())
    }

    fn next_view(&mut self, _: &Model, forward: bool) -> Result<(), &'static str> {
        let all = HotspotsView::all();
        let at = all.iter().position(|view| *view == self.view).unwrap_or(0);
        let by = if forward { 1 } else { all.len() - 1 };
        self.view = all[(at + by) % all.len()];
        if let Some(order) = self.usual_order() {
            self.ports.table.sort = Some(order);
        }
        Ok(())
    }

    fn usual_order(&self) -> Option<(String, bool)> {
        Some((self.view.order()?.field.to_owned(), true))
    }

    /// The rows change only with a sweep.
    fn refresh(&mut self, _: &Model) {}

    fn command(&self, known: &Model) -> Option<String> {
        let interval = known.watch.settings.interval_ms;
        // For a recording, the interval is the time between two of its moments.
        let recorded = known.playback.as_ref().filter(|playback| playback.live.is_none());
        let watched = interval > 0 && known.watch.live == Some(true);
        Some(match (recorded.map(Playback::step_ms), watched) {
            (Some(Some(step)), _) => format!("hotspots --interval {} --count 1", interval_words(step)),
            (_, true) => format!("hotspots --interval {}", interval_words(interval)),
            _ => ViewId::Counters.command().to_owned(),
        })
    }

    fn is_printed(&self) -> bool {
        false
    }

    fn empty_text(&self, known: &Model) -> String {
        empty_words(known)
    }
}
