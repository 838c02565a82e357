//! The first screen of a session.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::map;
use super::tree::{TreeItem, TreeListing, TreeRow, again_node, containers, rows};
use crate::session::interactive::known::Known;
use crate::session::interactive::screens::screen::{Direction, Entered, Screen};
use crate::session::interactive::screens::table_of::TableOf;
use crate::session::interactive::table::Table;
use crate::session::{Listing, Look, Rowset};
use fabdeck_fabric::{NodeId, Resolved};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FabricView {
    #[default]
    Tree,
    Switches,
    Hosts,
    Map,
}

impl FabricView {
    pub const ALL: &[Self] = &[Self::Tree, Self::Switches, Self::Hosts, Self::Map];

    pub fn title(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Switches => "switches",
            Self::Hosts => "hosts",
            Self::Map => "map",
        }
    }
}

/// Largest number of switches for which the tree is open at the start.
const AT_ONCE: usize = 14;

#[derive(Clone, Debug, Default)]
pub struct FabricScreen {
    pub view: FabricView,
    open: BTreeSet<TreeItem>,
    tree_rows: Vec<TreeRow>,
    tree: Table,
    switches: TableOf,
    hosts: TableOf,
    /// The switches by rank, with the cursor of the map.
    map: TableOf,
    /// The nodes that were entered, outermost first; the next field has the ports of the last one.
    inside: Vec<NodeId>,
    ports: TableOf,
    /// The snapshot and the order of ranks of the rows.
    of: Option<(usize, u64)>,
}

impl FabricScreen {
    fn list(&self) -> Option<&TableOf> {
        match (self.inside.is_empty(), self.view) {
            (false, _) => Some(&self.ports),
            (_, FabricView::Tree) => None,
            (_, FabricView::Switches) => Some(&self.switches),
            (_, FabricView::Hosts) => Some(&self.hosts),
            (_, FabricView::Map) => Some(&self.map),
        }
    }

    /// Whether the screen shows the map instead of a list.
    pub fn shows_map(&self) -> bool {
        self.inside.is_empty() && self.view == FabricView::Map
    }

    pub fn item(&self) -> Option<TreeItem> {
        self.tree_rows.get(self.tree.row()?).map(|row| row.item)
    }

    /// Makes the rows of the tree. With `reveals`, the item at the cursor stays visible, even below a closed
    /// item.
    fn make_tree(&mut self, known: &Known, reveals: bool) {
        let Some(look) = &known.look else { return };
        let all = !self.tree.filter.is_empty();
        let place = self.tree.row().or(self.tree.place);
        let here = place.and_then(|row| self.tree_rows.get(row)).map(|row| row.item);
        let around = place.map_or_else(Vec::new, |row| containers(&self.tree_rows, row));
        self.tree_rows = rows(known, look, &self.open, all);
        if reveals && here.is_some_and(|item| self.tree_rows.iter().all(|row| row.item != item)) {
            self.open.extend(around);
            self.tree_rows = rows(known, look, &self.open, all);
        }
        let mut tree = std::mem::take(&mut self.tree);
        tree.refresh(&TreeListing { known, look, rows: &self.tree_rows, open: &self.open });
        self.tree = tree;
        let again = here.and_then(|item| self.tree_rows.iter().position(|row| row.item == item));
        if let Some(row) = again {
            self.tree.put_on(row);
        }
        self.tree.place = again.filter(|_| self.tree.selection.rows.is_empty());
    }

    fn go_into(&mut self, node: NodeId, known: &Known) {
        let Some(look) = &known.look else { return };
        self.inside.push(node);
        self.ports = TableOf::default();
        self.show_inside(look, known);
    }

    fn show_inside(&mut self, look: &Look, known: &Known) {
        if let Some(node) = self.inside.last() {
            self.ports.show(Rowset::ports_of(look, *node), known);
        }
    }

    fn toggle(&mut self, item: TreeItem, known: &Known) -> Entered {
        if let TreeItem::InRack(node) | TreeItem::Host(node) = item {
            self.go_into(node, known);
            return Entered::Done;
        }
        if let TreeItem::Port(port) = item {
            let peer = known.look.as_deref().and_then(|look| peer_node(look, Resolved::Port(port)));
            return match peer {
                Some(node) => {
                    self.go_into(node, known);
                    Entered::Done
                }
                None => Entered::Nothing("this port has no cable"),
            };
        }
        if !self.open.remove(&item) {
            self.open.insert(item);
        }
        self.make_tree(known, false);
        Entered::Done
    }
}

/// The node of the peer of a port.
fn peer_node(look: &Look, what: Resolved) -> Option<NodeId> {
    match what {
        Resolved::Port(id) => look.fabric().peer(id).map(|peer| look.fabric().port(peer).node),
        _ => None,
    }
}

impl Screen for FabricScreen {
    fn crumbs(&self, known: &Known) -> Vec<String> {
        let mut crumbs = vec![self.view.title().to_owned()];
        if let Some(look) = &known.look {
            crumbs.extend(self.inside.iter().map(|node| look.name(*node).to_owned()));
        }
        crumbs
    }

    fn table(&self) -> &Table {
        self.list().map_or(&self.tree, |list| &list.table)
    }

    fn table_mut(&mut self) -> &mut Table {
        match (self.inside.is_empty(), self.view) {
            (false, _) => &mut self.ports.table,
            (_, FabricView::Tree) => &mut self.tree,
            (_, FabricView::Switches) => &mut self.switches.table,
            (_, FabricView::Hosts) => &mut self.hosts.table,
            (_, FabricView::Map) => &mut self.map.table,
        }
    }

    /// A row for failures before the first reading, which no list shows.
    fn rows_above(&self, known: &Known) -> u16 {
        u16::from(self.inside.is_empty() && known.missing().is_some())
    }

    fn listing<'s>(&'s self, known: &'s Known) -> Option<Box<dyn Listing + 's>> {
        let look = known.look.as_deref()?;
        Some(match self.list() {
            Some(list) => list.rows.listing(look),
            None => Box::new(TreeListing { known, look, rows: &self.tree_rows, open: &self.open }),
        })
    }

    fn lists_switches(&self) -> bool {
        self.inside.is_empty() && matches!(self.view, FabricView::Switches | FabricView::Map)
    }

    fn kept_rows(&self) -> Option<&Arc<Rowset>> {
        self.list().map(|list| &list.rows)
    }

    fn what(&self, row: usize, known: &Known) -> Option<Resolved> {
        match self.list() {
            Some(list) => list.rows.what(row),
            None => self.tree_rows.get(row)?.item.what(known.look.as_deref()?),
        }
    }

    fn enter(&mut self, known: &Known) -> Entered {
        let Some(look) = known.look.clone() else { return Entered::Nothing("nothing was read yet") };
        let tree = self.inside.is_empty() && self.view == FabricView::Tree;
        if let Some(item) = self.item().filter(|_| tree) {
            return self.toggle(item, known);
        }
        match self.current(known) {
            Some(Resolved::Node(id)) => self.go_into(id, known),
            Some(what) => match peer_node(&look, what) {
                Some(node) => self.go_into(node, known),
                None => return Entered::Nothing("this port has no cable"),
            },
            None => return Entered::Nothing("there is nothing under the cursor"),
        }
        Entered::Done
    }

    fn can_enter(&self, known: &Known) -> bool {
        let Some(look) = known.look.as_deref() else { return false };
        let tree = self.inside.is_empty() && self.view == FabricView::Tree;
        match (tree.then(|| self.item()).flatten(), self.current(known)) {
            (Some(TreeItem::Port(port)), _) => peer_node(look, Resolved::Port(port)).is_some(),
            (Some(_), _) | (None, Some(Resolved::Node(_))) => true,
            (None, what) => what.is_some_and(|what| peer_node(look, what).is_some()),
        }
    }

    fn walk(&mut self, known: &Known, direction: Direction, width: u16) -> bool {
        if !self.shows_map() {
            return false;
        }
        if let Some(to) = map::neighbour(known, &self.map.table, direction, width) {
            self.map.table.to(to);
        }
        true
    }

    fn out(&mut self, known: &Known) -> bool {
        if self.inside.pop().is_none() {
            return false;
        }
        if let Some(look) = known.look.clone() {
            self.ports = TableOf::default();
            self.show_inside(&look, known);
        }
        true
    }

    /// A filter in the tree also searches closed items.
    fn filtered(&mut self, known: &Known) {
        if self.list().is_none() {
            self.make_tree(known, true);
        }
    }

    fn next_view(&mut self, known: &Known, forward: bool) -> Result<(), &'static str> {
        self.inside.clear();
        let at = FabricView::ALL.iter().position(|view| *view == self.view).unwrap_or(0);
        let count = FabricView::ALL.len();
        self.view = FabricView::ALL[(at + if forward { 1 } else { count - 1 }) % count];
        self.refilter(known);
        Ok(())
    }

    fn carry_over(&mut self, again: &dyn Fn(Resolved) -> Option<Resolved>) {
        self.open = self.open.iter().filter_map(|item| item.in_another(again)).collect();
        let inside = self.inside.iter().map_while(|node| again_node(*node, again));
        self.inside = inside.collect();
        let tables = [&mut self.tree, &mut self.switches.table, &mut self.hosts.table, &mut self.map.table];
        for table in tables.into_iter().chain([&mut self.ports.table]) {
            table.selected = table.selected.iter().filter_map(|what| again(*what)).collect();
        }
    }

    fn refresh(&mut self, known: &Known) {
        let Some(look) = known.look.clone() else { return };
        let of = (Arc::as_ptr(&look) as usize, known.arranged);
        if self.of == Some(of) {
            return;
        }
        // A small tree fits on a screen, so it is open from the start.
        let first = self.of.is_none_or(|(_, arranged)| arranged == 0);
        let switches: usize = known.tiers.iter().map(|tier| tier.switches.len()).sum();
        if first && self.open.is_empty() && switches <= AT_ONCE {
            // Racks and hosts stay closed, because hosts are shown at their switches.
            self.open.extend((0..known.tiers.len()).map(TreeItem::Tier));
        }
        self.of = Some(of);
        if !self.inside.is_empty() {
            self.show_inside(&look, known);
        }
        self.switches.show(Rowset::switches(&look), known);
        self.hosts.show(Rowset::hosts(&look), known);
        let by_rank = known.tiers.iter().flat_map(|tier| tier.switches.iter().copied()).collect();
        self.map.show(Rowset::Switches(by_rank), known);
        self.make_tree(known, false);
    }

    fn command(&self, known: &Known) -> Option<String> {
        let unique = |look: &Look, node: NodeId| look.names.unique(look.fabric(), node);
        let node = self.inside.last().and_then(|node| Some(unique(known.look.as_ref()?, *node)));
        Some(match (node, self.view) {
            (Some(name), _) => format!(
                "show ports --filter {}",
                crate::session::interactive::quoted(&format!("node=\"{name}\""))
            ),
            (None, FabricView::Hosts) => "show hosts".to_owned(),
            (None, _) => "show switches".to_owned(),
        })
    }

    fn is_printed(&self) -> bool {
        self.list().is_some()
    }

    fn when_empty(&self, known: &Known) -> String {
        if known.tiers.is_empty() && known.look.as_ref().is_some_and(|look| look.fabric().switch_count() > 0)
        {
            return "the switches are being sorted by rank".to_owned();
        }
        "the fabric has no switch".to_owned()
    }
}

impl FabricScreen {
    fn refilter(&mut self, known: &Known) {
        match (self.inside.is_empty(), self.view) {
            (false, _) => self.ports.refresh(known),
            (_, FabricView::Tree) => self.make_tree(known, false),
            (_, FabricView::Switches) => self.switches.refresh(known),
            (_, FabricView::Hosts) => self.hosts.refresh(known),
            (_, FabricView::Map) => self.map.refresh(known),
        }
    }
}
