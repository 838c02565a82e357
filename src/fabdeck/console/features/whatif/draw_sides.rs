//! What-if on a wide screen: the fabric as it is beside the fabric under the proposal at the cursor, and the cables that
//! differ most.
//!
//! ```text
//! ╭─ Live ─────── busiest 75 paths ─╮╭─ ◇ Preview ── busiest 78 paths ─╮
//! ╰─────────────────────────────────╯╰─────────────────────────────────╯
//! ╭─ Cables that change most ───────╮╭─ Who is hit ────────────────────╮
//! ```

use ratatui::layout::Rect;

use super::marks::mark_names;
use super::whatif_layout::WhatifPanes;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::{Canvas, truncate_text};
use crate::console::drawing::gauge::draw_plain_gauge;
use crate::console::drawing::pane::{PaneHead, draw_pane};
use crate::console::drawing::theme::Role;
use crate::console::features::map::draw_lines::{MapSide, draw_side};
use crate::console::features::map::figures::MapQuantity;
use crate::console::model::fabric_model::ProposalState;
use crate::console::model::state::SessionState;
use crate::operations::preview::path_changes::{CableChange, PathChanges};
use fabdeck_fabric::LinkId;
use fabdeck_fabric::observe::digits_in_groups;

/// Columns of a gauge, of a number of paths, and of the wait at the right.
const GAUGE_WIDTH: u16 = 12;
const NUMBER_WIDTH: u16 = 8;
const WAIT_WIDTH: u16 = 10;

pub fn draw_sides(canvas: &mut Canvas<'_>, panes: &WhatifPanes, state: &SessionState) {
    let changes = path_changes(state);
    draw_live(canvas, buffer_area(panes.live), state, changes);
    draw_preview(canvas, buffer_area(panes.preview), state, changes);
    draw_changes(canvas, buffer_area(panes.changes), state, changes);
}

/// The paths under the proposal at the cursor, where they are counted.
fn path_changes(state: &SessionState) -> Option<&PathChanges> {
    let whatif = &state.screens.whatif;
    let proposal = state.known.proposal(whatif.engine()?)?;
    whatif.preview.of(state.known.look.as_ref()?, proposal)
}

fn busiest_words(paths: u64) -> String {
    format!("busiest cable {} paths", digits_in_groups(paths))
}

fn draw_live(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, changes: Option<&PathChanges>) {
    let busiest =
        changes.map_or_else(String::new, |changes| format!("   {}", busiest_words(changes.busiest[0])));
    let right = [("tables in force", Role::Dim), (busiest.as_str(), Role::Load)];
    let inside = draw_pane(canvas, area, &PaneHead { title: "Live", right: &right, focused: false }, true);
    let now = &state.screens.map.drawn.figures;
    let figures = changes.map_or(now, |changes| &changes.live);
    // Hosts have one cable, and paths over it say little: how long they wait does.
    let hosts = Some((now, MapQuantity::Wait));
    draw_map(canvas, inside, state, &MapSide { figures, hosts, shows_marks: false }, "; hosts: wait now");
}

fn draw_preview(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, changes: Option<&PathChanges>) {
    let title = format!("{} Preview", canvas.signs.preview);
    let engine = state.screens.whatif.engine().filter(|_| changes.is_some());
    let routes = engine.map_or_else(String::new, |engine| {
        let without = match state.known.marks.is_empty() {
            true => String::new(),
            false => format!(" without {}", mark_names(&state.known)),
        };
        truncate_text(&format!("{}{without}", engine.id), area.width / 2, canvas.signs.more)
    });
    let busiest =
        changes.map_or_else(String::new, |changes| format!("   {}", busiest_words(changes.busiest[1])));
    let right = [(routes.as_str(), Role::Preview), (busiest.as_str(), Role::Load)];
    let inside = draw_pane(canvas, area, &PaneHead { title: &title, right: &right, focused: false }, true);
    match changes {
        Some(changes) => {
            let hosts = Some((&changes.moved.figures, MapQuantity::Paths));
            let words = format!("; hosts: pairs moved, of {}", digits_in_groups(changes.moved.most));
            let side = MapSide { figures: &changes.preview, hosts, shows_marks: true };
            draw_map(canvas, inside, state, &side, &words);
        }
        None => {
            canvas.draw_text(inside, 1, 0, &missing_words(state), Role::Warning);
            let below = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside };
            let figures = &state.screens.map.drawn.figures;
            draw_map(canvas, below, state, &MapSide { figures, hosts: None, shows_marks: true }, "");
        }
    }
}

/// Why there is no preview.
fn missing_words(state: &SessionState) -> String {
    let Some(engine) = state.screens.whatif.engine() else {
        return "V goes to the engines; the routes of the one at the cursor are drawn here".to_owned();
    };
    let id = engine.id;
    match state.known.proposed.get(id) {
        None => "p runs the engines; until then this is the fabric with its marks".to_owned(),
        Some(ProposalState::Waiting) => format!("{id} waits for the engine before it"),
        Some(ProposalState::Under(_)) => format!("{id} is computing its routes"),
        Some(ProposalState::Done { outcome: Err(why), .. }) => format!("{id} has no routes: {why}"),
        Some(ProposalState::Done { .. }) if state.known.paths.is_none() => {
            "paths are not known: the tables in force were not read".to_owned()
        }
        Some(ProposalState::Done { .. }) => format!("the paths of {id} are being counted"),
    }
}

/// Draws a side, below it what its colours and the figures of its hosts are.
fn draw_map(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, side: &MapSide<'_>, hosts: &str) {
    if !draw_side(canvas, area, state, side) {
        let matrix = state.screens.whatif.preview.matrix().filter(|_| path_changes(state).is_some());
        let Some(matrix) = matrix else {
            let text = "too many cables for lines: groups are drawn here once p has run the engines; 2 opens the Map";
            canvas.draw_text(area, 1, 0, text, Role::Dim);
            return;
        };
        matrix.draw(canvas, area, side.shows_marks);
        canvas.draw_text(area, 1, area.height.saturating_sub(1), &matrix.words(side.shows_marks), Role::Dim);
        return;
    }
    let text = format!("colour: paths over a cable, one scale for both sides{hosts}");
    let last = area.height.saturating_sub(1);
    canvas.draw_text(area, 1, last, &text, Role::Dim);
}

fn draw_changes(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, changes: Option<&PathChanges>) {
    let count = changes.map_or_else(String::new, |changes| {
        let [changed, all] = [changes.changed.len(), changes.cables].map(digits_in_groups);
        format!("by difference, then those out of use   {changed} of {all}")
    });
    let right = [(count.as_str(), Role::Dim)];
    let head = PaneHead { title: "Cables that change most", right: &right, focused: false };
    let inside = draw_pane(canvas, area, &head, true);
    let area = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let Some(changes) = changes else {
        return draw_busiest(canvas, area, state);
    };
    if changes.changed.is_empty() {
        canvas.draw_text(area, 0, 0, "every cable carries as many paths as before", Role::Dim);
        return;
    }
    let columns = ChangeColumns::new(area.width);
    canvas.draw_text(area, 0, 0, "CABLE", Role::Heading);
    canvas.draw_text(area, columns.live, 0, "LIVE, PATHS", Role::Heading);
    canvas.draw_text(area, columns.preview, 0, "PREVIEW", Role::Heading);
    let upto = |x: u16| Rect { width: x.min(area.width), ..area };
    canvas.draw_right_aligned(upto(columns.difference), 0, 0, "DIFFERENCE", Role::Heading);
    canvas.draw_right_aligned(area, 0, 0, "WAIT NOW", Role::Heading);
    let most = changes.busiest[0].max(changes.busiest[1]).max(1);
    for (y, cable) in (1..area.height).zip(&changes.changed) {
        draw_change(canvas, Rect { y: area.y + y, height: 1, ..area }, state, cable, (most, &columns));
    }
}

/// Most cables that are compared for each frame.
const MAX_COMPARED: usize = 4096;

/// Draws the cables with the most paths under the tables in force, while there is no preview to compare them with.
fn draw_busiest(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let text = "once p has run the engines; until then the busiest cables in force";
    canvas.draw_text(area, 0, 0, text, Role::Dim);
    let (Some(look), Some(paths)) = (state.snapshot(), &state.known.paths) else { return };
    if look.fabric().links().len() > MAX_COMPARED {
        return;
    }
    let load = |link| paths.load_of(link).map(|[there, back]| there.max(back));
    let mut cables: Vec<(u64, LinkId)> =
        look.fabric().links().filter_map(|(link, _)| Some((load(link)?, link))).collect();
    cables.sort_by_key(|(paths, link)| (std::cmp::Reverse(*paths), *link));
    let columns = ChangeColumns::new(area.width);
    let most = cables.first().map_or(1, |(paths, _)| (*paths).max(1));
    for (y, (paths, link)) in (1..area.height).zip(cables) {
        let cable = CableChange { link, live: Some(paths), preview: None };
        let row = Rect { y: area.y + y, height: 1, ..area };
        draw_cable(canvas, row, state, &cable, &columns);
        draw_paths(canvas, row, (columns.live, Role::Load2), cable.live, most);
    }
}

/// The columns at which the parts of a row begin, and at which the difference ends.
struct ChangeColumns {
    live: u16,
    preview: u16,
    difference: u16,
}

impl ChangeColumns {
    fn new(room: u16) -> Self {
        let difference = room.saturating_sub(WAIT_WIDTH);
        let preview = difference.saturating_sub(12 + GAUGE_WIDTH + NUMBER_WIDTH);
        Self { live: preview.saturating_sub(GAUGE_WIDTH + NUMBER_WIDTH + 2), preview, difference }
    }
}

fn draw_change(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    cable: &CableChange,
    (most, columns): (u64, &ChangeColumns),
) {
    draw_cable(canvas, area, state, cable, columns);
    for (x, paths, role) in
        [(columns.live, cable.live, Role::Load2), (columns.preview, cable.preview, Role::Preview)]
    {
        draw_paths(canvas, area, (x, role), paths, most);
    }
    let difference = cable.difference();
    let sign = if difference < 0 { "-" } else { "+" };
    let text = format!("{sign}{}", digits_in_groups(difference.unsigned_abs()));
    let role = if difference > 0 { Role::Warning } else { Role::Dim };
    canvas.draw_right_aligned(Rect { width: columns.difference.min(area.width), ..area }, 0, 0, &text, role);
}

/// Draws a number of paths as a gauge with its number.
fn draw_paths(canvas: &mut Canvas<'_>, area: Rect, (x, role): (u16, Role), paths: Option<u64>, most: u64) {
    let share = paths.unwrap_or(0) as f64 / most as f64;
    draw_plain_gauge(canvas, area, (x, 0), GAUGE_WIDTH, share, role);
    let text = paths.map_or_else(|| "gone".to_owned(), digits_in_groups);
    let number = Rect { width: (x + GAUGE_WIDTH + NUMBER_WIDTH - 2).min(area.width), ..area };
    canvas.draw_right_aligned(number, x + GAUGE_WIDTH, 0, &text, Role::Text);
}

/// Draws the name of a cable, and its wait now.
fn draw_cable(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    cable: &CableChange,
    columns: &ChangeColumns,
) {
    let Some(look) = state.snapshot() else { return };
    let names = Rect { width: columns.live.saturating_sub(1).min(area.width), ..area };
    canvas.draw_cable(names, 0, 0, &look.labelled_link_name(cable.link), Role::Text);
    let figures = state.screens.map.drawn.figures.link(cable.link);
    let (text, role) = match figures.text(MapQuantity::Wait) {
        Some(text) if text == "0 %" => ("none".to_owned(), Role::Faint),
        Some(text) => (text, Role::Wait),
        None => (canvas.signs.severity[3].to_owned(), Role::Dim),
    };
    canvas.draw_right_aligned(area, 0, 0, &text, role);
}
