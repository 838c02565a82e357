//! The comparison of a plan with a fabric: whether the plan still fits, and the certificate of its outcome.

use std::borrow::Cow;

use super::proposal_plan::findings;
use crate::catalogue::json_type::json_type;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::check::judgement::CertificateReport;
use crate::operations::lanes::levels::{LevelsInForce, check_in_force};
use crate::operations::lanes::migrations::{DFTREE, rejudge_plan};
use crate::operations::preview::assume::fill_empty;
use crate::operations::preview::comparison::{PathScope, TablesInForce, compare_with_tables};
use crate::operations::preview::transition::judge_mixture;
use crate::operations::preview::whatif::judge_routes;
use fabdeck_change::{CutOffReport, Drift, EntryDrift, Plan, SurvivingFabric, TransitionReport};
use fabdeck_fabric::{BLOCK_LIDS, Faults, Lid, NodeId, PortNum, Routes, Tables};
use fabdeck_mad::access::AttributePart;
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope};
use fabdeck_routing::{EngineRefusal, NoProgress, Problem};
use rustc_hash::FxHashMap;

/// The difference between a fabric and the state that a plan expects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StalePlan {
    /// The first difference, in words.
    pub first: String,
    pub drift: DriftReport,
}

json_type! {
    /// Entries that differ from those that the plan recorded, with names.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct DriftReport {
        pub entries: u64,
        pub switches: u64,
        /// The first such entries.
        pub first: Vec<DriftedEntry>,
    }

    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct DriftedEntry {
        pub switch: String,
        pub lid: u16,
        /// The port that the plan recorded; `None`: no path.
        pub planned: Option<u8>,
        pub held: Option<u8>,
    }

    /// An element that the plan excludes as failed.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct ExcludedElement<'a> {
        pub element: &'a str,
        /// Whether the fabric still has the element.
        pub found: bool,
    }
}

/// How a fabric fits a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlanFit {
    /// The fabric is as it was when the plan was made.
    AsMade,
    /// The fabric already has everything that the plan writes, and nothing else has changed.
    Applied,
    Stale(StalePlan),
}

impl PlanFit {
    pub fn stale(&self) -> Option<&StalePlan> {
        match self {
            Self::Stale(stale) => Some(stale),
            Self::AsMade | Self::Applied => None,
        }
    }

    /// Text of the line `stale`, which begins with the answer: `no: the fabric is as it was`.
    pub fn words(&self) -> String {
        match self {
            Self::AsMade => "no: the fabric is as it was".to_owned(),
            Self::Applied => "no: applied already; the fabric has everything that it writes".to_owned(),
            Self::Stale(stale) => stale.words(),
        }
    }
}

/// Compares a fabric with the one that the plan was made for.
pub fn check_plan_fit(look: &Snapshot, plan: &Plan) -> PlanFit {
    let (fabric, mut tables) = (look.fabric(), Cow::Borrowed(&look.observation.tables));
    if !tables.has_forwarding() && plan.is_without_tables() {
        fill_empty(fabric, tables.to_mut());
    }
    let tables = &*tables;
    let drift = drift_report(look, &plan.drift(fabric, tables));
    let applied = || plan.is_applied(fabric, tables, look.manager());
    match plan.find_difference(fabric, tables, look.manager()) {
        Some(change) if (change.is_table_change() || change.is_lane_change()) && applied() => {
            PlanFit::Applied
        }
        // A disabled port leaves the fabric that a plan compares, and an enabled port joins it. So an applied
        // plan would count as stale.
        _ if plan.has_port_switches() && applied() => PlanFit::Applied,
        Some(change) => PlanFit::Stale(StalePlan {
            first: change.words(&|key| node_name_in_plan(look, plan, key)),
            drift,
        }),
        None if drift.entries > 0 => PlanFit::Stale(StalePlan {
            first: "the tables that it overwrites have changed since".to_owned(),
            drift,
        }),
        None => PlanFit::AsMade,
    }
}

/// The name of a node of a plan: the current name, or else the one in the plan.
fn node_name_in_plan(look: &Snapshot, plan: &Plan, key: &str) -> String {
    current_node_name(look, key).unwrap_or_else(|| plan.node_name(key))
}

/// The current name of a node, by its kind and GUID: `switch leaf0 (0x0000000000000001)`.
pub fn current_node_name(look: &Snapshot, key: &str) -> Option<String> {
    let name = look.name(look.fabric().node_by_key(key)?);
    let (kind, guid) = key.split_once(' ')?;
    (name != guid).then(|| format!("{kind} {name} ({guid})"))
}

fn drift_report(look: &Snapshot, drift: &Drift) -> DriftReport {
    let entry = |entry: &EntryDrift| DriftedEntry {
        switch: look.unique_name(entry.switch).into_owned(),
        lid: entry.lid.value(),
        planned: entry.planned.map(PortNum::value),
        held: entry.held.map(PortNum::value),
    };
    DriftReport {
        entries: drift.count,
        switches: drift.switches,
        first: drift.first.iter().map(entry).collect(),
    }
}

impl DriftReport {
    /// Text for the drift: `2 entries on 1 switch are not what the plan found: leaf0 LID 3 (port 1 then, port
    /// 2 now), ...`.
    pub fn words(&self) -> Option<String> {
        let port =
            |port: Option<u8>| port.map_or_else(|| "no path".to_owned(), |port| format!("port {port}"));
        let entry = |entry: &DriftedEntry| {
            let (then, now) = (port(entry.planned), port(entry.held));
            format!("{} LID {} ({then} then, {now} now)", entry.switch, entry.lid)
        };
        let first: Vec<String> = self.first.iter().map(entry).collect();
        let more = if self.entries > first.len() as u64 { ", ..." } else { "" };
        let entries = count_words(self.entries as usize, "entry", "entries");
        let switches = count_words(self.switches as usize, "switch", "switches");
        let are = if self.entries == 1 { "is" } else { "are" };
        let words =
            format!("{entries} on {switches} {are} not what the plan found: {}{more}", first.join(", "));
        (self.entries > 0).then_some(words)
    }
}

impl StalePlan {
    pub fn words(&self) -> String {
        let drift = self.drift.words().map(|words| format!("; {words}"));
        format!("{}{}", self.first, drift.unwrap_or_default())
    }
}

/// The elements that a plan excludes, and whether the fabric still has them.
pub fn excluded_elements<'p>(look: &Snapshot, plan: &'p Plan) -> Vec<ExcludedElement<'p>> {
    let one = |failed: &'p fabdeck_change::FailedElement| ExcludedElement {
        element: &failed.element,
        found: failed.find(look.fabric()).is_some(),
    };
    plan.failed.iter().map(one).collect()
}

/// The verdict on the outcome of a plan.
#[derive(Clone, PartialEq, Debug)]
pub struct PlanVerdict {
    pub report: CertificateReport,
    pub transition: TransitionReport,
    /// Switches that do not map each service level of the plan to the lane of its number. `None` where no
    /// switch reports its SL2VL tables.
    pub unmet: Option<Vec<String>>,
    /// Nodes that answer now and have no route after the plan. Empty unless the fabric is as the plan
    /// expects, and for plans that switch ports.
    pub cut_off: CutOffReport,
    pub findings: Vec<String>,
}

/// Judges a plan over its own scope. Where paths of switches count too, the scope states how the lanes of
/// the old paths are known.
pub fn judge_plan(
    look: &Snapshot,
    plan: &Plan,
    fit: &PlanFit,
    scope: PathScope<'_>,
) -> Result<PlanVerdict, EngineRefusal> {
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let PathScope { switches, sent } = scope;
    let faults = plan.faults(fabric);
    let after = plan.tables_after(fabric, tables);
    let routes = plan.routes(fabric, &after);
    let judged = RouteScope { switches: switches || plan.scope.switches, lanes: LaneKnowledge::Known };
    let report = match plan.engine == DFTREE {
        false => CertificateReport { lanes_from: "plan", ..judge_routes(look, &routes, &faults, &judged)? },
        true => rejudge_plan(look, plan, &after)?,
    };
    let transition = match fit {
        PlanFit::Applied => TransitionReport::unchanged(NOTHING_TO_WRITE, &plan.transition.old_lanes),
        _ if switches && !plan.scope.switches => widen_verdict(look, plan, &faults, &routes, sent)?,
        _ => plan.transition.clone(),
    };
    let unmet = unmet_switches(look, plan, &faults, &after);
    let findings = findings(&report, &transition, unmet.as_deref());
    // Plans that disable ports report nodes that lose their last link separately, with the port.
    let cut_off = match fit {
        PlanFit::AsMade if !plan.has_port_switches() => {
            plan.cut_off(fabric, tables, look.manager(), &|id| look.unique_name(id).into_owned())
        }
        _ => CutOffReport::default(),
    };
    Ok(PlanVerdict { report, transition, unmet: names_of(look, unmet), cut_off, findings })
}

/// Switches with other lanes than the plan needs. A dFtree plan has none: its levels are followed hop by hop,
/// on any lanes.
fn unmet_switches(look: &Snapshot, plan: &Plan, faults: &Faults, after: &Tables) -> Option<Vec<NodeId>> {
    if plan.engine == DFTREE {
        return Some(Vec::new());
    }
    plan.lanes.unmet_switches(&SurvivingFabric::new(look.fabric(), faults, look.manager()), after)
}

/// Certifies the tables in force after a change. In five phases, the plan assigns the service level of the
/// high LIDs; path records do not have it.
pub fn check_after_change(
    look: &Snapshot,
    plan: Option<&Plan>,
    faults: &Faults,
    sent: LevelsInForce<'_>,
) -> Result<CertificateReport, EngineRefusal> {
    let tables = &look.observation.tables;
    let Some(plan) = plan.filter(|plan| plan.phases.is_some()) else {
        return check_in_force(look, tables, faults, false, sent, &NoProgress);
    };
    let scope = RouteScope { switches: false, lanes: LaneKnowledge::Known };
    let report = judge_routes(look, &plan.routes(look.fabric(), tables), faults, &scope)?;
    Ok(CertificateReport { lanes_from: "plan", ..report })
}

const NOTHING_TO_WRITE: &str = "nothing is left to write";

/// Extends the verdict on a transition from the paths of terminals to those of switches. A credit loop
/// remains one. Further paths may close one, so any other verdict needs a new comparison, with the mixtures of
/// entries in the plan's order.
fn widen_verdict(
    look: &Snapshot,
    plan: &Plan,
    faults: &Faults,
    routes: &Routes,
    sent: LevelsInForce<'_>,
) -> Result<TransitionReport, EngineRefusal> {
    if plan.transition.safe == Some(false) {
        return Ok(plan.transition.clone());
    }
    let problem = Problem::new(look.fabric(), faults);
    let (tables, scope) = (&look.observation.tables, PathScope { switches: true, sent });
    let report = compare_with_tables(look, tables, &problem, routes, scope, &NoProgress)?.transition;
    if report.paths_are_safe() != Some(true) || report.reason.is_some() {
        return Ok(report);
    }
    let mut order = FxHashMap::default();
    for (rank, write) in (0u32..).zip(&plan.writes) {
        if let (Some(switch), AttributePart::Block(block)) = (write.switch(look.fabric()), write.part) {
            order.insert((switch.0, block), rank);
        }
    }
    let rank = |switch, lid: Lid| order.get(&(switch, lid.value() / BLOCK_LIDS)).copied();
    // Marked elements may still be up, and their old paths are in use until they are down.
    let none = Faults::default();
    let whole = Problem::new(look.fabric(), &none);
    let up = TablesInForce::new(look, tables, &whole, routes, scope);
    let (mixed, mixed_cycle) = judge_mixture(look, &whole, &up, routes, &rank);
    let on_the_way = plan.transition.on_the_way.clone();
    Ok(TransitionReport { on_the_way, ..report.with_mixture(mixed, mixed_cycle) })
}

fn names_of(look: &Snapshot, ids: Option<Vec<NodeId>>) -> Option<Vec<String>> {
    ids.map(|ids| ids.into_iter().map(|id| look.unique_name(id).into_owned()).collect())
}

json_type! {
    /// The difference between a fabric and the outcome of a plan.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct RemainingDifference {
        /// Switches with another forwarding table.
        pub switches: Vec<String>,
        /// Switches that do not map each service level of the plan to the lane of its number. `None` where no
        /// switch reports its SL2VL tables.
        pub lanes: Option<Vec<String>>,
    }
}

pub fn remaining_difference(look: &Snapshot, plan: &Plan) -> RemainingDifference {
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let after = plan.tables_after(fabric, tables);
    let differs = |id: &NodeId| tables.lft(*id) != after.lft(*id);
    let switches = fabric.switches().map(|(id, _)| id).filter(differs);
    let switches = switches.map(|id| look.unique_name(id).into_owned()).collect();
    let faults = plan.faults(fabric);
    let unmet = unmet_switches(look, plan, &faults, &after);
    RemainingDifference { switches, lanes: names_of(look, unmet) }
}
