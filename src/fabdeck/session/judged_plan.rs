//! The comparison of a plan with a fabric: whether the plan still fits, and the certificate of its outcome.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::assume::fill_empty;
use super::check::Report;
use super::lanes::{Sent, check_in_force};
use super::migrations::{DFTREE, judged_again};
use super::passage::mixed;
use super::weighed::{Held, weigh};
use super::whatif::judged;
use super::written_plan::findings;
use super::{Look, counted};
use fabdeck_change::{CutOff, Drift, Drifted, Plan, Standing, TransitionReport};
use fabdeck_fabric::{BLOCK_LIDS, Faults, Lid, NodeId, PortNum, Routes, Tables};
use fabdeck_mad::access::Part;
use fabdeck_routing::certificate::{LaneKnowledge, Scope};
use fabdeck_routing::{NoPulse, Problem, Refusal};

/// The difference between a fabric and the state that a plan expects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stale {
    /// The first difference, in words.
    pub first: String,
    pub drift: DriftReport,
}

/// Entries that differ from those that the plan recorded, with names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DriftReport {
    pub entries: u64,
    pub switches: u64,
    /// The first such entries.
    pub first: Vec<DriftedEntry>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DriftedEntry {
    pub switch: String,
    pub lid: u16,
    /// The port that the plan recorded; `None`: no path.
    pub planned: Option<u8>,
    pub held: Option<u8>,
}

/// An element that the plan excludes as failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Failed<'a> {
    pub element: &'a str,
    /// Whether the fabric still has the element.
    pub found: bool,
}

/// How a fabric fits a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fit {
    /// The fabric is as it was when the plan was made.
    AsMade,
    /// The fabric already has everything that the plan writes, and nothing else has changed.
    Applied,
    Stale(Stale),
}

impl Fit {
    pub fn stale(&self) -> Option<&Stale> {
        match self {
            Self::Stale(stale) => Some(stale),
            Self::AsMade | Self::Applied => None,
        }
    }

    /// Text for the fit: `no: the fabric is as it was`.
    pub fn words(&self) -> String {
        match self {
            Self::AsMade => "no: the fabric is as it was".to_owned(),
            Self::Applied => "no: applied already, all that it writes stands there".to_owned(),
            Self::Stale(stale) => stale.words(),
        }
    }
}

/// Compares a fabric with the one that the plan was made for.
pub fn fit(look: &Look, plan: &Plan) -> Fit {
    let (fabric, mut tables) = (look.fabric(), Cow::Borrowed(&look.observation.tables));
    if !tables.has_forwarding() && plan.is_without_tables() {
        fill_empty(fabric, tables.to_mut());
    }
    let tables = &*tables;
    let drift = drift_report(look, &plan.drift(fabric, tables));
    let applied = || plan.is_applied(fabric, tables, look.manager());
    match plan.stale(fabric, tables, look.manager()) {
        Some(change) if (change.is_table() || change.is_lanes()) && applied() => Fit::Applied,
        // A disabled port leaves the fabric that a plan compares, and an enabled port joins it. So an applied
        // plan would count as stale.
        _ if plan.switches_ports() && applied() => Fit::Applied,
        Some(change) => Fit::Stale(Stale { first: change.words(&|key| named(look, plan, key)), drift }),
        None if drift.entries > 0 => {
            Fit::Stale(Stale { first: "what it writes over is not what it found".to_owned(), drift })
        }
        None => Fit::AsMade,
    }
}

/// The name of a node of a plan: the current name, or else the one in the plan.
fn named(look: &Look, plan: &Plan, key: &str) -> String {
    named_now(look, key).unwrap_or_else(|| plan.named(key))
}

/// The current name of a node, by its kind and GUID: `switch leaf0 (0x0000000000000001)`.
pub fn named_now(look: &Look, key: &str) -> Option<String> {
    let name = look.name(look.fabric().node_by_key(key)?);
    let (kind, guid) = key.split_once(' ')?;
    (name != guid).then(|| format!("{kind} {name} ({guid})"))
}

fn drift_report(look: &Look, drift: &Drift) -> DriftReport {
    let entry = |entry: &Drifted| DriftedEntry {
        switch: look.told_apart(entry.switch).into_owned(),
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
        let entries = counted(self.entries as usize, "entry", "entries");
        let switches = counted(self.switches as usize, "switch", "switches");
        let are = if self.entries == 1 { "is" } else { "are" };
        let words =
            format!("{entries} on {switches} {are} not what the plan found: {}{more}", first.join(", "));
        (self.entries > 0).then_some(words)
    }
}

impl Stale {
    pub fn words(&self) -> String {
        let drift = self.drift.words().map(|words| format!("; {words}"));
        format!("{}{}", self.first, drift.unwrap_or_default())
    }
}

/// The elements that a plan excludes, and whether the fabric still has them.
pub fn failed<'p>(look: &Look, plan: &'p Plan) -> Vec<Failed<'p>> {
    let one = |failed: &'p fabdeck_change::FailedElement| Failed {
        element: &failed.element,
        found: failed.find(look.fabric()).is_some(),
    };
    plan.failed.iter().map(one).collect()
}

/// The verdict on the outcome of a plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    pub report: Report,
    pub transition: TransitionReport,
    /// Switches that do not map each service level of the plan to the lane of its number. `None` where no
    /// switch reports its SL2VL tables.
    pub unmet: Option<Vec<String>>,
    /// Nodes that answer now and have no route after the plan. Empty unless the fabric is as the plan
    /// expects, and for plans that switch ports.
    pub cut_off: CutOff,
    pub findings: Vec<String>,
}

/// Judges a plan over its own scope. With `switches`, paths of switches count too; `sent` then states how the
/// lanes of the old paths are known.
pub fn judge(
    look: &Look,
    plan: &Plan,
    fit: &Fit,
    (switches, sent): (bool, Sent<'_>),
) -> Result<Judged, Refusal> {
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let faults = plan.faults(fabric);
    let after = plan.outcome(fabric, tables);
    let routes = plan.routes(fabric, &after);
    let scope = Scope { switches: switches || plan.scope.switches, lanes: LaneKnowledge::Known };
    let report = match plan.engine == DFTREE {
        false => Report { lanes_from: "plan", ..judged(look, &routes, &faults, &scope)? },
        true => judged_again(look, plan, &after)?,
    };
    let transition = match fit {
        Fit::Applied => TransitionReport::nothing(DONE, &plan.transition.old_lanes),
        _ if switches && !plan.scope.switches => widened((look, plan), (&faults, &routes), sent)?,
        _ => plan.transition.clone(),
    };
    let unmet = unmet(look, plan, &faults, &after);
    let findings = findings(&report, &transition, unmet.as_deref());
    // Plans that disable ports report nodes that lose their last link separately, with the port.
    let cut_off = match fit {
        Fit::AsMade if !plan.switches_ports() => {
            plan.cut_off((fabric, tables), look.manager(), &|id| look.told_apart(id).into_owned())
        }
        _ => CutOff::default(),
    };
    Ok(Judged { report, transition, unmet: names_of(look, unmet), cut_off, findings })
}

/// Switches with other lanes than the plan needs. A dFtree plan has none: its levels are followed hop by hop,
/// on any lanes.
fn unmet(look: &Look, plan: &Plan, faults: &Faults, after: &Tables) -> Option<Vec<NodeId>> {
    if plan.engine == DFTREE {
        return Some(Vec::new());
    }
    plan.lanes.unmet(&Standing::new(look.fabric(), faults, look.manager()), after)
}

/// Certifies the tables in force after a change. In five phases, the plan assigns the service level of the
/// high LIDs; path records do not have it.
pub fn check_behind(
    (look, plan): (&Look, Option<&Plan>),
    faults: &Faults,
    sent: Sent<'_>,
) -> Result<Report, Refusal> {
    let tables = &look.observation.tables;
    let Some(plan) = plan.filter(|plan| plan.phases.is_some()) else {
        return check_in_force(look, tables, faults, false, sent, &NoPulse);
    };
    let scope = Scope { switches: false, lanes: LaneKnowledge::Known };
    let report = judged(look, &plan.routes(look.fabric(), tables), faults, &scope)?;
    Ok(Report { lanes_from: "plan", ..report })
}

const DONE: &str = "nothing is left to write";

/// Extends the verdict on a transition from the paths of terminals to those of switches. A credit loop
/// remains one. Further paths may close one, so any other verdict needs a new comparison, with the mixtures of
/// entries in the plan's order.
fn widened(
    (look, plan): (&Look, &Plan),
    (faults, routes): (&Faults, &Routes),
    sent: Sent<'_>,
) -> Result<TransitionReport, Refusal> {
    if plan.transition.safe == Some(false) {
        return Ok(plan.transition.clone());
    }
    let problem = Problem::new(look.fabric(), faults);
    let held = (look, &look.observation.tables);
    let told = weigh(held, &problem, routes, (true, sent), &NoPulse)?.transition;
    if told.paths_are_safe() != Some(true) || told.reason.is_some() {
        return Ok(told);
    }
    let mut order = FxHashMap::default();
    for (rank, write) in (0u32..).zip(&plan.writes) {
        if let (Some(switch), Part::Block(block)) = (write.switch(look.fabric()), write.part) {
            order.insert((switch.0, block), rank);
        }
    }
    let rank = |switch, lid: Lid| order.get(&(switch, lid.value() / BLOCK_LIDS)).copied();
    // What is marked may still be up, and its old paths in use until it is down.
    let none = Faults::default();
    let whole = Problem::new(look.fabric(), &none);
    let up = Held::of(held, &whole, routes, (true, sent));
    let (mixed, mixed_cycle) = mixed((look, &whole), &up, routes, &rank);
    let on_the_way = plan.transition.on_the_way.clone();
    Ok(TransitionReport { on_the_way, ..told.with_mixture(mixed, mixed_cycle) })
}

fn names_of(look: &Look, ids: Option<Vec<NodeId>>) -> Option<Vec<String>> {
    ids.map(|ids| ids.into_iter().map(|id| look.told_apart(id).into_owned()).collect())
}

/// The difference between a fabric and the outcome of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Ahead {
    /// Switches with another forwarding table.
    pub switches: Vec<String>,
    /// Switches that do not map each service level of the plan to the lane of its number. `None` where no
    /// switch reports its SL2VL tables.
    pub lanes: Option<Vec<String>>,
}

pub fn ahead(look: &Look, plan: &Plan) -> Ahead {
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let after = plan.outcome(fabric, tables);
    let differs = |id: &NodeId| tables.lft(*id) != after.lft(*id);
    let switches = fabric.switches().map(|(id, _)| id).filter(differs);
    let switches = switches.map(|id| look.told_apart(id).into_owned()).collect();
    let faults = plan.faults(fabric);
    let unmet = unmet(look, plan, &faults, &after);
    Ahead { switches, lanes: names_of(look, unmet) }
}
