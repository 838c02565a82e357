//! Hot-spots: the verdict above the list; beside it the reasons for a port's verdict, with its history.
//!
//! ```text
//! waited  ▁▁▁▂▅▆▇▇   one sign a sweep, the latest at the right
//! load    ▃▃▄▅▆███
//!         40 s     now
//! ```

use ratatui::layout::Rect;

use super::canvas::{Canvas, width};
use super::theme::Role;
use super::{details, heat};
use crate::session::interactive::{Detail, Screen, State, head_words, hot_lines};
use fabdeck_fabric::Resolved;

pub fn head(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let watch = &state.known.watch;
    let Some(reading) = &watch.reading else { return };
    let quiet = reading.watched.verdict.is_quiet();
    let role = if quiet { Role::Good } else { Role::Warning };
    canvas.text(area, 1, 0, &head_words(watch), role);
}

/// Column of the strips, behind their labels.
const STRIP: u16 = 8;

pub fn beside(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let known = &state.known;
    let port = state.screens.hotspots.current(known);
    let (Some(look), Some(what @ Resolved::Port(id))) = (&known.look, port) else {
        return details::draw(canvas, area, state);
    };
    let Some(inner) = details::pane(canvas, area) else { return };
    let detail = Detail(what);
    canvas.text(inner, 0, 0, &detail.title(look), Role::Header);
    let room = usize::from(inner.width.saturating_sub(STRIP));
    let levels: Vec<(u8, u8)> = known.watch.history.of(id, room).collect();
    canvas.text(inner, 0, 2, "waited", Role::Label);
    heat::strip(canvas, inner, (STRIP, 2), levels.iter().map(|(waited, _)| *waited), |_| None);
    canvas.text(inner, 0, 3, "load", Role::Label);
    heat::strip(canvas, inner, (STRIP, 3), levels.iter().map(|(_, used)| *used), |_| None);
    let end = STRIP + u16::try_from(levels.len()).unwrap_or(0);
    if let Some(oldest) = known.watch.history.oldest_ms(room) {
        let text = format!("{} s", oldest / 1000);
        let behind = canvas.text(inner, STRIP, 4, &text, Role::Dim);
        if let Some(latest) = known.watch.history.oldest_ms(1).filter(|latest| *latest > oldest) {
            let text = format!("{} s", latest / 1000);
            let x = end.saturating_sub(width(&text)).max(behind + 1);
            canvas.text(inner, x, 4, &text, Role::Dim);
        }
    }
    let skipped = 6.min(inner.height);
    let below = Rect { y: inner.y + skipped, height: inner.height - skipped, ..inner };
    let mut lines = hot_lines(known, what);
    lines.extend(detail.lines(known));
    canvas.pairs(below, &lines, 0);
}
