//! The screen Links: every cable, with the ports at its ends.

use super::cable_page::CablePage;
use super::cable_panes::{COUNTERS, cable_page_panes};
use super::wire_lines::wire_read_words;
use crate::catalogue::field::Listing;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::views::links::LINKS;
use crate::console::features::row_table::RowTable;
use crate::console::features::screen::{CursorDirection, EnterResult, Screen};
use crate::console::model::fabric_model::Model;
use crate::console::model::layout::Areas;
use crate::console::model::panes::{BODY, PanePlan};
use crate::console::model::table::Table;
use crate::operations::health::link_history::{LinkHistories, add_downs};
use crate::operations::rowset::Rowset;
use crate::operations::view_id::ViewId;
use crate::operations::watch::port_values::port_identity;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_fabric::observe::PortIdentity;
use fabdeck_fabric::{ElementId, LinkId};

/// The field by which cables with errors come first.
const ERRORS_FIELD: &str = "errors_per_hour";

#[derive(Clone, Debug, Default)]
pub struct LinksScreen {
    list: RowTable,
    /// The snapshot and the path index of the rows; with others, the rows are made again.
    of: Option<(usize, Option<usize>)>,
    /// What the ledger has of the cables.
    histories: std::sync::Arc<LinkHistories>,
    /// The page of a cable, which takes the place of the list.
    pub page: Option<CablePage>,
    /// Whether the list opens with cables in trouble first, where there are any. It is an order like any other, so that
    /// the copied command prints the same list.
    pub opens_by_trouble: bool,
}

impl LinksScreen {
    /// Takes over the loads of a sweep, unless the rows have changed since.
    pub fn set_loads(&mut self, reading: &WatchVerdict, known: &Model) {
        if self.opens_by_trouble && !reading.errored_links().is_empty() {
            self.open_sorted(ERRORS_FIELD);
        }
        if std::sync::Arc::ptr_eq(&self.list.rows, &reading.links_before) {
            self.list.set_update(&reading.links, known);
        }
    }
}

impl LinksScreen {
    /// Opens the page of a cable.
    pub fn open_page(&mut self, link: LinkId) {
        self.page = Some(CablePage::new(link));
    }

    /// The ports of the open page: their history is kept in a fabric of any size.
    pub fn pinned_ports(&self, look: &Snapshot) -> Vec<PortIdentity> {
        let fabric = look.fabric();
        let ends = self.page.iter().map(|page| fabric.link(page.link)).flat_map(|link| [link.a, link.b]);
        ends.map(|port| port_identity(fabric, port)).collect()
    }

    /// Shows the cable at the cursor on the open page.
    fn turn_page(&mut self, known: &Model) {
        let below = self.table().row().and_then(|row| self.element(row, known));
        if let (Some(ElementId::Link(link)), Some(page)) = (below, &mut self.page) {
            page.link = link;
        }
    }

    /// Sorts by the worst kind of trouble of the first snapshot, and of cables alike in that by their errors. Where no
    /// cable is down or degraded, the first reading with errors decides.
    fn sort_by_trouble(&mut self, look: &Snapshot) {
        if !self.opens_by_trouble {
            return;
        }
        let any = |has: &dyn Fn(LinkId) -> bool| look.fabric().links().any(|(link, _)| has(link));
        match () {
            () if any(&|link| look.is_down(link)) => self.open_sorted("state"),
            () if any(&|link| look.is_degraded(link) == Some(true)) => self.open_sorted("degraded"),
            () => {}
        }
    }

    /// Sorts by this field, unless another order or a filter was chosen.
    fn open_sorted(&mut self, field: &str) {
        self.opens_by_trouble = false;
        let table = &mut self.list.table;
        if table.sort.is_some() || !table.filter.is_empty() {
            return;
        }
        let order = (field.to_owned(), true);
        let then = match field {
            "state" => Some("degraded:desc,errors_per_hour:desc"),
            "degraded" => Some("errors_per_hour:desc"),
            _ => None,
        };
        table.sort_then = then.map(|then| (order.clone(), then));
        table.sort = Some(order);
    }

    /// Makes the rows again, without the loads of a sweep.
    pub fn reset(&mut self, known: &Model) {
        self.of = None;
        self.refresh(known);
    }
}

impl Screen for LinksScreen {
    fn crumbs(&self, known: &Model) -> Vec<String> {
        let sort = self.list.table.sort.as_ref().filter(|_| self.page.is_none());
        let words = match sort.map(|(field, down)| (field.as_str(), *down)) {
            Some(("state", true)) => "down first",
            Some(("degraded", true)) => "degraded first",
            Some((ERRORS_FIELD, true)) => "most errors first",
            _ => "",
        };
        // While the rotation over the ports runs, a cable without a verdict may be one that was not read yet.
        let read = known.watch.wire_read.filter(|_| self.page.is_none()).map(wire_read_words);
        Some(words.to_owned()).filter(|words| !words.is_empty()).into_iter().chain(read).collect()
    }

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

    fn panes(&self, areas: &Areas) -> PanePlan {
        match self.page {
            Some(_) => cable_page_panes(areas),
            None => areas.list_and_details().into(),
        }
    }

    fn focused_pane(&self) -> &'static str {
        if self.page.is_some() { COUNTERS } else { BODY }
    }

    /// The columns for both ends and their ports stay visible.
    fn fixed_columns(&self) -> usize {
        4
    }

    fn element(&self, row: usize, _: &Model) -> Option<ElementId> {
        self.list.rows.element(row)
    }

    fn current(&self, known: &Model) -> Option<ElementId> {
        match &self.page {
            Some(page) => Some(ElementId::Link(page.link)),
            None => self.element(self.table().row()?, known),
        }
    }

    fn enter(&mut self, known: &Model) -> EnterResult {
        match self.current(known) {
            Some(ElementId::Link(link)) if self.page.is_none() => self.open_page(link),
            Some(_) => {
                return EnterResult::Nothing("this is the page of the cable; esc leads back to the list");
            }
            None => return EnterResult::Nothing("there is no cable under the cursor"),
        }
        EnterResult::Done
    }

    fn can_enter(&self, known: &Model) -> bool {
        self.page.is_none() && self.current(known).is_some()
    }

    fn covers_list(&self) -> bool {
        self.page.is_some()
    }

    fn step_out(&mut self, _: &Model) -> bool {
        self.page.take().is_some()
    }

    /// On the page of a cable, up and down lead to the cables above and below it in the list.
    fn move_by_arrow(&mut self, known: &Model, direction: CursorDirection, _: u16) -> bool {
        let by = match direction {
            _ if self.page.is_none() => return false,
            CursorDirection::Up => -1,
            CursorDirection::Down => 1,
            CursorDirection::Left | CursorDirection::Right => return true,
        };
        self.list.table.move_by(by);
        self.turn_page(known);
        true
    }

    fn carry_over(&mut self, again: &dyn Fn(ElementId) -> Option<ElementId>) {
        let selected = &mut self.table_mut().selected;
        *selected = selected.iter().filter_map(|what| again(*what)).collect();
        self.page = self.page.take().and_then(|page| match again(ElementId::Link(page.link)) {
            Some(ElementId::Link(link)) => Some(CablePage::new(link)),
            _ => None,
        });
    }

    fn refresh(&mut self, known: &Model) {
        let Some(look) = &known.look else { return };
        let of = (
            std::sync::Arc::as_ptr(look) as usize,
            known.paths.as_ref().map(|paths| std::sync::Arc::as_ptr(paths) as usize),
        );
        let ranked = known.problems.ranked.as_ref();
        let histories = ranked.map(|ranked| ranked.histories.clone()).unwrap_or_default();
        // Marks change no row, so a walk over 100,000 links is avoided.
        if self.of != Some(of) || self.histories != histories {
            self.sort_by_trouble(look);
            let mut rows = Rowset::links(look, known.paths.as_deref());
            if let Rowset::Links(cables) = &mut rows {
                add_downs(cables, &histories);
            }
            self.list.set_rows(rows, known);
        }
        (self.of, self.histories) = (Some(of), histories);
    }

    fn command(&self, _: &Model) -> Option<String> {
        Some(ViewId::Links.command().to_owned())
    }

    fn empty_text(&self, _: &Model) -> String {
        LINKS.when_empty.to_owned()
    }
}
