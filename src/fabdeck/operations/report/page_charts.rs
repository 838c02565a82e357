//! The charts of a report: traffic, waiting and errors of the whole fabric over the same time.

use std::fmt::Write;

use super::fabric_report::FabricReport;
use super::html::{HtmlWriter, number};
use super::page::{UNKNOWN, heading};
use crate::catalogue::quantity_words::{length_words, short_number};
use crate::catalogue::severity::Severity;
use crate::operations::watch::fabric_history::{ColumnSum, FabricSums, TimeWindow};
use crate::operations::watch::history_clock::time_text;

/// Columns of a chart, and in the next constant its height in the units of its drawing.
const COLUMNS: usize = 240;
const HEIGHT: f64 = 100.0;
/// Most events that are lines in the charts.
const MAX_MARKS: usize = 200;

/// What a chart shows.
struct ReportChart {
    title: &'static str,
    class: &'static str,
    sum: ColumnSum,
    value: fn(&FabricSums) -> Option<f64>,
    curve: Option<fn(&FabricSums) -> Option<f64>>,
    unit: &'static str,
    logarithmic: bool,
}

const CHARTS: [ReportChart; 3] = [
    ReportChart {
        title: "Traffic of hosts",
        class: "load",
        sum: ColumnSum::Mean,
        value: |sums| sums.traffic_gbps,
        curve: None,
        unit: " Gb/s",
        logarithmic: false,
    },
    ReportChart {
        title: "Waiting",
        class: "wait",
        sum: ColumnSum::Worst,
        value: |sums| sums.worst_wait,
        curve: Some(|sums| sums.mean_wait),
        unit: " % of time",
        logarithmic: false,
    },
    ReportChart {
        title: "Link errors",
        class: "err",
        sum: ColumnSum::Worst,
        value: |sums| sums.errors_per_s,
        curve: None,
        unit: " /s",
        logarithmic: true,
    },
];

/// The time of the charts: all that the history has.
pub fn chart_window(report: &FabricReport) -> TimeWindow {
    let history = &report.facts.history;
    let to_ms = history.latest().map_or(0, |(at_ms, _)| i64::try_from(at_ms).unwrap_or(i64::MAX));
    let span = history.span_ms().map_or(0, |span| i64::try_from(span).unwrap_or(i64::MAX));
    TimeWindow { from_ms: to_ms.saturating_sub(span.max(1)), to_ms }
}

pub fn write_charts(page: &mut HtmlWriter, report: &FabricReport) {
    let window = chart_window(report);
    page.open("section", &[]);
    let span = report.facts.history.span_ms().map(|ms| format!("over {}", length_words(ms)));
    heading(page, "Health over time", &span.unwrap_or_default());
    page.open("div", &[("class", "charts")]);
    for chart in &CHARTS {
        write_chart(page, report, chart, window);
    }
    page.close();
    page.close();
}

fn write_chart(page: &mut HtmlWriter, report: &FabricReport, chart: &ReportChart, window: TimeWindow) {
    let history = &report.facts.history;
    let columns = |value| history.columns(window, COLUMNS, chart.sum, value);
    let values = columns(chart.value);
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let top = match chart.class {
        "wait" => 100.0,
        "load" => round_top(most.max(1.0), &[1.0, 2.0, 5.0]),
        _ => round_top(most.max(10.0), &[1.0]),
    };
    let share = |value: f64| match chart.logarithmic {
        true => (value.ln_1p() / top.ln_1p()).clamp(0.0, 1.0),
        false => (value / top).clamp(0.0, 1.0),
    };
    let middle = if chart.logarithmic { (top.ln_1p() / 2.0).exp_m1() } else { top / 2.0 };
    page.open("figure", &[("class", &format!("chart {}", chart.class))]);
    page.open("figcaption", &[]);
    page.element("b", &[], chart.title);
    let now = history.latest().and_then(|(_, sums)| (chart.value)(&sums));
    match now {
        Some(now) => {
            page.element("span", &[("class", "now")], &format!("{}{}", short_number(now), chart.unit));
            let peak = format!("peak {}", short_number(most));
            page.element("span", &[("class", "dim")], &peak);
        }
        None => page.element("span", &[("class", "dim")], UNKNOWN),
    }
    page.close();
    page.open("div", &[("class", "plot")]);
    page.open("div", &[("class", "scale")]);
    for label in [top, middle, 0.0] {
        page.element("span", &[], &short_number(label));
    }
    page.close();
    page.open("div", &[("class", "area")]);
    draw_plot(page, report, chart, window, &|value| share(value));
    if values.iter().all(Option::is_none) {
        let counters = report.facts.checks.iter().find(|check| check.label == "counters");
        let why = counters.and_then(|check| check.words.as_ref().err());
        page.element("p", &[], &why.map_or_else(|| "not known".to_owned(), |why| short_reason(why)));
    }
    page.close();
    page.close();
    page.open("div", &[("class", "times")]);
    for at_ms in [window.from_ms, i64::midpoint(window.from_ms, window.to_ms), window.to_ms] {
        page.element("span", &[], &time_text(report.facts.clock, at_ms, window.to_ms));
    }
    page.close();
    if chart.curve.is_some() {
        page.open("div", &[("class", "legend")]);
        page.element("span", &[], "area: the port that waits longest");
        page.element("span", &[], "line: mean of all hosts");
        page.close();
    } else if chart.logarithmic {
        page.open("div", &[("class", "legend")]);
        page.element("span", &[], "logarithmic scale");
        page.close();
    }
    page.close();
}

/// A reason without its code, and no longer than a chart has room for.
fn short_reason(why: &str) -> String {
    let text = why.split_once(": ").filter(|(code, _)| code.starts_with("FD-")).map_or(why, |(_, text)| text);
    text.split(';').next().unwrap_or(text).to_owned()
}

fn draw_plot(
    page: &mut HtmlWriter,
    report: &FabricReport,
    chart: &ReportChart,
    window: TimeWindow,
    share: &dyn Fn(f64) -> f64,
) {
    let history = &report.facts.history;
    let y = |value: f64| HEIGHT - share(value) * HEIGHT;
    let width = COLUMNS.to_string();
    let view = format!("0 0 {width} {HEIGHT}");
    page.open(
        "svg",
        &[
            ("viewBox", &view),
            ("preserveAspectRatio", "none"),
            ("role", "img"),
            ("aria-label", &format!("{} over time", chart.title)),
        ],
    );
    let id = format!("fill-{}", chart.class);
    page.open(
        "linearGradient",
        &[
            ("id", &id),
            ("gradientUnits", "userSpaceOnUse"),
            ("x1", "0"),
            ("x2", "0"),
            ("y1", "100"),
            ("y2", "0"),
        ],
    );
    for (at, class) in
        [(0, "s1"), (25, "s1"), (25, "s2"), (50, "s2"), (50, "s3"), (75, "s3"), (75, "s4"), (100, "s4")]
    {
        page.element("stop", &[("offset", &format!("{at}%")), ("class", class)], "");
    }
    page.close();
    for (at, class) in [(0.0, "grid"), (50.0, "grid"), (100.0, "base")] {
        draw_line(page, class, [0.0, at, COLUMNS as f64, at]);
    }
    let values = history.columns(window, COLUMNS, chart.sum, chart.value);
    page.element("path", &[("d", &area_path(&values, &y)), ("fill", &format!("url(#{id})"))], "");
    let edge = edge_path(&values, &y);
    page.element("path", &[("class", "edge"), ("d", &edge), ("vector-effect", "non-scaling-stroke")], "");
    if let Some(curve) = chart.curve {
        let values = history.columns(window, COLUMNS, chart.sum, curve);
        let path = curve_path(&values, &y);
        page.element(
            "path",
            &[("class", "curve"), ("d", &path), ("vector-effect", "non-scaling-stroke")],
            "",
        );
    }
    let events = report.facts.events.rows().iter().rev();
    for event in events.filter(|event| event.severity != Severity::Info).take(MAX_MARKS) {
        if let Some(at) = window.share(event.at_ms) {
            let class = if event.severity == Severity::Error { "mark crit" } else { "mark warn" };
            let x = at * COLUMNS as f64;
            draw_line(page, class, [x, 0.0, x, HEIGHT]);
        }
    }
    page.close();
}

fn draw_line(page: &mut HtmlWriter, class: &str, ends: [f64; 4]) {
    let [x1, y1, x2, y2] = ends.map(number);
    page.element(
        "line",
        &[
            ("class", class),
            ("x1", &x1),
            ("y1", &y1),
            ("x2", &x2),
            ("y2", &y2),
            ("vector-effect", "non-scaling-stroke"),
        ],
        "",
    );
}

/// The area under columns; a column without a value is a gap.
fn area_path(values: &[Option<f64>], y: &dyn Fn(f64) -> f64) -> String {
    let mut path = String::new();
    let mut begun: Option<usize> = None;
    for at in 0..=values.len() {
        match values.get(at).copied().flatten() {
            Some(value) => {
                if begun.is_none() {
                    let _ = write!(path, "M{at} {}", number(HEIGHT));
                    begun = Some(at);
                }
                let _ = write!(path, "V{}H{}", number(y(value)), at + 1);
            }
            None => {
                if begun.take().is_some() {
                    let _ = write!(path, "V{}Z", number(HEIGHT));
                }
            }
        }
    }
    path
}

/// The upper edge of columns, by which nothing differs from a gap.
fn edge_path(values: &[Option<f64>], y: &dyn Fn(f64) -> f64) -> String {
    let mut path = String::new();
    let mut drawn = false;
    for (at, value) in values.iter().enumerate() {
        if let Some(value) = value {
            let height = number(y(*value));
            let _ = match drawn {
                true => write!(path, "V{height}H{}", at + 1),
                false => write!(path, "M{at} {height}H{}", at + 1),
            };
        }
        drawn = value.is_some();
    }
    path
}

/// A curve through the middles of columns, broken where a column has no value.
fn curve_path(values: &[Option<f64>], y: &dyn Fn(f64) -> f64) -> String {
    let mut path = String::new();
    let mut drawn = false;
    for (at, value) in values.iter().enumerate() {
        if let Some(value) = value {
            let sign = if drawn { 'L' } else { 'M' };
            let _ = write!(path, "{sign}{} {}", number(at as f64 + 0.5), number(y(*value)));
        }
        drawn = value.is_some();
    }
    path
}

/// The first round number from a value on.
fn round_top(value: f64, steps: &[f64]) -> f64 {
    let power = 10f64.powf(value.max(1e-3).log10().floor());
    let rounds = steps.iter().map(|step| step * power).chain([10.0 * power]);
    rounds.into_iter().find(|round| *round >= value * 0.999).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_read_is_a_gap_in_areas_and_curves() {
        let values = [Some(100.0), None, Some(0.0), Some(50.0)];
        let y = |value: f64| HEIGHT - value;
        assert_eq!(area_path(&values, &y), "M0 100V0H1V100ZM2 100V100H3V50H4V100Z");
        assert_eq!(edge_path(&values, &y), "M0 0H1M2 100H3V50H4");
        assert_eq!(curve_path(&values, &y), "M0.5 0M2.5 100L3.5 50");
    }
}
