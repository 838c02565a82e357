//! Draws the preview of the row at the cursor.

use ratatui::layout::Rect;

use super::goto_state::GotoRow;
use super::preview::{GotoPreview, loads_title};
use crate::console::drawing::canvas::{Canvas, shorten_name};
use crate::console::drawing::gauge::{bar_symbol, step_of};
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::features::chart_axes::{LABEL_WIDTH, draw_time_chart, worst_columns};
use crate::console::model::state::SessionState;
use crate::operations::watch::port_values::PortQuantity;
use fabdeck_fabric::PortId;

/// Columns of a cable in the row of loads.
const LOAD_WIDTH: u16 = 3;
/// Rows of the chart of traffic with its title, and the fewest that show anything.
const CHART_HEIGHT: u16 = 9;
const CHART_MIN_HEIGHT: u16 = 5;

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, row: &GotoRow) {
    let preview = GotoPreview::of_row(state, row, canvas.signs.severity[3]);
    let title = shorten_name(&preview.title, area.width, canvas.signs.more);
    canvas.draw_text(area, 0, 0, &title, Role::Strong);
    let below = Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area };
    let used = canvas.draw_pairs(below, &preview.pairs, 0);
    let rest = below.height.saturating_sub(used + 1);
    if preview.loads.is_empty() {
        let chart = Rect { y: below.y + used + 1, height: rest.min(CHART_HEIGHT), ..below };
        draw_traffic(canvas, chart, state, &preview.ports, "the busier direction, Gb/s");
        return;
    }
    let top = used + 1;
    canvas.draw_text(below, 0, top, &loads_title(&preview.loads), Role::Dim);
    let in_row = usize::from((area.width / LOAD_WIDTH).max(1));
    for (line, loads) in preview.loads.chunks(in_row).enumerate() {
        let y = top + 1 + 2 * line as u16;
        if y + 1 >= below.height {
            break;
        }
        for (column, load) in loads.iter().enumerate() {
            draw_load(canvas, below, (column as u16 * LOAD_WIDTH, y), *load);
        }
    }
    let top = top + 2 + 2 * preview.loads.len().div_ceil(in_row) as u16;
    let height = below.height.saturating_sub(top).min(CHART_HEIGHT);
    let chart = Rect { y: below.y + top, height, ..below };
    draw_traffic(canvas, chart, state, &preview.ports, "sent by its busiest port, Gb/s");
}

/// What the busiest of the ports sent over the time of all charts, with a title.
fn draw_traffic(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, ports: &[PortId], title: &str) {
    let Some(look) = state.snapshot().filter(|_| area.height >= CHART_MIN_HEIGHT && !ports.is_empty()) else {
        return;
    };
    let plot = area.width.saturating_sub(LABEL_WIDTH + 1);
    let values = worst_columns(state, look, PortQuantity::Sent, ports, plot);
    if values.iter().all(Option::is_none) {
        return;
    }
    canvas.draw_text(area, 0, 0, title, Role::Dim);
    let inside = Rect { y: area.y + 1, height: area.height - 1, ..area };
    draw_time_chart(canvas, inside, state, plot, Quantity::Load, &values, &[]);
}

/// A bar with its number below; a load that is not known has its own sign.
fn draw_load(canvas: &mut Canvas<'_>, area: Rect, (x, y): (u16, u16), load: Option<u16>) {
    let Some(load) = load else {
        canvas.draw_text(area, x + 1, y + 1, canvas.signs.severity[3], Role::Dim);
        return;
    };
    let share = f64::from(load) / 100.0;
    let role = Quantity::Load.step_role(step_of(share));
    let bar = bar_symbol(canvas, share).repeat(2);
    canvas.draw_text(area, x, y, &bar, role);
    canvas.draw_text(area, x, y + 1, &format!("{load:>2}"), Role::Load);
}
