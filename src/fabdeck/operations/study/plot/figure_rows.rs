//! The rows of a study in the parts that figures are made of.

use std::collections::BTreeMap;

use super::figure::{FigureSeries, MeanInterval};
use crate::operations::study::study_row::{CellStatus, StudyRow};

/// A function from a row to the value that a figure shows.
pub type RowValue = fn(&StudyRow) -> Option<f64>;

/// The rows of a study with the names that all of its figures share.
#[derive(Debug)]
pub struct FigureRows<'r> {
    pub study: &'r str,
    pub rows: Vec<&'r StudyRow>,
    series: Vec<String>,
    /// Engines with several numbers of lanes.
    lanes_vary: Vec<&'r str>,
    spread_varies: bool,
    /// Topologies that are one but for their seed.
    seeded: BTreeMap<String, u32>,
}

/// What the cells of one figure have in common besides topology and failures.
#[derive(Clone, PartialEq, Debug)]
pub struct MeasureKey {
    pub pattern: String,
    pub message: Option<u64>,
    pub shifts: Option<u64>,
}

impl<'r> FigureRows<'r> {
    pub fn new(study: &'r str, rows: &'r [StudyRow]) -> Self {
        let mut figures = Self {
            study,
            rows: rows.iter().collect(),
            series: Vec::new(),
            lanes_vary: Vec::new(),
            spread_varies: distinct(rows.iter(), |row| row.spread).len() > 1,
            seeded: BTreeMap::new(),
        };
        for (engine, rows) in parts(rows.iter(), |row| row.engine.as_str()) {
            if distinct(rows.into_iter(), |row| row.lanes_asked).len() > 1 {
                figures.lanes_vary.push(engine);
            }
        }
        for topology in distinct(rows.iter(), |row| row.topology.as_str()) {
            *figures.seeded.entry(without_seed(topology)).or_default() += 1;
        }
        figures.series = distinct(rows.iter(), |row| figures.series_name(row));
        figures
    }

    /// The topology of a row; those that differ by their seed alone are one.
    pub fn topology(&self, row: &StudyRow) -> String {
        let without = without_seed(&row.topology);
        if self.seeded.get(&without).is_some_and(|count| *count > 1) { without } else { row.topology.clone() }
    }

    /// The name of the series of a row: the engine, with its lanes where the study varies them.
    pub fn series_name(&self, row: &StudyRow) -> String {
        let mut name = row.engine.clone();
        if self.lanes_vary.contains(&row.engine.as_str()) {
            name.push_str(&match row.lanes_asked {
                1 => ", 1 lane".to_owned(),
                lanes => format!(", {lanes} lanes"),
            });
        }
        if let Some(spread) = row.spread.filter(|_| self.spread_varies) {
            name.push_str(&format!(", {spread} in turns"));
        }
        name
    }

    /// The series of a name, with its style of the whole study. An engine without lanes has that of its first series.
    pub fn series(&self, name: &str) -> FigureSeries {
        let begins = |known: &String| {
            known == name || known.strip_prefix(name).is_some_and(|rest| rest.starts_with(','))
        };
        let style = self.series.iter().position(begins).unwrap_or(0);
        FigureSeries { name: name.to_owned(), style }
    }

    /// Whether a measure is taken at several loads on a topology.
    pub fn has_several_loads(&self, row: &StudyRow) -> bool {
        let same = |other: &&&StudyRow| other.topology == row.topology && other.pattern == row.pattern;
        row.load.is_some() && self.rows.iter().filter(same).any(|other| other.load != row.load)
    }

    /// Cells without a value, by series: `dor: 12 deadlock, 3 refused`.
    pub fn holes(&self, rows: &[&StudyRow], value: RowValue) -> Vec<String> {
        let without = rows.iter().copied().filter(|row| value(row).is_none() && is_hole(row.status));
        let line = |(name, rows): (String, Vec<&StudyRow>)| {
            let counts = parts(rows.into_iter(), |row| row.status.word());
            let words: Vec<String> =
                counts.into_iter().map(|(word, rows)| format!("{} {word}", rows.len())).collect();
            format!("{name}: {}", words.join(", "))
        };
        parts(without, |row| self.series_name(row)).into_iter().map(line).collect()
    }
}

/// Whether a cell with this status is missing from a figure where it has no value.
pub fn is_hole(status: CellStatus) -> bool {
    !matches!(status, CellStatus::Done | CellStatus::Cycle)
}

impl MeasureKey {
    pub fn of(row: &StudyRow) -> Self {
        Self { pattern: row.pattern.clone(), message: row.message, shifts: row.shifts }
    }

    pub fn has(&self, row: &StudyRow) -> bool {
        *self == Self::of(row)
    }

    /// The measure in words, `exchange of 10 packets a message, 64 shifts of all`.
    pub fn words(&self) -> String {
        let message = match self.message {
            Some(1) => " of 1 packet a message".to_owned(),
            Some(packets) => format!(" of {packets} packets a message"),
            None => String::new(),
        };
        let shifts = self.shifts.map_or_else(String::new, |shifts| format!(", a sample of {shifts} shifts"));
        format!("{}{message}{shifts}", self.pattern)
    }
}

fn without_seed(topology: &str) -> String {
    topology.split(',').filter(|key| !key.starts_with("seed=")).collect::<Vec<_>>().join(",")
}

/// The items in parts with equal keys, in the order in which the keys first come.
pub fn parts<T, K: PartialEq>(items: impl Iterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<(K, Vec<T>)> {
    let mut parts: Vec<(K, Vec<T>)> = Vec::new();
    for item in items {
        let of = key(&item);
        match parts.iter_mut().find(|(known, _)| *known == of) {
            Some((_, part)) => part.push(item),
            None => parts.push((of, vec![item])),
        }
    }
    parts
}

/// The distinct keys of items, in the order in which they first come.
pub fn distinct<T, K: PartialEq>(items: impl Iterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<K> {
    let mut found = Vec::new();
    for item in items {
        let of = key(&item);
        if !found.contains(&of) {
            found.push(of);
        }
    }
    found
}

/// The mean of a value over rows that have it.
pub fn mean_of(rows: &[&StudyRow], value: RowValue) -> Option<MeanInterval> {
    MeanInterval::of(&rows.iter().filter_map(|row| value(row)).collect::<Vec<_>>())
}

/// The failures of rows in words, for an axis.
pub fn failures_label(rows: &[&StudyRow]) -> String {
    let links = rows.iter().any(|row| row.link_faults > 0);
    let switches = rows.iter().any(|row| row.switch_faults > 0);
    match (links, switches) {
        (_, false) => "failed links".to_owned(),
        (false, true) => "failed switches".to_owned(),
        (true, true) => "failed links and switches".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_named_by_what_the_study_varies() {
        let row = |engine: &str, lanes_asked, topology: &str| StudyRow {
            engine: engine.to_owned(),
            lanes_asked,
            topology: topology.to_owned(),
            ..StudyRow::default()
        };
        let rows = [row("nue", 1, "r,seed=1"), row("nue", 2, "r,seed=2"), row("lash", 8, "t,seed=3")];
        let figures = FigureRows::new("s", &rows);
        let names: Vec<String> = rows.iter().map(|row| figures.series_name(row)).collect();
        assert_eq!(names, ["nue, 1 lane", "nue, 2 lanes", "lash"]);
        let topologies: Vec<String> = rows.iter().map(|row| figures.topology(row)).collect();
        assert_eq!(topologies, ["r", "r", "t,seed=3"]);
        assert_eq!((figures.series("nue").style, figures.series("lash").style), (0, 2));
    }
}
