//! The state of the drawn map: its structure and layout, the quantity of its colours, the lit path, and the cable at the
//! cursor. Everything that is summed up over the fabric is made here, after an event, and only read by a frame.

use std::sync::Arc;

use super::draw_ring::ring_fits;
use super::draw_slice::slice_fits;
use super::figure_task::update_figures;
use super::figures::{FigureTable, MapFigures, MapQuantity};
use super::line_layout::LineLayout;
use super::lit_path::LitPath;
use super::matrix::{MatrixState, update_matrix, update_pair_detail};
use super::torus::{SliceCursor, TorusShape};
use crate::console::features::screen::CursorDirection;
use crate::console::features::screens::ScreenId;
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::tasks::TaskId;
use crate::operations::fabric_map::groups::GroupKind;
use crate::operations::fabric_map::structure::{MapCable, MapStructure};
use crate::operations::trace::path_trace::Trace;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_fabric::{ElementId, LinkId, NodeId};

/// What a lit path depends on: the reading, the snapshot, and the path that the operator follows.
type LitSource = (Option<usize>, Option<usize>, Option<Trace>);

#[derive(Clone, Debug, Default)]
pub struct DrawnMap {
    pub structure: Option<Arc<MapStructure>>,
    pub quantity: MapQuantity,
    pub figures: FigureTable,
    /// The task that makes the figures of a later reading.
    pub figure_task: Option<TaskId>,
    /// Whether the figures of small fabrics are made by a task too.
    pub figures_behind: bool,
    pub lit: Option<LitPath>,
    /// The cable at the cursor; without one, the cursor is on a switch.
    pub cable: Option<LinkId>,
    /// The layout of the lines; `None` where the area is too small or the fabric too large for them.
    pub layout: Option<LineLayout>,
    /// The worst figures of each bundle and of each group, for a dragonfly.
    pub bundles: Vec<MapFigures>,
    pub groups: Vec<MapFigures>,
    /// The structure that these are for, by its address.
    sums_of: Option<usize>,
    /// The place of the cursor in a torus.
    pub slice: SliceCursor,
    /// Columns and rows of the map.
    pub room: (u16, u16),
    /// What is shown instead of lines where the fabric is too large for them.
    pub matrix: MatrixState,
    /// The structure, the size and the room for a path that the layout is for.
    layout_of: Option<(usize, (u16, u16), bool)>,
    lit_of: Option<LitSource>,
}

impl DrawnMap {
    pub fn set_structure(&mut self, structure: MapStructure) {
        self.structure = Some(Arc::new(structure));
    }

    /// Converts ids to those of a new snapshot, until its structure is made.
    pub fn carry_over(&mut self, again: &dyn Fn(ElementId) -> Option<ElementId>) {
        let structure = self.structure.take();
        self.structure = structure.and_then(|structure| structure.carry_over(again)).map(Arc::new);
        self.cable = match self.cable.map(|link| again(ElementId::Link(link))) {
            Some(Some(ElementId::Link(link))) => Some(link),
            _ => None,
        };
        (self.figures, self.lit, self.lit_of) = (FigureTable::default(), None, None);
        (self.bundles, self.groups, self.sums_of) = (Vec::new(), Vec::new(), None);
        self.matrix.reset();
    }

    /// Whether a slice of a torus is shown.
    pub fn shows_slice(&self, room: (u16, u16)) -> bool {
        self.torus().is_some_and(|shape| slice_fits(shape, room))
    }

    /// The shape of the torus, where the fabric is one.
    pub fn torus(&self) -> Option<&TorusShape> {
        self.structure.as_ref()?.torus.as_ref()
    }

    /// Whether the whole fabric is shown as a ring of groups.
    pub fn shows_ring(&self) -> bool {
        self.matrix.shown && self.matrix.is_whole() && self.has_ring()
    }

    /// Whether the fabric is a dragonfly whose ring fits on the screen.
    pub fn has_ring(&self) -> bool {
        let ring = |structure: &Arc<MapStructure>| {
            structure.groups.kind == GroupKind::Dragonfly && ring_fits(&structure.groups, self.room)
        };
        self.structure.as_ref().is_some_and(ring)
    }

    /// Shows a slice of the torus, where there is one with this number.
    pub fn choose_slice(&mut self, slice: usize) {
        if self.torus().is_some_and(|shape| slice < shape.slice_count()) {
            self.slice.slice = slice;
        }
    }

    /// Moves the cursor of the slices to a switch; returns whether the torus has it.
    pub fn move_to_slice_switch(&mut self, node: NodeId) -> bool {
        let place = self.structure.as_ref().and_then(|structure| {
            let shape = structure.torus.as_ref()?;
            let at = structure.switches.iter().position(|switch| switch.id == node)?;
            shape.place_of(at)
        });
        if let Some((slice, at)) = place {
            self.slice = SliceCursor { slice, at };
        }
        place.is_some()
    }

    /// The switch at the cursor of a slice.
    pub fn slice_switch(&self) -> Option<NodeId> {
        let structure = self.structure.as_ref()?;
        let at = structure.torus.as_ref()?.switch(self.slice.slice, self.slice.at)?;
        structure.switches.get(at).map(|switch| switch.id)
    }

    pub fn set_figures(&mut self, figures: FigureTable) {
        (self.figures, self.sums_of) = (figures, None);
    }

    /// Sums up bundles and groups where the structure or the figures have changed.
    fn sum_up(&mut self) {
        let Some(structure) = self.structure.clone() else { return };
        let address = Some(Arc::as_ptr(&structure) as usize);
        if self.sums_of == address {
            return;
        }
        let worst = |all: &mut dyn Iterator<Item = MapFigures>| {
            let mut sum = MapFigures::default();
            all.for_each(|figures| sum.worsen(&figures));
            sum
        };
        let bundles = structure.bundles.iter().map(|bundle| {
            worst(&mut bundle.cables.iter().map(|at| self.figures.link(structure.cables[*at].link)))
        });
        let groups = structure.groups.groups.iter().map(|range| {
            let leaves = &structure.groups.leaves[range.clone()];
            worst(&mut leaves.iter().map(|at| self.figures.node(structure.switches[*at].id)))
        });
        (self.bundles, self.groups, self.sums_of) = (bundles.collect(), groups.collect(), address);
    }

    /// Where the cursor goes from a switch or from the cable at it.
    pub fn neighbour(&self, switch: NodeId, direction: CursorDirection) -> Option<MapCursor> {
        let (structure, layout) = (self.structure.as_ref()?, self.layout.as_ref()?);
        let at = structure.switches.iter().position(|other| other.id == switch)?;
        let walk = MapWalk { structure, layout, at };
        match self.cable.and_then(|link| structure.cables.iter().position(|cable| cable.link == link)) {
            Some(cable) => walk.step_from_cable(cable, direction),
            None => walk.step_from_switch(direction),
        }
    }
}

/// A place of the cursor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapCursor {
    Switch(NodeId),
    Cable(LinkId),
}

/// The ways of the cursor from a switch of the drawn map.
struct MapWalk<'m> {
    structure: &'m MapStructure,
    layout: &'m LineLayout,
    at: usize,
}

impl MapWalk<'_> {
    fn switch(&self, at: usize) -> MapCursor {
        MapCursor::Switch(self.structure.switches[at].id)
    }

    fn cable(&self, at: usize) -> MapCursor {
        MapCursor::Cable(self.structure.cables[at].link)
    }

    /// Left and right stay in the rank; up and down go to the nearest cable on that side.
    fn step_from_switch(&self, direction: CursorDirection) -> Option<MapCursor> {
        let rank = |at: usize| self.structure.switches.get(at).map(|switch| switch.rank);
        let beside = |at: usize| (rank(at) == rank(self.at)).then(|| self.switch(at));
        match direction {
            CursorDirection::Left => self.at.checked_sub(1).and_then(beside),
            CursorDirection::Right => beside(self.at + 1),
            CursorDirection::Down => self.nearest_cable(true),
            CursorDirection::Up => self.nearest_cable(false),
        }
    }

    /// Left and right go through the cables of the same switch and side; up and down go to the ends.
    fn step_from_cable(&self, cable: usize, direction: CursorDirection) -> Option<MapCursor> {
        let MapCable { upper, lower, .. } = self.structure.cables[cable];
        let beside = self.cables(upper == self.at);
        let at = beside.iter().position(|other| *other == cable)?;
        match direction {
            CursorDirection::Up => Some(self.switch(upper)),
            CursorDirection::Down => Some(self.switch(lower)),
            CursorDirection::Left => beside.get(at.checked_sub(1)?).map(|at| self.cable(*at)),
            CursorDirection::Right => beside.get(at + 1).map(|at| self.cable(*at)),
        }
    }

    /// The cables of the switch whose lower, or upper, end is elsewhere, from left to right at the switch.
    fn cables(&self, down: bool) -> Vec<usize> {
        let own = |cable: &MapCable| if down { cable.upper == self.at } else { cable.lower == self.at };
        let cables = self.structure.cables.iter().enumerate();
        let mut cables: Vec<usize> = cables.filter(|(_, cable)| own(cable)).map(|(at, _)| at).collect();
        let place = |at: &usize| {
            let place = self.layout.cables[*at];
            if down { (place.from.0, place.to.0) } else { (place.to.0, place.from.0) }
        };
        cables.sort_by_key(place);
        cables
    }

    fn nearest_cable(&self, down: bool) -> Option<MapCursor> {
        let middle = i32::from(self.layout.switches[self.at].middle()) * 2;
        let far = |at: &usize| {
            let place = self.layout.cables[*at];
            let x = if down { place.to.0 } else { place.from.0 };
            (x.abs_diff(middle), *at)
        };
        self.cables(down).into_iter().min_by_key(far).map(|at| self.cable(at))
    }
}

/// Brings the drawn map up to date after an event: figures of a new reading, the lit path, and the layout.
pub fn update_drawn_map(state: &mut SessionState) -> Vec<Effect> {
    let mut effects: Vec<Effect> = update_figures(state).into_iter().collect();
    state.screens.map.drawn.sum_up();
    let known = &state.known;
    let address = |reading: &Arc<WatchVerdict>| Arc::as_ptr(reading) as usize;
    let followed = state.screens.paths.trace.as_ref().filter(|_| state.screens.paths.users.is_none());
    let lit_of = (
        known.watch.reading.as_ref().map(address),
        known.look.as_ref().map(|look| Arc::as_ptr(look) as usize),
        followed.cloned(),
    );
    if state.screens.map.drawn.lit_of.as_ref() != Some(&lit_of) {
        let lit = match followed {
            Some(trace) => LitPath::from_trace(trace, known, ""),
            None => LitPath::of_worst_problem(known),
        };
        let map = &mut state.screens.map.drawn;
        (map.lit, map.lit_of) = (lit, Some(lit_of));
    }
    let room = update_layout(state);
    effects.extend(update_matrix(state, room));
    effects.extend(update_pair_detail(state));
    effects
}

/// Brings the layout of lines up to date, and returns the room of the map.
fn update_layout(state: &mut SessionState) -> (u16, u16) {
    let areas = state.areas_of(ScreenId::Map);
    let above = match state.known.missing_note() {
        Some(_) => 1,
        None => 0,
    };
    let size = (areas.body.width, areas.body.height.saturating_sub(above));
    let path = areas.details_pane.is_empty();
    let map = &mut state.screens.map.drawn;
    map.room = size;
    let Some(structure) = map.structure.clone() else {
        (map.layout, map.layout_of) = (None, None);
        return size;
    };
    let layout_of = (Arc::as_ptr(&structure) as usize, size, path);
    if map.layout_of != Some(layout_of) {
        let lines = if map.shows_slice(size) { None } else { LineLayout::new(&structure, size, path) };
        (map.layout, map.layout_of) = (lines, Some(layout_of));
    }
    let gone = |link: &LinkId| structure.cables.iter().all(|cable| cable.link != *link);
    if map.layout.is_none() || map.cable.as_ref().is_some_and(gone) {
        map.cable = None;
    }
    size
}
