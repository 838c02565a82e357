//! Hot-spots: the backlog of a hot-spot as a tree, the list of ports that wait, and the proof for the port at the cursor.
//! All ports in the order of a rate have a list of their own, with the reasons beside it.

use ratatui::layout::Rect;

use super::detail::{facts_beside, hot_lines};
use super::hotspot_panes::HotspotPanes;
use super::screen::HotspotsView;
use super::{draw_backlog, draw_proof};
use crate::catalogue::quantity_words::length_words;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::{Canvas, width};
use crate::console::drawing::pane::{PaneHead, draw_pane};
use crate::console::drawing::theme::Role;
use crate::console::drawing::{details, heat, list};
use crate::console::features::details::ElementDetail;
use crate::console::features::feature::BodyAreas;
use crate::console::features::panes::pins::{detail_element, is_pinned};
use crate::console::features::screen::Screen as _;
use crate::console::features::watch::watch_text::head_words;
use crate::console::model::state::SessionState;
use fabdeck_fabric::ElementId;
use fabdeck_fabric::observe::digits_in_groups;

/// Whether the screen has panes of its own: that of the backlog, and those beside it.
pub fn has_own_panes(state: &SessionState) -> bool {
    state.screens.hotspots.view == HotspotsView::Verdicts
}

pub fn draw(canvas: &mut Canvas<'_>, areas: &BodyAreas, state: &SessionState) {
    if !has_own_panes(state) {
        draw_head(canvas, areas.head, state);
        list::draw(canvas, areas.rest, state);
        return draw_port_detail(canvas, areas.details, state);
    }
    let panes = HotspotPanes::new(&state.areas());
    draw_backlog::draw(canvas, &panes, state);
    draw_list(canvas, &panes, state);
    draw_proof::draw(canvas, &panes, state);
}

/// The ports that wait, with the summary of the verdict above them.
fn draw_list(canvas: &mut Canvas<'_>, panes: &HotspotPanes, state: &SessionState) {
    let screen = &state.screens.hotspots;
    let selection = &screen.table().selection;
    // The ports that the verdict compared, as in the other panes.
    let compared = state.known.watch.reading.as_ref().map(|reading| reading.watched.ports);
    let all = || state.snapshot().map_or(0, |look| look.fabric().ports().len());
    let (rows, all) = (selection.rows.len(), compared.unwrap_or_else(all));
    let order = screen.table().sort.as_ref().map_or("role", |(field, _)| field.as_str());
    let count = match screen.table().selected.len() {
        0 => digits_in_groups(rows),
        selected => format!("{selected} selected, {}", digits_in_groups(rows)),
    };
    let amounts = format!("{count} of {} ports, by {order}", digits_in_groups(all));
    let right = [(amounts.as_str(), Role::Dim)];
    let right = if screen.listing(&state.known).is_some() { &right[..] } else { &[] };
    let head = PaneHead { title: "Ports that wait", right, focused: true };
    let inside = draw_pane(canvas, buffer_area(panes.list), &head, panes.boxed);
    let above = u16::from(state.known.watch.reading.is_some()).min(inside.height);
    draw_head(canvas, Rect { height: above, ..inside }, state);
    let below = Rect { y: inside.y + above, height: inside.height - above, ..inside };
    list::draw(canvas, below, state);
}

fn draw_head(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let watch = &state.known.watch;
    let Some(reading) = &watch.reading else { return };
    let quiet = reading.watched.verdict.is_quiet();
    let role = if quiet { Role::Good } else { Role::Warning };
    let words = head_words(&state.known);
    // The number of sweeps gives way to the counts of ports.
    let fits = width(&words) < area.width;
    let counts = words.rsplit_once("; ").map_or(words.as_str(), |(counts, _)| counts);
    canvas.draw_text(area, 1, 0, if fits { &words } else { counts }, role);
}

/// Column of the strips, behind their labels.
const STRIP_COLUMN: u16 = 8;

fn draw_port_detail(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let known = &state.known;
    let port = detail_element(state);
    let (Some(look), Some(what @ ElementId::Port(id))) = (&known.look, port) else {
        return details::draw(canvas, area, state);
    };
    let detail = ElementDetail(what);
    let Some(inner) = details::draw_beside(canvas, area, &detail.title(look), is_pinned(state)) else {
        return;
    };
    let room = usize::from(inner.width.saturating_sub(STRIP_COLUMN));
    let levels: Vec<(u8, u8)> = known.watch.history.port_levels(id, room).collect();
    canvas.draw_text(inner, 0, 0, "wait", Role::Label);
    heat::draw_strip(canvas, inner, (STRIP_COLUMN, 0), levels.iter().map(|(waited, _)| *waited), |_| None);
    canvas.draw_text(inner, 0, 1, "load", Role::Label);
    heat::draw_strip(canvas, inner, (STRIP_COLUMN, 1), levels.iter().map(|(_, used)| *used), |_| None);
    let strip_end = STRIP_COLUMN + u16::try_from(levels.len()).unwrap_or(0);
    if let Some(oldest) = known.watch.history.oldest_ms(room) {
        let end = known.watch.reading.as_ref().map_or(oldest, |reading| reading.at_ms);
        let text = format!("-{}", length_words(end.saturating_sub(oldest)));
        let behind = canvas.draw_text(inner, STRIP_COLUMN, 2, &text, Role::Dim);
        if known.watch.history.oldest_ms(1).is_some_and(|latest| latest > oldest) {
            let text = "now";
            let x = strip_end.saturating_sub(width(text)).max(behind + 1);
            canvas.draw_text(inner, x, 2, text, Role::Dim);
        }
    }
    let skipped = 4.min(inner.height);
    let below = Rect { y: inner.y + skipped, height: inner.height - skipped, ..inner };
    let mut lines = hot_lines(known, what);
    lines.extend(facts_beside(&detail, known));
    canvas.draw_pairs(below, &lines, 0);
}
