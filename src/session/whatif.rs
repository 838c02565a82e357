//! What a failure costs, and what each engine would make of it: marks over a fabric, lost paths of the tables in force,
//! and a proposal of every engine that is asked.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use super::check::{Report, report, unread_tables};
use super::lanes::capped;
use super::preview::Preview;
use super::{Column, Kind, Listing, Look, Value};
use crate::analysis::{Expected, Lost};
use crate::fabric::{Element, ElementError, Faults, NodeId, PortState, Resolved, Routes, Tables};
use crate::routing::certificate::{LaneKnowledge, Scope, certify, certify_among};
use crate::routing::difference::{Difference, compare};
use crate::routing::{Engine, NoPulse, Past, Problem, Pulse, Ran, Refusal, Request, run};

/// The faults that elements name.
pub fn marks(look: &Look, elements: &[String]) -> Result<Faults, ElementError> {
    let mut faults = Faults::new();
    for text in elements {
        let element: Element = text.parse()?;
        faults.mark(element.resolve(look.fabric(), &look.names)?);
    }
    Ok(faults)
}

/// So many of the working links between switches, drawn by seed; all of them when there are no more.
pub fn mark_random(look: &Look, faults: &mut Faults, count: usize, seed: u64) {
    let fabric = look.fabric();
    let up = |link: &crate::fabric::Link| {
        [link.a, link.b].iter().all(|port| fabric.port(*port).facts.state != Some(PortState::Down))
    };
    let mut links: Vec<_> = fabric
        .links()
        .filter(|(id, link)| fabric.between_switches(*id) && up(link) && !faults.link_failed(fabric, *id))
        .map(|(id, _)| id)
        .collect();
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(seed);
    for at in 0..count.min(links.len()) {
        let rest = (links.len() - at) as u64;
        links.swap(at, at + (dice.next_u64() % rest) as usize);
        faults.mark(Resolved::Link(links[at]));
    }
}

/// What marks cost under the tables in force, before anybody reroutes.
#[derive(Clone, PartialEq, Debug)]
pub struct Cost {
    pub lost: Lost,
    /// For as many further failures as there are marks, one at least.
    pub expected: Expected,
    pub pairs: u64,
}

/// Lost paths of tables.
pub fn cost(look: &Look, tables: &Tables, faults: &Faults) -> Result<Cost, Refusal> {
    let mut preview = Preview::new(look, tables, &NoPulse)?;
    preview.become_marked(look, faults);
    Ok(preview.cost())
}

/// Tables as routes. What a failed switch holds counts for nothing.
pub(super) fn in_force(look: &Look, tables: &Tables, faults: &Faults) -> Routes {
    let held = |id: NodeId| tables.lft(id).filter(|_| !faults.node_failed(id));
    Routes::of_tables(look.fabric().switches().map(|(id, _)| held(id)))
}

/// The certificate of routes whose lanes are known, over the pairs that the partitions of the look leave.
pub fn judged(look: &Look, routes: &Routes, faults: &Faults, scope: &Scope) -> Result<Report, Refusal> {
    let problem = Problem::new(look.fabric(), faults);
    let certificate = certify_among(&problem, routes, scope, look.partitions.as_ref(), &NoPulse)?;
    Ok(report(look, &problem, &certificate))
}

/// What an engine makes of a fabric with its faults.
#[derive(Clone, PartialEq, Debug)]
pub struct Proposal {
    pub routes: Arc<Routes>,
    pub report: Report,
    pub difference: Difference,
    /// Old and new paths together cannot wait for each other; `None` where lanes of the old ones are not known.
    pub transition_safe: Option<bool>,
    pub remarks: Vec<String>,
    /// Of tables and lanes, how much was computed for these marks.
    pub ran: Ran,
    pub took: Took,
}

/// How long the parts of a proposal took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Took {
    /// Tables and lanes.
    pub route: Duration,
    pub certificate: Duration,
}

/// Routes of an engine with their certificate (of paths of switches too, where `switches` says so) and what it takes to
/// get there.
pub fn propose(
    look: &Look,
    tables: &Tables,
    faults: &Faults,
    engine: &Engine,
    request: &Request,
    switches: bool,
    pulse: &dyn Pulse,
) -> Result<Proposal, Refusal> {
    let asked = Asked { engine, marks: faults, request, switches };
    propose_again(look, tables, asked, None, pulse).map(|(proposal, _)| proposal)
}

/// What is asked of an engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub engine: &'a Engine,
    pub marks: &'a Faults,
    pub request: &'a Request,
    pub switches: bool,
}

/// The same out of an earlier run of the engine, with what the next may begin from.
pub(super) fn propose_again(
    look: &Look,
    tables: &Tables,
    asked: Asked<'_>,
    past: Option<&Past>,
    pulse: &dyn Pulse,
) -> Result<(Proposal, Option<Past>), Refusal> {
    let Asked { engine, marks: faults, request, switches } = asked;
    let problem = Problem::new(look.fabric(), faults);
    let begun = Instant::now();
    let (request, capped) = capped(look, &problem, request);
    let answer = run(engine, &problem, &request, past, pulse)?;
    let route = begun.elapsed();
    let scope = Scope { switches, lanes: LaneKnowledge::Known };
    let certificate = certify(&problem, &answer.routes, &scope, pulse)?;
    let took = Took { route, certificate: begun.elapsed().saturating_sub(route) };
    let mut old = in_force(look, tables, faults);
    // Tables that were computed here come with their lanes; of others they are not known, and paths count as moved by
    // their ports alone.
    let held = look.routes.as_ref().unwrap_or(&*answer.routes);
    if held.stride() == old.stride() {
        old.lanes.clone_from(&held.lanes);
    }
    let known = look.routes.is_some();
    let together =
        Scope { switches, lanes: if known { LaneKnowledge::Known } else { LaneKnowledge::Unknown } };
    let (difference, transition) = compare(&problem, &old, &answer.routes, &together);
    let safe = match transition.cycles.is_empty() {
        // Without a cycle as if all shared one lane there is none on any lanes.
        true => Some(true),
        false => known.then_some(false),
    };
    let proposal = Proposal {
        report: Report { lanes_from: "engine", ..report(look, &problem, &certificate) },
        difference,
        transition_safe: safe.filter(|_| unread_tables(&problem, tables) == 0),
        routes: answer.routes,
        remarks: capped.into_iter().chain(answer.remarks).collect(),
        ran: answer.ran,
        took,
    };
    Ok((proposal, answer.past))
}

/// A row of the comparison.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct EngineRow {
    pub engine: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Of these, for tables and lanes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_seconds: Option<f64>,
    pub lanes: Option<u8>,
    /// Why there are no routes.
    pub refused: Option<String>,
    pub certificate: Option<Report>,
    pub changed_entries: Option<u64>,
    pub changed_blocks: Option<u64>,
    pub changed_switches: Option<u64>,
    pub moved_pairs: Option<u64>,
    pub transition_safe: Option<bool>,
    /// How much of the tables was computed for these marks: `full`; `reused`, some were taken over from other marks and
    /// are what a full run gives; `kept`, all are those of the same marks before.
    pub ran: &'static str,
    /// Tables that were taken over from other marks.
    pub reused_tables: Option<u64>,
    pub remarks: Vec<String>,
}

impl EngineRow {
    /// An engine that nobody asked.
    pub fn unasked(engine: &'static str) -> Self {
        Self { refused: None, ..Self::new(engine, Err(&Refusal::Cancelled), None) }
    }

    pub fn new(engine: &'static str, outcome: Result<&Proposal, &Refusal>, seconds: Option<f64>) -> Self {
        let proposal = outcome.ok();
        let difference = proposal.map(|proposal| proposal.difference);
        let ran = proposal.map(|proposal| proposal.ran).unwrap_or_default();
        // Who wants no times gives none.
        let took = seconds.and(proposal).map(|proposal| proposal.took);
        Self {
            engine,
            seconds,
            route_seconds: took.map(|took| took.route.as_secs_f64()),
            certificate_seconds: took.map(|took| took.certificate.as_secs_f64()),
            lanes: proposal.map(|proposal| proposal.routes.lane_count()),
            refused: outcome.err().map(ToString::to_string),
            certificate: proposal.map(|proposal| proposal.report.clone()),
            changed_entries: difference.map(|difference| difference.entries),
            changed_blocks: difference.map(|difference| difference.blocks),
            changed_switches: difference.map(|difference| difference.switches),
            moved_pairs: difference.map(|difference| difference.moved_pairs),
            transition_safe: proposal.and_then(|proposal| proposal.transition_safe),
            ran: ran.word(),
            reused_tables: ran.rows().map(|rows| rows as u64),
            remarks: proposal.map(|proposal| proposal.remarks.clone()).unwrap_or_default(),
        }
    }
}

/// The engines side by side.
#[derive(Debug)]
pub struct Comparison {
    rows: Vec<EngineRow>,
    columns: Vec<Column>,
}

impl Comparison {
    pub fn new(rows: Vec<EngineRow>) -> Self {
        let column = |(id, title, kind, about): (&'static str, &'static str, Kind, &'static str)| Column {
            id: id.into(),
            title: title.into(),
            unit: "",
            kind,
            about: about.into(),
            words: &[],
            // A line of eighty columns has no room for it; the blocks are in JSON and in the plan.
            shown: id != "blocks",
            when_yes: false,
            when_known: false,
        };
        Self { rows, columns: COMPARED.iter().copied().map(column).collect() }
    }

    pub fn rows(&self) -> &[EngineRow] {
        &self.rows
    }

    /// What certificates find fault with, engine by engine.
    pub fn faults(&self) -> Vec<String> {
        let judged = self.rows.iter().filter_map(|row| Some((row.engine, row.certificate.as_ref()?)));
        judged
            .flat_map(|(engine, report)| {
                report.faults().into_iter().map(move |fault| format!("{engine}: {fault}"))
            })
            .collect()
    }
}

const COMPARED: &[(&str, &str, Kind, &str)] = &[
    ("engine", "ENGINE", Kind::Text, "the engine"),
    ("lost", "LOST", Kind::Number, "pairs without a path that cables connect"),
    ("deadlock_free", "ACYCLIC", Kind::Flag, "no packets can wait for each other in a circle"),
    ("lanes", "LANES", Kind::Number, "lanes that it uses"),
    ("longest", "HOPS", Kind::Number, "hops between switches of the longest path"),
    ("max_efi", "MAX EFI", Kind::Number, "paths over the busiest channel"),
    ("switches", "SWITCH", Kind::Number, "switches whose table changes"),
    ("blocks", "BLOCKS", Kind::Number, "blocks of 64 LIDs to write"),
    ("moved", "MOVED", Kind::Number, "pairs whose path changes"),
    ("transition", "LIVE", Kind::Flag, "old and new paths together have no circle either"),
    ("seconds", "SEC", Kind::Text, "to compute the routes and their certificate"),
];

impl Listing for Comparison {
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
        let row = &self.rows[row];
        let report = row.certificate.as_ref();
        match COMPARED[column].0 {
            "engine" => row.engine.into(),
            "lost" if report.is_some_and(Report::nothing_reached) => Value::text("all"),
            "lost" => report.map(|report| report.unreachable - report.by_cause.cut_off).into(),
            "deadlock_free" => report.and_then(|report| report.deadlock_free).into(),
            "lanes" => row.lanes.into(),
            "longest" => report.map(|report| u64::from(report.longest_path)).into(),
            "max_efi" => report.map(|report| report.edge_forwarding_index.max).into(),
            "switches" => row.changed_switches.into(),
            "blocks" => row.changed_blocks.into(),
            "moved" => row.moved_pairs.into(),
            "transition" => row.transition_safe.into(),
            _ => Value::Text(
                row.seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.3}")).into(),
            ),
        }
    }

    fn when_empty(&self) -> &str {
        "no engine was asked"
    }
}
