//! The engines as rows: the comparison of the command line, and how far each of them is.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::routing::{ENGINES, Engine};
use crate::session::interactive::known::{Known, Proposed};
use crate::session::{Column, Comparison, EngineRow, Kind, Listing, Value};

static STATE: LazyLock<Column> = LazyLock::new(|| Column {
    id: Cow::Borrowed("state"),
    title: Cow::Borrowed("STATE"),
    unit: "",
    kind: Kind::Text,
    about: Cow::Borrowed("not asked, waiting for another, under way, refused, clean, or with findings"),
    words: &[],
    shown: true,
    when_yes: false,
    when_known: false,
    spare: false,
});

/// Every engine of the registry, asked or not.
#[derive(Debug)]
pub struct Engines {
    comparison: Comparison,
    states: Vec<&'static str>,
}

impl Engines {
    pub fn new(known: &Known) -> Self {
        let row = |engine: &&Engine| match known.proposed.get(engine.id) {
            Some(Proposed::Done { row, .. }) => row.as_ref().clone(),
            _ => EngineRow::unasked(engine.id),
        };
        Self {
            comparison: Comparison::new(ENGINES.iter().collect::<Vec<_>>().iter().map(row).collect()),
            states: ENGINES.iter().map(|engine| state(known, engine)).collect(),
        }
    }
}

impl Default for Engines {
    fn default() -> Self {
        Self::new(&Known::default())
    }
}

fn state(known: &Known, engine: &Engine) -> &'static str {
    match known.proposed.get(engine.id) {
        None => "-",
        Some(Proposed::Waiting) => "waiting",
        Some(Proposed::Under(_)) => "under way",
        Some(Proposed::Done { outcome: Err(_), .. }) => "refused",
        Some(Proposed::Done { outcome: Ok(proposal), .. }) if proposal.report.findings() => "findings",
        Some(Proposed::Done { .. }) => "clean",
    }
}

impl Listing for Engines {
    fn column_count(&self) -> usize {
        self.comparison.column_count() + 1
    }

    fn column(&self, at: usize) -> &Column {
        match at {
            0 => self.comparison.column(0),
            1 => &STATE,
            _ => self.comparison.column(at - 1),
        }
    }

    fn row_count(&self) -> usize {
        self.states.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        match column {
            0 => self.comparison.cell(row, 0),
            1 => Value::text(self.states[row]),
            _ => self.comparison.cell(row, column - 1),
        }
    }

    fn when_empty(&self) -> &str {
        "there is no engine"
    }
}
