//! What-if: what the marks hit, the routes of engines around them, and the page of one engine.

use ratatui::layout::Rect;

use super::draw_pairs::{draw_pairs, low_screen_note};
use super::draw_sides::draw_sides;
use super::draw_victims::{draw_victims, full_row_count, victims_head};
use super::engine_page::{engine_lines, engine_reason};
use super::engines::{is_unsafe_without_drain, safe_choice};
use super::screen::WhatifPane;
use super::victims_page;
use super::whatif_layout::WhatifPanes;
use crate::catalogue::summary::count_words;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::{Canvas, width};
use crate::console::drawing::list;
use crate::console::drawing::overlay_pane::extent_room;
use crate::console::drawing::pane::{PaneHead, draw_pane, pane_inside};
use crate::console::drawing::theme::Role;
use crate::console::features::feature::BodyAreas;
use crate::console::features::map::draw_lines::draw_small_map;
use crate::console::model::fabric_model::{ProposalState, SNAPSHOT_CHANGED};
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::{wrap_pairs, wrap_text};

pub fn draw(canvas: &mut Canvas<'_>, body: &BodyAreas, state: &SessionState) {
    let areas = state.areas();
    if state.screens.whatif.page.is_some() {
        return draw_page(canvas, body.whole, areas.boxed, state);
    }
    let panes = WhatifPanes::new(&areas);
    if !panes.pairs.is_empty() {
        let low = low_screen_note(state, pane_inside(buffer_area(panes.pairs), areas.boxed).height);
        let mut notes: Vec<(String, Role)> = low.map(|words| (words, Role::Dim)).into_iter().collect();
        notes.extend(reality_notes(state));
        let right: Vec<_> = notes.iter().map(|(text, role)| (text.as_str(), *role)).collect();
        let head = PaneHead { title: "What if", right: &right, focused: false };
        let inside = draw_pane(canvas, buffer_area(panes.pairs), &head, areas.boxed);
        draw_pairs(canvas, inside, state);
    }
    if !panes.live.is_empty() || !panes.preview.is_empty() || !panes.changes.is_empty() {
        draw_sides(canvas, &panes, state);
    }
    if !panes.victims.is_empty() {
        let area = buffer_area(panes.victims);
        let (count, extent) = (victims_head(state), victims_extent(canvas, area, areas.boxed, state));
        let right = [(count.as_str(), Role::Danger), (extent.as_str(), Role::Key)];
        let head = PaneHead { title: "Who is hit", right: &right, focused: false };
        let inside = draw_pane(canvas, area, &head, areas.boxed);
        draw_victims(canvas, inside, state);
    }
    draw_map_beside(canvas, buffer_area(panes.map), state);
    draw_routes(canvas, &panes, areas.boxed, state);
}

/// Which rows of the victims are in sight, where the pane has the keys and not all of them fit.
fn victims_extent(canvas: &Canvas<'_>, area: Rect, boxed: bool, state: &SessionState) -> String {
    if !victims_page::has_keys(state) {
        return String::new();
    }
    let inside = pane_inside(area, boxed);
    let (rows, height) = (full_row_count(state, inside.width), usize::from(inside.height));
    let top = state.screens.whatif.victims_top.min(rows.saturating_sub(height));
    let extent = canvas.extent_text(top, height, rows, area.width / 3);
    if extent.is_empty() { extent } else { format!("  {extent}") }
}

/// What of the screen is real: the tables are, also those of a change that waits to be confirmed; marks and the routes of
/// engines are not.
fn reality_notes(state: &SessionState) -> Vec<(String, Role)> {
    let is_supposed = !state.known.marks.is_empty() || !state.known.proposed.is_empty();
    match (state.known.changes.first_pending_row(), is_supposed) {
        (None, true) => vec![("nothing of this is real".to_owned(), Role::Preview)],
        (None, false) => vec![("the fabric as it is".to_owned(), Role::Dim)],
        (Some(row), _) => {
            let state = format!("change {} is {}", row.number, row.state_title());
            let rest = if is_supposed { "   marks and engines are not real" } else { "" };
            vec![(state, Role::Warning), (rest.to_owned(), Role::Preview)]
        }
    }
}

/// Draws the fabric with its marks; a fabric that has no room as lines is on the Map.
fn draw_map_beside(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    if area.is_empty() {
        return;
    }
    let right = [("with its marks", Role::Preview)];
    let inside = draw_pane(canvas, area, &PaneHead { title: "Map", right: &right, focused: false }, true);
    if !draw_small_map(canvas, inside, state) {
        canvas.draw_text(inside, 1, 0, "no room to draw it here: 2 opens the Map", Role::Dim);
    }
}

fn draw_routes(canvas: &mut Canvas<'_>, panes: &WhatifPanes, boxed: bool, state: &SessionState) {
    let title = match state.screens.whatif.pane {
        WhatifPane::Engines if state.known.marks.is_empty() => "New routes",
        WhatifPane::Engines => "New routes around it",
        WhatifPane::Marks => "Marked as failed",
    };
    let table = state.current().table();
    let sight = usize::from(panes.table.height.saturating_sub(1));
    let extent = canvas.extent_text(table.top, sight, table.selection.rows.len(), panes.routes.width / 3);
    let extent = if extent.is_empty() { extent } else { format!("   {extent}") };
    // What there is more of matters more than the order.
    let room = extent_room(buffer_area(panes.routes), title).saturating_sub(width(&extent));
    let (amounts, role) = amounts_words(state, room);
    let right = [(amounts.as_str(), role), (extent.as_str(), Role::Key)];
    draw_pane(canvas, buffer_area(panes.routes), &PaneHead { title, right: &right, focused: true }, boxed);
    list::draw(canvas, buffer_area(panes.table), state);
    if state.screens.whatif.pane == WhatifPane::Engines {
        draw_reason(canvas, buffer_area(panes.reasons), state);
    }
}

/// How many engines were run and in what time; otherwise the row of the cursor.
fn amounts_words(state: &SessionState, room: u16) -> (String, Role) {
    let done = state.known.proposed.values().filter_map(|proposed| match proposed {
        ProposalState::Done { row, .. } => Some(row.seconds.unwrap_or(0.0)),
        _ => None,
    });
    let (count, seconds) = done.fold((0, 0.0), |(count, all), seconds| (count + 1, all + seconds));
    match (count, state.known.proposed.len()) {
        (_, 0) if !state.known.outdated.is_empty() => {
            (format!("{SNAPSHOT_CHANGED}: p runs the engines again"), Role::Warning)
        }
        (_, 0) => ("p runs all engines".to_owned(), Role::Dim),
        (done, all) if done < all => (format!("{done} of {all} engines done"), Role::Dim),
        (done, _) => {
            if let Some((engine, moved)) = safe_choice(&state.known) {
                let short = format!("safe to do next: {}", engine.id);
                let moved = count_words(usize::try_from(moved).unwrap_or(usize::MAX), "pair", "pairs");
                let long = format!("{short}, certified, moves {moved}");
                return (if width(&long) <= room { long } else { short }, Role::Good);
            }
            if is_unsafe_without_drain(&state.known) {
                return ("none is safe while traffic flows: drain first".to_owned(), Role::Warning);
            }
            let count = format!("{}, {seconds:.3} s", count_words(done, "engine", "engines"));
            let long = format!("{count}   by verdict, live, busiest");
            (if width(&long) <= room { long } else { count }, Role::Dim)
        }
    }
}

/// Draws why the engine at the cursor can be pushed live, or not.
fn draw_reason(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let Some((title, text)) = engine_reason(state) else { return };
    let rule = canvas.signs.rule;
    canvas.draw_text(area, 0, 0, &rule.repeat(area.width.into()), Role::Border);
    canvas.draw_text(area, 1, 0, &format!(" {title} "), Role::Label);
    let mut below = Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), ..area };
    below.height = area.height.saturating_sub(1);
    let lines = wrap_text(&text, below.width.into());
    for (y, line) in (0..below.height).zip(&lines) {
        let x = canvas.draw_text(below, 0, y, line, Role::Text);
        if y + 1 == below.height && lines.len() > below.height.into() {
            canvas.draw_text(below, x.min(below.width.saturating_sub(1)), y, canvas.signs.more, Role::Dim);
        }
    }
    // What is left of a high screen has the certificate.
    let used = (lines.len() as u16 + 1).min(below.height);
    let rest = Rect { y: below.y + used, height: below.height - used, ..below };
    if let Some(engine) = state.screens.whatif.engine().filter(|_| rest.height > 0) {
        canvas.draw_pairs(rest, &engine_lines(&state.known, engine), 0);
    }
}

/// Draws the page of an engine: its certificate, and the writes that lead to its tables.
fn draw_page(canvas: &mut Canvas<'_>, area: Rect, boxed: bool, state: &SessionState) {
    let whatif = &state.screens.whatif;
    let Some(engine) = whatif.page else { return };
    let title = format!("What-if {} {}: {}", canvas.signs.crumb, engine.id, engine.title);
    let lines = engine_lines(&state.known, engine);
    let inside = pane_inside(area, boxed);
    let rows = wrap_pairs(&lines, inside.width.into()).1.len();
    let extent = canvas.extent_text(whatif.top, inside.height.into(), rows, area.width / 3);
    let right = [(extent.as_str(), Role::Key)];
    let inside = draw_pane(canvas, area, &PaneHead { title: &title, right: &right, focused: true }, boxed);
    canvas.draw_pairs(inside, &lines, whatif.top);
}
