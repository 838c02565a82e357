//! Draws the map where lines have no room: a row of characters for each rank, one for each switch. Where there is room, the names of the
//! cursor's rank stand below.

use ratatui::layout::Rect;
use rustc_hash::FxHashSet;

use super::grid::switches_per_line;
use crate::catalogue::snapshot::Snapshot;
use crate::console::drawing::canvas::{Canvas, width};
use crate::console::drawing::heat;
use crate::console::drawing::theme::Role;
use crate::console::model::fabric_model::SwitchRank;
use crate::console::model::state::SessionState;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{ElementId, LinkId, NodeId};

/// Number of free rows from which a heading and two rows of names are worth showing.
const NAMES_MIN_ROWS: usize = 4;
/// Largest width of a name.
const NAME_MAX_WIDTH: u16 = 30;

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let Some(look) = &state.known.look else { return };
    let here = match state.current().current(&state.known) {
        Some(ElementId::Node(id)) => Some(id),
        _ => None,
    };
    let found = FilterMatches::from_state(state);
    let under = match here.and_then(|id| state.known.element(ElementId::Node(id))) {
        None => found.empty_text().unwrap_or_default(),
        Some(under) => under,
    };
    let (area, below) = match area.height {
        0..=3 => (area, Rect { height: 0, ..area }),
        height => {
            let lines = if has_room_beside(canvas, area.width, &under) { 1 } else { 2 };
            let split = height - lines;
            (Rect { height: split, ..area }, Rect { y: area.y + split, height: lines, ..area })
        }
    };
    draw_legend(canvas, below, &under, state);
    let per_row = switches_per_line(area.width);
    let first = first_row(state, per_row, area.height.into());
    let (mut row, mut before) = (0usize, 0usize);
    for tier in &state.known.tiers {
        let put = |canvas: &mut Canvas<'_>, row: usize, x: u16, text: &str, role: Role| {
            let Some(y) = row.checked_sub(first).and_then(|y| u16::try_from(y).ok()) else { return };
            canvas.draw_text(area, x, y, text, role);
        };
        put(canvas, row, 0, &format!("{} ({})", tier.name, tier.switches.len()), Role::Label);
        row += 1;
        let in_sight = |row: usize| row >= first && row < first + usize::from(area.height);
        for (line, switches) in tier.switches.chunks(per_row).enumerate() {
            if !in_sight(row + line) {
                continue;
            }
            for (at, id) in switches.iter().enumerate() {
                let (sign, role) = switch_symbol(canvas, state, look, *id, true);
                let role = if found.contains(before + line * per_row + at) { role } else { Role::Dim };
                let x = 2 + 2 * at as u16;
                match here == Some(*id) {
                    // Brackets mark the cursor on terminals without colours.
                    true => put(canvas, row + line, x - 1, &format!("[{sign}]"), Role::Cursor),
                    false => put(canvas, row + line, x, sign, role),
                }
            }
        }
        row += tier.switches.len().div_ceil(per_row);
        before += tier.switches.len();
    }
    let free = usize::from(area.height).saturating_sub(row + 1);
    let tier = here.and_then(|id| state.known.tiers.iter().find(|tier| tier.switches.contains(&id)));
    if let (Some(tier), Some(here)) = (tier.filter(|_| free >= NAMES_MIN_ROWS), here) {
        let free = free as u16;
        draw_names(
            canvas,
            Rect { y: area.y + area.height - free, height: free, ..area },
            state,
            tier,
            &found,
            here,
        );
    }
}

/// Switches that pass the filter, by their position on the map; `None` without a filter.
struct FilterMatches {
    rows: Option<FxHashSet<usize>>,
    filter: String,
    of: usize,
}

impl FilterMatches {
    fn from_state(state: &SessionState) -> Self {
        let table = state.current().table();
        let narrowed = !table.filter.is_empty() && table.problem.is_none();
        let rows = narrowed.then(|| table.selection.rows.iter().copied().collect());
        Self { rows, filter: table.filter.clone(), of: table.selection.of }
    }

    fn contains(&self, place: usize) -> bool {
        self.rows.as_ref().is_none_or(|rows| rows.contains(&place))
    }

    /// Message for a filter that no switch passes.
    fn empty_text(&self) -> Option<String> {
        let none = self.rows.as_ref().is_some_and(FxHashSet::is_empty);
        none.then(|| {
            format!("no switch of {} matches '{}'; Esc shows all", digits_in_groups(self.of), self.filter)
        })
    }
}

/// First visible row. The rank of the cursor is visible even if not all ranks fit.
fn first_row(state: &SessionState, per_row: usize, height: usize) -> usize {
    let at = state.current().table().row().unwrap_or(0);
    let (mut above, mut before) = (0, 0);
    for tier in &state.known.tiers {
        let count = tier.switches.len();
        if at < before + count {
            let row = above + (at - before) / per_row + 1;
            return (row + 1).saturating_sub(height);
        }
        above += count.div_ceil(per_row) + 1;
        before += count;
    }
    0
}

/// Draws the names of a rank's switches in the order of the map, with their trouble.
fn draw_names(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    tier: &SwitchRank,
    found: &FilterMatches,
    here: NodeId,
) {
    let Some(look) = &state.known.look else { return };
    let tiers = state.known.tiers.iter().take_while(|other| !std::ptr::eq(*other, tier));
    let before: usize = tiers.map(|tier| tier.switches.len()).sum();
    let text = |id: NodeId| match state.known.health.node(id) {
        "" => look.name(id).to_owned(),
        trouble => format!("{}: {trouble}", look.name(id)),
    };
    let widest = tier.switches.iter().map(|id| width(look.name(*id))).max().unwrap_or(0);
    let health = tier.switches.iter().any(|id| !state.known.health.node(*id).is_empty());
    let column = (widest + if health { 2 + TROUBLE_WIDTH } else { 0 }).min(NAME_MAX_WIDTH) + 3;
    let columns = usize::from(area.width / column).max(1);
    let rows = usize::from(area.height.saturating_sub(1));
    let at = tier.switches.iter().position(|id| *id == here).unwrap_or(0) / columns;
    let all = tier.switches.len().div_ceil(columns);
    let top = (at + 1).saturating_sub(rows).min(all.saturating_sub(rows));
    let x = canvas.draw_text(area, 0, 0, &format!("{} by name", tier.name), Role::Label);
    canvas.draw_extent(Rect { height: 1, ..area }, x, top, rows, all);
    for (y, (line, switches)) in (1..area.height).zip(tier.switches.chunks(columns).enumerate().skip(top)) {
        for (at, id) in switches.iter().enumerate() {
            let cell = Rect { x: area.x + at as u16 * column, width: column - 1, ..area };
            let role = match found.contains(before + line * columns + at) {
                _ if *id == here => Role::Cursor,
                true => Role::Text,
                false => Role::Dim,
            };
            canvas.draw_text(cell, 0, y, if *id == here { canvas.signs.cursor } else { "" }, role);
            canvas.draw_name(cell, 2, y, &text(*id), role);
        }
    }
}

/// Width of the longest word for the trouble of a switch.
const TROUBLE_WIDTH: u16 = "a link is degraded".len() as u16;

/// Meanings of the characters, in long and in short words.
const LEGEND_WORDS: [[&str; 4]; 2] = [
    ["well", "a link below its speed", "a link down or marked", "marked"],
    ["well", "degraded", "down/marked", "marked"],
];

fn legend_width(canvas: &Canvas<'_>, words: [&str; 4]) -> u16 {
    canvas.signs.map.iter().zip(words).map(|(sign, words)| width(sign) + width(words) + 3).sum::<u16>() - 2
}

/// Whether the legend fits into one row, at least in short words.
fn has_room_beside(canvas: &Canvas<'_>, room: u16, under: &str) -> bool {
    width(under) + 3 + legend_width(canvas, LEGEND_WORDS[1]) <= room
}

/// Draws what is under the cursor, and the meaning of the characters wherever the screen is wide enough.
fn draw_legend(canvas: &mut Canvas<'_>, at: Rect, under: &str, state: &SessionState) {
    let mut x = canvas.draw_name(at, 0, 0, under, Role::Text);
    x = if x == 0 { 0 } else { x + 3 };
    let y = at.height.saturating_sub(1);
    if y > 0 {
        x = 0;
    }
    let room = at.width.saturating_sub(x);
    let words = LEGEND_WORDS
        .into_iter()
        .find(|words| legend_width(canvas, *words) <= room)
        .unwrap_or(LEGEND_WORDS[1]);
    let roles = [Role::Good, Role::LinkDegraded, Role::LinkDown, Role::Marked];
    let (mut signs, mut words, mut roles) = (canvas.signs.map, words, roles);
    if state.known.watch.reading.is_some() {
        (signs[0], words[0], roles[0]) = (canvas.signs.scale, "load", Role::Heat1);
    }
    for ((sign, words), role) in signs.into_iter().zip(words).zip(roles) {
        x = canvas.draw_text(at, x, y, sign, role);
        x = canvas.draw_text(at, x + 1, y, words, Role::Dim) + 1;
    }
}

/// The sign of a switch: its trouble, or its load during a watch.
pub(super) fn switch_symbol(
    canvas: &Canvas<'_>,
    state: &SessionState,
    look: &Snapshot,
    id: NodeId,
    shows_marks: bool,
) -> (&'static str, Role) {
    let fabric = look.fabric();
    let links = || fabric.ports_of(id).filter_map(|(_, port)| port.link);
    let is_failed = |what| shows_marks && state.known.is_failed(what);
    // A cable to a marked switch is drawn as marked; the switch at this end of it is well.
    let is_marked = |link: LinkId| {
        let ends = [fabric.link(link).a, fabric.link(link).b];
        is_failed(ElementId::Link(link))
            && !ends.iter().any(|end| is_failed(ElementId::Node(fabric.port(*end).node)))
    };
    let [well, degraded, down, marked] = canvas.signs.map;
    match () {
        () if is_failed(ElementId::Node(id)) => (marked, Role::Marked),
        () if links().any(|link| look.is_down(link) || is_marked(link)) => (down, Role::LinkDown),
        () if links().any(|link| look.is_degraded(link) == Some(true)) => (degraded, Role::LinkDegraded),
        () if state.known.health.has_miscabled(id) => (degraded, Role::Warning),
        () => heat::switch_load_symbol(canvas, state, id).unwrap_or((well, Role::Good)),
    }
}
