//! The engines as rows: the comparison of the command line, and the state of each engine.

use std::borrow::Cow;

use crate::catalogue::field::{Column, Listing};
use crate::catalogue::value::{FieldKind, Value};
use crate::console::model::fabric_model::{Model, ProposalState};
use crate::operations::preview::whatif::{EngineComparison, EngineRow};
use fabdeck_routing::{ENGINES, Engine};

/// The order of columns, the most important first; a screen shows as many as fit.
const COLUMN_ORDER: [&str; 16] = [
    "engine",
    "state",
    "lost",
    "deadlock_free",
    "transition",
    "lanes",
    "max_efi",
    "jobs_max",
    "jobs_dark_fiber",
    "longest",
    "seconds",
    "moved",
    "switches",
    "entries",
    "blocks",
    "dark_fiber",
];

static STATE: Column = Column::new(
    Cow::Borrowed("state"),
    Cow::Borrowed("STATE"),
    FieldKind::Text,
    Cow::Borrowed(
        "not run, waiting for another, under way, refused, clean, or with findings; (old): run with other jobs than the present ones",
    ),
);

/// The columns for engines with jobs in their request.
static JOBS: [Column; 2] = [
    when_known(
        FieldKind::Number,
        "jobs_max",
        "JOBS EFI",
        "effective edge forwarding index: the largest number of paths within jobs over one channel",
    ),
    when_known(
        FieldKind::Decimal,
        "jobs_dark_fiber",
        "JOBS DARK",
        "percent of channels that no path within a job crosses",
    ),
];

const fn when_known(kind: FieldKind, id: &'static str, title: &'static str, about: &'static str) -> Column {
    let (id, title, about) = (Cow::Borrowed(id), Cow::Borrowed(title), Cow::Borrowed(about));
    let mut column = Column::new(id, title, kind, about);
    (column.shown, column.when_known, column.largest_first) = (false, true, true);
    column
}

/// The source of a column.
#[derive(Clone, Copy, Debug)]
enum Origin {
    Comparison(usize),
    State,
    JobsMax,
    JobsDark,
}

/// All engines of the registry, whether requested or not.
#[derive(Debug)]
pub struct EngineRows {
    comparison: EngineComparison,
    /// The columns in their order.
    columns: Vec<(Column, Origin)>,
    states: Vec<&'static str>,
}

impl EngineRows {
    pub fn new(known: &Model) -> Self {
        let row = |engine: &&Engine| match known.proposed.get(engine.id) {
            Some(ProposalState::Done { row, .. }) => row.as_ref().clone(),
            _ => EngineRow::not_requested(engine.id),
        };
        let comparison = EngineComparison::new(ENGINES.iter().collect::<Vec<_>>().iter().map(row).collect());
        let of_comparison =
            |id: &str| (0..comparison.column_count()).find(|at| comparison.column(*at).id == id);
        let column = |id: &&str| match of_comparison(id) {
            Some(at) => (Column { shown: true, ..comparison.column(at).clone() }, Origin::Comparison(at)),
            None if *id == JOBS[0].id => (JOBS[0].clone(), Origin::JobsMax),
            None if *id == JOBS[1].id => (JOBS[1].clone(), Origin::JobsDark),
            None => (STATE.clone(), Origin::State),
        };
        Self {
            columns: COLUMN_ORDER.iter().map(column).collect(),
            comparison,
            states: ENGINES.iter().map(|engine| state(known, engine)).collect(),
        }
    }
}

impl Default for EngineRows {
    fn default() -> Self {
        Self::new(&Model::default())
    }
}

/// The state of an engine, in a word.
pub fn state(known: &Model, engine: &Engine) -> &'static str {
    match known.proposed.get(engine.id) {
        None => "-",
        Some(ProposalState::Waiting) => "waiting",
        Some(ProposalState::Under(_)) => "under way",
        Some(ProposalState::Done { outcome: Err(_), .. }) => "refused",
        Some(ProposalState::Done { outcome: Ok(proposal), row }) => {
            let others = row.jobs.is_some() && known.jobs.engines_have_other_jobs();
            match (proposal.report.has_findings(), others) {
                (true, true) => "findings (old)",
                (true, false) => "findings",
                (false, true) => "clean (old)",
                (false, false) => "clean",
            }
        }
    }
}

impl Listing for EngineRows {
    fn column_count(&self) -> usize {
        self.columns.len()
    }

    fn column(&self, at: usize) -> &Column {
        &self.columns[at].0
    }

    fn row_count(&self) -> usize {
        self.states.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        let jobs = self.comparison.rows().get(row).and_then(|row| row.jobs.as_ref());
        match self.columns[column].1 {
            Origin::Comparison(at) => self.comparison.cell(row, at),
            Origin::State => Value::text(self.states[row]),
            Origin::JobsMax => jobs.map(|jobs| jobs.max).into(),
            Origin::JobsDark => jobs.map_or(Value::Missing, |jobs| Value::tenths(jobs.dark_fiber)),
        }
    }

    fn empty_text(&self) -> &str {
        "there is no engine"
    }
}
