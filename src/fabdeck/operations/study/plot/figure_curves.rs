//! Figures with curves: fits with their crossings, values over failures, latency against accepted traffic, values over lanes,
//! seconds over hosts.

use super::figure::{
    CurveLine, FigureContent, FigureCrossing, FigureCurve, FigureCurves, FigurePoint, StudyFigure,
};
use super::figure_rows::{FigureRows, MeasureKey, RowValue, distinct, failures_label, mean_of, parts};
use super::plot_scale::plot_number;
use crate::operations::study::linear_fit::{FitCrossing, FitRow, fit_rows};
use crate::operations::study::study_row::StudyRow;

/// Topologies that differ in size from which on seconds are drawn over hosts.
const SIZES: usize = 3;

/// Throughput over failures, a point for each cell, with the lines of least squares and where they cross.
pub fn fit_figures(rows: &FigureRows<'_>, all: &[StudyRow]) -> Vec<StudyFigure> {
    let fits = fit_rows(all);
    let keys = |fit: &&FitRow| (fit.topology.clone(), fit.pattern.clone(), fit.message, fit.load, fit.shifts);
    let mut figures = Vec::new();
    for ((topology, pattern, message, load, shifts), fits) in parts(fits.iter(), keys) {
        let measure = MeasureKey { pattern, message, shifts };
        let is_here = |row: &&&StudyRow| row.topology == topology && measure.has(row) && row.load == load;
        let part: Vec<&StudyRow> = rows.rows.iter().filter(is_here).copied().collect();
        figures.push(fit_figure(rows, (&topology, &measure), &part, &fits));
    }
    figures
}

fn fit_figure(
    rows: &FigureRows<'_>,
    (topology, measure): (&str, &MeasureKey),
    part: &[&StudyRow],
    fits: &[&FitRow],
) -> StudyFigure {
    let series = distinct(part.iter(), |row| rows.series_name(row));
    let most = part.iter().map(|row| row.failures()).max().unwrap_or(0) as f64;
    let mut curves = FigureCurves::default();
    let mut remarks = Vec::new();
    for (at, name) in series.iter().enumerate() {
        let own = part.iter().filter(|row| rows.series_name(row) == *name);
        let point = |row: &&StudyRow| {
            Some(FigurePoint { x: row.failures() as f64, y: row.throughput()?, margin: None })
        };
        let points: Vec<FigurePoint> = own.clone().filter_map(point).collect();
        let is_own = |fit: &&&FitRow| {
            own.clone().any(|row| {
                (&row.engine, row.lanes_asked, row.spread) == (&fit.engine, fit.lanes_asked, fit.spread)
            })
        };
        let Some(fit) = fits.iter().find(is_own) else {
            curves.curves.push(FigureCurve { series: at, points, line: CurveLine::Joined });
            continue;
        };
        let ends = [0.0, most].map(|x| (x, fit.fit.at(x)));
        curves.curves.push(FigureCurve { series: at, points, line: CurveLine::Fitted(ends) });
        remarks.push(fit_words(name, fit));
        if let Some(x) = fit.crossing.as_ref().map(|crossing| crossing.failures).filter(|x| *x <= most) {
            curves.crossings.push(FigureCrossing { x, y: fit.fit.at(x) });
        }
    }
    remarks.extend(rows.holes(part, StudyRow::throughput));
    StudyFigure {
        kind: "fits",
        title: format!("{}: throughput over failures, {}", rows.study, measure.words()),
        subtitle: format!(
            "{topology}: a point for each cell, lines of least squares; a ring where lines cross"
        ),
        x_label: failures_label(part),
        y_label: "throughput, Gbyte/s".to_owned(),
        series: series.iter().map(|name| rows.series(name)).collect(),
        content: FigureContent::Curves(curves),
        remarks,
    }
}

/// `dfsssp: 629.8 - 3.59 x ± 0.4, R² 0.69; below updn from 40 failures on`.
fn fit_words(name: &str, row: &FitRow) -> String {
    let sign = if row.fit.slope < 0.0 { '-' } else { '+' };
    let [intercept, slope] = [row.fit.intercept, row.fit.slope.abs()].map(plot_number);
    let margin =
        row.fit.slope_margin.map_or_else(String::new, |margin| format!(" ± {}", plot_number(margin)));
    let r2 = row.fit.r2.map_or_else(String::new, |r2| format!(", R² {r2:.2}"));
    let crossing = row.crossing.as_ref().map_or_else(String::new, |crossing| {
        format!("; below {} from {} on", crossing.engine, crossing_place(crossing))
    });
    format!("{name}: {intercept} {sign} {slope}{margin} a failure{r2}{crossing}")
}

/// At how many failures lines cross, and whether these are more than were measured.
pub fn crossing_place(crossing: &FitCrossing) -> String {
    let beyond = if crossing.is_extrapolated { " (beyond what was measured)" } else { "" };
    format!("{} failures{beyond}", plot_number(crossing.failures))
}

/// A value over the number of failures, as means with intervals.
struct OverFailures {
    kind: &'static str,
    pattern: &'static str,
    what: &'static str,
    unit: &'static str,
    value: RowValue,
}

const OVER_FAILURES: [OverFailures; 2] = [
    OverFailures {
        kind: "lost",
        pattern: "lost",
        what: "pairs without a path until a reroute",
        unit: "% of all pairs",
        value: |row| {
            let pairs = row.pairs.filter(|pairs| *pairs > 0)?;
            Some(row.lost_pairs? as f64 / pairs as f64 * 100.0)
        },
    },
    OverFailures {
        kind: "index",
        pattern: "routes",
        what: "edge forwarding index",
        unit: "paths over the busiest channel",
        value: routed_index,
    },
];

/// The largest edge forwarding index of routes that reach all pairs.
fn routed_index(row: &StudyRow) -> Option<f64> {
    row.efi_max.filter(|_| row.lost_pairs == Some(0)).map(|index| index as f64)
}

pub fn failure_figures(rows: &FigureRows<'_>) -> Vec<StudyFigure> {
    let mut figures = Vec::new();
    for measure in &OVER_FAILURES {
        let own = rows.rows.iter().copied().filter(|row| row.pattern == measure.pattern);
        for (topology, part) in parts(own, |row| rows.topology(row)) {
            // Links and switches that fail apart have figures of their own, each with the fabric without failures.
            let links = part.iter().copied().filter(|row| row.switch_faults == 0).collect();
            let switches = part.iter().copied().filter(|row| row.link_faults == 0).collect();
            let both = part.iter().copied().filter(|row| row.link_faults > 0 && row.switch_faults > 0);
            let both: Vec<&StudyRow> = both.collect();
            for part in [links, switches, both] {
                if distinct(part.iter(), |row| row.failures()).len() > 1 {
                    figures.push(failure_figure(rows, &topology, &part, measure));
                }
            }
        }
    }
    figures
}

fn failure_figure(
    rows: &FigureRows<'_>,
    topology: &str,
    part: &[&StudyRow],
    measure: &OverFailures,
) -> StudyFigure {
    let series = distinct(part.iter(), |row| rows.series_name(row));
    let curves =
        mean_curves(part, |row| rows.series_name(row), |row| Some(row.failures() as f64), measure.value);
    StudyFigure {
        kind: measure.kind,
        title: format!("{}: {}", rows.study, measure.what),
        subtitle: format!("{topology}: means over the seeds with intervals of 95 %"),
        x_label: failures_label(part),
        y_label: format!("{}, {}", measure.what, measure.unit),
        series: series.iter().map(|name| rows.series(name)).collect(),
        content: FigureContent::Curves(FigureCurves { curves, ..FigureCurves::default() }),
        remarks: rows.holes(part, measure.value),
    }
}

/// A curve for each series through the means of its rows, by growing place.
fn mean_curves(
    part: &[&StudyRow],
    name: impl Fn(&StudyRow) -> String,
    place: impl Fn(&StudyRow) -> Option<f64>,
    value: RowValue,
) -> Vec<FigureCurve> {
    let curve = |(series, (_, own)): (usize, (String, Vec<&StudyRow>))| {
        let placed = own.into_iter().filter_map(|row| Some((place(row)?, row)));
        let point = |(x, rows): (f64, Vec<(f64, &StudyRow)>)| {
            let rows: Vec<&StudyRow> = rows.into_iter().map(|(_, row)| row).collect();
            let mean = mean_of(&rows, value)?;
            Some(FigurePoint { x, y: mean.mean, margin: mean.margin })
        };
        let mut points: Vec<FigurePoint> = parts(placed, |(x, _)| *x).into_iter().filter_map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        FigureCurve { series, points, line: CurveLine::Joined }
    };
    parts(part.iter().copied(), |row| name(row)).into_iter().enumerate().map(curve).collect()
}

/// Mean latency against accepted traffic, where a study sweeps loads.
pub fn latency_figures(rows: &FigureRows<'_>) -> Vec<StudyFigure> {
    let swept = rows.rows.iter().copied().filter(|row| rows.has_several_loads(row));
    let keys = |row: &&StudyRow| (rows.topology(row), row.pattern.clone(), row.failures());
    let of_part = |((topology, pattern, failures), part): ((String, String, u64), Vec<&StudyRow>)| {
        let series = parts(part.iter().copied(), |row| rows.series_name(row));
        let curve = |(series, (_, own)): (usize, &(String, Vec<&StudyRow>))| {
            let mut loads = parts(own.iter().copied(), |row| row.load.unwrap_or(0.0));
            loads.sort_by(|a, b| a.0.total_cmp(&b.0));
            let points = loads.iter().filter_map(|(_, rows)| accepted_point(rows)).collect();
            FigureCurve { series, points, line: CurveLine::Joined }
        };
        let curves = series.iter().enumerate().map(curve).collect();
        let failed = if failures == 0 { String::new() } else { format!(", {failures} failed") };
        StudyFigure {
            kind: "latency",
            title: format!("{}: latency against accepted traffic, {pattern}", rows.study),
            subtitle: format!("{topology}{failed}: a point for each offered load"),
            x_label: "accepted by a host, Gbyte/s".to_owned(),
            y_label: "mean latency, ns".to_owned(),
            series: series.iter().map(|(name, _)| rows.series(name)).collect(),
            content: FigureContent::Curves(FigureCurves {
                curves,
                is_logarithmic: true,
                ..FigureCurves::default()
            }),
            remarks: rows.holes(&part, |row| row.latency_mean_ns.map(|ns| ns as f64)),
        }
    };
    parts(swept, keys).into_iter().map(of_part).collect()
}

/// What a host accepts and how long packets take, at one load.
fn accepted_point(rows: &[&StudyRow]) -> Option<FigurePoint> {
    let accepted = mean_of(rows, |row| {
        let hosts = row.hosts.filter(|hosts| *hosts > 0)?;
        Some(row.throughput()? / hosts as f64)
    })?;
    let latency = mean_of(rows, |row| row.latency_mean_ns.map(|ns| ns as f64))?;
    Some(FigurePoint { x: accepted.mean, y: latency.mean, margin: None })
}

/// The edge forwarding index, or the throughput, over the lanes that an engine may use.
pub fn lane_figures(rows: &FigureRows<'_>) -> Vec<StudyFigure> {
    let keys = |row: &&StudyRow| (rows.topology(row), MeasureKey::of(row), row.load, row.failures());
    let mut figures = Vec::new();
    let measured = rows.rows.iter().copied().filter(|row| row.pattern != "lost" && row.pattern != "loads");
    for ((topology, measure, _, failures), part) in parts(measured, keys) {
        let engines = parts(part.iter().copied(), |row| row.engine.clone());
        let varies = |rows: &[&StudyRow]| distinct(rows.iter(), |row| row.lanes_asked).len() > 1;
        if !engines.iter().any(|(_, own)| varies(own)) || rows.has_several_loads(part[0]) {
            continue;
        }
        let is_index = measure.pattern == "routes";
        let value: RowValue = if is_index { routed_index } else { StudyRow::throughput };
        let mut curves =
            mean_curves(&part, |row| row.engine.clone(), |row| Some(row.lanes_asked as f64), value);
        for (curve, (_, own)) in curves.iter_mut().zip(&engines) {
            if !varies(own) {
                curve.line = CurveLine::Level;
            }
        }
        let what = if is_index { "edge forwarding index" } else { "throughput" };
        let unit = if is_index { "paths over the busiest channel" } else { "Gbyte/s" };
        let failed = if failures == 0 { String::new() } else { format!(", {failures} failed") };
        let measured = if is_index { String::new() } else { format!(", {}", measure.words()) };
        figures.push(StudyFigure {
            kind: "lanes",
            title: format!("{}: {what} over lanes{measured}", rows.study),
            subtitle: format!(
                "{topology}{failed}: means with intervals of 95 %; a level line for an engine with one number of lanes"
            ),
            x_label: "lanes that the engine may use".to_owned(),
            y_label: format!("{what}, {unit}"),
            series: engines.iter().map(|(engine, _)| rows.series(engine)).collect(),
            content: FigureContent::Curves(FigureCurves { curves, ..FigureCurves::default() }),
            remarks: rows.holes(&part, value),
        });
    }
    figures
}

/// Seconds of engines over the hosts of topologies of several sizes.
pub fn second_figures(rows: &FigureRows<'_>) -> Vec<StudyFigure> {
    let routes = rows.rows.iter().copied().filter(|row| row.pattern == "routes");
    let of_family = |(family, part): (String, Vec<&StudyRow>)| {
        let sizes = distinct(part.iter().filter(|row| row.route_seconds.is_some()), |row| row.hosts);
        if sizes.len() < SIZES {
            return None;
        }
        let series = distinct(part.iter(), |row| rows.series_name(row));
        let place = |row: &StudyRow| row.hosts.map(|hosts| hosts as f64);
        let curves = mean_curves(&part, |row| rows.series_name(row), place, |row| row.route_seconds);
        Some(StudyFigure {
            kind: "seconds",
            title: format!("{}: seconds of the engines", rows.study),
            subtitle: format!("{family}: means with intervals of 95 %"),
            x_label: "hosts".to_owned(),
            y_label: "time for all routes, s".to_owned(),
            series: series.iter().map(|name| rows.series(name)).collect(),
            content: FigureContent::Curves(FigureCurves {
                curves,
                is_logarithmic: true,
                ..FigureCurves::default()
            }),
            remarks: rows.holes(&part, |row| row.route_seconds.filter(|_| row.lost_pairs == Some(0))),
        })
    };
    parts(routes, |row| row.family.clone()).into_iter().filter_map(of_family).collect()
}
