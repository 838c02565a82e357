//! Details of the row under the cursor: the pane beside a list, and the page over the screen.

use ratatui::layout::Rect;

use super::canvas::{Canvas, shorten_name, width};
use super::overlay_pane::draw_overlay_pane;
use super::pane::{PaneHead, TextRun, draw_pane};
use super::theme::Role;
use crate::console::features::details::ElementDetail;
use crate::console::features::panes::pins::{detail_element, detail_row, is_pinned};
use crate::console::model::detail_page::{DetailLine, PortDetail};
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
    let title = shorten_name(title, room, canvas.signs.more);
    let inside = draw_pane(canvas, area, &PaneHead { title: &title, right, focused: false }, true);
    Some(Rect { x: inside.x + 1, width: inside.width.saturating_sub(1), ..inside })
}

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let Some(look) = &state.known.look else { return };
    let pinned = is_pinned(state);
    let draw_page = |canvas: &mut Canvas<'_>, title: &str, pairs: &[DetailLine]| {
        if let Some(inside) = draw_beside(canvas, area, title, pinned) {
            canvas.draw_pairs(inside, pairs, 0);
        }
    };
    if let Some((title, lines)) = ElementDetail::engine_detail(state) {
        return draw_page(canvas, &title, &lines);
    }
    if let Some(page) = detail_row(state).and_then(|row| state.current().row_page(row, &state.known)) {
        return draw_page(canvas, &page.title, &page.pairs);
    }
    let Some(what) = detail_element(state) else {
        if pinned {
            let text = "the list does not have the pinned row now".to_owned();
            return draw_page(canvas, "", &[("", text)]);
        }
        return draw_page(canvas, "The fabric", &state.known.numbers);
    };
    let detail = ElementDetail(what);
    let Some(below) = draw_beside(canvas, area, &detail.title(look), pinned) else { return };
    let used = canvas.draw_pairs(below, &detail.lines(&state.known), 0) + 1;
    let ports = detail.ports(&state.known);
    let room = usize::from(below.height.saturating_sub(used));
    if ports.len() <= room || room == 0 {
        return draw_ports(canvas, below, used, &ports);
    }
    let (seen, rest) = ports.split_at(room - 1);
    draw_ports(canvas, below, used, seen);
    let trouble = rest.iter().filter(|port| port.trouble).count();
    let how = if trouble > 0 { format!(", {trouble} of them faulty") } else { String::new() };
    let last = below.height - 1;
    // The page of all details is that of the cursor.
    let page = if pinned { "" } else { "; d shows them" };
    canvas.draw_text(below, 0, last, &format!("and {} more{how}{page}", rest.len()), Role::Dim);
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
