//! Job figures under the tables in force and under the routes of engines, side by side.

use crate::catalogue::field::{Column, Listing};
use crate::catalogue::value::{FieldKind, Value};
use crate::operations::check::loads::JobFigures;
use crate::operations::preview::whatif::EngineRow;

/// One row for the tables in force, and one for each engine with routes.
#[derive(Debug)]
pub struct JobTable {
    rows: Vec<(&'static str, JobFigures)>,
    columns: Vec<Column>,
}

const COLUMNS: &[(&str, &str, FieldKind, &str)] = &[
    ("tables", "TABLES", FieldKind::Text, "the tables in force, or those of an engine"),
    ("max", "BUSIEST", FieldKind::Number, "paths within jobs over the busiest channel"),
    ("mean_max", "OF A JOB", FieldKind::Text, "the same for one job, as a mean over jobs"),
    ("mean_links", "CHANNELS", FieldKind::Text, "mean number of channels between switches that a job uses"),
    (
        "lost",
        "LOST",
        FieldKind::Number,
        "ordered pairs within jobs that have no path, which no other column counts",
    ),
    ("dark_fiber", "DARK %", FieldKind::Text, "percent of channels between switches that no job uses"),
];

impl JobTable {
    /// Creates the table; `None` where no jobs were given.
    pub fn new(in_force: Option<&JobFigures>, engines: &[EngineRow]) -> Option<Self> {
        let rows = std::iter::once(("in force", in_force?.clone()));
        let engines = engines.iter().filter_map(|row| Some((row.engine, row.jobs.clone()?)));
        let column = |(id, title, kind, about): (&'static str, &'static str, FieldKind, &'static str)| {
            Column::new(id.into(), title.into(), kind, about.into())
        };
        Some(Self {
            rows: rows.chain(engines).collect(),
            columns: COLUMNS.iter().copied().map(column).collect(),
        })
    }
}

impl Listing for JobTable {
    fn column_count(&self) -> usize {
        self.columns.len()
    }

    fn column(&self, at: usize) -> &Column {
        &self.columns[at]
    }

    fn row_count(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        let (tables, figures) = &self.rows[row];
        match COLUMNS[column].0 {
            "tables" => (*tables).into(),
            "lost" => figures.lost.into(),
            "max" => figures.max.into(),
            "mean_max" => format!("{:.1}", figures.mean_max).into(),
            "mean_links" => format!("{:.1}", figures.mean_links).into(),
            _ => format!("{:.1}", figures.dark_fiber).into(),
        }
    }

    fn empty_text(&self) -> &str {
        "no jobs were given"
    }
}
