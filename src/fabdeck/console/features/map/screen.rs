//! The views of the screen Map, and the ports of the nodes that were entered.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::draw_path::pane_rows;
use super::drawn_map::{DrawnMap, MapCursor};
use super::grid;
use super::member_page::member_page;
use super::pair_table::PairTable;
use super::tree::{TreeItem, TreeListing, TreeRow, containers, tree_rows};
use crate::catalogue::field::Listing;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::views::switches::SWITCHES;
use crate::console::features::row_table::RowTable;
use crate::console::features::screen::{CursorDirection, EnterResult, Screen, ScreenTarget};
use crate::console::features::screens::move_cursor_to;
use crate::console::model::detail_page::DetailPage;
use crate::console::model::fabric_model::Model;
use crate::console::model::layout::Areas;
use crate::console::model::panes::{BODY, DETAILS, PanePlan, PaneTree};
use crate::console::model::table::Table;
use crate::operations::fabric_map::structure::map_node;
use crate::operations::rowset::Rowset;
use crate::operations::view_id::ViewId;
use fabdeck_fabric::{ElementId, NodeId};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MapView {
    #[default]
    Drawn,
    Tree,
    Switches,
    Hosts,
    /// The members of partitions.
    Partitions,
    /// The members of multicast groups.
    Groups,
}

impl MapView {
    pub const ALL: &[Self] =
        &[Self::Drawn, Self::Tree, Self::Switches, Self::Hosts, Self::Partitions, Self::Groups];

    pub fn title(self) -> &'static str {
        match self {
            Self::Drawn => "drawn",
            Self::Tree => "tree",
            Self::Switches => "switches",
            Self::Hosts => "hosts",
            Self::Partitions => "partitions",
            Self::Groups => "groups",
        }
    }
}

/// The panes beside the map by their names.
pub const PATH: &str = "path";
pub const BUNDLE: &str = "bundle";
pub const GROUP: &str = "group";

/// Least height of the pane with the details of an element below the path.
const DETAILS_MIN_HEIGHT: u16 = 8;

/// Largest number of switches for which the tree is open at the start.
const OPEN_TREE_LIMIT: usize = 14;

#[derive(Clone, Debug, Default)]
pub struct MapScreen {
    pub view: MapView,
    pub drawn: DrawnMap,
    open: BTreeSet<TreeItem>,
    tree_rows: Vec<TreeRow>,
    tree: Table,
    switches: RowTable,
    hosts: RowTable,
    partitions: RowTable,
    groups: RowTable,
    /// The switches by rank, with the cursor of the map.
    map: RowTable,
    /// The nodes that were entered, outermost first; the next field has the ports of the last one.
    inside: Vec<NodeId>,
    ports: RowTable,
    /// The snapshot and the order of ranks of the rows.
    of: Option<(usize, u64)>,
}

impl MapScreen {
    fn list(&self) -> Option<&RowTable> {
        match (self.inside.is_empty(), self.view) {
            (false, _) => Some(&self.ports),
            (_, MapView::Tree) => None,
            (_, MapView::Switches) => Some(&self.switches),
            (_, MapView::Hosts) => Some(&self.hosts),
            (_, MapView::Partitions) => Some(&self.partitions),
            (_, MapView::Groups) => Some(&self.groups),
            (_, MapView::Drawn) => Some(&self.map),
        }
    }

    /// Whether the screen shows the map instead of a list.
    pub fn shows_map(&self) -> bool {
        self.inside.is_empty() && self.view == MapView::Drawn
    }

    /// The members of partitions.
    pub fn partition_rows(&self) -> &Arc<Rowset> {
        &self.partitions.rows
    }

    /// Whether a list of members is shown, whose rows are ports in partitions or groups.
    pub fn shows_members(&self) -> bool {
        self.inside.is_empty() && matches!(self.view, MapView::Partitions | MapView::Groups)
    }

    /// Whether V turns to a view. Lists of members that were not read are left out; their names open them.
    fn is_offered(&self, view: MapView) -> bool {
        match view {
            MapView::Partitions => self.partitions.rows.count() > 0,
            MapView::Groups => self.groups.rows.count() > 0,
            MapView::Drawn | MapView::Tree | MapView::Switches | MapView::Hosts => true,
        }
    }

    /// Whether the map shows a slice of a torus.
    pub fn shows_slice(&self) -> bool {
        self.shows_map() && self.drawn.shows_slice(self.drawn.room)
    }

    /// Whether the map is a matrix, or shows the ports of a switch that was entered from it.
    pub fn shows_matrix(&self) -> bool {
        self.view == MapView::Drawn && self.drawn.matrix.shown
    }

    pub fn item(&self) -> Option<TreeItem> {
        self.tree_rows.get(self.tree.row()?).map(|row| row.item)
    }

    /// The node whose ports are listed.
    pub fn inside(&self) -> Option<NodeId> {
        self.inside.last().copied()
    }

    /// Leaves the nodes that were entered.
    pub fn leave_nodes(&mut self, known: &Model) {
        self.inside.clear();
        self.refilter(known);
    }

    /// Whether the cursor is on a row or on a line of the map, which a name finds again.
    pub fn moves_to_elements(&self) -> bool {
        !(self.shows_slice() || self.shows_map() && self.drawn.matrix.shown)
    }

    /// Moves the cursor to a cable or a switch of the drawn map.
    pub fn move_to_drawn(&mut self, what: ElementId, known: &Model) -> bool {
        if let (ElementId::Node(node), true) = (what, self.shows_slice()) {
            return self.drawn.move_to_slice_switch(node);
        }
        let (Some(structure), true) = (self.drawn.structure.clone(), self.shows_map()) else { return false };
        let cable = structure.cables.iter().find(|cable| ElementId::Link(cable.link) == what);
        let switch = match (what, cable) {
            (ElementId::Node(_), _) => what,
            (_, Some(cable)) => ElementId::Node(structure.switches[cable.upper].id),
            _ => return false,
        };
        self.drawn.cable = None;
        let found = move_cursor_to(self, switch, known);
        self.drawn.cable = cable.map(|cable| cable.link).filter(|_| found);
        found
    }

    /// Makes the rows of the tree. With `reveals`, the item at the cursor stays visible, even below a closed
    /// item.
    fn make_tree(&mut self, known: &Model, reveals: bool) {
        let Some(look) = &known.look else { return };
        let all = !self.tree.filter.is_empty();
        let place = self.tree.row().or(self.tree.place);
        let here = place.and_then(|row| self.tree_rows.get(row)).map(|row| row.item);
        let around = place.map_or_else(Vec::new, |row| containers(&self.tree_rows, row));
        self.tree_rows = tree_rows(known, look, &self.open, all);
        if reveals && here.is_some_and(|item| self.tree_rows.iter().all(|row| row.item != item)) {
            self.open.extend(around);
            self.tree_rows = tree_rows(known, look, &self.open, all);
        }
        let mut tree = std::mem::take(&mut self.tree);
        tree.refresh(&TreeListing { known, look, rows: &self.tree_rows, open: &self.open });
        self.tree = tree;
        let again = here.and_then(|item| self.tree_rows.iter().position(|row| row.item == item));
        if let Some(row) = again {
            self.tree.move_to_row(row);
        }
        self.tree.place = again.filter(|_| self.tree.selection.rows.is_empty());
    }

    /// Opens the branches of the tree that contain an element: of a host, those of its first switch.
    pub fn reveal_in_tree(&mut self, what: ElementId, known: &Model) {
        let Some(look) = known.look.as_deref().filter(|_| self.inside.is_empty()) else { return };
        if self.view != MapView::Tree {
            return;
        }
        let fabric = look.fabric();
        let (switch, is_below) = match what {
            ElementId::Port(port) => (fabric.port(port).node, true),
            ElementId::Node(node) if fabric.node(node).is_switch() => (node, false),
            ElementId::Node(node) => match fabric.ports_of(node).find_map(|(_, port)| port.peer) {
                Some(peer) => (fabric.port(peer).node, true),
                None => return,
            },
            ElementId::Link(_) => return,
        };
        let Some(tier) = known.tiers.iter().position(|tier| tier.switches.contains(&switch)) else { return };
        self.open.insert(TreeItem::Tier(tier));
        if is_below && move_cursor_to(self, what, known) {
            return;
        }
        if is_below {
            self.open.insert(TreeItem::Node(switch));
        }
        self.make_tree(known, false);
    }

    pub fn enter_node(&mut self, node: NodeId, known: &Model) {
        let Some(look) = &known.look else { return };
        self.inside.push(node);
        self.ports = RowTable::default();
        self.show_ports(look, known);
    }

    /// Shows the list that has the row of a node or a port. A switch stays on the drawn map where that has lines.
    pub(in crate::console) fn show_list_of(&mut self, what: ElementId, known: &Model) {
        let Some(look) = &known.look else { return };
        self.inside.clear();
        match what {
            ElementId::Port(port) => self.enter_node(look.fabric().port(port).node, known),
            ElementId::Node(node) if !look.fabric().node(node).is_switch() => self.view = MapView::Hosts,
            ElementId::Node(_) if self.shows_map() && self.drawn.layout.is_some() => self.drawn.cable = None,
            ElementId::Node(_) => self.view = MapView::Switches,
            ElementId::Link(_) => {}
        }
    }

    fn show_ports(&mut self, look: &Snapshot, known: &Model) {
        if let Some(node) = self.inside.last() {
            self.ports.set_rows(Rowset::ports_of(look, *node), known);
        }
    }

    fn toggle(&mut self, item: TreeItem, known: &Model) -> EnterResult {
        if let TreeItem::InRack(node) | TreeItem::Host(node) = item {
            self.enter_node(node, known);
            return EnterResult::Done;
        }
        if let TreeItem::Port(port) = item {
            let peer = known.look.as_deref().and_then(|look| peer_node(look, ElementId::Port(port)));
            return match peer {
                Some(node) => {
                    self.enter_node(node, known);
                    EnterResult::Done
                }
                None => EnterResult::Nothing("this port has no cable"),
            };
        }
        if !self.open.remove(&item) {
            self.open.insert(item);
        }
        self.make_tree(known, false);
        EnterResult::Done
    }
}

/// The node of the peer of a port.
fn peer_node(look: &Snapshot, what: ElementId) -> Option<NodeId> {
    match what {
        ElementId::Port(id) => look.fabric().peer(id).map(|peer| look.fabric().port(peer).node),
        _ => None,
    }
}

impl Screen for MapScreen {
    fn crumbs(&self, known: &Model) -> Vec<String> {
        let mut crumbs = vec![self.view.title().to_owned()];
        if let (Some(look), Some(structure), true) = (&known.look, &self.drawn.structure, self.shows_matrix())
        {
            crumbs.extend(self.drawn.matrix.crumbs(structure, look));
        }
        if let Some(look) = &known.look {
            crumbs.extend(self.inside.iter().map(|node| look.name(*node).to_owned()));
        }
        crumbs
    }

    fn pane_note(&self, known: &Model) -> Option<String> {
        let look = known.look.as_deref().filter(|_| self.shows_map())?;
        let quantity = self.drawn.quantity.word();
        if let (true, Some(structure)) = (self.drawn.matrix.shown, &self.drawn.structure) {
            let PairTable { rows, columns, .. } = &self.drawn.matrix.table;
            let are_single = rows.iter().chain(columns).all(|bucket| bucket.leaves.len() == 1);
            let several = if are_single { "switches" } else { structure.groups.kind.words()[1] };
            return Some(format!("{} x {} {several}, worst {quantity} between", rows.len(), columns.len()))
                .filter(|_| !self.drawn.matrix.stale);
        }
        let lit = self.drawn.lit.as_ref().map(|lit| lit.title(look));
        let path = lit.map_or_else(String::new, |title| format!("   path {title}"));
        Some(format!("by {quantity}{path}"))
    }

    fn table(&self) -> &Table {
        self.list().map_or(&self.tree, |list| &list.table)
    }

    fn table_mut(&mut self) -> &mut Table {
        match (self.inside.is_empty(), self.view) {
            (false, _) => &mut self.ports.table,
            (_, MapView::Tree) => &mut self.tree,
            (_, MapView::Switches) => &mut self.switches.table,
            (_, MapView::Hosts) => &mut self.hosts.table,
            (_, MapView::Partitions) => &mut self.partitions.table,
            (_, MapView::Groups) => &mut self.groups.table,
            (_, MapView::Drawn) => &mut self.map.table,
        }
    }

    /// A list or a map, and beside it what is above the details of the row: the chosen bundle of a dragonfly, or the
    /// path that is lit.
    fn panes(&self, areas: &Areas) -> PanePlan {
        let (details, height) = (PaneTree::Pane(DETAILS), areas.middle.height);
        let lit = self.drawn.lit.as_ref().filter(|_| self.shows_map() && self.drawn.layout.is_some());
        let beside = match lit {
            _ if self.shows_map() && self.drawn.shows_ring() => {
                PaneTree::rows("group", height / 2, [PaneTree::Pane(BUNDLE), PaneTree::Pane(GROUP)])
            }
            Some(path) => {
                let rows = pane_rows(path, height).min(height.saturating_sub(DETAILS_MIN_HEIGHT));
                PaneTree::rows("path", rows, [PaneTree::Pane(PATH), details])
            }
            None => details,
        };
        areas.beside(PaneTree::Pane(BODY), beside).into()
    }

    /// A row for failures before the first reading, which no list shows.
    fn rows_above(&self, known: &Model) -> u16 {
        u16::from(self.inside.is_empty() && known.missing_note().is_some())
    }

    fn listing<'s>(&'s self, known: &'s Model) -> Option<Box<dyn Listing + 's>> {
        let look = known.look.as_deref()?;
        Some(match self.list() {
            Some(list) => list.rows.listing(look),
            None => Box::new(TreeListing { known, look, rows: &self.tree_rows, open: &self.open }),
        })
    }

    fn has_only_switches(&self) -> bool {
        self.inside.is_empty() && matches!(self.view, MapView::Switches | MapView::Drawn)
    }

    fn stored_rows(&self) -> Option<&Arc<Rowset>> {
        self.list().map(|list| &list.rows)
    }

    fn element(&self, row: usize, known: &Model) -> Option<ElementId> {
        match self.list() {
            Some(list) => list.rows.element(row),
            None => self.tree_rows.get(row)?.item.element(known.look.as_deref()?),
        }
    }

    fn current(&self, known: &Model) -> Option<ElementId> {
        if self.shows_slice() {
            return self.drawn.slice_switch().map(ElementId::Node);
        }
        if self.shows_map() && self.drawn.matrix.shown {
            return self.drawn.matrix.port().map(ElementId::Port);
        }
        let cable = self.drawn.cable.filter(|_| self.shows_map());
        cable.map(ElementId::Link).or_else(|| self.element(self.table().row()?, known))
    }

    fn row_page(&self, row: usize, known: &Model) -> Option<DetailPage> {
        let list = self.list().filter(|_| self.shows_members())?;
        member_page(&list.rows, row, known)
    }

    fn enter(&mut self, known: &Model) -> EnterResult {
        let Some(look) = known.look.clone() else { return EnterResult::Nothing("nothing was read yet") };
        let tree = self.inside.is_empty() && self.view == MapView::Tree;
        if let Some(item) = self.item().filter(|_| tree) {
            return self.toggle(item, known);
        }
        if self.shows_map() && self.drawn.matrix.shown {
            let structure = self.drawn.structure.clone();
            if let Some(leaf) = structure.and_then(|structure| self.drawn.matrix.zoom_in(&structure)) {
                self.enter_node(leaf, known);
            }
            return EnterResult::Done;
        }
        match self.current(known) {
            Some(ElementId::Port(port)) if self.shows_members() => {
                self.enter_node(look.fabric().port(port).node, known);
            }
            None if self.shows_members() => {
                return EnterResult::Nothing("no port of the fabric is known for this row");
            }
            Some(ElementId::Node(id)) => self.enter_node(id, known),
            Some(ElementId::Link(link)) => return EnterResult::Open(ScreenTarget::Cable(link)),
            Some(what) => match peer_node(&look, what) {
                Some(node) => self.enter_node(node, known),
                None => return EnterResult::Nothing("this port has no cable"),
            },
            None => return EnterResult::Nothing("there is nothing under the cursor"),
        }
        EnterResult::Done
    }

    fn can_enter(&self, known: &Model) -> bool {
        let Some(look) = known.look.as_deref() else { return false };
        if self.shows_map() && self.drawn.matrix.shown {
            return self.drawn.matrix.chosen().is_some();
        }
        if self.shows_members() {
            return self.current(known).is_some();
        }
        let tree = self.inside.is_empty() && self.view == MapView::Tree;
        match (tree.then(|| self.item()).flatten(), self.current(known)) {
            (Some(TreeItem::Port(port)), _) => peer_node(look, ElementId::Port(port)).is_some(),
            (Some(_), _) | (None, Some(ElementId::Node(_) | ElementId::Link(_))) => true,
            (None, what) => what.is_some_and(|what| peer_node(look, what).is_some()),
        }
    }

    fn move_by_arrow(&mut self, known: &Model, direction: CursorDirection, width: u16) -> bool {
        if !self.shows_map() {
            return false;
        }
        if self.shows_slice() {
            if let Some(structure) = self.drawn.structure.clone()
                && let Some(shape) = &structure.torus
            {
                self.drawn.slice.move_by(shape, direction);
            }
            return true;
        }
        if self.drawn.matrix.shown {
            match self.drawn.shows_ring() {
                true => self.drawn.matrix.move_on_ring(direction),
                false => self.drawn.matrix.move_by(direction),
            }
            return true;
        }
        if self.drawn.layout.is_some() {
            self.move_on_lines(known, direction);
            return true;
        }
        if let Some(to) = grid::neighbour(known, &self.map.table, direction, width) {
            self.map.table.move_to(to);
        }
        true
    }

    fn step_out(&mut self, known: &Model) -> bool {
        if self.inside.pop().is_none() {
            return self.shows_matrix() && self.drawn.matrix.zoom_out();
        }
        if let Some(look) = known.look.clone() {
            self.ports = RowTable::default();
            self.show_ports(&look, known);
        }
        true
    }

    /// A filter in the tree also searches closed items.
    fn update_filter(&mut self, known: &Model) {
        if self.list().is_none() {
            self.make_tree(known, true);
        }
    }

    fn has_views(&self, _: &Model) -> bool {
        true
    }

    fn view_names(&self) -> Vec<&'static str> {
        MapView::ALL.iter().map(|view| view.title()).collect()
    }

    fn view_name(&self) -> Option<&'static str> {
        Some(self.view.title())
    }

    fn next_view(&mut self, known: &Model, forward: bool) -> Result<(), &'static str> {
        self.inside.clear();
        let count = MapView::ALL.len();
        let mut at = MapView::ALL.iter().position(|view| *view == self.view).unwrap_or(0);
        // The drawn map is always offered.
        loop {
            at = (at + if forward { 1 } else { count - 1 }) % count;
            if self.is_offered(MapView::ALL[at]) {
                break;
            }
        }
        self.view = MapView::ALL[at];
        self.refilter(known);
        Ok(())
    }

    fn open_view(&mut self, known: &Model, name: &str) -> bool {
        let Some(view) = MapView::ALL.iter().find(|view| view.title() == name) else { return false };
        self.inside.clear();
        self.view = *view;
        self.refilter(known);
        true
    }

    fn carry_over(&mut self, again: &dyn Fn(ElementId) -> Option<ElementId>) {
        self.open = self.open.iter().filter_map(|item| item.map_ids(again)).collect();
        let inside = self.inside.iter().map_while(|node| map_node(*node, again));
        self.inside = inside.collect();
        self.drawn.carry_over(again);
        let tables = [&mut self.tree, &mut self.switches.table, &mut self.hosts.table, &mut self.map.table];
        let members = [&mut self.partitions.table, &mut self.groups.table];
        for table in tables.into_iter().chain(members).chain([&mut self.ports.table]) {
            table.selected = table.selected.iter().filter_map(|what| again(*what)).collect();
        }
    }

    fn refresh(&mut self, known: &Model) {
        let Some(look) = known.look.clone() else { return };
        let of = (Arc::as_ptr(&look) as usize, known.arranged);
        if self.of == Some(of) {
            return;
        }
        // A small tree fits on a screen, so it is open from the start.
        let first = self.of.is_none_or(|(_, arranged)| arranged == 0);
        let switches: usize = known.tiers.iter().map(|tier| tier.switches.len()).sum();
        if first && self.open.is_empty() && switches <= OPEN_TREE_LIMIT {
            // Racks and hosts stay closed, because hosts are shown at their switches.
            self.open.extend((0..known.tiers.len()).map(TreeItem::Tier));
        }
        self.of = Some(of);
        if !self.inside.is_empty() {
            self.show_ports(&look, known);
        }
        self.switches.set_rows(Rowset::switches(&look), known);
        self.hosts.set_rows(Rowset::hosts(&look), known);
        self.partitions.set_rows(Rowset::partitions(&look), known);
        self.groups.set_rows(Rowset::groups(&look), known);
        let by_rank = known.tiers.iter().flat_map(|tier| tier.switches.iter().copied()).collect();
        self.map.set_rows(Rowset::Switches(by_rank), known);
        self.make_tree(known, false);
    }

    fn command(&self, known: &Model) -> Option<String> {
        let unique = |look: &Snapshot, node: NodeId| look.names.unique_name(look.fabric(), node);
        let node = self.inside.last().and_then(|node| Some(unique(known.look.as_ref()?, *node)));
        Some(match (node, self.view) {
            (Some(name), _) => format!(
                "{} --filter {}",
                ViewId::Ports.command(),
                crate::catalogue::shell_words::quote_for_shell(&format!("node=\"{name}\""))
            ),
            (None, MapView::Hosts) => ViewId::Hosts.command().to_owned(),
            (None, MapView::Partitions) => ViewId::Partitions.command().to_owned(),
            (None, MapView::Groups) => ViewId::Groups.command().to_owned(),
            (None, _) => ViewId::Switches.command().to_owned(),
        })
    }

    fn is_printed(&self) -> bool {
        self.list().is_some()
    }

    fn empty_text(&self, known: &Model) -> String {
        if known.tiers.is_empty() && known.look.as_ref().is_some_and(|look| look.fabric().switch_count() > 0)
        {
            return "the switches are being sorted by rank".to_owned();
        }
        SWITCHES.when_empty.to_owned()
    }
}

impl MapScreen {
    /// Moves over the lines of the map, to a switch that passes the filter or to a cable.
    fn move_on_lines(&mut self, known: &Model, direction: CursorDirection) {
        let row = self.map.table.row();
        let Some(ElementId::Node(mut switch)) = row.and_then(|row| self.map.rows.element(row)) else {
            return;
        };
        while let Some(to) = self.drawn.neighbour(switch, direction) {
            match to {
                MapCursor::Cable(link) => {
                    self.drawn.cable = Some(link);
                    return;
                }
                MapCursor::Switch(id) => {
                    let rows = &self.map.table.selection.rows;
                    let listed =
                        rows.iter().position(|row| self.element(*row, known) == Some(ElementId::Node(id)));
                    if let Some(at) = listed {
                        self.drawn.cable = None;
                        self.map.table.move_to(at);
                        return;
                    }
                    // The end of a cable may be hidden by the filter; the cursor then stays.
                    if self.drawn.cable.is_some() {
                        return;
                    }
                    switch = id;
                }
            }
        }
    }

    fn refilter(&mut self, known: &Model) {
        match (self.inside.is_empty(), self.view) {
            (false, _) => self.ports.refresh(known),
            (_, MapView::Tree) => self.make_tree(known, false),
            (_, MapView::Switches) => self.switches.refresh(known),
            (_, MapView::Hosts) => self.hosts.refresh(known),
            (_, MapView::Partitions) => self.partitions.refresh(known),
            (_, MapView::Groups) => self.groups.refresh(known),
            (_, MapView::Drawn) => self.map.refresh(known),
        }
    }
}
