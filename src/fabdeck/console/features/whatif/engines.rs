//! The engines as rows: the comparison of the command line, and the state of each engine.

use crate::catalogue::field::Listing;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::View;
use crate::console::model::fabric_model::{Model, ProposalState};
use crate::operations::preview::engine_table as table;
use crate::operations::preview::engine_table::{EngineField, EngineStates};
use crate::operations::preview::whatif::EngineRow;
use fabdeck_routing::{ENGINES, Engine};

const ENGINE_STATES: View<EngineRow, EngineStates> = View::new(FIELDS, "there is no engine");

/// The most important column comes first; a screen shows as many as fit.
static FIELDS: &[EngineField] = &[
    table::ENGINE,
    STATE,
    table::LOST,
    table::DEADLOCK_FREE,
    table::TRANSITION,
    table::LANES,
    table::MAX_EFI,
    JOBS_MAX,
    JOBS_DARK_FIBER,
    table::LONGEST,
    table::SECONDS,
    table::MOVED,
    table::SWITCHES,
    table::ENTRIES,
    table::BLOCKS,
    table::DARK_FIBER,
];

const STATE: EngineField = EngineField::new(
    "state",
    "STATE",
    FieldKind::Text,
    "not run, waiting for another, under way, refused, clean, or with findings; (old): run with other jobs than the present ones",
    |states, row| states.get(row.engine).copied().into(),
).status();

const JOBS_MAX: EngineField = EngineField::new(
    "jobs_max",
    "JOBS EFI",
    FieldKind::Number,
    "effective edge forwarding index: the largest number of paths within jobs over one channel",
    |_, row| row.jobs.as_ref().map(|jobs| jobs.max).into(),
)
.largest_first()
.when_known();

const JOBS_DARK_FIBER: EngineField = EngineField::new(
    "jobs_dark_fiber",
    "JOBS DARK",
    FieldKind::Decimal,
    "percent of channels that no path within a job crosses",
    |_, row| row.jobs.as_ref().map(|jobs| Value::tenths(jobs.dark_fiber)).into(),
)
.largest_first()
.when_known();

/// All engines of the registry with their states, whether requested or not.
#[derive(Debug)]
pub struct EngineList {
    rows: Vec<EngineRow>,
    states: EngineStates,
}

impl EngineList {
    pub fn new(known: &Model) -> Self {
        let row = |engine: &Engine| match known.proposed.get(engine.id) {
            Some(ProposalState::Done { row, .. }) => row.as_ref().clone(),
            _ => EngineRow::not_requested(engine.id),
        };
        let state = |engine: &Engine| (engine.id, state(known, engine));
        Self { rows: ENGINES.iter().map(row).collect(), states: ENGINES.iter().map(state).collect() }
    }

    pub fn listing(&self) -> impl Listing {
        ENGINE_STATES.rows(&self.states, &self.rows)
    }
}

impl Default for EngineList {
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
