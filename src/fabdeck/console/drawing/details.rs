//! Details of the row under the cursor: the pane beside a list, and the page over the screen.

use ratatui::layout::Rect;

use super::canvas::{Canvas, width};
use super::theme::Role;
use crate::console::features::changes::detail::change_detail;
use crate::console::features::details::ElementDetail;
use crate::console::features::jobs::detail::job_detail;
use crate::console::features::lanes::detail::lane_detail;
use crate::console::features::timeline::detail::event_detail;
use crate::console::model::detail_page::PortDetail;
use crate::console::model::scroll::Scroll;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_pairs;

/// In a narrower pane, healthy ports are listed without a word for their state.
const STATE_WORD_MIN_WIDTH: u16 = 40;

/// Draws all details over the whole screen.
pub fn draw_page(canvas: &mut Canvas<'_>, state: &SessionState, scroll: Scroll) {
    let at = Rect { width: state.size.width, ..super::buffer_area::buffer_area(state.areas().body) };
    canvas.clear(at);
    let Some(whole) = ElementDetail::detail_page(state) else { return };
    let x = canvas.draw_name(at, 1, 0, &whole.title, Role::Header);
    let below =
        area_below_heading(Rect { x: at.x + 1.min(at.width), width: at.width.saturating_sub(1), ..at });
    let pairs = wrap_pairs(&whole.pairs, below.width.into()).1.len();
    let (rows, height) = (pairs + whole.ports.len(), usize::from(below.height));
    let top = scroll.top.min(rows.saturating_sub(height));
    canvas.draw_extent(at, x, top, height, rows);
    let used = canvas.draw_pairs(below, &whole.pairs, top);
    let ports = whole.ports.get(top.saturating_sub(pairs)..).unwrap_or_default();
    draw_ports(canvas, below, used, ports);
}

/// The area below the heading.
fn area_below_heading(area: Rect) -> Rect {
    Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area }
}

/// Draws the line at the left of the pane and returns the area right of it; `None` on a very narrow screen.
pub fn draw_pane_rule(canvas: &mut Canvas<'_>, area: Rect) -> Option<Rect> {
    if area.width < 4 {
        return None;
    }
    for y in 0..area.height {
        let sign = canvas.signs.beside;
        canvas.draw_text(area, 0, y, sign, Role::Border);
    }
    Some(Rect { x: area.x + 2, width: area.width - 2, ..area })
}

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let Some(inner) = draw_pane_rule(canvas, area) else { return };
    let below = area_below_heading(inner);
    let Some(look) = &state.known.look else { return };
    if let Some((title, lines)) = ElementDetail::engine_detail(state) {
        canvas.draw_text(inner, 0, 0, &title, Role::Header);
        canvas.draw_pairs(below, &lines, 0);
        return;
    }
    let page = event_detail(state).or_else(|| change_detail(state)).or_else(|| lane_detail(state));
    if let Some(event) = page.or_else(|| job_detail(state)) {
        canvas.draw_text(inner, 0, 0, &event.title, Role::Header);
        canvas.draw_pairs(below, &event.pairs, 0);
        return;
    }
    let Some(what) = state.current().current(&state.known) else {
        canvas.draw_text(inner, 0, 0, "The fabric", Role::Header);
        canvas.draw_pairs(below, &state.known.numbers, 0);
        return;
    };
    let detail = ElementDetail(what);
    canvas.draw_name(inner, 0, 0, &detail.title(look), Role::Header);
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
    canvas.draw_text(below, 0, last, &format!("and {} more{how}; d shows them", rest.len()), Role::Dim);
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
