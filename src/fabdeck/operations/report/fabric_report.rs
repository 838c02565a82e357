//! The content of a report: the facts, and the map that is drawn from them.

use std::sync::Arc;

use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::fabric_map::figures::{FigureTable, MapQuantity};
use crate::operations::fabric_map::pair_table::{PairRequest, PairTable};
use crate::operations::fabric_map::ranks::ranks;
use crate::operations::fabric_map::structure::MapStructure;
use crate::operations::health::ranked_problems::RankedProblems;
use crate::operations::watch::fabric_history::FabricHistory;
use crate::operations::watch::history_clock::HistoryClock;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_routing::analysis::PathIndex;
use fabdeck_routing::{NoProgress, RouteProgress};

/// An event, at a time of the history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportEvent {
    pub at_ms: i64,
    pub severity: Severity,
    pub text: String,
}

/// The events of a report.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReportEvents {
    /// The latest events, the oldest of them first.
    rows: Vec<ReportEvent>,
    /// Number of all events.
    pub count: usize,
}

impl ReportEvents {
    /// Most events of a report, the latest ones.
    const MAX_EVENTS: usize = 500;

    /// Takes the latest of these events. `count` has all that happened, also those that are no longer kept.
    pub fn new(mut rows: Vec<ReportEvent>, count: usize) -> Self {
        rows.sort_by_key(|event| event.at_ms);
        let count = count.max(rows.len());
        rows.drain(..rows.len().saturating_sub(Self::MAX_EVENTS));
        Self { rows, count }
    }

    pub fn rows(&self) -> &[ReportEvent] {
        &self.rows
    }
}

/// One thing that was checked, or the reason why it was not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportCheck {
    pub label: &'static str,
    /// What is known of it, or why nothing is.
    pub words: Result<String, String>,
}

/// What a report is made of.
#[derive(Clone, Debug)]
pub struct ReportFacts {
    pub look: Arc<Snapshot>,
    pub ranked: Arc<RankedProblems>,
    /// The verdict on the last interval; `None` where counters were not compared.
    pub reading: Option<Arc<WatchVerdict>>,
    pub paths: Option<Arc<PathIndex>>,
    pub history: FabricHistory,
    pub clock: Option<HistoryClock>,
    pub events: ReportEvents,
    pub checks: Vec<ReportCheck>,
    /// When the report is written; `None` for a report without times.
    pub written: Option<String>,
    /// The command that makes such a report again.
    pub command: String,
}

/// The map of a report.
#[derive(Debug)]
pub struct ReportMap {
    pub structure: Arc<MapStructure>,
    pub figures: FigureTable,
    /// What its colours say; `None` where nothing is known of any cable.
    pub quantity: Option<MapQuantity>,
    /// The pairs of groups, for a fabric with too many cables for lines.
    pub pairs: Option<PairTable>,
    /// Whether each cable is a line.
    pub has_lines: bool,
}

/// A report.
#[derive(Debug)]
pub struct FabricReport {
    pub facts: ReportFacts,
    pub map: ReportMap,
}

/// Most switches and cables of a map with lines, and in the next constant most groups of a table of pairs.
const MAX_LINE_SWITCHES: usize = 48;
const MAX_LINE_CABLES: usize = 400;
const MAX_GROUPS: usize = 24;

/// Number of steps that `FabricReport::new` counts.
const STEPS: usize = 3;

impl FabricReport {
    /// Makes the report; `None` if it was cancelled.
    pub fn new(facts: ReportFacts, progress: &dyn RouteProgress) -> Option<Self> {
        progress.report(0, STEPS);
        let look = &facts.look;
        let (_, structure) = ranks(look);
        progress.report(1, STEPS);
        let readings = (facts.reading.as_ref(), facts.paths.as_ref());
        let figures = FigureTable::new(look, readings.0, readings.1);
        let links = || look.fabric().links();
        let known = |quantity| links().any(|(link, _)| figures.link(link).score(quantity).is_some());
        let quantity =
            [MapQuantity::Wait, MapQuantity::Load, MapQuantity::Paths].into_iter().find(|one| known(*one));
        let has_lines =
            structure.switches.len() <= MAX_LINE_SWITCHES && structure.cables.len() <= MAX_LINE_CABLES;
        let structure = Arc::new(structure);
        if progress.is_cancelled() {
            return None;
        }
        let pairs = quantity
            .filter(|_| !has_lines && look.observation.tables.has_forwarding())
            .map(|quantity| pair_table(&facts, &structure, quantity));
        progress.report(2, STEPS);
        let map = ReportMap { structure, figures, quantity, pairs, has_lines };
        (!progress.is_cancelled()).then_some(Self { facts, map })
    }

    /// The time of the last reading, or of a later event.
    pub fn last_ms(&self) -> i64 {
        let reading = self.facts.history.latest().map(|(at_ms, _)| at_ms);
        let reading = reading.map_or(0, |at_ms| i64::try_from(at_ms).unwrap_or(i64::MAX));
        self.facts.events.rows.last().map_or(reading, |event| reading.max(event.at_ms))
    }
}

fn pair_table(facts: &ReportFacts, structure: &Arc<MapStructure>, quantity: MapQuantity) -> PairTable {
    let groups = &structure.groups;
    let buckets = || groups.buckets(structure, &facts.look, &(0..groups.leaves.len()), MAX_GROUPS);
    let request = PairRequest {
        look: facts.look.clone(),
        structure: structure.clone(),
        reading: facts.reading.clone(),
        paths: facts.paths.clone(),
        quantity,
        rows: buckets(),
        columns: buckets(),
    };
    request.table(&NoProgress)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_events_are_kept_in_order_and_all_are_counted() {
        let event = |at_ms| ReportEvent { at_ms, severity: Severity::Info, text: String::new() };
        let events = ReportEvents::new((0..600).rev().map(event).collect(), 700);
        let times: Vec<i64> = events.rows().iter().map(|event| event.at_ms).collect();
        assert_eq!(times, (100..600).collect::<Vec<_>>());
        assert_eq!(events.count, 700);
    }
}
