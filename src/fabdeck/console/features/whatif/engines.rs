//! The engines as rows: the comparison of the command line, and the state of each engine.

use crate::catalogue::field::{Listing, Tone};
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::View;
use crate::console::model::fabric_model::{Model, OutdatedRow, ProposalState};
use crate::operations::preview::engine_table as table;
use crate::operations::preview::engine_table::{EngineField, EngineStates};
use crate::operations::preview::whatif::EngineRow;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_routing::{ENGINES, Engine, NAMED_ENGINES, find_engine};

const ENGINE_STATES: View<EngineRow, EngineStates> = View::new(FIELDS, "there is no engine");

/// The most important column comes first. Where room is short, gauges go first, then the columns with the lowest rank.
static FIELDS: &[EngineField] = &[
    table::ENGINE,
    VERDICT,
    table::LOST,
    table::DEADLOCK_FREE,
    table::TRANSITION,
    table::MAX_EFI,
    table::MOVED,
    table::LANES.shed(9),
    table::LONGEST.shed(2),
    JOBS_MAX.shed(8),
    JOBS_DARK_FIBER.shed(3),
    table::SECONDS.shed(1),
    table::SWITCHES.shed(7),
    table::ENTRIES.shed(6),
    table::BLOCKS.shed(5),
    table::DARK_FIBER.shed(4),
];

const VERDICT: EngineField = EngineField::new(
    "verdict",
    "VERDICT",
    FieldKind::Text,
    "clean, or the worst defect of its routes; or how far it is: not run, waiting, running, refused; proposed: the best of \
     all; drain first: it cannot be written while traffic flows; (old): run with other jobs than the present ones, or before the fabric or its tables changed",
    |states, row| states.get(row.engine).map_or(Value::Missing, |words| Value::text(words)),
)
.status()
.signed()
.toned(&[
    ("clean", Tone::Good),
    (PROPOSED_CLEAN, Tone::Good),
    (DRAIN_CLEAN, Tone::Warning),
    (PROPOSED_DRAIN, Tone::Warning),
    ("pair lost", Tone::Warning),
    ("pairs lost", Tone::Warning),
    ("deadlock", Tone::Danger),
    ("loops", Tone::Danger),
]);

/// The words of the engine that is proposed: the best one, where its routes have no worse defect than lost pairs.
const PROPOSED_CLEAN: &str = "clean, proposed";
const PROPOSED: &str = ", proposed";
/// The words of routes that cannot be written while traffic flows. Where the best one is among them, none can.
const DRAIN_CLEAN: &str = "clean, drain first";
const DRAIN: &str = ", drain first";
const PROPOSED_DRAIN: &str = "proposed, drain first";

/// Behind the words of an engine that has to run again.
const OLD: &str = " (old)";

const JOBS_MAX: EngineField = EngineField::new(
    "jobs_max",
    "JOBS PATHS",
    FieldKind::Number,
    "effective edge forwarding index (EFI): the largest number of paths within jobs over one channel",
    |_, row| row.jobs.as_ref().map(|jobs| jobs.max).into(),
)
.largest_first()
.when_known();

const JOBS_DARK_FIBER: EngineField = EngineField::new(
    "jobs_dark_fiber",
    "JOBS UNUSED",
    FieldKind::Decimal,
    "dark fiber: percent of channels that no path within a job crosses",
    |_, row| row.jobs.as_ref().map(|jobs| Value::tenths(jobs.dark_fiber)).into(),
)
.largest_first()
.when_known();

/// The engines that suit the fabric, and those that were run by name.
pub fn listed_engines(known: &Model) -> Vec<&'static Engine> {
    let mut engines: Vec<&'static Engine> = match &known.look {
        Some(look) => look.suitable_engines().to_vec(),
        None => ENGINES.iter().collect(),
    };
    let more = ENGINES.iter().chain(NAMED_ENGINES).filter(|engine| known.proposed.contains_key(engine.id));
    for engine in more {
        if engines.iter().all(|listed| listed.id != engine.id) {
            engines.push(engine);
        }
    }
    engines
}

/// The engines that suit the fabric with their verdicts, whether requested or not. When all of them are done, the
/// best comes first.
#[derive(Debug)]
pub struct EngineList {
    rows: Vec<EngineRow>,
    states: EngineStates,
    /// Whether all engines are done, so that the best comes first.
    is_ranked: bool,
}

impl EngineList {
    pub fn new(known: &Model) -> Self {
        let row = |engine: &Engine| match known.proposed.get(engine.id) {
            Some(ProposalState::Done { row, .. }) => row.as_ref().clone(),
            _ => match known.outdated_row(engine) {
                Some(outdated) => outdated.row.clone(),
                None => EngineRow::not_requested(engine.id),
            },
        };
        let mut engines = listed_engines(known);
        let order = &known.outdated;
        engines.sort_by_key(|engine| {
            order.iter().position(|outdated| outdated.row.engine == engine.id).unwrap_or(order.len())
        });
        let is_done =
            |engine: &&Engine| matches!(known.proposed.get(engine.id), Some(ProposalState::Done { .. }));
        let is_ranked = engines.iter().all(is_done);
        let mut states: EngineStates =
            engines.iter().map(|engine| (engine.id, verdict_words(known, engine))).collect();
        if is_ranked {
            engines.sort_by_key(|engine| rank(known, engine));
            let is_good = |engine: &Engine| {
                matches!(
                    EngineVerdict::of(known, engine),
                    EngineVerdict::Clean | EngineVerdict::LosesPairs(_)
                )
            };
            let changes = |engine: &Engine| {
                known.proposal(engine).is_some_and(|proposal| proposal.difference.entries > 0)
            };
            for (at, engine) in engines.iter().enumerate().filter(|(_, engine)| is_good(engine)) {
                let Some(words) = states.get_mut(engine.id) else { continue };
                let is_best = at == 0 && changes(engine);
                match live_rank(known, engine) == UNSAFE {
                    true if is_best && words == "clean" => *words = PROPOSED_DRAIN.to_owned(),
                    true => words.push_str(DRAIN),
                    false if is_best => words.push_str(PROPOSED),
                    false => {}
                }
            }
        }
        Self { rows: engines.iter().map(|engine| row(engine)).collect(), states, is_ranked }
    }

    /// The rows of engines that are done, or were before an earlier change, for the time after the fabric changes.
    pub fn outdated_rows(&self, known: &Model) -> Vec<OutdatedRow> {
        let is_old = |row: &&EngineRow| {
            let is_done = matches!(known.proposed.get(row.engine), Some(ProposalState::Done { .. }));
            is_done || known.outdated.iter().any(|outdated| outdated.row.engine == row.engine)
        };
        let outdated = |row: &EngineRow| {
            let words = self.states.get(row.engine).map_or("", |words| words.trim_end_matches(OLD));
            // What was proposed may be another engine under the new tables.
            let verdict = words.split(", ").next().unwrap_or_default();
            OutdatedRow { row: row.clone(), verdict: format!("{verdict}{OLD}") }
        };
        self.rows.iter().filter(is_old).map(outdated).collect()
    }

    pub fn is_ranked(&self) -> bool {
        self.is_ranked
    }

    /// The row of an engine.
    pub fn row_of(&self, engine: &Engine) -> Option<usize> {
        self.rows.iter().position(|row| row.engine == engine.id)
    }

    pub fn listing(&self) -> impl Listing {
        ENGINE_STATES.rows(&self.states, &self.rows)
    }

    /// The engine of a row.
    pub fn engine(&self, row: usize) -> Option<&'static Engine> {
        find_engine(self.rows.get(row)?.engine)
    }
}

impl Default for EngineList {
    fn default() -> Self {
        Self::new(&Model::default())
    }
}

/// The rank of an engine that is done: its verdict, then whether its routes can be pushed live, then the paths over its
/// busiest channel, then the pairs that it moves. The verdict counts lost pairs.
fn rank(known: &Model, engine: &Engine) -> (EngineVerdict, u8, u64, u64) {
    let live = live_rank(known, engine);
    let busiest =
        known.proposal(engine).map_or(u64::MAX, |proposal| proposal.report.edge_forwarding_index.max);
    let moved = known.proposal(engine).map_or(u64::MAX, |proposal| proposal.difference.moved_pairs);
    (EngineVerdict::of(known, engine), live, busiest, moved)
}

/// The engine whose routes are the safe thing to do next, and the pairs that they move: certified without any finding, safe
/// to write while traffic flows, and of those the first of the list, which is the one that it proposes. `None` while engines
/// run, and where there is none.
pub fn safe_choice(known: &Model) -> Option<(&'static Engine, u64)> {
    let done = |engine: &&'static Engine| match known.proposed.get(engine.id) {
        Some(ProposalState::Done { row, .. }) => Some(row.as_ref()),
        _ => None,
    };
    let engines = listed_engines(known);
    if !engines.iter().all(|engine| done(engine).is_some()) {
        return None;
    }
    let is_safe = |engine: &&'static Engine| {
        EngineVerdict::of(known, engine) == EngineVerdict::Clean && live_rank(known, engine) == SAFE
    };
    let safe = engines.iter().copied().filter(|engine| is_safe(engine));
    let moved = safe.filter_map(|engine| {
        let moved = done(&engine)?.moved_pairs?;
        (moved > 0).then_some((engine, moved))
    });
    moved.min_by_key(|(engine, _)| rank(known, engine))
}

/// Whether all engines are done, and some have routes without a finding, of which none can be written while traffic flows.
pub fn is_unsafe_without_drain(known: &Model) -> bool {
    let engines = listed_engines(known);
    let is_done =
        |engine: &&Engine| matches!(known.proposed.get(engine.id), Some(ProposalState::Done { .. }));
    let mut clean =
        engines.iter().filter(|engine| EngineVerdict::of(known, engine) == EngineVerdict::Clean).peekable();
    engines.iter().all(is_done)
        && clean.peek().is_some()
        && clean.all(|engine| live_rank(known, engine) == UNSAFE)
}

/// Of [`live_rank`]: no mixture of old and new entries can block traffic; and traffic has to end before the routes are
/// written.
const SAFE: u8 = 0;
const UNSAFE: u8 = 2;

/// Whether the routes of an engine that is done can be written while traffic flows: the smaller, the better.
fn live_rank(known: &Model, engine: &Engine) -> u8 {
    match known.proposal(engine).filter(|_| known.tables).and_then(|proposal| proposal.transition.safe) {
        Some(true) => SAFE,
        None => 1,
        Some(false) => UNSAFE,
    }
}

/// What became of an engine, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EngineVerdict {
    Clean,
    /// Whether packets can block each other is not known: switches route adaptively, for example.
    Uncertified,
    /// Pairs of hosts have no path though cables connect them.
    LosesPairs(u64),
    /// The certificate has another finding.
    Findings,
    MayDeadlock,
    Loops,
    Refused,
    NotRun,
}

impl EngineVerdict {
    pub fn of(known: &Model, engine: &Engine) -> Self {
        let Some(ProposalState::Done { outcome, .. }) = known.proposed.get(engine.id) else {
            return Self::NotRun;
        };
        let Ok(proposal) = outcome else { return Self::Refused };
        let report = &proposal.report;
        let lost = report.unreachable.saturating_sub(report.by_cause.cut_off);
        match () {
            () if !report.has_findings() && report.deadlock_free.is_none() => Self::Uncertified,
            () if !report.has_findings() => Self::Clean,
            () if report.loops > 0 => Self::Loops,
            () if report.deadlock_free == Some(false) => Self::MayDeadlock,
            () if lost > 0 => Self::LosesPairs(lost),
            () => Self::Findings,
        }
    }
}

/// The verdict on an engine, in a few words.
pub fn verdict_words(known: &Model, engine: &Engine) -> String {
    let words = match known.proposed.get(engine.id) {
        None => return known.outdated_row(engine).map_or("-", |outdated| &outdated.verdict).to_owned(),
        Some(ProposalState::Waiting) => return "waiting".to_owned(),
        Some(ProposalState::Under(_)) => return "running".to_owned(),
        Some(ProposalState::Done { .. }) => match EngineVerdict::of(known, engine) {
            EngineVerdict::Clean => "clean".to_owned(),
            EngineVerdict::Uncertified => "not certified".to_owned(),
            EngineVerdict::LosesPairs(pairs) => {
                let pairs = digits_in_groups(pairs);
                format!("{pairs} {} lost", if pairs == "1" { "pair" } else { "pairs" })
            }
            EngineVerdict::Findings => "findings".to_owned(),
            EngineVerdict::MayDeadlock => "may deadlock".to_owned(),
            EngineVerdict::Loops => "loops".to_owned(),
            EngineVerdict::Refused => "refused".to_owned(),
            EngineVerdict::NotRun => "not run".to_owned(),
        },
    };
    let has_jobs =
        matches!(known.proposed.get(engine.id), Some(ProposalState::Done { row, .. }) if row.jobs.is_some());
    match has_jobs && known.jobs.engines_have_other_jobs() {
        true => format!("{words}{OLD}"),
        false => words,
    }
}
