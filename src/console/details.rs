//! The pane beside a list: what the cursor is on.

use ratatui::layout::Rect;

use super::canvas::{Canvas, width};
use super::theme::Role;
use crate::session::interactive::{Detail, Scroll, State};

/// All of it, over the whole screen.
pub fn page(canvas: &mut Canvas<'_>, state: &State, scroll: Scroll) {
    let at = Rect { width: state.size.width, ..super::area::area(state.areas().body) };
    canvas.clear(at);
    let Some((title, pairs)) = Detail::whole(state) else { return };
    canvas.text(at, 1, 0, &title, Role::Header);
    let lost = 1.min(at.height);
    let below = Rect {
        x: at.x + 1.min(at.width),
        y: at.y + lost,
        width: at.width.saturating_sub(1),
        height: at.height - lost,
    };
    let pairs: Vec<(&str, String)> =
        pairs.iter().map(|(label, text)| (label.as_str(), text.clone())).collect();
    canvas.pairs(below, &pairs, scroll.top);
}

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    if area.width < 4 {
        return;
    }
    for y in 0..area.height {
        let sign = canvas.signs.beside;
        canvas.text(area, 0, y, sign, Role::Border);
    }
    let inner = Rect { x: area.x + 2, width: area.width - 2, ..area };
    let Some(look) = &state.known.look else { return };
    if let Some((title, lines)) = Detail::of_engine(state) {
        canvas.text(inner, 0, 0, &title, Role::Header);
        let below =
            Rect { y: inner.y + 1.min(inner.height), height: inner.height.saturating_sub(1), ..inner };
        canvas.pairs(below, &lines, 0);
        return;
    }
    let Some(what) = state.current().current(&state.known) else {
        canvas.text(inner, 0, 0, "The fabric", Role::Header);
        let below =
            Rect { y: inner.y + 1.min(inner.height), height: inner.height.saturating_sub(1), ..inner };
        canvas.pairs(below, &state.known.numbers, 0);
        return;
    };
    let detail = Detail(what);
    canvas.text(inner, 0, 0, &detail.title(look), Role::Header);
    let below = Rect { y: inner.y + 1.min(inner.height), height: inner.height.saturating_sub(1), ..inner };
    let used = canvas.pairs(below, &detail.lines(&state.known), 0) + 1;
    let neighbours = detail.neighbours(look);
    let column = neighbours.iter().map(|(port, _)| width(port)).max().unwrap_or(0);
    let room = usize::from(below.height.saturating_sub(used));
    for (y, (port, peer)) in (used..below.height).zip(&neighbours) {
        let last = usize::from(y - used) + 1 == room && neighbours.len() > room;
        if last {
            let left = neighbours.len() - room + 1;
            canvas.text(below, 0, y, &format!("and {left} more; d shows them"), Role::Dim);
        } else {
            canvas.text(below, column - width(port), y, port, Role::Label);
            canvas.text(below, column + 2, y, peer, Role::Text);
        }
    }
}
