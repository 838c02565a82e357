//! Job figures under the tables in force and under the routes of engines, side by side.

use crate::catalogue::field::Field;
use crate::catalogue::value::FieldKind;
use crate::catalogue::view::{Rows, View};
use crate::operations::check::loads::JobFigures;
use crate::operations::preview::whatif::EngineRow;

/// The tables in force or those of an engine, by name, and the figures of jobs under them.
type TablesRow = (&'static str, JobFigures);

type RowField = Field<TablesRow, ()>;

const JOB_TABLE: View<TablesRow, ()> = View::new(JOB_TABLE_FIELDS, "no jobs were given");

static JOB_TABLE_FIELDS: &[RowField] = &[
    RowField::new(
        "tables",
        "TABLES",
        FieldKind::Text,
        "the tables in force, or those of an engine",
        |(), (tables, _)| (*tables).into(),
    ),
    RowField::new(
        "max",
        "BUSIEST",
        FieldKind::Number,
        "paths within jobs over the busiest channel",
        |(), (_, figures)| figures.max.into(),
    ),
    RowField::new(
        "mean_max",
        "OF A JOB",
        FieldKind::Text,
        "the same for one job, as a mean over jobs",
        |(), (_, figures)| format!("{:.1}", figures.mean_max).into(),
    ),
    RowField::new(
        "mean_links",
        "CHANNELS",
        FieldKind::Text,
        "mean number of channels between switches that a job uses",
        |(), (_, figures)| format!("{:.1}", figures.mean_links).into(),
    ),
    RowField::new(
        "lost",
        "LOST",
        FieldKind::Number,
        "ordered pairs within jobs that have no path, which no other column counts",
        |(), (_, figures)| figures.lost.into(),
    ),
    RowField::new(
        "dark_fiber",
        "UNUSED %",
        FieldKind::Text,
        "percent of channels between switches that no job uses",
        |(), (_, figures)| format!("{:.1}", figures.dark_fiber).into(),
    ),
];

/// A row for the tables in force, and one for each engine with routes; `None` where no jobs were given.
pub fn job_table(
    in_force: Option<&JobFigures>,
    engines: &[EngineRow],
) -> Option<Rows<'static, TablesRow, ()>> {
    let rows = std::iter::once(("in force", in_force?.clone()));
    let engines = engines.iter().filter_map(|row| Some((row.engine, row.jobs.clone()?)));
    Some(JOB_TABLE.of(rows.chain(engines).collect::<Vec<_>>()))
}
