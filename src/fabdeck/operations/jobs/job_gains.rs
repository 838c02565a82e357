//! Jobs as rows: figures under the tables in force, and beside them figures under proposed routes.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::rows::{JOB_COLUMNS, JobRows};
use crate::catalogue::field::{Column, Listing};
use crate::catalogue::value::{FieldKind, Value};
use fabdeck_routing::analysis::EffectiveIndex;

/// The order of columns: some are those of `jobs`, the others belong to the proposal.
const COLUMN_ORDER: [&str; 12] = [
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

fn proposed_column(id: &'static str) -> Column {
    let (title, kind, about) = match id {
        "sar_max" => ("SAR EFI", FieldKind::Number, "the effective edge forwarding index under sar's routes"),
        "change" => ("CHANGE", FieldKind::Text, "the difference in percent"),
        "sar_links" => {
            ("SAR LINKS", FieldKind::Number, "the channels that its paths would cross under sar's routes")
        }
        _ => (
            "SAR DARK",
            FieldKind::Decimal,
            "percent of channels that none of its paths would cross under sar's routes",
        ),
    };
    let unit = if id == "sar_dark" { "%" } else { "" };
    let column = Column::new(id.into(), title.into(), kind, about.into());
    Column { shown: false, when_known: true, largest_first: kind.is_right_aligned(), unit, ..column }
}

/// Each column, with its index in `jobs` where it is one of those.
static COLUMNS: LazyLock<Vec<(Column, Option<usize>)>> = LazyLock::new(|| {
    let column = |id: &&'static str| match JOB_COLUMNS.iter().position(|column| column.id == *id) {
        Some(at) => (JOB_COLUMNS[at].clone(), Some(at)),
        None => (proposed_column(id), None),
    };
    COLUMN_ORDER.iter().map(column).collect()
});

/// Whether an order or a filter uses only columns that `jobs` prints too.
pub fn is_printed_by_jobs(text: &str) -> bool {
    COLUMNS.iter().filter(|(_, of_jobs)| of_jobs.is_none()).all(|(column, _)| !text.contains(&*column.id))
}

/// The figures of a job under proposed routes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProposedJob {
    pub links: usize,
    pub max: u64,
    pub dark_fiber: f64,
}

impl From<&EffectiveIndex> for ProposedJob {
    fn from(job: &EffectiveIndex) -> Self {
        Self { links: job.used_channels(), max: job.max, dark_fiber: job.dark_fiber }
    }
}

/// The change of a figure in percent: `-32 %`.
pub fn percent_change(before: f64, after: f64) -> Option<String> {
    let change = 100.0 * (after - before) / before;
    (before > 0.0).then(|| if change.round() == 0.0 { "0 %".to_owned() } else { format!("{change:+.0} %") })
}

/// Jobs with the proposed figures of each, where there are any.
#[derive(Clone, Copy, Debug)]
pub struct JobGainRows<'j> {
    pub now: JobRows<'j>,
    pub then: &'j [Option<ProposedJob>],
}

impl Listing for JobGainRows<'_> {
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
                let words = self.now.0[row].max.and_then(|max| percent_change(max as f64, then.max as f64));
                words.map(|words| Value::Text(Cow::Owned(words))).into()
            }
        }
    }

    fn empty_text(&self) -> &str {
        "no job runs on several switches: none has a path between switches"
    }
}
