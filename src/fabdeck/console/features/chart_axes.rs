//! Axes that charts of several screens share: the time that they show, their scales, and the marks of events.

use crate::catalogue::severity::Severity;
use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::chart::{ChartMark, ChartScale};
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::features::changes::write_marks::{WriteEvent, WriteMark};
use crate::console::features::health::card_text::short_number;
use crate::console::features::health::health_model::{ChartWindow, HealthEvent};
use crate::console::model::state::SessionState;
use crate::operations::watch::fabric_history::TimeWindow;

/// Columns of the scale of a chart: four digits, and the line.
pub const LABEL_WIDTH: u16 = 5;

/// The window of charts whose plot has this number of columns. It ends with the last reading.
pub fn chart_window(state: &SessionState, columns: u16) -> TimeWindow {
    let length = state.known.problems.window.length_ms();
    let latest = state.known.watch.totals.latest().map_or(0, |(at_ms, _)| at_ms);
    TimeWindow::ending_at(latest, length, length / u64::from(columns.max(1)))
}

/// The first round number from a value on.
fn round_top(value: f64, steps: &[f64]) -> f64 {
    let exponent = value.max(1e-3).log10().floor();
    let power = 10f64.powf(exponent);
    let rounds = steps.iter().map(|step| step * power).chain([10.0 * power]);
    rounds.into_iter().find(|round| *round >= value * 0.999).unwrap_or(value)
}

/// The value at the top of a chart whose largest value is this.
pub fn chart_top(quantity: Quantity, most: f64) -> f64 {
    match quantity {
        Quantity::Wait => 100.0,
        Quantity::Load => round_top(most.max(1.0), &[1.0, 2.0, 5.0]),
        Quantity::Errors => round_top(most.max(10.0), &[1.0]),
    }
}

/// Some ports have one error a day and others thousands a second: only a logarithm shows both.
pub fn scale_of(quantity: Quantity) -> ChartScale {
    if quantity == Quantity::Errors { ChartScale::Logarithmic } else { ChartScale::Linear }
}

/// The labels of a scale: top, middle and zero.
pub fn scale_labels(quantity: Quantity, top: f64, height: u16) -> Vec<(f64, String)> {
    let middle = match scale_of(quantity) {
        ChartScale::Linear => top / 2.0,
        ChartScale::Logarithmic => (top.ln_1p() / 2.0).exp_m1(),
    };
    let unit = if quantity == Quantity::Wait { "%" } else { "" };
    let mut labels = vec![(1.0, format!("{}{unit}", short_number(top))), (0.0, "0".to_owned())];
    // A low chart has no row to spare for the middle.
    if height > 5 {
        labels.insert(1, (0.5, short_number(middle)));
    }
    labels
}

/// The labels of the time axis: its beginning, what fits between, and now.
pub fn time_ticks(window: ChartWindow, plot: u16) -> Vec<(f64, String)> {
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

/// The events in the window. An event that is only news has no mark.
fn event_marks(canvas: &Canvas<'_>, state: &SessionState, window: TimeWindow) -> Vec<ChartMark> {
    let mark = |event: &HealthEvent| {
        let at = window.share(event.at_ms)?;
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
        let labels = scale_labels(Quantity::Errors, chart_top(Quantity::Errors, 900.0), 8);
        let labels: Vec<&str> = labels.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["1k", "31", "0"]);
    }
}
