//! Jobs as rows: figures under the tables in force, and beside them figures under proposed routes.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::{JOB_COLUMNS, JobRows};
use crate::session::{Column, Kind, Listing, Value};
use fabdeck_routing::analysis::Effective;

/// The order of columns: some are those of `jobs`, the others belong to the proposal.
const ORDER: [&str; 12] = [
    "job",
    "hosts",
    "missing",
    "switches",
    "lost",
    "max",
    "sar_max",
    "change",
    "links",
    "sar_links",
    "dark_fiber",
    "sar_dark",
];

fn proposed(id: &'static str) -> Column {
    let (title, kind, about) = match id {
        "sar_max" => ("SAR EFI", Kind::Number, "the effective edge forwarding index that sar would make it"),
        "change" => ("CHANGE", Kind::Text, "by how much of a hundred that is more or less"),
        "sar_links" => ("SAR LINKS", Kind::Number, "the channels that its paths would cross with sar"),
        _ => ("SAR DARK", Kind::Decimal, "percent of channels that none of its paths would cross"),
    };
    let unit = if id == "sar_dark" { "%" } else { "" };
    let column = Column::new(id.into(), title.into(), kind, about.into());
    Column { shown: false, when_known: true, largest_first: kind.right_aligned(), unit, ..column }
}

/// Each column, with its index in `jobs` where it is one of those.
static COLUMNS: LazyLock<Vec<(Column, Option<usize>)>> = LazyLock::new(|| {
    let column = |id: &&'static str| match JOB_COLUMNS.iter().position(|column| column.id == *id) {
        Some(at) => (JOB_COLUMNS[at].clone(), Some(at)),
        None => (proposed(id), None),
    };
    ORDER.iter().map(column).collect()
});

/// Whether an order or a filter uses only columns that `jobs` prints too.
pub fn printed_of_jobs(text: &str) -> bool {
    COLUMNS.iter().filter(|(_, of_jobs)| of_jobs.is_none()).all(|(column, _)| !text.contains(&*column.id))
}

/// The figures of a job under proposed routes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JobThen {
    pub links: usize,
    pub max: u64,
    pub dark_fiber: f64,
}

impl From<&Effective> for JobThen {
    fn from(job: &Effective) -> Self {
        Self { links: job.links(), max: job.max, dark_fiber: job.dark_fiber }
    }
}

/// The change of a figure in percent: `-32 %`.
pub fn change_in_hundred(before: f64, after: f64) -> Option<String> {
    let change = 100.0 * (after - before) / before;
    (before > 0.0).then(|| if change.round() == 0.0 { "0 %".to_owned() } else { format!("{change:+.0} %") })
}

/// Jobs with the proposed figures of each, where there are any.
#[derive(Clone, Copy, Debug)]
pub struct JobGains<'j> {
    pub now: JobRows<'j>,
    pub then: &'j [Option<JobThen>],
}

impl Listing for JobGains<'_> {
    fn column_count(&self) -> usize {
        COLUMNS.len()
    }

    fn column(&self, at: usize) -> &Column {
        &COLUMNS[at].0
    }

    fn row_count(&self) -> usize {
        self.now.row_count()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        let (about, of_jobs) = &COLUMNS[column];
        if let Some(at) = of_jobs {
            return self.now.cell(row, *at);
        }
        let Some(then) = self.then.get(row).copied().flatten() else { return Value::Missing };
        match about.id.as_ref() {
            "sar_max" => Value::Number(then.max),
            "sar_links" => Value::count(then.links),
            "sar_dark" => Value::tenths(then.dark_fiber),
            _ => {
                let words =
                    self.now.0[row].max.and_then(|max| change_in_hundred(max as f64, then.max as f64));
                words.map(|words| Value::Text(Cow::Owned(words))).into()
            }
        }
    }

    fn when_empty(&self) -> &str {
        "no job runs on several switches: none has a path between switches"
    }
}
