//! Details of the row under the cursor: the pane beside a list, and the page over the screen.

use ratatui::layout::Rect;

use super::canvas::{Canvas, shorten_cable, width};
use super::overlay_pane::draw_overlay_pane;
use super::pane::{PaneHead, TextRun, draw_pane};
use super::theme::Role;
use crate::console::features::details::ElementDetail;
use crate::console::features::panes::detail_scroll::{self, page_rows};
use crate::console::features::panes::pins::is_pinned;
use crate::console::model::detail_page::PortDetail;
use crate::console::model::scroll::Scroll;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_pairs;

/// In a narrower pane, healthy ports are listed without a word for their state.
const STATE_WORD_MIN_WIDTH: u16 = 40;

/// Columns of the border for the word that a pane is pinned.
const PINNED_WIDTH: u16 = 9;

/// Draws all details over the whole screen.
pub fn draw_page(canvas: &mut Canvas<'_>, state: &SessionState, scroll: Scroll) {
    let Some(whole) = ElementDetail::detail_page(state) else { return };
    let pairs = wrap_pairs(&whole.pairs, state.areas().overlay.width.saturating_sub(1).into()).1.len();
    let rows = pairs + whole.ports.len();
    let (at, top) = draw_overlay_pane(canvas, state, &whole.title, scroll.top, rows);
    let below = Rect { x: at.x + 1.min(at.width), width: at.width.saturating_sub(1), ..at };
    let used = canvas.draw_pairs(below, &whole.pairs, top);
    let ports = whole.ports.get(top.saturating_sub(pairs)..).unwrap_or_default();
    draw_ports(canvas, below, used, ports);
}

/// Draws the pane beside the body with its title, and returns its inside; `None` on a narrow screen. A pinned pane says
/// so.
pub fn draw_beside(canvas: &mut Canvas<'_>, area: Rect, title: &str, pinned: bool) -> Option<Rect> {
    if area.width < 6 {
        return None;
    }
    let right: &[TextRun<'_>] = if pinned { &[("pinned", Role::Key)] } else { &[] };
    let room = area.width - 6;
    let room = if pinned { room.saturating_sub(PINNED_WIDTH) } else { room };
    let title = shorten_cable(title, room, &canvas.signs);
    let inside = draw_pane(canvas, area, &PaneHead { title: &title, right, focused: false }, true);
    Some(Rect { x: inside.x + 1, width: inside.width.saturating_sub(1), ..inside })
}

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let Some(page) = ElementDetail::beside_page(state) else { return };
    let pinned = is_pinned(state);
    let Some(inside) = draw_beside(canvas, area, &page.title, pinned) else { return };
    let room = usize::from(inside.height);
    let pairs = wrap_pairs(&page.pairs, inside.width.into()).1.len();
    let rows = page_rows(&page, inside.width);
    if rows <= room || room < 2 {
        let used = canvas.draw_pairs(inside, &page.pairs, 0) + 1;
        return draw_ports(canvas, inside, used, &page.ports);
    }
    let shown = room - 1;
    let top = detail_scroll::top(state).min(rows - shown);
    let upper = Rect { height: inside.height - 1, ..inside };
    let used = canvas.draw_pairs(upper, &page.pairs, top);
    let gap = u16::from(top <= pairs);
    draw_ports(
        canvas,
        upper,
        used + gap,
        page.ports.get(top.saturating_sub(pairs + 1)..).unwrap_or_default(),
    );
    let rest = rows - top - shown;
    let hidden = page.ports.len().saturating_sub(rest)..;
    let trouble = page.ports.get(hidden).unwrap_or_default().iter().filter(|port| port.trouble).count();
    let how = if trouble > 0 { format!(", {trouble} of them faulty") } else { String::new() };
    let text = match (rest, detail_scroll::has_keys(state), pinned) {
        (0, ..) => format!("{} {top} more above", canvas.signs.up),
        // The page of all details is that of the cursor.
        (_, true, _) | (_, _, true) => format!("{} {rest} more{how}", canvas.signs.down),
        (_, false, false) => format!("{} {rest} more{how}; d shows them", canvas.signs.down),
    };
    canvas.draw_text(inside, 0, inside.height - 1, &text, Role::Dim);
}

/// Lists ports, one a row: number, state, width and speed, and the other end.
fn draw_ports(canvas: &mut Canvas<'_>, area: Rect, from: u16, ports: &[PortDetail]) {
    let word =
        |port: &PortDetail| if port.trouble || area.width >= STATE_WORD_MIN_WIDTH { port.state } else { "" };
    let widest = |of: &dyn Fn(&PortDetail) -> u16| ports.iter().map(of).max().unwrap_or(0);
    let number = widest(&|port| width(&port.number));
    let state = widest(&|port| width(word(port)));
    let rate = widest(&|port| width(&port.rate));
    let behind = |x: u16, wide: u16| if wide == 0 { x } else { x + wide + 1 };
    for (y, port) in (from..area.height).zip(ports) {
        canvas.draw_text(area, number - width(&port.number), y, &port.number, Role::Label);
        let x = number + 1;
        canvas.draw_text(area, x, y, word(port), role_of(port.state));
        let x = behind(x, state);
        canvas.draw_text(area, x, y, &port.rate, Role::Text);
        canvas.draw_name(area, behind(x, rate), y, &port.peer, Role::Text);
    }
}

fn role_of(state: &str) -> Role {
    match state {
        "down" => Role::LinkDown,
        "degraded" => Role::LinkDegraded,
        "marked" => Role::Marked,
        "no answer" | "errors" => Role::Warning,
        _ => Role::Text,
    }
}
