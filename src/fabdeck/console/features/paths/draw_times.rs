//! The waits of the ports of a path over time, a row each, in both directions.

use ratatui::layout::Rect;

use super::draw_panes::pane;
use crate::console::drawing::canvas::{Canvas, shorten_name};
use crate::console::drawing::chart::draw_ticks;
use crate::console::drawing::gauge::step_symbol;
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::features::chart_axes::time_ticks;
use crate::console::features::chart_time::{chart_history, chart_window, column_words};
use crate::console::features::map::figures::{MapQuantity, percent_step, port_figures};
use crate::console::model::state::SessionState;
use crate::operations::trace::path_trace::Trace;
use crate::operations::watch::port_values::{PortQuantity, port_identity};
use fabdeck_fabric::PortId;

/// Columns of the names of ports, and of their waits now.
const NAME_WIDTH: u16 = 22;
const WAIT_WIDTH: u16 = 7;

/// Draws the strips of the path and of its way back; those without room are left out.
pub fn draw_wait_strips(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    shown: &Trace,
    back: Option<&Trace>,
) {
    let columns = area.width.saturating_sub(NAME_WIDTH + WAIT_WIDTH + 4);
    if area.is_empty() || columns == 0 {
        return;
    }
    let window = chart_window(&state.known, columns);
    let right = format!("% of time, one column is {}", column_words(window, columns));
    let Some(inside) = pane(canvas, area, "Wait on the path there, then back", &[(&right, Role::Dim)]) else {
        return;
    };
    let ports: Vec<PortId> =
        [Some(shown), back].into_iter().flatten().flat_map(|trace| ports_of(state, trace)).collect();
    let rows = inside.height.saturating_sub(1);
    for (y, port) in (0..rows).zip(&ports) {
        draw_strip(canvas, inside, y, state, *port, columns);
    }
    let y = rows.min(u16::try_from(ports.len()).unwrap_or(u16::MAX));
    let plot = Rect { x: inside.x + 1 + NAME_WIDTH, y: inside.y + y, width: columns, height: 1 };
    draw_ticks(canvas, plot, &time_ticks(&state.known, window, columns), None);
}

/// The ports that send along a path.
fn ports_of(state: &SessionState, trace: &Trace) -> Vec<PortId> {
    let Some(look) = state.snapshot() else { return Vec::new() };
    trace.hops.iter().filter_map(|hop| look.fabric().port_of(hop.node, hop.egress?)).collect()
}

fn draw_strip(canvas: &mut Canvas<'_>, area: Rect, y: u16, state: &SessionState, port: PortId, columns: u16) {
    let Some(look) = state.snapshot() else { return };
    let fabric = look.fabric();
    let name = format!("{}[{}]", look.host_name(fabric.port(port).node), fabric.port(port).number);
    canvas.draw_text(area, 1, y, &shorten_name(&name, NAME_WIDTH - 1, canvas.signs.more), Role::Text);
    let window = chart_window(&state.known, columns);
    let identity = port_identity(fabric, port);
    let values =
        chart_history(&state.known).port_columns(window, columns.into(), identity, PortQuantity::Wait);
    for (x, value) in (1 + NAME_WIDTH..).zip(values) {
        let Some(value) = value else { continue };
        let step = percent_step(value.round() as u16);
        let role = if step == 0 { Role::Faint } else { Quantity::Wait.step_role(step) };
        canvas.draw_text(area, x, y, step_symbol(canvas, step), role);
    }
    let now = port_figures(&state.known, port).and_then(|figures| figures.text(MapQuantity::Wait));
    let (text, role) = match now {
        None => (canvas.signs.severity[3].to_owned(), Role::Dim),
        Some(text) if text == "0 %" => ("none".to_owned(), Role::Dim),
        Some(text) => (text, Role::Wait),
    };
    canvas.draw_right_aligned(area, 1 + NAME_WIDTH + columns, y, &text, role);
}
