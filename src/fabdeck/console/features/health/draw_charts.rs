//! The charts of Health: traffic, waiting and errors of the whole fabric over the same time.

use super::card_text::{OwnedRun, short_number};
use super::health_layout::HealthLayout;
use super::health_model::ChartWindow;
use super::pane_frame::draw_frame;
use crate::catalogue::severity::Severity;
use crate::console::drawing::canvas::{Canvas, width};
use crate::console::drawing::chart::{Chart, ChartMark, ChartScale, draw_chart};
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::model::layout::Rect;
use crate::console::model::state::SessionState;
use crate::operations::watch::fabric_history::{ColumnSum, FabricSums, TimeWindow};

/// Columns of the scale of a chart: four digits, and the line.
const LABEL_WIDTH: u16 = 5;

/// What a chart shows.
struct ChartContent {
    title: &'static str,
    quantity: Quantity,
    sum: ColumnSum,
    scale: ChartScale,
    value: fn(&FabricSums) -> Option<f64>,
    curve: Option<fn(&FabricSums) -> Option<f64>>,
}

const CHARTS: [ChartContent; 3] = [
    ChartContent {
        title: "Traffic",
        quantity: Quantity::Load,
        sum: ColumnSum::Mean,
        scale: ChartScale::Linear,
        value: |sums| sums.traffic_gbps,
        curve: None,
    },
    ChartContent {
        title: "Wait",
        quantity: Quantity::Wait,
        sum: ColumnSum::Worst,
        scale: ChartScale::Linear,
        value: |sums| sums.worst_wait,
        curve: Some(|sums| sums.mean_wait),
    },
    ChartContent {
        title: "Errors",
        quantity: Quantity::Errors,
        sum: ColumnSum::Worst,
        scale: ChartScale::Logarithmic,
        value: |sums| sums.errors_per_s,
        curve: None,
    },
];

pub fn draw(canvas: &mut Canvas<'_>, layout: &HealthLayout, state: &SessionState) {
    for (content, area) in CHARTS.iter().zip(layout.charts) {
        if area.height >= 3 && area.width > LABEL_WIDTH + 4 {
            draw_quantity(canvas, area, layout.boxed, content, state);
        }
    }
}

/// The window of charts whose plot has this number of columns. It ends with the last reading.
pub fn chart_window(state: &SessionState, columns: u16) -> TimeWindow {
    let length = state.known.problems.window.length_ms();
    let latest = state.known.watch.totals.latest().map_or(0, |(at_ms, _)| at_ms);
    TimeWindow::ending_at(latest, length, length / u64::from(columns.max(1)))
}

fn draw_quantity(
    canvas: &mut Canvas<'_>,
    area: Rect,
    boxed: bool,
    content: &ChartContent,
    state: &SessionState,
) {
    let plot = area.inside(boxed).width.saturating_sub(LABEL_WIDTH);
    let window = chart_window(state, plot);
    let columns = |value| state.known.watch.totals.columns(window, usize::from(plot) * 2, content.sum, value);
    let values = columns(content.value);
    let curve = content.curve.map(columns).unwrap_or_default();
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let top = match content.quantity {
        Quantity::Wait => 100.0,
        Quantity::Load => round_top(most, &[1.0, 2.0, 5.0]),
        Quantity::Errors => round_top(most.max(10.0), &[1.0]),
    };
    let head = head_runs(canvas, content, state, most);
    let inside = draw_frame(canvas, area, content.title, &head, false, boxed);
    let marks = if boxed { event_marks(canvas, state, window) } else { Vec::new() };
    let has_curve = !curve.is_empty() && boxed;
    let chart = Chart {
        quantity: content.quantity,
        values: &values,
        curve: if has_curve { &curve } else { &[] },
        scale: content.scale,
        top,
        labels: &scale_labels(content, top, inside.height),
        ticks: &time_ticks(state.known.problems.window, plot),
        marks: &marks,
        label_width: LABEL_WIDTH,
    };
    draw_chart(canvas, inside, &chart);
    if values.iter().all(Option::is_none) {
        let words = missing_words(state);
        let x = LABEL_WIDTH + plot.saturating_sub(width(words)) / 2;
        canvas.draw_text(inside, x, inside.height.saturating_sub(1) / 2, words, Role::Dim);
    } else if has_curve && inside.height >= 8 && plot >= 30 {
        canvas.draw_text(inside, LABEL_WIDTH + 1, 0, "area: worst port", Role::Wait);
        canvas.draw_text(inside, LABEL_WIDTH + 1, 1, "line: mean of hosts", Role::Strong);
    }
}

/// The first round number from a value on.
fn round_top(value: f64, steps: &[f64]) -> f64 {
    let exponent = value.max(1e-3).log10().floor();
    let power = 10f64.powf(exponent);
    let rounds = steps.iter().map(|step| step * power).chain([10.0 * power]);
    rounds.into_iter().find(|round| *round >= value * 0.999).unwrap_or(value)
}

fn scale_labels(content: &ChartContent, top: f64, height: u16) -> Vec<(f64, String)> {
    let middle = match content.scale {
        ChartScale::Linear => top / 2.0,
        ChartScale::Logarithmic => (top.ln_1p() / 2.0).exp_m1(),
    };
    let unit = if content.quantity == Quantity::Wait { "%" } else { "" };
    let mut labels = vec![(1.0, format!("{}{unit}", short_number(top))), (0.0, "0".to_owned())];
    // A low chart has no row to spare for the middle.
    if height > 5 {
        labels.insert(1, (0.5, short_number(middle)));
    }
    labels
}

/// The labels of the time axis: its beginning, what fits between, and now.
fn time_ticks(window: ChartWindow, plot: u16) -> Vec<(f64, String)> {
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

/// The figures of the last interval, for the head of a chart.
fn head_runs(canvas: &Canvas<'_>, content: &ChartContent, state: &SessionState, most: f64) -> Vec<OwnedRun> {
    let dim = |text: &str| (text.to_owned(), Role::Dim);
    let latest = state.known.watch.totals.latest();
    let Some(value) = latest.and_then(|(_, sums)| (content.value)(&sums)) else {
        return vec![dim(&format!("{} not known", canvas.signs.severity[3]))];
    };
    let figure = |text: String| (text, content.quantity.figure_role());
    match content.quantity {
        Quantity::Load if value >= 999.5 => vec![figure(short_number(value / 1000.0)), dim(" Tb/s")],
        Quantity::Load => vec![figure(short_number(value)), dim(" Gb/s")],
        Quantity::Wait => {
            let count = state.known.problems.ranked.as_ref().and_then(|ranked| ranked.waits.as_ref());
            let ports = count.map(|waits| format!("  {} ports", waits.count)).unwrap_or_default();
            vec![dim("worst "), figure(format!("{value:.0} %")), dim(&ports)]
        }
        Quantity::Errors => {
            let peak = if most > value { format!("  peak {}", short_number(most)) } else { String::new() };
            vec![figure(short_number(value)), dim(" /s log"), dim(&peak)]
        }
    }
}

/// Why there is no value to draw.
fn missing_words(state: &SessionState) -> &'static str {
    let watch = &state.known.watch;
    match () {
        () if watch.live == Some(false) && !watch.recorded => "only one reading of counters",
        () if watch.recorded && watch.alone.is_some() => "nothing to compare with",
        () if watch.settings.interval_ms == 0 && !watch.recorded => "counters are not watched",
        () if watch.totals.latest().is_some() => "not known",
        () => "waiting for two readings",
    }
}

/// The events in the window. An event that is only news has no mark.
fn event_marks(canvas: &Canvas<'_>, state: &SessionState, window: TimeWindow) -> Vec<ChartMark> {
    let mark = |event: &super::health_model::HealthEvent| {
        let at = window.share(event.at_ms)?;
        match event.severity {
            Severity::Error => Some(ChartMark { at, sign: canvas.signs.severity[0], role: Role::Danger }),
            Severity::Warning => Some(ChartMark { at, sign: canvas.signs.severity[1], role: Role::Warning }),
            Severity::Info => None,
        }
    };
    state.known.problems.events().filter_map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_round_numbers() {
        let load = |value| round_top(value, &[1.0, 2.0, 5.0]);
        assert_eq!([0.0, 0.7, 1.0, 359.0, 500.0, 501.0].map(load), [0.001, 1.0, 1.0, 500.0, 500.0, 1000.0]);
        let labels = scale_labels(&CHARTS[2], round_top(900.0, &[1.0]), 8);
        let labels: Vec<&str> = labels.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["1k", "31", "0"]);
    }
}
