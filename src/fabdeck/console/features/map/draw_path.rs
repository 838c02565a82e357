//! Draws the lit path, hop by hop, and the rows below the map.

use ratatui::layout::Rect;

use super::draw_map::switch_symbol;
use super::figures::{MapFigures, MapQuantity, port_figures, step_role};
use super::lit_path::{LitHop, LitPath};
use crate::catalogue::snapshot::Snapshot;
use crate::console::drawing::canvas::{Canvas, width};
use crate::console::drawing::gauge::{draw_gauge, step_symbol};
use crate::console::drawing::pane::{PaneHead, draw_pane, draw_rule};
use crate::console::drawing::theme::Role;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::health::problem::{FabricProblem, ProblemKind};
use fabdeck_fabric::ElementId;
use fabdeck_fabric::observe::digits_in_groups;

/// Rows of the pane for a hop: its node, and the cable behind it.
const HOP_ROWS: u16 = 2;
/// Columns of a gauge in the pane.
const GAUGE_WIDTH: u16 = 9;

/// The figures of the port by which the path leaves a node.
fn hop_figures(state: &SessionState, hop: &LitHop) -> Option<MapFigures> {
    port_figures(&state.known, hop.port?)
}

/// The name of a hop: a switch with the port by which the path leaves it, or a host.
fn hop_name(look: &Snapshot, hop: &LitHop) -> String {
    let fabric = look.fabric();
    let name = look.name(hop.node);
    match (fabric.node(hop.node).is_switch(), hop.port) {
        (true, Some(port)) => format!("{name}[{}]", fabric.port(port).number),
        (true, None) => name.to_owned(),
        (false, _) => look.host_name(hop.node).into_owned(),
    }
}

/// Rows that the pane of a path needs, beside a map of this height.
pub fn pane_rows(path: &LitPath, height: u16) -> u16 {
    let hops = u16::try_from(path.hops.len()).unwrap_or(u16::MAX / 4);
    let has_reason = height >= REASON_MIN_HEIGHT && !path.role.is_empty();
    hops.saturating_mul(HOP_ROWS) + 2 + if has_reason { REASON_ROWS } else { 0 }
}

/// Rows of the reason why the host of a path waits, with their rule.
const REASON_ROWS: u16 = 5;
/// Least height of a map with that reason: the element at the cursor comes first.
const REASON_MIN_HEIGHT: u16 = 50;

/// Draws why the first host of a lit path waits: the hot-spot that it ends at, and the cause of that.
fn draw_reason(canvas: &mut Canvas<'_>, area: Rect, y: u16, state: &SessionState, path: &LitPath) {
    let ranked = state.known.problems.ranked.as_ref();
    let last = path.hops.iter().rev().find_map(|hop| hop.port);
    let is_its = |problem: &&FabricProblem| {
        let ends = problem.elements.iter().any(|what| last.map(ElementId::Port) == Some(*what));
        problem.kind == ProblemKind::HotSpot && ends
    };
    let problem = ranked.and_then(|ranked| ranked.problems.iter().find(is_its));
    let Some(problem) = problem.filter(|_| y + 2 < area.height && !path.role.is_empty()) else { return };
    let y = draw_rule(canvas, area, y, "Why it waits");
    let text = format!("{}. {}", problem.title, problem.cause.text);
    let column = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    for (y, line) in (y..area.height).zip(wrap_text(&text, column.width.into())) {
        canvas.draw_text(column, 0, y, &line, Role::Text);
    }
}

/// Draws the pane with the hops of a path; what has no room is counted.
pub fn draw_pane_of(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, path: &LitPath) {
    let Some(look) = state.snapshot() else { return };
    let title = path.title(look);
    let right = [(path.role, Role::Warning)];
    let inside = draw_pane(canvas, area, &PaneHead { title: &title, right: &right, focused: false }, true);
    canvas.draw_text(inside, 1, 0, "hop", Role::Label);
    let half = inside.width / 2;
    canvas.draw_text(inside, 6, 0, "wait", Role::Label);
    canvas.draw_text(inside, half + 2, 0, "load", Role::Label);
    let reason = if path.role.is_empty() { 0 } else { REASON_ROWS };
    // The hops come first where the pane is low.
    let whole = 1 + HOP_ROWS * u16::try_from(path.hops.len()).unwrap_or(u16::MAX / HOP_ROWS - 1);
    if whole.saturating_add(reason) <= inside.height + 1 {
        draw_reason(canvas, inside, whole.saturating_sub(1), state, path);
    }
    let room = usize::from(inside.height.saturating_sub(1) / HOP_ROWS);
    let shown = match path.hops.len() > room + usize::from(inside.height.is_multiple_of(2)) {
        true => room.saturating_sub(1),
        false => path.hops.len(),
    };
    for (at, hop) in path.hops.iter().take(shown).enumerate() {
        let y = 1 + HOP_ROWS * at as u16;
        let is_switch = look.fabric().node(hop.node).is_switch();
        let sign = if is_switch { canvas.signs.map[0] } else { canvas.signs.severity[2] };
        canvas.draw_text(inside, 1, y, sign, Role::Strong);
        canvas.draw_name(inside, 3, y, &hop_name(look, hop), Role::Strong);
        if hop.port.is_none() {
            continue;
        }
        canvas.draw_text(inside, 1, y + 1, canvas.signs.beside, Role::Strong);
        let figures = hop_figures(state, hop);
        for (x, quantity) in [(3, MapQuantity::Wait), (half + 2, MapQuantity::Load)] {
            draw_hop_figure(canvas, inside, (x, y + 1), figures, quantity);
        }
    }
    if shown < path.hops.len() {
        let y = 1 + HOP_ROWS * shown as u16;
        canvas.draw_text(
            inside,
            1,
            y,
            &format!("and {} of {} hops more", path.hops.len() - shown, path.hops.len()),
            Role::Dim,
        );
    }
}

fn draw_hop_figure(
    canvas: &mut Canvas<'_>,
    area: Rect,
    (x, y): (u16, u16),
    figures: Option<MapFigures>,
    quantity: MapQuantity,
) {
    let share = figures.and_then(|figures| figures.share(quantity));
    let text = figures.and_then(|figures| figures.text(quantity));
    let (Some(share), Some(text)) = (share, text) else {
        canvas.draw_text(area, x, y, &format!("{} not known", canvas.signs.severity[3]), Role::Dim);
        return;
    };
    let gauge = GAUGE_WIDTH.min((area.width / 2).saturating_sub(8));
    draw_gauge(canvas, area, (x, y), gauge, share, quantity.colours());
    let text = if text == "0 %" { "none".to_owned() } else { text };
    canvas.draw_text(area, x + gauge + 1, y, &text, quantity.colours().figure_role());
}

/// Draws the rows below the map: on a narrow screen the path, then the legend, and on a high one the counts.
pub fn draw_footer(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, rows: u16) {
    let top = area.height.saturating_sub(rows);
    let beside = state.areas().details_pane.is_empty();
    let mut y = top;
    if beside {
        match &state.screens.map.drawn.lit {
            Some(path) => draw_path_row(canvas, area, y, state, path),
            None => draw_cursor_row(canvas, area, y, state),
        }
        y += 1;
    }
    if let Some(text) = empty_filter_text(state) {
        canvas.draw_name(area, 0, y, &text, Role::Warning);
        return;
    }
    draw_legend(canvas, area, y, state);
    if y + 1 < area.height && y + 1 < top + rows {
        draw_counts(canvas, area, y + 1, state);
    }
}

/// Draws the path in a row: its hops with the figure of each.
fn draw_path_row(canvas: &mut Canvas<'_>, area: Rect, y: u16, state: &SessionState, path: &LitPath) {
    let Some(look) = state.snapshot() else { return };
    let quantity = state.screens.map.drawn.quantity;
    let mut x = 0;
    for (at, hop) in path.hops.iter().enumerate() {
        if at > 0 {
            x = canvas.draw_text(area, x, y, &format!(" {} ", canvas.signs.crumb), Role::Dim);
        }
        x = canvas.draw_text(area, x, y, &hop_name(look, hop), Role::Strong);
        let figures = hop_figures(state, hop);
        let busy = figures.filter(|figures| figures.step(quantity).is_some_and(|step| step > 0));
        if let Some(text) = busy.and_then(|figures| figures.text(quantity)) {
            x = canvas.draw_text(area, x + 1, y, &text, quantity.colours().figure_role());
        }
        if x >= area.width {
            return;
        }
    }
    canvas.draw_right_aligned(area, x + 2, y, path.role, Role::Warning);
}

/// Draws what the cursor is on.
fn draw_cursor_row(canvas: &mut Canvas<'_>, area: Rect, y: u16, state: &SessionState) {
    let here = state.current().current(&state.known).and_then(|what| state.known.element(what));
    canvas.draw_name(area, 0, y, &here.unwrap_or_default(), Role::Text);
}

/// Message for a filter that no switch passes.
fn empty_filter_text(state: &SessionState) -> Option<String> {
    let table = state.current().table();
    let none = !table.filter.is_empty() && table.problem.is_none() && table.selection.rows.is_empty();
    none.then(|| {
        format!(
            "no switch of {} matches '{}'; Esc shows all",
            digits_in_groups(table.selection.of),
            table.filter
        )
    })
}

/// Draws the scale of the colours, and the signs that are on the map.
pub fn draw_legend(canvas: &mut Canvas<'_>, area: Rect, y: u16, state: &SessionState) {
    let quantity = state.screens.map.drawn.quantity;
    let [title, least, most] = quantity.scale();
    let known = match quantity {
        MapQuantity::Paths => state.known.paths.is_some(),
        _ => state.known.watch.reading.is_some(),
    };
    let signs = canvas.signs;
    let mut x = canvas.draw_text(area, 0, y, title, Role::Text) + 1;
    if !known {
        x = canvas.draw_text(area, x, y, &format!("{} not known yet", signs.severity[3]), Role::Dim);
    } else {
        x = canvas.draw_text(area, x, y, least, Role::Dim) + 1;
        for step in 0..5 {
            x = canvas.draw_text(area, x, y, &scale_glyphs(canvas, step), step_role(quantity, step));
        }
        x = canvas.draw_text(area, x + 1, y, most, Role::Dim);
    }
    for (sign, word, role) in legend_entries(canvas, state) {
        if x + width(&sign) + width(word) + 3 > area.width {
            return;
        }
        x = canvas.draw_text(area, x + 2, y, &sign, role);
        x = canvas.draw_text(area, x + 1, y, word, Role::Dim);
    }
}

/// The signs of a step of the scale: heights, which say the same without colours. In ASCII drawings they are those of the
/// bars, for cables have none.
pub(super) fn scale_glyphs(canvas: &Canvas<'_>, step: u8) -> String {
    const LEVELS: [&[usize]; 5] = [&[], &[0, 1], &[2, 3], &[4, 5], &[6]];
    let signs = canvas.signs;
    match (signs.braille, step) {
        (true, step) => step_symbol(canvas, step).repeat(2),
        (false, 0) => signs.untold.to_owned(),
        (false, step) => LEVELS[usize::from(step.min(4))].iter().map(|level| signs.levels[*level]).collect(),
    }
}

/// The signs that are on the map, with their words: of cables first, then of the switches that they are at.
fn legend_entries(canvas: &Canvas<'_>, state: &SessionState) -> Vec<(String, &'static str, Role)> {
    let signs = canvas.signs;
    let [_, degraded, down, marked] = signs.map;
    let map = &state.screens.map.drawn;
    let (Some(look), Some(structure)) = (state.snapshot(), &map.structure) else { return Vec::new() };
    let drawn: Vec<&str> =
        structure.switches.iter().map(|one| switch_symbol(canvas, state, look, one.id, true).0).collect();
    let is_narrow = structure.cables.iter().any(|cable| look.is_degraded(cable.link) == Some(true));
    let mut entries = Vec::new();
    // The sign of a switch is that of both.
    let is_miscabled = structure.switches.iter().any(|one| state.known.health.has_miscabled(one.id));
    if is_narrow || drawn.contains(&degraded) && !is_miscabled {
        entries.push((format!("{} {degraded}", signs.severity[1]), "below its width", Role::Warning));
    }
    if is_miscabled {
        entries.push((format!("{} {degraded}", signs.miscabled), "not as planned", Role::Warning));
    }
    // Dashes are cables, and the squares switches that such a cable is at.
    let is_down = drawn.contains(&down);
    match (state.known.marks.is_empty(), is_down) {
        (true, false) => {}
        (true, true) => entries.push((format!("{} {down}", signs.gauge[1]), "down", Role::LinkDown)),
        (false, false) => entries.push((format!("{} {marked}", signs.gauge[1]), "marked", Role::Marked)),
        (false, true) => {
            entries.push((format!("{} {down} {marked}", signs.gauge[1]), "down or marked", Role::Marked));
        }
    }
    if map.lit.is_some() {
        // In ASCII drawings, cables are strokes and the sign of a gauge is a level.
        let stroke = if signs.braille { signs.gauge[0] } else { "/" };
        entries.push((stroke.to_owned(), "path", Role::Strong));
    }
    entries.push((signs.severity[3].to_owned(), "not known", Role::Dim));
    entries
}

/// Draws how many nodes there are, and which the map leaves out.
fn draw_counts(canvas: &mut Canvas<'_>, area: Rect, y: u16, state: &SessionState) {
    let Some(structure) = &state.screens.map.drawn.structure else { return };
    let mut x = 0;
    for tier in &state.known.tiers {
        x = canvas.draw_text(area, x, y, &format!("{} {}", tier.name, tier.switches.len()), Role::Dim) + 3;
    }
    let hosts = state.known.hosts.len().saturating_sub(structure.left_out);
    x = canvas.draw_text(area, x, y, &format!("hosts {hosts}"), Role::Dim) + 3;
    if structure.left_out > 0 {
        canvas.draw_text(
            area,
            x,
            y,
            &format!("{} aggregation nodes not drawn", structure.left_out),
            Role::Dim,
        );
    }
}
