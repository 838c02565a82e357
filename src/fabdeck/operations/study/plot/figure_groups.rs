//! Figures with groups side by side: whiskers of what hosts receive, bars of throughput with their intervals.

use std::collections::BTreeMap;

use super::figure::{FigureContent, FigureGroup, FigureSeries, GroupValue, StudyFigure};
use super::figure_rows::{
    FigureRows, MeasureKey, RowValue, distinct, failures_label, is_hole, mean_of, parts,
};
use crate::operations::study::study_row::{CellStatus, StudyRow};

/// The quartiles of the bandwidth of hosts over the number of failures, for each topology and pattern with one load.
pub fn whisker_figures(rows: &FigureRows<'_>) -> Vec<StudyFigure> {
    let drawn = |row: &&StudyRow| row.load.is_some() && !rows.has_several_loads(row);
    let all = rows.rows.iter().copied().filter(drawn);
    let of_part = |((topology, measure), part): ((String, MeasureKey), Vec<&StudyRow>)| {
        let mut points = distinct(part.iter(), |row| row.failures());
        points.sort_unstable();
        let series = distinct(part.iter(), |row| rows.series_name(row));
        let group = |failures: u64| FigureGroup {
            label: failures.to_string(),
            values: values_of(&part, &series, rows, |row| row.failures() == failures, &quartiles),
        };
        StudyFigure {
            kind: "whiskers",
            title: format!("{}: bandwidth of the hosts under {} traffic", rows.study, measure.words()),
            subtitle: format!("{topology}: minimum, quartiles and maximum, each the mean over the seeds"),
            x_label: failures_label(&part),
            y_label: "received by a host, Gbyte/s".to_owned(),
            content: FigureContent::Groups(points.into_iter().map(group).collect()),
            remarks: rows.holes(&part, |row| row.consumption_median),
            series: series.iter().map(|name| rows.series(name)).collect(),
        }
    };
    let keys = |row: &&StudyRow| (rows.topology(row), MeasureKey::of(row));
    parts(all, keys).into_iter().map(of_part).collect()
}

fn quartiles(rows: &[&StudyRow]) -> Option<GroupValue> {
    let mean = |value: RowValue| mean_of(rows, value).map(|mean| mean.mean);
    Some(GroupValue::Whiskers([
        mean(|row| row.consumption_min)?,
        mean(|row| row.consumption_q1)?,
        mean(|row| row.consumption_median)?,
        mean(|row| row.consumption_q3)?,
        mean(|row| row.consumption_max)?,
    ]))
}

/// The value of each series in one group.
fn values_of(
    part: &[&StudyRow],
    series: &[String],
    rows: &FigureRows<'_>,
    is_in_group: impl Fn(&StudyRow) -> bool,
    value: &dyn Fn(&[&StudyRow]) -> Option<GroupValue>,
) -> Vec<Option<GroupValue>> {
    let of_series = |name: &String| {
        let own: Vec<&StudyRow> =
            part.iter().copied().filter(|row| is_in_group(row) && rows.series_name(row) == *name).collect();
        value(&own).or_else(|| most_holes(&own).map(GroupValue::Hole))
    };
    series.iter().map(of_series).collect()
}

/// The status of most cells without a value.
fn most_holes(rows: &[&StudyRow]) -> Option<CellStatus> {
    let holes = parts(rows.iter().filter(|row| is_hole(row.status)), |row| row.status);
    holes.into_iter().rev().max_by_key(|(_, rows)| rows.len()).map(|(status, _)| status)
}

/// A value of cells that bars show.
struct BarMeasure {
    kind: &'static str,
    what: &'static str,
    unit: &'static str,
    value: RowValue,
}

const THROUGHPUT: BarMeasure =
    BarMeasure { kind: "bars", what: "throughput", unit: "Gbyte/s", value: StudyRow::throughput };

const LOADS: [BarMeasure; 4] = [
    BarMeasure {
        kind: "worst-permutation",
        what: "worst permutation",
        unit: "flows over a channel",
        value: |row| row.worst_permutation.map(|flows| flows as f64),
    },
    BarMeasure {
        kind: "bisect",
        what: "average bisect bandwidth",
        unit: "share of a link",
        value: |row| row.abb,
    },
    BarMeasure {
        kind: "permutation",
        what: "average full permutation bandwidth",
        unit: "share of a link",
        value: |row| row.afpb,
    },
    BarMeasure {
        kind: "dissemination",
        what: "average dissemination bandwidth",
        unit: "share of a link",
        value: |row| row.adb,
    },
];

/// Throughput by topology and engine at the fewest failures, and at the most.
pub fn bar_figures(rows: &FigureRows<'_>) -> Vec<StudyFigure> {
    // Of a sweep over loads the bars have the highest.
    let highest = |row: &&StudyRow| {
        let same = |other: &&&StudyRow| other.topology == row.topology && other.pattern == row.pattern;
        let most = rows.rows.iter().filter(same).filter_map(|other| other.load).fold(0.0, f64::max);
        row.load.is_none_or(|load| load >= most)
    };
    let is_traffic = |row: &&StudyRow| row.message.is_some() || row.load.is_some();
    let traffic = rows.rows.iter().copied().filter(is_traffic).filter(highest);
    let mut figures = Vec::new();
    for (measure, part) in parts(traffic, |row| MeasureKey::of(row)) {
        figures.extend(bars_by_failures(rows, &measure.words(), &part, &THROUGHPUT));
    }
    figures
}

/// Figures of permutation loads by topology and engine.
pub fn load_figures(rows: &FigureRows<'_>) -> Vec<StudyFigure> {
    let part: Vec<&StudyRow> = rows.rows.iter().copied().filter(|row| row.pattern == "loads").collect();
    LOADS.iter().flat_map(|measure| bars_by_failures(rows, "loads", &part, measure)).collect()
}

fn bars_by_failures(
    rows: &FigureRows<'_>,
    words: &str,
    part: &[&StudyRow],
    measure: &BarMeasure,
) -> Vec<StudyFigure> {
    let mut ends: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for row in part {
        let end = ends.entry(rows.topology(row)).or_insert((u64::MAX, 0));
        *end = (end.0.min(row.failures()), end.1.max(row.failures()));
    }
    let end = |row: &StudyRow, of: fn(&(u64, u64)) -> u64| ends.get(&rows.topology(row)).map_or(0, of);
    let mut figures = Vec::new();
    for (place, of) in [("fewest", (|end| end.0) as fn(&(u64, u64)) -> u64), ("most", |end| end.1)] {
        if place == "most" && ends.values().all(|(few, most)| few == most) {
            break;
        }
        let own: Vec<&StudyRow> = part.iter().copied().filter(|row| row.failures() == end(row, of)).collect();
        if own.is_empty() {
            break;
        }
        let failures = match own.iter().all(|row| row.failures() == 0) {
            true => "without failures".to_owned(),
            false => format!("at the {place} failures"),
        };
        figures.push(bar_figure(rows, &own, (words, &failures), measure));
    }
    figures
}

fn bar_figure(
    rows: &FigureRows<'_>,
    part: &[&StudyRow],
    (words, failures): (&str, &str),
    measure: &BarMeasure,
) -> StudyFigure {
    let series = distinct(part.iter(), |row| rows.series_name(row));
    let value = |rows: &[&StudyRow]| mean_of(rows, measure.value).map(GroupValue::Bar);
    let group = |topology: String| {
        let of = |row: &StudyRow| rows.topology(row) == topology;
        let count = part.iter().find(|row| of(row)).map_or(0, |row| row.failures());
        let values = values_of(part, &series, rows, of, &value);
        let label = if count == 0 { topology.clone() } else { format!("{topology} ({count} failed)") };
        FigureGroup { label, values }
    };
    let topologies = distinct(part.iter(), |row| rows.topology(row));
    let styled: Vec<FigureSeries> = series.iter().map(|name| rows.series(name)).collect();
    StudyFigure {
        kind: measure.kind,
        title: format!("{}: {}, {words}", rows.study, measure.what),
        subtitle: format!("{failures}; means over the seeds with intervals of 95 %"),
        x_label: "topology".to_owned(),
        y_label: format!("{}, {}", measure.what, measure.unit),
        content: FigureContent::Groups(topologies.into_iter().map(group).collect()),
        remarks: rows.holes(part, measure.value),
        series: styled,
    }
}
