//! Draws the map as lines: switches as boxes, cables between them in dots, hosts below their switches.

use ratatui::layout::Rect;
use rustc_hash::FxHashSet;

use super::draw_map::switch_symbol;
use super::drawn_map::DrawnMap;
use super::figures::{FigureTable, MapFigures, MapQuantity, step_role};
use super::line_layout::{CablePlace, HostRows, LineLayout, SwitchPlace};
use super::lit_path::LitPath;
use crate::catalogue::snapshot::Snapshot;
use crate::console::drawing::braille::{CellSharing, DotGrid};
use crate::console::drawing::canvas::{Canvas, shorten_name, width};
use crate::console::drawing::gauge::bar_symbol;
use crate::console::drawing::theme::Role;
use crate::console::features::screen::Screen as _;
use crate::console::features::whatif::whatif_layout::shares_cursor;
use crate::console::model::mouse::ClickTarget;
use crate::console::model::state::SessionState;
use crate::operations::fabric_map::groups::name_range;
use crate::operations::fabric_map::structure::{AttachedHost, MapCable, MapStructure, MapSwitch};
use fabdeck_fabric::{ElementId, LinkId, NodeId};

/// Weights of the lines that share a cell: the cursor, the lit path, marks, then the worse value.
const CURSOR_WEIGHT: i32 = 300;
const LIT_WEIGHT: i32 = 200;
const MARK_WEIGHT: i32 = 100;
/// Dots of a dash: of marked and failed cables, and of cables without a value.
const MARK_DASH: i32 = 3;
const UNKNOWN_DASH: i32 = 1;

/// What a drawing of lines shows.
struct LineMap<'s> {
    state: &'s SessionState,
    look: &'s Snapshot,
    structure: &'s MapStructure,
    layout: &'s LineLayout,
    /// The element at the cursor.
    cursor: Option<ElementId>,
    figures: &'s FigureTable,
    quantity: MapQuantity,
    /// The figures of the hosts, which the side of a preview has none of.
    hosts: Option<(&'s FigureTable, MapQuantity)>,
    lit: Option<&'s LitPath>,
    /// Whether what is marked looks failed.
    shows_marks: bool,
    /// Whether its lines and boxes can be clicked.
    is_clickable: bool,
    /// The switches that pass the filter; `None` without a filter.
    found: Option<FxHashSet<NodeId>>,
}

/// One of two maps beside each other: the paths that colour it, and whether it is a preview, in which what is marked looks failed.
#[derive(Clone, Copy, Debug)]
pub struct MapSide<'s> {
    pub figures: &'s FigureTable,
    /// The figures of the hosts, where there are any.
    pub hosts: Option<(&'s FigureTable, MapQuantity)>,
    pub shows_marks: bool,
}

/// How a cable is drawn.
#[derive(Clone, Copy)]
struct CableStyle {
    role: Role,
    weight: i32,
    dash: i32,
    /// Whether an ASCII drawing leaves it out.
    idle: bool,
}

/// Draws the map of the screen with its cursor, path and legend.
pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let map = &state.screens.map.drawn;
    let (Some(look), Some(structure), Some(layout)) = (state.snapshot(), &map.structure, &map.layout) else {
        return;
    };
    let cursor = state.current().current(&state.known);
    let found = found_switches(state);
    let lines = LineMap { cursor, is_clickable: true, found, ..LineMap::new(state, look, structure, layout) };
    lines.draw(canvas, area);
    super::draw_path::draw_footer(canvas, area, state, layout.footer);
}

/// Draws a map by paths with the cursor of the screen, and without legend; returns false where it has no room.
pub fn draw_side(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, side: &MapSide<'_>) -> bool {
    let (Some(look), Some(structure)) = (state.snapshot(), &state.screens.map.drawn.structure) else {
        return false;
    };
    let Some(layout) = LineLayout::new(structure, (area.width, area.height), false) else { return false };
    let lines = LineMap::new(state, look, structure, &layout);
    let MapSide { figures, hosts, shows_marks } = *side;
    let cursor = state.screens.map.current(&state.known).filter(|_| shares_cursor(state));
    let quantity = MapQuantity::Paths;
    LineMap { figures, quantity, hosts, lit: None, shows_marks, cursor, is_clickable: true, ..lines }
        .draw(canvas, area);
    true
}

/// Draws the map without cursor and legend, as large as the area allows; returns false where it has no room.
pub fn draw_small_map(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) -> bool {
    let (Some(look), Some(structure)) = (state.snapshot(), &state.screens.map.drawn.structure) else {
        return false;
    };
    let Some(layout) = LineLayout::new(structure, (area.width, area.height + 1), false) else { return false };
    LineMap::new(state, look, structure, &layout).draw(canvas, area);
    true
}

fn found_switches(state: &SessionState) -> Option<FxHashSet<NodeId>> {
    let table = state.current().table();
    let narrowed = !table.filter.is_empty() && table.problem.is_none();
    let node = |row: &usize| match state.current().element(*row, &state.known) {
        Some(ElementId::Node(id)) => Some(id),
        _ => None,
    };
    narrowed.then(|| table.selection.rows.iter().filter_map(node).collect())
}

impl<'s> LineMap<'s> {
    /// The map as the Map has it, without cursor and filter.
    fn new(
        state: &'s SessionState,
        look: &'s Snapshot,
        structure: &'s MapStructure,
        layout: &'s LineLayout,
    ) -> Self {
        let DrawnMap { figures, quantity, lit, .. } = &state.screens.map.drawn;
        let (quantity, lit) = (*quantity, lit.as_ref());
        let (cursor, found, is_clickable) = (None, None, false);
        Self {
            state,
            look,
            structure,
            layout,
            cursor,
            figures,
            quantity,
            hosts: Some((figures, quantity)),
            lit,
            shows_marks: true,
            is_clickable,
            found,
        }
    }

    fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let mut dots = DotGrid::new(area.width, area.height, CellSharing::OneLine);
        // In ASCII idle cables would hide the others; where all are idle they are the map.
        let has_busy = self.structure.cables.iter().any(|cable| !self.cable_style(cable).idle);
        for (cable, place) in self.structure.cables.iter().zip(&self.layout.cables) {
            let style = self.cable_style(cable);
            if style.idle && !canvas.signs.braille && has_busy {
                continue;
            }
            dots.begin_line(cable.link.0);
            let middle = place.bend.unwrap_or(place.to);
            dots.draw_line(place.from, middle, style.role, style.weight, style.dash);
            if place.bend.is_some() {
                dots.draw_line(middle, place.to, style.role, style.weight, style.dash);
            }
        }
        dots.draw(canvas, area);
        if self.is_clickable {
            self.add_targets(canvas, area, &dots);
        }
        for (at, (switch, place)) in self.structure.switches.iter().zip(&self.layout.switches).enumerate() {
            match place.height {
                3 => self.draw_box(canvas, area, at, switch, *place),
                _ => self.draw_sign(canvas, area, switch, *place),
            }
        }
        for (cable, place) in self.structure.cables.iter().zip(&self.layout.cables) {
            self.draw_width(canvas, area, cable.link, *place);
            self.draw_miscabled(canvas, area, cable.link, *place);
        }
        let lowest = self.structure.ranks.len().saturating_sub(1);
        for (switch, place) in self.structure.switches.iter().zip(&self.layout.switches) {
            if switch.rank == lowest && !switch.hosts.is_empty() {
                self.draw_hosts(canvas, area, switch, *place);
            }
        }
    }

    /// Lists the cells of cables, the boxes and signs of switches, and with a switch the hosts below it.
    fn add_targets(&self, canvas: &mut Canvas<'_>, area: Rect, dots: &DotGrid) {
        if !canvas.targets.is_listed {
            return;
        }
        for ((x, y), link) in dots.numbered_cells().filter(|((x, y), _)| *x < area.width && *y < area.height)
        {
            let cell = Rect { x: area.x + x, y: area.y + y, width: 1, height: 1 };
            canvas.add_target(cell, ClickTarget::Cable(link));
        }
        let lowest = self.structure.ranks.len().saturating_sub(1);
        for (switch, place) in self.structure.switches.iter().zip(&self.layout.switches) {
            let place =
                Rect { x: area.x + place.x, y: area.y + place.y, width: place.width, height: place.height };
            canvas.add_target(place.intersection(area), ClickTarget::Switch(switch.id.0));
            if switch.rank == lowest && !switch.hosts.is_empty() {
                let rows = match self.layout.hosts {
                    HostRows::None => 0,
                    HostRows::Named(rows) => rows,
                    HostRows::Bars => 2,
                };
                let hosts = Rect { y: area.y + self.layout.hosts_y, height: rows, ..place };
                canvas.add_target(hosts.intersection(area), ClickTarget::Switch(switch.id.0));
            }
        }
    }

    fn is_found(&self, node: NodeId) -> bool {
        self.found.as_ref().is_none_or(|found| found.contains(&node))
    }

    fn is_failed(&self, what: ElementId) -> bool {
        self.shows_marks && self.state.known.is_failed(what)
    }

    fn is_lit(&self, link: LinkId) -> bool {
        self.lit.is_some_and(|lit| lit.has_link(link))
    }

    fn cable_style(&self, cable: &MapCable) -> CableStyle {
        let link = cable.link;
        let style = |role, weight, dash| CableStyle { role, weight, dash, idle: false };
        let ends = [cable.upper, cable.lower].map(|at| self.structure.switches[at].id);
        if self.cursor == Some(ElementId::Link(link)) {
            return style(Role::Key, CURSOR_WEIGHT, 0);
        }
        if !ends.into_iter().any(|end| self.is_found(end)) {
            return CableStyle { idle: true, ..style(Role::Grid, -2, 0) };
        }
        if self.is_failed(ElementId::Link(link)) {
            return style(Role::Marked, MARK_WEIGHT, MARK_DASH);
        }
        if self.look.is_down(link) {
            return style(Role::LinkDown, MARK_WEIGHT, MARK_DASH);
        }
        if self.is_lit(link) {
            return style(Role::Strong, LIT_WEIGHT, 0);
        }
        let quantity = self.quantity;
        match self.figures.link(link).step(quantity) {
            Some(0) => CableStyle { idle: true, ..style(Role::Border, 0, 0) },
            Some(step) => style(step_role(quantity, step), step.into(), 0),
            None => CableStyle { idle: true, ..style(Role::Border, -1, UNKNOWN_DASH) },
        }
    }

    /// The role of a switch and the sign of its trouble.
    fn switch_look(&self, canvas: &Canvas<'_>, switch: &MapSwitch) -> (&'static str, Role) {
        let (sign, role) = switch_symbol(canvas, self.state, self.look, switch.id, self.shows_marks);
        let trouble = canvas.signs.map[1..].contains(&sign);
        if trouble { (sign, role) } else { ("", Role::Strong) }
    }

    fn draw_box(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        at: usize,
        switch: &MapSwitch,
        place: SwitchPlace,
    ) {
        let here = self.cursor == Some(ElementId::Node(switch.id));
        let lit = self.lit.is_some_and(|lit| lit.has_node(switch.id));
        let (sign, role) = self.switch_look(canvas, switch);
        let border = match () {
            () if here => Role::Key,
            () if role == Role::Marked => Role::Marked,
            () if lit => Role::Strong,
            () => Role::Border,
        };
        let signs = canvas.signs;
        let [upper_left, upper_right, lower_left, lower_right] = signs.corners;
        let line = signs.rule.repeat(usize::from(place.width.saturating_sub(2)));
        canvas.draw_text(area, place.x, place.y, &format!("{upper_left}{line}{upper_right}"), border);
        let blank = " ".repeat(usize::from(place.width.saturating_sub(2)));
        canvas.draw_text(area, place.x, place.y + 1, &format!("{0}{blank}{0}", signs.beside), border);
        canvas.draw_text(area, place.x, place.y + 2, &format!("{lower_left}{line}{lower_right}"), border);
        self.draw_ticks(canvas, area, at, place, border);
        let room = Rect { x: area.x + place.x + 1, width: place.width.saturating_sub(2), ..area };
        let role = match (here, self.is_found(switch.id)) {
            (true, _) => Role::Cursor,
            (false, false) => Role::Faint,
            (false, true) => role,
        };
        let name = self.look.name(switch.id);
        let figures = self.figures.node(switch.id);
        let is_zero = figures.step(self.quantity) == Some(0);
        let figure = figures.text(self.quantity);
        let figure = figure.map(|text| format!("{} {text}", self.quantity.word())).unwrap_or_default();
        let title = if sign.is_empty() { name.to_owned() } else { format!("{sign} {name}") };
        let wide = width(&title) + width(&figure) + 4 <= room.width;
        if wide && !figure.is_empty() {
            canvas.draw_text(room, 1, place.y + 1, &title, role);
            let figure_role = match (here, is_zero) {
                (true, _) => Role::Cursor,
                (false, true) => Role::Faint,
                (false, false) => self.quantity.colours().figure_role(),
            };
            let x = room.width.saturating_sub(width(&figure) + 1);
            canvas.draw_text(room, x, place.y + 1, &figure, figure_role);
            return;
        }
        // The sign stays whole, so that the name keeps its number.
        let beside = if sign.is_empty() { 0 } else { width(sign) + 1 };
        let name = shorten_name(name, room.width.saturating_sub(beside), signs.more);
        let title = if sign.is_empty() { name } else { format!("{sign} {name}") };
        canvas.draw_text(room, (room.width.saturating_sub(width(&title))) / 2, place.y + 1, &title, role);
    }

    /// Draws the ticks of a box where its cables begin.
    fn draw_ticks(&self, canvas: &mut Canvas<'_>, area: Rect, at: usize, place: SwitchPlace, role: Role) {
        let [above, below] = canvas.signs.ticks;
        for (cable, line) in self.structure.cables.iter().zip(&self.layout.cables) {
            for (end, dot) in [(cable.upper, line.from), (cable.lower, line.to)] {
                if end != at {
                    continue;
                }
                let (x, under) = ((dot.0 / 2).max(0) as u16, dot.1 / 4 >= i32::from(place.below()));
                let (y, sign) = if under { (place.y + 2, below) } else { (place.y, above) };
                canvas.draw_text(area, x, y, sign, role);
            }
        }
    }

    /// Draws a switch of a rank with many as a sign.
    fn draw_sign(&self, canvas: &mut Canvas<'_>, area: Rect, switch: &MapSwitch, place: SwitchPlace) {
        let (sign, role) = switch_symbol(canvas, self.state, self.look, switch.id, self.shows_marks);
        if self.cursor == Some(ElementId::Node(switch.id)) {
            let x = place.x.saturating_sub(1);
            canvas.draw_text(area, x, place.y, &format!("[{sign}]"), Role::Cursor);
            return;
        }
        let role = if self.is_found(switch.id) { role } else { Role::Faint };
        canvas.draw_text(area, place.x, place.y, sign, role);
    }

    /// Draws the width of a cable below its width on its middle.
    fn draw_width(&self, canvas: &mut Canvas<'_>, area: Rect, link: LinkId, place: CablePlace) {
        if self.look.is_degraded(link) != Some(true) || self.look.is_down(link) {
            return;
        }
        let word = self.look.width_in_use(link).map_or("", |width| width.word());
        // Parallel cables have their signs at different heights.
        let tenths = if link.0.is_multiple_of(2) { 5 } else { 6 };
        let (x, y) = place.cell_at(tenths);
        let sign = format!("{}{word}", canvas.signs.severity[1]);
        canvas.draw_text(area, x.saturating_sub(1), y, &sign, Role::Warning);
    }

    /// Draws a sign on a cable that is not as planned.
    fn draw_miscabled(&self, canvas: &mut Canvas<'_>, area: Rect, link: LinkId, place: CablePlace) {
        if self.state.known.health.is_miscabled(link) {
            // The width of a narrow cable stands on its middle.
            let (x, y) = place.cell_at(if link.0.is_multiple_of(2) { 3 } else { 7 });
            canvas.draw_text(area, x, y, canvas.signs.miscabled, Role::Warning);
        }
    }

    fn draw_hosts(&self, canvas: &mut Canvas<'_>, area: Rect, switch: &MapSwitch, place: SwitchPlace) {
        let x = area.x + place.x;
        let room = Rect { x, width: place.width.min(area.right().saturating_sub(x)), ..area };
        let y = self.layout.hosts_y;
        match self.layout.hosts {
            HostRows::None => {}
            HostRows::Named(rows) => {
                for (y, host) in (y..y + rows).zip(&switch.hosts) {
                    self.draw_named_host(canvas, room, y, host, self.is_found(switch.id));
                }
            }
            HostRows::Bars => {
                let step = if switch.hosts.len() * 2 <= usize::from(room.width) { 2 } else { 1 };
                for (x, host) in (0..room.width).step_by(step).zip(&switch.hosts) {
                    let (sign, role) = self.host_symbol(canvas, host);
                    let role = if self.is_found(switch.id) { role } else { Role::Faint };
                    canvas.draw_text(room, x, y, sign, role);
                }
                self.draw_host_range(canvas, room, y + 1, &switch.hosts);
            }
        }
    }

    fn draw_named_host(&self, canvas: &mut Canvas<'_>, room: Rect, y: u16, host: &AttachedHost, found: bool) {
        let (sign, role) = self.host_symbol(canvas, host);
        let lit = self.is_lit(host.link);
        let name = self.look.host_name(host.node);
        let (figures, quantity) = self.host_figures(host);
        let busy = figures.step(quantity).is_some_and(|step| step > 0);
        let name_role = match () {
            () if !found => Role::Faint,
            () if lit => Role::Strong,
            () if busy || role == Role::Marked => Role::Text,
            () => Role::Dim,
        };
        let figure = figures.short_text(quantity).filter(|_| busy).unwrap_or_default();
        // A blank separates the bar from the name: a long name moves it, where the figure leaves room.
        let moved = u16::from(width(&name) + 4 >= room.width && width(&figure) < 3);
        let beside = room.width.saturating_sub(4 - moved);
        let name = shorten_name(&name, beside.saturating_sub(1), canvas.signs.more);
        canvas.draw_text(room, 0, y, &name, name_role);
        canvas.draw_text(room, beside, y, sign, if found { role } else { Role::Faint });
        canvas.draw_right_aligned(
            room,
            beside + 1,
            y,
            &figure,
            if found { quantity.colours().figure_role() } else { Role::Faint },
        );
    }

    /// The figures of a host's cable, none on the side of a preview.
    fn host_figures(&self, host: &AttachedHost) -> (MapFigures, MapQuantity) {
        match self.hosts {
            Some((figures, quantity)) => (figures.link(host.link), quantity),
            None => (MapFigures::default(), self.quantity),
        }
    }

    /// The bar of a host: its trouble, or the worse figure of its cable.
    fn host_symbol(&self, canvas: &Canvas<'_>, host: &AttachedHost) -> (&'static str, Role) {
        if self.is_failed(ElementId::Node(host.node)) || self.is_failed(ElementId::Link(host.link)) {
            return (canvas.signs.map[3], Role::Marked);
        }
        if self.look.is_down(host.link) {
            return (canvas.signs.map[2], Role::LinkDown);
        }
        if self.state.known.health.is_miscabled(host.link) {
            return (canvas.signs.miscabled, Role::Warning);
        }
        let (figures, quantity) = self.host_figures(host);
        match (figures.step(quantity), figures.share(quantity)) {
            (Some(0), _) => (canvas.signs.untold, Role::Dim),
            (Some(step), share) => (bar_symbol(canvas, share.unwrap_or(0.0)), step_role(quantity, step)),
            (None, _) if self.hosts.is_none() => ("", Role::Faint),
            (None, _) => (canvas.signs.severity[3], Role::Faint),
        }
    }

    /// The first and the last host of a switch in a row.
    fn draw_host_range(&self, canvas: &mut Canvas<'_>, room: Rect, y: u16, hosts: &[AttachedHost]) {
        let name = |host: &AttachedHost| self.look.host_name(host.node).into_owned();
        let text = match hosts {
            [] => String::new(),
            [one] => name(one),
            [first, .., last] => name_range(&name(first), &name(last)),
        };
        let text = match width(&text) > room.width {
            true => format!("{} hosts", hosts.len()),
            false => text,
        };
        canvas.draw_text(room, 0, y, &text, Role::Dim);
    }
}
