//! Hot-spots: the verdict above the list; beside it the reasons for a port's verdict, with its history.
//!
//! ```text
//! waited  ▁▁▁▂▅▆▇▇   one character a sweep, the latest at the right
//! load    ▃▃▄▅▆███
//!         40 s     now
//! ```

use ratatui::layout::Rect;

use super::detail::hot_lines;
use crate::console::drawing::canvas::{Canvas, width};
use crate::console::drawing::theme::Role;
use crate::console::drawing::{details, heat, list};
use crate::console::features::details::ElementDetail;
use crate::console::features::feature::BodyAreas;
use crate::console::features::panes::pins::{detail_element, is_pinned};
use crate::console::features::watch::watch_text::head_words;
use crate::console::model::state::SessionState;
use fabdeck_fabric::ElementId;

pub fn draw(canvas: &mut Canvas<'_>, areas: &BodyAreas, state: &SessionState) {
    draw_head(canvas, areas.head, state);
    list::draw(canvas, areas.rest, state);
    draw_port_detail(canvas, areas.details, state);
}

fn draw_head(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let watch = &state.known.watch;
    let Some(reading) = &watch.reading else { return };
    let quiet = reading.watched.verdict.is_quiet();
    let role = if quiet { Role::Good } else { Role::Warning };
    canvas.draw_text(area, 1, 0, &head_words(watch), role);
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
    canvas.draw_text(inner, 0, 0, "waited", Role::Label);
    heat::draw_strip(canvas, inner, (STRIP_COLUMN, 0), levels.iter().map(|(waited, _)| *waited), |_| None);
    canvas.draw_text(inner, 0, 1, "load", Role::Label);
    heat::draw_strip(canvas, inner, (STRIP_COLUMN, 1), levels.iter().map(|(_, used)| *used), |_| None);
    let end = STRIP_COLUMN + u16::try_from(levels.len()).unwrap_or(0);
    if let Some(oldest) = known.watch.history.oldest_ms(room) {
        let text = format!("{} s", oldest / 1000);
        let behind = canvas.draw_text(inner, STRIP_COLUMN, 2, &text, Role::Dim);
        if let Some(latest) = known.watch.history.oldest_ms(1).filter(|latest| *latest > oldest) {
            let text = format!("{} s", latest / 1000);
            let x = end.saturating_sub(width(&text)).max(behind + 1);
            canvas.draw_text(inner, x, 2, &text, Role::Dim);
        }
    }
    let skipped = 4.min(inner.height);
    let below = Rect { y: inner.y + skipped, height: inner.height - skipped, ..inner };
    let mut lines = hot_lines(known, what);
    lines.extend(detail.lines(known));
    canvas.draw_pairs(below, &lines, 0);
}
