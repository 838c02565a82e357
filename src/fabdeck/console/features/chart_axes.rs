//! Axes that charts of several screens share: the time that they show, their scales, and the marks of events.

use ratatui::layout::Rect;

use crate::catalogue::quantity_words::length_words;
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::chart::{Chart, ChartMark, ChartScale, draw_chart};
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::features::changes::write_marks::{WriteEvent, WriteMark};
use crate::console::features::chart_time::{
    chart_clock, chart_history, chart_window, cursor_share, ends_now, round_load, round_top, window_end_ms,
    window_length_ms, window_words,
};
use crate::console::features::health::card_text::short_number;
use crate::console::features::health::health_model::{ChartWindow, HealthEvent, OperatorMark};
use crate::console::model::fabric_model::Model;
use crate::console::model::mouse::ClickTarget;
use crate::console::model::state::SessionState;
use crate::operations::watch::fabric_history::TimeWindow;
use crate::operations::watch::port_values::{PortQuantity, port_identity};
use fabdeck_fabric::PortId;
use fabdeck_fabric::observe::{Counter, PortIdentity};

/// Columns of the scale of a chart: four digits, and the line.
pub const LABEL_WIDTH: u16 = 5;

/// The value at the top of a chart whose largest value is this.
pub fn chart_top(quantity: Quantity, most: f64) -> f64 {
    match quantity {
        Quantity::Wait => 100.0,
        Quantity::Load => round_load(most),
        Quantity::Errors => round_top(most.max(10.0), &[1.0]),
    }
}

/// Some ports have one error a day and others thousands a second: only a logarithm shows both.
pub fn scale_of(quantity: Quantity) -> ChartScale {
    if quantity == Quantity::Errors { ChartScale::Logarithmic } else { ChartScale::Linear }
}

/// The labels of a scale: top, middle and zero.
pub fn scale_labels(quantity: Quantity, top: f64, height: u16) -> Vec<(f64, String)> {
    // In the middle of a logarithmic scale is the round number nearest to it, in the row of that number.
    let (share, middle) = match scale_of(quantity) {
        ChartScale::Linear => (0.5, top / 2.0),
        ChartScale::Logarithmic => {
            let middle = round_top((top.ln_1p() / 2.0).exp_m1() * 0.9, &[1.0, 3.0]);
            (middle.ln_1p() / top.ln_1p(), middle)
        }
    };
    let unit = if quantity == Quantity::Wait { "%" } else { "" };
    let mut labels = vec![(1.0, format!("{}{unit}", short_number(top))), (0.0, "0".to_owned())];
    // A low chart has no row to spare for the middle.
    if height > 5 {
        labels.insert(1, (share, short_number(middle)));
    }
    labels
}

/// The worse of these ports in each column of a plot.
pub fn worst_columns(
    state: &SessionState,
    look: &Snapshot,
    quantity: PortQuantity,
    ports: &[PortId],
    plot: u16,
) -> Vec<Option<f64>> {
    let (window, columns) = (chart_window(&state.known, plot), usize::from(plot) * 2);
    worst_of_ports(look, ports, |port| {
        chart_history(&state.known).port_columns(window, columns, port, quantity)
    })
}

/// The growth a second of an error counter over the time of all charts, the worst of the ports in each column.
pub fn counter_columns(
    state: &SessionState,
    look: &Snapshot,
    wide: &Counter,
    ports: &[PortId],
    plot: u16,
) -> Vec<Option<f64>> {
    let (window, columns) = (chart_window(&state.known, plot), usize::from(plot) * 2);
    worst_of_ports(look, ports, |port| {
        chart_history(&state.known).counter_columns(window, columns, port, wide)
    })
}

fn worst_of_ports(
    look: &Snapshot,
    ports: &[PortId],
    columns_of: impl Fn(PortIdentity) -> Vec<Option<f64>>,
) -> Vec<Option<f64>> {
    let of = |port: &PortId| columns_of(port_identity(look.fabric(), *port));
    ports.iter().map(of).reduce(worst_of_both).unwrap_or_default()
}

fn worst_of_both(a: Vec<Option<f64>>, b: Vec<Option<f64>>) -> Vec<Option<f64>> {
    let pair = |(a, b): (Option<f64>, Option<f64>)| match (a, b) {
        (Some(a), Some(b)) => Some(f64::max(a, b)),
        (a, b) => a.or(b),
    };
    a.into_iter().zip(b).map(pair).collect()
}

/// Draws what was kept of a quantity over the time of all charts, with its scale, the time axis and the cursor. `plot` is the
/// width that `values` were made for.
pub fn draw_time_chart(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    plot: u16,
    quantity: Quantity,
    values: &[Option<f64>],
    marks: &[ChartMark],
) {
    let window = chart_window(&state.known, plot);
    let top = chart_top(quantity, values.iter().flatten().copied().fold(0.0, f64::max));
    let chart = Chart {
        quantity,
        values,
        curve: &[],
        scale: scale_of(quantity),
        top,
        labels: &scale_labels(quantity, top, area.height),
        ticks: &time_ticks(&state.known, window, plot),
        marks,
        cursor: cursor_share(&state.known, window),
        label_width: LABEL_WIDTH,
    };
    draw_chart(canvas, area, &chart);
    add_time_targets(canvas, plot_area(area, LABEL_WIDTH), window);
}

/// Draws how long a port waited over the time of all charts in one row, from 0 to 100 %.
pub fn draw_wait_strip(
    canvas: &mut Canvas<'_>,
    strip: Rect,
    (state, look): (&SessionState, &Snapshot),
    port: PortId,
) {
    let (window, dots) = (chart_window(&state.known, strip.width), usize::from(strip.width) * 2);
    let port = port_identity(look.fabric(), port);
    let values = chart_history(&state.known).port_columns(window, dots, port, PortQuantity::Wait);
    let chart = Chart {
        quantity: Quantity::Wait,
        values: &values,
        curve: &[],
        scale: scale_of(Quantity::Wait),
        top: 100.0,
        labels: &[],
        ticks: &[],
        marks: &[],
        cursor: cursor_share(&state.known, window),
        label_width: 0,
    };
    draw_chart(canvas, strip, &chart);
}

/// The plot of a chart in an area, right of its labels.
pub fn plot_area(area: Rect, label_width: u16) -> Rect {
    let left = label_width.min(area.width);
    Rect { x: area.x + left, width: area.width - left, ..area }
}

/// Lists the columns of a plot as times that can be clicked.
pub fn add_time_targets(canvas: &mut Canvas<'_>, plot: Rect, window: TimeWindow) {
    if !canvas.targets.is_listed || plot.width == 0 {
        return;
    }
    let length = window.to_ms.saturating_sub(window.from_ms);
    for x in 0..plot.width {
        let share = (f64::from(x) + 0.5) / f64::from(plot.width);
        let at_ms = window.from_ms.saturating_add((length as f64 * share) as i64);
        canvas.add_target(Rect { x: plot.x + x, width: 1, ..plot }, ClickTarget::Time(at_ms));
    }
}

/// The labels of the time axis: times by the clock and its end; without a clock, times before the end.
pub fn time_ticks(known: &Model, window: TimeWindow, plot: u16) -> Vec<(f64, String)> {
    let Some(clock) = chart_clock(known) else { return relative_ticks(known, plot) };
    let length = window.to_ms.saturating_sub(window.from_ms).max(1);
    const STEPS: [i64; 10] = [10, 30, 60, 120, 300, 600, 900, 3600, 10_800, 21_600];
    // Below a minute, two labels would read alike without the seconds.
    let has_seconds = |step_ms: i64| length <= MINUTE_MS || step_ms < MINUTE_MS;
    let label_columns = |step_ms: i64| if has_seconds(step_ms) { 12 } else { 9 };
    let fits = |step: &i64| i64::from(plot) * step * 1000 / length >= label_columns(step * 1000);
    let step = STEPS.iter().copied().find(fits).unwrap_or(86_400) * 1000;
    let text = |at_ms: i64| match has_seconds(step) {
        true => clock.clock_text(at_ms),
        false => clock.minute_text(at_ms),
    };
    let offset = i64::from(clock.utc_offset_s) * 1000;
    let first = clock.unix_ms(window.from_ms).saturating_add(offset).div_euclid(step) + 1;
    let at = |number: i64| clock.history_ms(number.saturating_mul(step).saturating_sub(offset));
    let mut ticks: Vec<(f64, String)> = (first..)
        .map(at)
        .take_while(|at_ms| *at_ms < window.to_ms)
        .filter_map(|at_ms| Some((window.share(at_ms)?, text(at_ms)?)))
        .collect();
    // The window ends on a step of its columns, which differ between charts: the label is that of the time it was made
    // for.
    let end = match ends_now(known, window) {
        true => Some("now".to_owned()),
        false => clock.clock_text(i64::try_from(window_end_ms(known)).unwrap_or(i64::MAX)),
    };
    // A label right before the one at the end gives way.
    let room = 1.0 - f64::from(END_COLUMNS) / f64::from(plot.max(1));
    ticks.retain(|(share, _)| *share < room);
    ticks.extend(end.map(|end| (1.0, end)));
    ticks
}

/// A minute, in milliseconds.
const MINUTE_MS: i64 = 60_000;

/// Columns that the label at the end of an axis takes, with a blank before it.
const END_COLUMNS: u16 = 13;

/// The labels of the time axis without a clock: its beginning, what fits between, and now.
fn relative_ticks(known: &Model, plot: u16) -> Vec<(f64, String)> {
    let window = known.problems.window;
    let half = window_length_ms(known) / 2;
    if half * 2 < window.length_ms() - 1 {
        let inner = (plot >= 30).then(|| (0.5, format!("-{}", length_words(half))));
        let first = (0.0, format!("-{}", window_words(known)));
        return [first].into_iter().chain(inner).chain([(1.0, "now".to_owned())]).collect();
    }
    let inner: &[(f64, &str)] = match window {
        ChartWindow::Minute => &[(0.5, "-30 s")],
        ChartWindow::FiveMinutes => &[(0.4, "-3 min")],
        ChartWindow::Quarter => &[(1.0 / 3.0, "-10 min"), (2.0 / 3.0, "-5 min")],
        ChartWindow::Hour => &[(0.5, "-30 min")],
        ChartWindow::SixHours => &[(0.5, "-3 h")],
        ChartWindow::Day => &[(0.5, "-12 h")],
    };
    let inner = inner.iter().filter(|_| plot >= 30).map(|(at, label)| (*at, (*label).to_owned()));
    let mut ticks = vec![(0.0, format!("-{}", window.words()))];
    ticks.extend(inner);
    ticks.push((1.0, "now".to_owned()));
    ticks
}

/// The marks in the window: of changes, and of events where the chart is wide enough for them.
pub fn chart_marks(
    canvas: &Canvas<'_>,
    state: &SessionState,
    window: TimeWindow,
    has_events: bool,
) -> Vec<ChartMark> {
    let mut marks = if has_events { event_marks(canvas, state, window) } else { Vec::new() };
    marks.extend(change_marks(canvas, state, window));
    marks
}

/// The events in the window, with notes and bookmarks. An event that is only news has no mark.
fn event_marks(canvas: &Canvas<'_>, state: &SessionState, window: TimeWindow) -> Vec<ChartMark> {
    let mark = |event: &HealthEvent| {
        let at = window.share(event.at_ms)?;
        let sign = match event.mark {
            Some(OperatorMark::Note) => Some(canvas.signs.note),
            Some(OperatorMark::Bookmark) => Some(canvas.signs.bookmark),
            Some(OperatorMark::Action) | None => None,
        };
        if let Some(sign) = sign {
            return Some(ChartMark { at, sign, role: Role::Text });
        }
        match event.severity {
            Severity::Error => Some(ChartMark { at, sign: canvas.signs.severity[0], role: Role::Danger }),
            Severity::Warning => Some(ChartMark { at, sign: canvas.signs.severity[1], role: Role::Warning }),
            Severity::Info => None,
        }
    };
    state.known.problems.events().filter_map(mark).collect()
}

/// The changes in the window: when they were begun, confirmed and rolled back.
fn change_marks(canvas: &Canvas<'_>, state: &SessionState, window: TimeWindow) -> Vec<ChartMark> {
    let mark = |mark: &WriteMark| {
        let (sign, role) = match mark.event {
            WriteEvent::Begun => (canvas.signs.preview, Role::Preview),
            WriteEvent::Confirmed => (canvas.signs.proven, Role::Good),
            WriteEvent::RolledBack => (canvas.signs.severity[1], Role::Warning),
        };
        Some(ChartMark { at: window.share(mark.at_ms)?, sign, role })
    };
    state.known.changes.write_marks.iter().filter_map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_round_numbers() {
        let load = |value| round_top(value, &[1.0, 2.0, 5.0]);
        assert_eq!([0.0, 0.7, 1.0, 359.0, 500.0, 501.0].map(load), [0.001, 1.0, 1.0, 500.0, 500.0, 1000.0]);
        assert_eq!(round_load(0.0), 1.0);
        let labels = scale_labels(Quantity::Errors, chart_top(Quantity::Errors, 900.0), 8);
        let labels: Vec<&str> = labels.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["1k", "30", "0"]);
        let errors =
            |most| scale_labels(Quantity::Errors, chart_top(Quantity::Errors, most), 8).swap_remove(1);
        let [(low, ten), (high, thousand)] = [90.0, 900_000.0].map(errors);
        assert_eq!([ten.as_str(), thousand.as_str()], ["10", "1k"]);
        assert!((low - 11f64.ln() / 101f64.ln()).abs() < 1e-9 && (high - 0.5).abs() < 1e-3, "in their rows");
    }
}
