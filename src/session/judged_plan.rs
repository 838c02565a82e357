//! A plan held against a fabric: whether it is still for it, and what it leads to.

use serde::Serialize;

use super::check::Report;
use super::whatif::judged;
use super::{Look, counted};
use crate::change::{Drift, Drifted, Plan, node_of};
use crate::fabric::{NodeId, PortNum};
use crate::routing::Refusal;
use crate::routing::certificate::{LaneKnowledge, Scope};

/// What of a fabric is not as a plan takes it to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stale {
    /// The first difference, in words.
    pub first: String,
    pub drift: DriftReport,
}

/// Entries that are not what a plan found there, by name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DriftReport {
    pub entries: u64,
    pub switches: u64,
    /// The first of them.
    pub first: Vec<DriftedEntry>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DriftedEntry {
    pub switch: String,
    pub lid: u16,
    /// The port that the plan found; `None`: no path.
    pub planned: Option<u8>,
    pub held: Option<u8>,
}

/// An element that a plan does without.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Failed<'a> {
    pub element: &'a str,
    /// It is in the fabric still.
    pub found: bool,
}

/// What is different in a fabric from what a plan was made for.
pub fn stale(look: &Look, plan: &Plan) -> Option<Stale> {
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let manager = look.observation.subnet_manager.as_ref().map(|manager| manager.guid);
    let drift = drift_report(look, &plan.drift(fabric, tables));
    if let Some(change) = plan.stale(fabric, tables, manager) {
        let done = change.is_table() && plan.outcome(fabric, tables) == *tables;
        let words = change.words(&|key| named(look, plan, key));
        let first = if done { format!("{words}: all that it writes stands there already") } else { words };
        return Some(Stale { first, drift });
    }
    let first = "what it writes over is not what it found".to_owned();
    (drift.entries > 0).then_some(Stale { first, drift })
}

/// A node of a plan: under the name that it has now, else under the one that it had.
fn named(look: &Look, plan: &Plan, key: &str) -> String {
    let now = node_of(look.fabric(), key).map(|id| look.name(id));
    match (now, key.split_once(' ')) {
        (Some(name), Some((kind, guid))) if name != guid => format!("{kind} {name} ({guid})"),
        _ => plan.named(key),
    }
}

fn drift_report(look: &Look, drift: &Drift) -> DriftReport {
    let entry = |entry: &Drifted| DriftedEntry {
        switch: look.name(entry.switch).to_owned(),
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
    /// `2 entries on 1 switch are not what the plan found: leaf0 LID 3 (port 1 then, port 2 now), ...`.
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

/// What a plan does without, and whether it is in the fabric still.
pub fn failed<'p>(look: &Look, plan: &'p Plan) -> Vec<Failed<'p>> {
    let one = |failed: &'p crate::change::FailedElement| Failed {
        element: &failed.element,
        found: failed.find(look.fabric()).is_some(),
    };
    plan.failed.iter().map(one).collect()
}

/// The certificate of what a plan leads to, in the scope that it was made in; `switches`: paths of switches too.
pub fn judge(look: &Look, plan: &Plan, switches: bool) -> Result<Report, Refusal> {
    let faults = plan.faults(look.fabric());
    let after = plan.outcome(look.fabric(), &look.observation.tables);
    let routes = plan.routes(look.fabric(), &after);
    let scope = Scope { switches: switches || plan.scope.switches, lanes: LaneKnowledge::Known };
    Ok(Report { lanes_from: "plan", ..judged(look, &routes, &faults, &scope)? })
}

/// Where a fabric differs from what a plan leads to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Ahead {
    /// Switches with another forwarding table.
    pub switches: Vec<String>,
    /// Switches that do not put each of the plan's levels on the lane of its number; `None` where none tells its tables.
    pub lanes: Option<Vec<String>>,
}

pub fn ahead(look: &Look, plan: &Plan) -> Ahead {
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let after = plan.outcome(fabric, tables);
    let differs = |id: &NodeId| tables.lft(*id) != after.lft(*id);
    let name = |id: NodeId| look.name(id).to_owned();
    let switches = fabric.switches().map(|(id, _)| id).filter(differs).map(name).collect();
    let unmet = plan.lanes.unmet(fabric, tables, &plan.faults(fabric));
    Ahead { switches, lanes: unmet.map(|all| all.into_iter().map(name).collect()) }
}
