//! The running jobs, with a row for each.

use std::sync::LazyLock;

use super::summary::JobSummary;
use crate::catalogue::field::{Column, Listing};
use crate::catalogue::value::{FieldKind, Value};

/// Defines the columns: id, heading, kind, meaning, and the function that yields the value of a row.
macro_rules! columns {
    ($($id:literal $title:literal $kind:ident $about:literal $value:expr;)+) => {
        /// The columns of jobs.
        pub static JOB_COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| vec![$(
            place_column(Column::new($id.into(), $title.into(), FieldKind::$kind, $about.into()))
        ),+]);

        const VALUES: &[fn(&JobSummary) -> Value<'_>] = &[$($value),+];
    };
}

columns! {
    "job" "JOB" Text "its name in the list; each task of Slurm's arrays, and each heterogeneous job as a whole" |job| Value::text(&job.job);
    "hosts" "HOSTS" Number "its hosts that paths lead to, each counted once" |job| Value::count(job.hosts);
    "ports" "PORTS" Number "ports of these hosts that paths lead to" |job| Value::count(job.ports);
    "missing" "MISSING" Number "its hosts that match no host of the fabric, or several" |job| Value::count(job.missing);
    "switches" "SWITCHES" Number "switches of its hosts; a job on one switch has no path between switches" |job| Value::count(job.switches);
    "links" "LINKS" Number "directed channels between switches that paths between its hosts cross" |job| job.links.map(Value::count).into();
    "max" "MAX EFI" Number "effective edge forwarding index: the largest number of its paths over one channel" |job| job.max.map(Value::Number).into();
    "dark_fiber" "DARK" Decimal "percent of all channels between switches that none of its paths crosses" |job| job.dark_fiber.map_or(Value::Missing, Value::tenths);
    "lost" "LOST" Number "ordered pairs of ports of its different hosts without a path; no other figure counts them" |job| job.lost.map(Value::Number).into();
}

fn place_column(column: Column) -> Column {
    // The column appears only where some job has pairs without a path.
    let when_yes = column.id == "lost";
    let shown = !when_yes && !["missing", "ports"].contains(&&*column.id);
    let largest_first = column.kind.is_right_aligned();
    let unit = if column.id == "dark_fiber" { "%" } else { "" };
    Column { shown, when_yes, largest_first, unit, ..column }
}

/// Jobs as a listing.
#[derive(Clone, Copy, Debug)]
pub struct JobRows<'j>(pub &'j [JobSummary]);

impl Listing for JobRows<'_> {
    fn column_count(&self) -> usize {
        JOB_COLUMNS.len()
    }

    fn column(&self, at: usize) -> &Column {
        &JOB_COLUMNS[at]
    }

    fn row_count(&self) -> usize {
        self.0.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        VALUES[column](&self.0[row])
    }

    fn empty_text(&self) -> &str {
        "no job of the list has a host in the fabric"
    }
}
