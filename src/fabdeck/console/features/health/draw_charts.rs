//! The charts of Health: traffic, waiting and errors of the whole fabric over the same time.

use super::card_text::{OwnedRun, short_number};
use super::health_layout::HealthLayout;
use super::pane_frame::draw_frame;
use crate::console::drawing::canvas::{Canvas, width};
use crate::console::drawing::chart::{Chart, draw_chart};
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::features::chart_axes::{
    LABEL_WIDTH, add_time_targets, chart_marks, chart_top, plot_area, scale_labels, scale_of, time_ticks,
};
use crate::console::features::chart_time::{
    chart_history, chart_window, cursor_ms, cursor_share, time_words,
};
use crate::console::model::layout::Rect;
use crate::console::model::state::SessionState;
use crate::operations::watch::fabric_history::{ColumnSum, FabricSums};

/// What a chart shows.
struct ChartContent {
    title: &'static str,
    quantity: Quantity,
    sum: ColumnSum,
    value: fn(&FabricSums) -> Option<f64>,
    curve: Option<fn(&FabricSums) -> Option<f64>>,
}

const CHARTS: [ChartContent; 3] = [
    ChartContent {
        title: "Traffic",
        quantity: Quantity::Load,
        sum: ColumnSum::Mean,
        value: |sums| sums.traffic_gbps,
        curve: None,
    },
    ChartContent {
        title: "Wait",
        quantity: Quantity::Wait,
        sum: ColumnSum::Worst,
        value: |sums| sums.worst_wait,
        curve: Some(|sums| sums.mean_wait),
    },
    ChartContent {
        title: "Errors",
        quantity: Quantity::Errors,
        sum: ColumnSum::Worst,
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

/// Draws the charts of waiting and errors beside each other.
pub(crate) fn draw_wait_and_errors(canvas: &mut Canvas<'_>, at: Rect, boxed: bool, state: &SessionState) {
    let (left, right) = at.split_columns(at.width / 2);
    let [_, wait, errors] = &CHARTS;
    for (content, area) in [(wait, left), (errors, right)] {
        if area.height >= 3 && area.width > LABEL_WIDTH + 4 {
            draw_quantity(canvas, area, boxed, content, state);
        }
    }
}

fn draw_quantity(
    canvas: &mut Canvas<'_>,
    area: Rect,
    boxed: bool,
    content: &ChartContent,
    state: &SessionState,
) {
    let plot = area.inside(boxed).width.saturating_sub(LABEL_WIDTH);
    let window = chart_window(&state.known, plot);
    let history = chart_history(&state.known);
    let columns = |value| history.columns(window, usize::from(plot) * 2, content.sum, value);
    let values = columns(content.value);
    let curve = content.curve.map(columns).unwrap_or_default();
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let top = chart_top(content.quantity, most);
    let heads = head_runs(canvas, content, state, most);
    let room = area.width.saturating_sub(width(content.title) + if boxed { 9 } else { 7 });
    let fits = |head: &&Vec<OwnedRun>| head.iter().map(|(text, _)| width(text)).sum::<u16>() <= room;
    let head = heads.iter().find(fits).or(heads.last()).cloned().unwrap_or_default();
    let inside = draw_frame(canvas, area, content.title, &head, false, boxed);
    let marks = chart_marks(canvas, state, window, boxed);
    let has_curve = !curve.is_empty() && boxed;
    let chart = Chart {
        quantity: content.quantity,
        values: &values,
        curve: if has_curve { &curve } else { &[] },
        scale: scale_of(content.quantity),
        top,
        labels: &scale_labels(content.quantity, top, inside.height),
        ticks: &time_ticks(&state.known, window, plot),
        marks: &marks,
        cursor: cursor_share(&state.known, window),
        label_width: LABEL_WIDTH,
    };
    draw_chart(canvas, inside, &chart);
    add_time_targets(canvas, plot_area(inside, LABEL_WIDTH), window);
    if values.iter().all(Option::is_none) {
        let words = missing_words(state);
        let x = LABEL_WIDTH + plot.saturating_sub(width(words)) / 2;
        canvas.draw_text(inside, x, inside.height.saturating_sub(1) / 2, words, Role::Dim);
    } else if has_curve && inside.height >= 8 && plot >= 30 {
        draw_legend(canvas, inside);
    }
}

/// Draws what area and line are where they cover no data: at the left, otherwise at the right, otherwise not at all.
fn draw_legend(canvas: &mut Canvas<'_>, inside: ratatui::layout::Rect) {
    let lines = [("area: worst port", Role::Wait), ("line: mean of hosts", Role::Strong)];
    let wide = lines.iter().map(|(text, _)| width(text)).max().unwrap_or(0);
    let is_free = |x: &u16| {
        let cells = (*x..*x + wide).flat_map(|x| [(x, 0), (x, 1)]);
        cells.into_iter().all(|(x, y)| {
            let cell = canvas.buffer.cell((inside.x + x, inside.y + y));
            cell.is_some_and(|cell| [" ", canvas.signs.chart[4]].contains(&cell.symbol()))
        })
    };
    let places = [LABEL_WIDTH + 1, inside.width.saturating_sub(wide + 1)];
    let Some(x) = places.into_iter().find(is_free) else { return };
    for (y, (text, role)) in (0..).zip(lines) {
        canvas.draw_text(inside, x, y, text, role);
    }
}

/// The figures of the last interval, for the head of a chart: the longest text first, the value alone last.
fn head_runs(
    canvas: &Canvas<'_>,
    content: &ChartContent,
    state: &SessionState,
    most: f64,
) -> Vec<Vec<OwnedRun>> {
    let dim = |text: &str| (text.to_owned(), Role::Dim);
    // In a recording, the last interval is that of the moment shown.
    let cursor = cursor_ms(&state.known).filter(|_| state.known.playback.is_none());
    let sums = match cursor {
        Some(at_ms) => state.known.watch.totals.sums_at(at_ms).map(|(.., sums)| sums),
        None => state.known.watch.totals.latest().map(|(_, sums)| sums),
    };
    let Some(value) = sums.and_then(|sums| (content.value)(&sums)) else {
        return vec![vec![dim(&format!("{} not known", canvas.signs.severity[3]))]];
    };
    let figure = |text: String| (text, content.quantity.value_role(value));
    if let Some(at_ms) = cursor {
        let time = time_words(&state.known, i64::try_from(at_ms).unwrap_or(i64::MAX));
        let value = match content.quantity {
            Quantity::Load => format!("{} Gb/s", short_number(value)),
            Quantity::Wait => format!("{value:.0} %"),
            Quantity::Errors => format!("{} /s", short_number(value)),
        };
        return vec![vec![figure(value.clone()), dim("  "), (time, Role::Key)], vec![figure(value)]];
    }
    match content.quantity {
        Quantity::Load if value >= 999.5 => vec![vec![figure(short_number(value / 1000.0)), dim(" Tb/s")]],
        Quantity::Load => vec![vec![figure(short_number(value)), dim(" Gb/s")]],
        Quantity::Wait => {
            let count = state.known.problems.ranked.as_ref().and_then(|ranked| ranked.waits.as_ref());
            let ports = count.map(|waits| format!("  {} ports", waits.count)).unwrap_or_default();
            let value = figure(format!("{value:.0} %"));
            vec![
                vec![dim("worst "), value.clone(), dim(&ports)],
                vec![dim("worst "), value.clone()],
                vec![value],
            ]
        }
        Quantity::Errors => {
            let peak = if most > value { format!("  peak {}", short_number(most)) } else { String::new() };
            let value = figure(short_number(value));
            vec![
                vec![value.clone(), dim(" /s log"), dim(&peak)],
                vec![value.clone(), dim(" /s log")],
                vec![value, dim(" /s")],
            ]
        }
    }
}

/// Why there is no value to draw.
fn missing_words(state: &SessionState) -> &'static str {
    let watch = &state.known.watch;
    match () {
        () if watch.live.is_none() => "the source is being read",
        () if watch.live == Some(false) && !watch.recorded => "only one reading of counters",
        () if watch.recorded && watch.alone.is_some() => "nothing to compare with",
        () if watch.settings.interval_ms == 0 && !watch.recorded => "counters are not watched",
        () if watch.totals.latest().is_some() => "not known",
        () => "waiting for two readings",
    }
}
