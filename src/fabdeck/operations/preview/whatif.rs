//! The cost of failures and the proposals of engines. Marks over a fabric give the lost paths under the tables in
//! force, and each engine proposes routes without the marked elements.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::comparison::{PathScope, compare_with_tables};
use crate::catalogue::json_type::json_type;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::catalogue::value::Value;
use crate::operations::check::judgement::{CertificateReport, certificate_report};
use crate::operations::check::loads::{JobFigures, RunningJobs};
use crate::operations::lanes::levels::{CappedRequest, LevelsInForce, cap_request, lane_limit_words};
use crate::system::phase::Phase;
use fabdeck_change::TransitionReport;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{Element, ElementError, ElementId, Faults, NodeId, PortState, Routes, Tables};
use fabdeck_routing::analysis::{CutOffPairs, ExpectedLoss, PathLosses};
use fabdeck_routing::certificate::{RouteScope, certify_partitioned};
use fabdeck_routing::difference::{MovedTerminal, RouteDifference};
use fabdeck_routing::{
    Engine, EngineRefusal, NoProgress, PreviousRun, Problem, Request, RouteProgress, RunExtent, run_engine,
};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Parses elements and marks them as failed.
pub fn parse_marks(look: &Snapshot, elements: &[String]) -> Result<Faults, ElementError> {
    let mut faults = Faults::new();
    for text in elements {
        faults.mark(Element::find(look.fabric(), &look.names, text)?);
    }
    Ok(faults)
}

/// Marks `count` working links between switches, drawn by seed; all of them where there are fewer. Returns
/// the number of marked links.
pub fn mark_random(look: &Snapshot, faults: &mut Faults, count: usize, seed: u64) -> usize {
    let fabric = look.fabric();
    let up = |link: &fabdeck_fabric::Link| {
        [link.a, link.b].iter().all(|port| fabric.port(*port).facts.state != Some(PortState::Down))
    };
    let mut links: Vec<_> = fabric
        .links()
        .filter(|(id, link)| {
            fabric.is_between_switches(*id) && up(link) && !faults.is_link_failed(fabric, *id)
        })
        .map(|(id, _)| id)
        .collect();
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(seed);
    let drawn = count.min(links.len());
    for at in 0..drawn {
        let rest = (links.len() - at) as u64;
        links.swap(at, at + (dice.next_u64() % rest) as usize);
        faults.mark(ElementId::Link(links[at]));
    }
    drawn
}

/// Text with the number of drawn links, and whether there were fewer than requested.
pub fn drawn_words(drawn: usize, count: usize) -> String {
    let fewer =
        if drawn < count { format!(" of {count} requested: there are no more") } else { String::new() };
    format!("{}{fewer}", count_words(drawn, "random link is marked", "random links are marked"))
}

/// The cost of marks under the tables in force, before a reroute.
#[derive(Clone, PartialEq, Debug)]
pub struct Cost {
    pub lost: PathLosses,
    /// Expected cost of random links. Their number is the requested one, or else the number that the marks
    /// take down, at least one.
    pub expected: ExpectedLoss,
    pub pairs: u64,
    /// Number of further pairs that partitions keep apart; `None` where no partitions are known that keep any apart.
    pub kept_apart: Option<u64>,
    /// Whether some port has several LIDs. The expected cost then counts (source, LID) paths instead of
    /// pairs.
    pub several_lids: bool,
    /// Number of (source, LID) without a path even before the marks; the cost does not cover them.
    pub without_path_before: u64,
    /// Number of working switches whose forwarding table is unknown or incomplete.
    pub unread_tables: u64,
    /// Number of switches with adaptive routing on. It is 0 where a source has adaptive tables without the
    /// state, or switches did not answer. `None`: no sign of adaptive routing.
    pub adaptive_routing: Option<u64>,
    /// Switches that did not report the state, where adaptive routing is not known to be on at any other
    /// switch.
    pub adaptive_unknown: u64,
}

/// How far counts of lost pairs can be trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CostBound {
    #[default]
    Exact,
    /// Tables that were not read may hide more.
    AtLeast,
    /// Switches route adaptively. The counts follow their static ports; a packet may leave by another one, which may
    /// arrive, or lose it.
    ByStaticPorts,
}

impl CostBound {
    /// The bound of counts that follow the tables, by whether switches route adaptively and whether tables are missing.
    pub fn of_tables(adaptive: bool, unread: bool) -> Self {
        match (adaptive, unread) {
            (true, _) => Self::ByStaticPorts,
            (false, true) => Self::AtLeast,
            (false, false) => Self::Exact,
        }
    }

    /// The words before a count.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Exact => "",
            Self::AtLeast => "at least ",
            Self::ByStaticPorts => "by static ports ",
        }
    }

    /// The words after a count.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Exact => "",
            Self::AtLeast => ", at least",
            Self::ByStaticPorts => ", by static ports",
        }
    }
}

impl Cost {
    /// The unit of the expected numbers.
    pub fn expected_counts(&self) -> &'static str {
        if self.several_lids { "paths to a LID" } else { "pairs" }
    }

    /// How far the counts can be trusted.
    pub fn bound(&self) -> CostBound {
        CostBound::of_tables(self.adaptive_routing.is_some(), self.unread_tables > 0)
    }

    /// Number of pairs without a path under the marks: paths that cross a mark, and cut-off pairs that had
    /// none before.
    pub fn lost_pairs(&self) -> u64 {
        self.lost.pairs + self.lost.critical_without_path
    }

    /// Share of the lost pairs in all ordered pairs.
    pub fn lost_share(&self) -> f64 {
        if self.pairs == 0 { 0.0 } else { self.lost_pairs() as f64 / self.pairs as f64 }
    }

    /// Text for the lost pairs, as far as they are known; pairs that are cut off count too.
    pub fn lost_words(&self) -> String {
        const UNTIL: &str = "until rerouted";
        let bound = self.bound().prefix();
        let (lost, share) = (self.lost_pairs(), self.lost_share() * 100.0);
        let all = format!("{bound}{} of {} pairs", digits_in_groups(lost), digits_in_groups(self.pairs));
        match (self.lost.critical, lost.saturating_sub(self.lost.critical)) {
            (0, _) => format!("{all} {UNTIL} ({share:.1} %)"),
            (_, 0) => format!("{all} ({share:.1} %)"),
            (_, some) => format!("{all} ({share:.1} %), {} of them {UNTIL}", digits_in_groups(some)),
        }
    }

    /// Text for the lost pairs that no reroute can restore. Pairs with a failed end count too.
    pub fn cut_off_words(&self) -> String {
        let PathLosses { critical, ended, critical_without_path, .. } = self.lost;
        let cut = CutOffPairs { pairs: critical, ended };
        let Some(why) = why_cut_off(cut) else { return NONE_CUT_OFF.to_owned() };
        let cut_off = digits_in_groups(critical);
        // Each text fits into one line of 80 columns.
        match critical_without_path {
            0 => format!("{cut_off} pairs are cut off under any tables{why}"),
            some => {
                format!("{cut_off} pairs are cut off{why}; {} had no path before", digits_in_groups(some))
            }
        }
    }
}

/// Loss that the marks cause.
#[derive(Clone, PartialEq, Debug)]
pub enum MarkLoss {
    /// Paths lost under the tables in force.
    Counted(Box<Cost>),
    /// Pairs that are cut off, because there are no tables in force.
    ByCables(CutOffPairs),
}

const NONE_CUT_OFF: &str = "none: cables still connect every pair";

/// Text for pairs that marks cut off on a fabric without tables.
pub fn cut_off_words(cut: CutOffPairs) -> String {
    match why_cut_off(cut) {
        Some(why) => {
            format!("{} pairs are cut off under any tables{why}", digits_in_groups(cut.pairs))
        }
        None => NONE_CUT_OFF.to_owned(),
    }
}

/// The end of a text about pairs that are cut off; `None` where none is.
fn why_cut_off(cut: CutOffPairs) -> Option<String> {
    match cut.ended {
        _ if cut.pairs == 0 => None,
        0 => Some(", as no cables lead there".to_owned()),
        all if all == cut.pairs => Some(", as one end failed".to_owned()),
        some => Some(format!(": {} as one end failed", digits_in_groups(some))),
    }
}

/// Tables as routes, without the tables of failed switches.
pub(crate) fn routes_in_force(look: &Snapshot, tables: &Tables, faults: &Faults) -> Routes {
    let held = |id: NodeId| tables.lft(id).filter(|_| !faults.is_node_failed(id));
    let mut routes = Routes::from_tables(look.fabric().switches().map(|(id, _)| held(id)));
    routes.path_bits = look.known_path_bits().cloned();
    routes
}

/// The certificate of routes with known lanes, over the pairs that the partitions of the snapshot permit.
pub fn judge_routes(
    look: &Snapshot,
    routes: &Routes,
    faults: &Faults,
    scope: &RouteScope,
) -> Result<CertificateReport, EngineRefusal> {
    let problem = Problem::new(look.fabric(), faults);
    let certificate = certify_partitioned(&problem, routes, scope, look.partitions.as_ref(), &NoProgress)?;
    let lane_limits = lane_limit_words(look, &problem, &certificate.lanes);
    Ok(CertificateReport { lane_limits, ..certificate_report(look, &problem, &certificate) })
}

/// The routes of an engine for a fabric with faults, and their comparison with the tables in force.
#[derive(Clone, PartialEq, Debug)]
pub struct Proposal {
    pub routes: Arc<Routes>,
    /// Whether the certificate covers paths of switches too.
    pub switches: bool,
    pub report: CertificateReport,
    pub difference: RouteDifference,
    /// The terminals to which pairs move.
    pub moved: Arc<[MovedTerminal]>,
    /// Number of (source switch, LID) whose paths change lanes; `None` where the old lanes are unknown.
    pub changed_lanes: Option<u64>,
    /// Verdict on old and new paths together: whether they have a credit loop.
    pub transition: TransitionReport,
    pub remarks: Vec<String>,
    /// Number of data lanes that is assumed for adapters, where the engine uses several lanes.
    pub supposed_lanes: Option<u8>,
    /// Whether there were too few lanes for the engine's regular routes.
    pub degraded: bool,
    /// Options of the request that the engine ignores.
    pub not_used: Vec<&'static str>,
    /// Figures of the request's jobs under the routes.
    pub running: Option<RunningJobs>,
    /// How much of the tables and lanes was computed for these marks.
    pub ran: RunExtent,
    pub took: ProposalTimes,
}

impl Proposal {
    /// The proposal with other routes, which are compared with the tables in force again.
    pub(crate) fn with_routes(
        self,
        look: &Snapshot,
        problem: &Problem<'_>,
        routes: Routes,
        sent: LevelsInForce<'_>,
        pulse: &dyn RouteProgress,
    ) -> Result<Self, EngineRefusal> {
        let scope = PathScope { switches: self.switches, sent };
        let tables = &look.observation.tables;
        let comparison = compare_with_tables(look, tables, problem, &routes, scope, pulse)?;
        Ok(Self {
            running: self.running.as_ref().and_then(|running| running.with_routes(problem, &routes)),
            routes: Arc::new(routes),
            report: comparison.report,
            difference: comparison.difference,
            moved: comparison.moved.into(),
            changed_lanes: comparison.changed_lanes,
            transition: comparison.transition,
            ..self
        })
    }
}

/// Times for the parts of a proposal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProposalTimes {
    /// Time for tables and lanes.
    pub route: Duration,
    pub certificate: Duration,
}

/// The options of a proposal.
#[derive(Clone, Copy, Debug)]
pub struct ProposalOptions<'a> {
    pub request: &'a Request,
    /// Whether to certify paths of switches too.
    pub switches: bool,
    /// The service levels of the paths in force.
    pub sent: LevelsInForce<'a>,
}

impl<'a> ProposalOptions<'a> {
    /// Options for paths between terminals, without stated service levels in force.
    pub fn for_terminals(request: &'a Request) -> Self {
        Self { request, switches: false, sent: LevelsInForce::Unsaid }
    }
}

/// A fabric with marked elements, and the tables in force.
#[derive(Clone, Copy, Debug)]
pub struct MarkedFabric<'a> {
    pub look: &'a Snapshot,
    pub tables: &'a Tables,
    pub faults: &'a Faults,
}

/// A proposal, and the state from which the engine's next run starts.
pub(crate) struct IncrementalProposal {
    pub proposal: Proposal,
    pub past: Option<PreviousRun>,
}

/// Computes the routes of an engine, with their certificate and transition.
pub fn propose(
    look: &Snapshot,
    tables: &Tables,
    faults: &Faults,
    engine: &Engine,
    asked: ProposalOptions<'_>,
    pulse: &dyn RouteProgress,
) -> Result<Proposal, EngineRefusal> {
    let fabric = MarkedFabric { look, tables, faults };
    propose_incremental(fabric, engine, None, asked, pulse).map(|run| run.proposal)
}

/// As [`propose`], but starts from an earlier run of the engine.
pub(crate) fn propose_incremental(
    MarkedFabric { look, tables, faults }: MarkedFabric<'_>,
    engine: &Engine,
    past: Option<&PreviousRun>,
    asked: ProposalOptions<'_>,
    pulse: &dyn RouteProgress,
) -> Result<IncrementalProposal, EngineRefusal> {
    let switches = asked.switches;
    let problem = Problem::new(look.fabric(), faults);
    let begun = Instant::now();
    let CappedRequest { request, supposed, remark } = cap_request(look, &problem, asked.request);
    let answer = Phase::time("routes", || run_engine(engine, &problem, &request, past, pulse))?;
    let route = begun.elapsed();
    let comparison = compare_with_tables(
        look,
        tables,
        &problem,
        &answer.routes,
        PathScope { switches, sent: asked.sent },
        pulse,
    )?;
    let proposal = Proposal {
        switches,
        report: comparison.report,
        difference: comparison.difference,
        moved: comparison.moved.into(),
        changed_lanes: comparison.changed_lanes,
        transition: comparison.transition,
        running: RunningJobs::new(&problem, &answer.routes, &request.jobs),
        routes: answer.routes,
        remarks: remark.into_iter().chain(answer.remarks).collect(),
        supposed_lanes: supposed.filter(|_| engine.uses.lanes),
        degraded: answer.degraded,
        not_used: engine.unused_options(&request),
        ran: answer.extent,
        took: ProposalTimes { route, certificate: comparison.took },
    };
    Ok(IncrementalProposal { proposal, past: answer.past })
}

json_type! {
    /// A row of the comparison of engines.
    #[derive(Clone, PartialEq, Debug)]
    pub struct EngineRow {
        pub engine: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub seconds: Option<f64>,
        /// Part of this time for tables and lanes.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub route_seconds: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub certificate_seconds: Option<f64>,
        pub lanes: Option<u8>,
        /// Number of data lanes that is assumed for adapters, where the engine uses several and no port reports
        /// it.
        pub supposed_lanes: Option<u8>,
        /// Whether there were too few lanes. The busiest channel then carries more paths, but never more than
        /// with `updn`.
        pub degraded: bool,
        /// Reason why there are no routes.
        pub refused: Option<String>,
        pub certificate: Option<CertificateReport>,
        pub changed_entries: Option<u64>,
        pub changed_blocks: Option<u64>,
        pub changed_switches: Option<u64>,
        pub moved_pairs: Option<u64>,
        /// Number of (source switch, LID) whose paths change lanes.
        pub changed_lanes: Option<u64>,
        pub transition_safe: Option<bool>,
        pub transition: Option<TransitionReport>,
        /// How much of the tables was computed for these marks. `full`: all; `reused`: some come from other marks
        /// and equal those of a full run; `kept`: all come from the same marks.
        pub ran: &'static str,
        /// Number of tables that come from other marks.
        pub reused_tables: Option<u64>,
        /// Figures of the given jobs under the routes.
        pub jobs: Option<JobFigures>,
        pub remarks: Vec<String>,
        /// Options that the engine ignores.
        pub not_used: Vec<&'static str>,
    }
}

impl EngineRow {
    /// The row of an engine that was not requested.
    pub fn not_requested(engine: &'static str) -> Self {
        Self { refused: None, ..Self::new(engine, Err(&EngineRefusal::Cancelled), None) }
    }

    pub fn new(
        engine: &'static str,
        outcome: Result<&Proposal, &EngineRefusal>,
        seconds: Option<f64>,
    ) -> Self {
        let proposal = outcome.ok();
        let difference = proposal.map(|proposal| proposal.difference);
        let ran = proposal.map(|proposal| proposal.ran).unwrap_or_default();
        // Without `seconds`, the row has no times.
        let took = seconds.and(proposal).map(|proposal| proposal.took);
        Self {
            engine,
            seconds,
            route_seconds: took.map(|took| took.route.as_secs_f64()),
            certificate_seconds: took.map(|took| took.certificate.as_secs_f64()),
            lanes: proposal.map(|proposal| proposal.routes.lane_count()),
            supposed_lanes: proposal.and_then(|proposal| proposal.supposed_lanes),
            degraded: proposal.is_some_and(|proposal| proposal.degraded),
            refused: outcome.err().map(ToString::to_string),
            certificate: proposal.map(|proposal| proposal.report.clone()),
            changed_entries: difference.map(|difference| difference.entries),
            changed_blocks: difference.map(|difference| difference.blocks),
            changed_switches: difference.map(|difference| difference.switches),
            moved_pairs: difference.map(|difference| difference.moved_pairs),
            changed_lanes: proposal.and_then(|proposal| proposal.changed_lanes),
            transition_safe: proposal.and_then(|proposal| proposal.transition.safe),
            transition: proposal.map(|proposal| proposal.transition.clone()),
            ran: ran.word(),
            reused_tables: ran.reused_rows().map(|rows| rows as u64),
            jobs: proposal.and_then(|proposal| Some(proposal.running.as_ref()?.figures.clone())),
            remarks: proposal.map(|proposal| proposal.remarks.clone()).unwrap_or_default(),
            not_used: proposal.map(|proposal| proposal.not_used.clone()).unwrap_or_default(),
        }
    }
}

impl EngineRow {
    /// The row for a fabric without tables in force, where changes are unknown.
    pub fn without_tables(self) -> Self {
        Self {
            changed_entries: None,
            changed_blocks: None,
            changed_switches: None,
            moved_pairs: None,
            changed_lanes: None,
            transition_safe: None,
            transition: None,
            ..self
        }
    }

    /// The number of lanes: `3`; `3 of 4?` where four are assumed; `2 degraded`.
    pub(super) fn lanes_cell(&self) -> Value<'_> {
        match (self.lanes, self.supposed_lanes) {
            (Some(lanes), _) if self.degraded => Value::Text(format!("{lanes} degraded").into()),
            (Some(lanes), Some(supposed)) => Value::Text(format!("{lanes} of {supposed}?").into()),
            (lanes, _) => lanes.into(),
        }
    }
}

/// Text that data lanes are assumed, where this matters for some row.
pub fn supposed_words<'r>(rows: impl IntoIterator<Item = &'r EngineRow>) -> Option<String> {
    let supposed = rows.into_iter().find_map(|row| row.supposed_lanes)?;
    let word = if supposed == 1 { "lane" } else { "lanes" };
    Some(format!(
        "assumed {supposed} data {word}: no adapter port reports its number; give --lanes K, or supposed-lanes in the \
         configuration"
    ))
}
