//! The plans of a policy: one that routes all paths around a link, and one that puts back the entries of it. Both change only
//! the entries of paths that cross the link, and no port is disabled: what still uses the link can.

use std::collections::BTreeSet;

use super::link_decisions::PolicyRefusal;
use super::policy_actions::IsolationRecord;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::check::judgement::CertificateReport;
use crate::operations::event_store::cable_places::port_of;
use crate::operations::event_store::stored_batch::LinkEnds;
use crate::operations::health::table_certificate::certify_tables;
use crate::operations::lanes::levels::LevelsInForce;
use crate::operations::plans::plan_origin::PlanOrigin;
use crate::operations::plans::proposal_plan::make_plan;
use crate::operations::plans::tables_proposal::tables_proposal;
use crate::operations::preview::whatif::{Proposal, routes_in_force};
use fabdeck_change::{ISOLATE, Plan, PlanWrite, UNDO_OF};
use fabdeck_fabric::observe::PortIdentity;
use fabdeck_fabric::{
    BLOCK_LIDS, ElementId, Faults, JobMap, Lid, LinkId, NO_PATH, NodeId, PortId, PortNum, Routes, Tables,
};
use fabdeck_mad::access::AttributePart;
use fabdeck_routing::{Detour, NoProgress, Problem, route_around};

/// Most plans that are tried to find the entries that can be put back in one step.
const MAX_PARTS: usize = 24;

/// A link to take out, with what has to hold.
#[derive(Clone, Copy, Debug)]
pub struct IsolationRequest<'r> {
    pub link: LinkId,
    /// The links that are out of use already.
    pub others: &'r [LinkEnds],
    /// Most paths of a channel afterwards, as a multiple of those before.
    pub busiest_channel: f64,
}

/// The plan that takes a link out, with its figures.
#[derive(Debug)]
pub struct IsolationPlan {
    pub plan: Plan,
    /// LIDs to which paths cross the link.
    pub lids: usize,
    /// Most paths of a channel, before and afterwards.
    pub busiest: [u64; 2],
}

/// The link between two ports, where it is in the fabric.
pub fn link_between(look: &Snapshot, ends: LinkEnds) -> Option<LinkId> {
    let [Some(a), Some(b)] = ends.map(|end| port_of(look, end)) else { return None };
    let fabric = look.fabric();
    fabric.port(a).link.filter(|_| fabric.peer(a) == Some(b))
}

fn mark_links(look: &Snapshot, links: &[LinkEnds]) -> Faults {
    let mut faults = Faults::new();
    for link in links.iter().filter_map(|ends| link_between(look, *ends)) {
        faults.mark(ElementId::Link(link));
    }
    faults
}

/// The switch ports of links, also of those whose cable is gone now.
fn ports_of_links(look: &Snapshot, links: &[LinkEnds]) -> BTreeSet<(u32, PortNum)> {
    let fabric = look.fabric();
    let at = |(guid, number): &PortIdentity| {
        let node = fabric.node_by_guid(*guid)?;
        fabric.node(node).is_switch().then_some((node.0, *number))
    };
    links.iter().flatten().filter_map(at).collect()
}

/// Plans to route all paths around a link, or says which condition refuses it.
pub fn plan_isolation(
    look: &Snapshot,
    request: IsolationRequest<'_>,
    sent: LevelsInForce<'_>,
    made: PlanOrigin,
) -> Result<IsolationPlan, PolicyRefusal> {
    let before = certificate_in_force(look)?;
    refuse_cut_off_switches(look)?;
    let mut faults = mark_links(look, request.others);
    faults.mark(ElementId::Link(request.link));
    let tables = &look.observation.tables;
    let in_force = routes_in_force(look, tables, &faults);
    let mut closed = ports_of_links(look, request.others);
    closed.extend(end_ports(look, request.link));
    let detour = route_around(&Problem::new(look.fabric(), &faults), &in_force, &closed);
    if lids_over(&in_force, &end_ports(look, request.link)).is_empty() {
        return Err(PolicyRefusal::Routes("no path crosses it, so there is nothing to change".to_owned()));
    }
    let mut wanted = tables.clone();
    take_over(look, &detour, &in_force, &mut wanted);
    let words = format!("{ISOLATE} {}", look.labelled_link_name(request.link));
    let proposal = certify_proposal(look, &wanted, &faults, sent, before.by_cause.cut_off)?;
    let after = &proposal.report;
    if let Some(finding) = after.defect_words().into_iter().next() {
        return Err(PolicyRefusal::Redundancy(format!("of the routes without it, {finding}")));
    }
    let busiest = [&before, after].map(|report| report.edge_forwarding_index.max);
    if busiest[1] as f64 > busiest[0] as f64 * request.busiest_channel {
        return Err(PolicyRefusal::BusiestChannel { before: busiest[0], after: busiest[1] });
    }
    let plan = make_safe_plan(look, (&wanted, &faults), &words, &proposal, sent, made)?;
    Ok(IsolationPlan { plan, lids: detour.lids.len(), busiest })
}

/// The link to put back, and the change that took it out.
#[derive(Clone, Copy, Debug)]
pub struct ReturnRequest<'r> {
    pub link: LinkId,
    /// Number of the change.
    pub number: u64,
    /// All changes by the policy since no link was out of use, the oldest first.
    pub changes: &'r [IsolationRecord],
    /// The other links that are out of use.
    pub others: &'r [LinkEnds],
    /// Whether pairs have no path now: then routes are accepted under which fewer have none.
    pub is_needed: bool,
}

/// Refuses while a switch with a table has no cable to another one: its table cannot be written, and once it is back, its
/// paths would cross what is out of use.
fn refuse_cut_off_switches(look: &Snapshot) -> Result<(), PolicyRefusal> {
    let graph = Problem::new(look.fabric(), &Faults::new()).graph;
    let has_table = |id: &NodeId| look.observation.tables.lft(*id).is_some();
    let mut switches = look.fabric().switches().map(|(id, _)| id).filter(has_table);
    match switches.find(|id| graph.switch_count() > 1 && graph.outgoing(id.0).is_empty()) {
        None => Ok(()),
        Some(id) => {
            let name = look.unique_name(id);
            let why = format!("{name} has no cable to another switch, so that its table cannot be written");
            Err(PolicyRefusal::PartialSweep(why))
        }
    }
}

/// The plan that takes a link back.
#[derive(Debug)]
pub struct ReturnPlan {
    pub plan: Plan,
    /// Whether it puts back a part of the entries alone, because a step with all of them is not safe under traffic: the others
    /// follow in a later change.
    pub is_partial: bool,
}

/// Plans to put back the entries that took a link out, as far as they are still in force.
pub fn plan_return(
    look: &Snapshot,
    request: ReturnRequest<'_>,
    sent: LevelsInForce<'_>,
    made: PlanOrigin,
) -> Result<ReturnPlan, PolicyRefusal> {
    let before = certificate_in_force(look)?;
    if request.is_needed && connected_losses(&before) == 0 {
        let why = "all pairs have a path when the fabric is read again".to_owned();
        return Err(PolicyRefusal::PartialSweep(why));
    }
    let wanted = tables_with_link(look, &request);
    if wanted == look.observation.tables {
        return Err(PolicyRefusal::NothingInForce);
    }
    let way_back = WayBack { look, request, sent, made: &made, before: &before };
    let all = match way_back.plan_tables(&wanted, "") {
        Ok(plan) => return Ok(ReturnPlan { plan, is_partial: false }),
        Err(why) => why,
    };
    let plan = matches!(all, PolicyRefusal::Redundancy(_)).then(|| way_back.plan_part(&wanted)).flatten();
    plan.map(|plan| ReturnPlan { plan, is_partial: true }).ok_or(all)
}

/// The tables in force with the entries of before for a link; around other links that are out of use paths go as they do now.
fn tables_with_link(look: &Snapshot, request: &ReturnRequest<'_>) -> Tables {
    let mut wanted = look.observation.tables.clone();
    for change in request.changes.iter().rev() {
        put_back_entries(look, &change.writes, &mut wanted);
    }
    let faults = mark_links(look, request.others);
    let closed = ports_of_links(look, request.others);
    if !closed.is_empty() {
        // Those of other links that are out of use are put back too, and routed around them again.
        let restored = routes_in_force(look, &wanted, &faults);
        let detour = route_around(&Problem::new(look.fabric(), &faults), &restored, &closed);
        take_over(look, &detour, &restored, &mut wanted);
    }
    wanted
}

/// Plans that take a link back.
struct WayBack<'w> {
    look: &'w Snapshot,
    request: ReturnRequest<'w>,
    sent: LevelsInForce<'w>,
    made: &'w PlanOrigin,
    before: &'w CertificateReport,
}

impl WayBack<'_> {
    fn plan_tables(&self, wanted: &Tables, extent: &str) -> Result<Plan, PolicyRefusal> {
        let Self { look, request, sent, before, .. } = self;
        let faults = mark_links(look, request.others);
        let link = look.labelled_link_name(request.link);
        let words = format!("{UNDO_OF} {} ({ISOLATE} {link}{extent})", request.number);
        let proposal = certify_proposal(look, wanted, &faults, *sent, before.by_cause.cut_off)?;
        let after = &proposal.report;
        let is_better = request.is_needed && after.unreachable < before.unreachable && after.loops == 0;
        match after.defect_words().into_iter().next() {
            Some(finding) if !is_better || after.deadlock_free != Some(true) => {
                Err(PolicyRefusal::Redundancy(format!("of the routes with it, {finding}")))
            }
            _ => make_safe_plan(look, (wanted, &faults), &words, &proposal, *sent, self.made.clone()),
        }
    }

    /// A plan that puts back the entries for as many LIDs as is safe in one step. A credit loop of old and new paths needs
    /// paths to several LIDs, so that some of them can go before the others.
    fn plan_part(&self, wanted: &Tables) -> Option<Plan> {
        let lids = changed_lids(self.look, wanted);
        let (mut part, mut best) = (BTreeSet::new(), None);
        let mut left = vec![lids.as_slice()];
        for _ in 0..MAX_PARTS {
            let Some(lids) = left.pop() else { break };
            let more: BTreeSet<Lid> = part.iter().chain(lids).copied().collect();
            let tables = tables_for_lids(self.look, wanted, &more);
            match self.plan_tables(&tables, ", in part") {
                Ok(plan) => (part, best) = (more, Some(plan)),
                Err(_) if lids.len() > 1 => {
                    let (first, second) = lids.split_at(lids.len() / 2);
                    left.extend([second, first]);
                }
                Err(_) => {}
            }
        }
        best
    }
}

/// The LIDs to which some switch has another entry in the wanted tables than now, ascending.
fn changed_lids(look: &Snapshot, wanted: &Tables) -> Vec<Lid> {
    let mut lids = BTreeSet::new();
    for (id, _) in look.fabric().switches() {
        let now = look.observation.tables.lft(id).map_or(&[][..], |lft| lft.bytes());
        let then = wanted.lft(id).map_or(&[][..], |lft| lft.bytes());
        let differs = |at: &usize| now.get(*at) != then.get(*at);
        lids.extend((0..now.len().max(then.len())).filter(differs).filter_map(|at| Lid::new(at as u32)));
    }
    lids.into_iter().collect()
}

/// The tables now, with the wanted entries for some LIDs.
fn tables_for_lids(look: &Snapshot, wanted: &Tables, lids: &BTreeSet<Lid>) -> Tables {
    let mut tables = look.observation.tables.clone();
    for (id, _) in look.fabric().switches() {
        let (Some(then), Some(lft)) = (wanted.lft(id), tables.node_mut(id).lft.as_mut()) else { continue };
        lids.iter().for_each(|lid| lft.set(*lid, then.get(*lid)));
    }
    tables
}

/// Pairs without a path though cables connect them.
pub fn connected_losses(report: &CertificateReport) -> u64 {
    report.unreachable - report.by_cause.cut_off.min(report.unreachable)
}

pub(super) fn certificate_in_force(look: &Snapshot) -> Result<CertificateReport, PolicyRefusal> {
    let certified =
        certify_tables(look, &NoProgress).map_err(|error| PolicyRefusal::Routes(error.to_string()))?;
    certified.ok_or_else(|| PolicyRefusal::Routes("the forwarding tables were not read".to_owned()))
}

/// The routes of tables, with their certificate. `cut_off` is the number of pairs that no cable connects before.
fn certify_proposal(
    look: &Snapshot,
    wanted: &Tables,
    faults: &Faults,
    sent: LevelsInForce<'_>,
    cut_off: u64,
) -> Result<Proposal, PolicyRefusal> {
    let proposal = tables_proposal(look, wanted, faults, sent)
        .map_err(|error| PolicyRefusal::Routes(error.to_string()))?;
    let report = &proposal.report;
    if report.by_cause.cut_off > cut_off {
        let pairs = report.by_cause.cut_off - cut_off;
        let words = count_words(pairs as usize, "pair would", "pairs would");
        return Err(PolicyRefusal::Redundancy(format!("{words} have no path without it")));
    }
    match report.deadlock_free {
        None => {
            Err(PolicyRefusal::Redundancy("whether the routes have a credit loop is not known".to_owned()))
        }
        Some(_) => Ok(proposal),
    }
}

/// Makes the plan of routes, if it is safe under traffic, cuts no node off, and can write all of the wanted tables.
fn make_safe_plan(
    look: &Snapshot,
    (wanted, faults): (&Tables, &Faults),
    words: &str,
    proposal: &Proposal,
    sent: LevelsInForce<'_>,
    made: PlanOrigin,
) -> Result<Plan, PolicyRefusal> {
    let plan = make_plan(look, faults, words, proposal, sent, made)
        .map_err(|error| PolicyRefusal::Routes(error.to_string()))?;
    if plan.tables_after(look.fabric(), &look.observation.tables) != *wanted {
        let why = "a switch whose table would change cannot be reached now".to_owned();
        return Err(PolicyRefusal::PartialSweep(why));
    }
    if let Some(words) = plan.cut_off.words() {
        return Err(PolicyRefusal::CutOff(words));
    }
    if plan.transition.safe != Some(true) {
        let why = plan.transition.short_verdict();
        return Err(PolicyRefusal::Redundancy(format!(
            "the change is not known to be safe under traffic: {why}"
        )));
    }
    Ok(plan)
}

/// Takes the changed entries of a detour over into tables.
fn take_over(look: &Snapshot, detour: &Detour, in_force: &Routes, tables: &mut Tables) {
    for switch in
        detour.changed_switches(in_force).into_iter().filter(|id| look.fabric().node(*id).is_switch())
    {
        let Some(lft) = tables.node_mut(switch).lft.as_mut() else { continue };
        for lid in &detour.lids {
            lft.set(*lid, detour.routes.get(switch.0, *lid));
        }
    }
}

/// Puts back each entry that the writes of a change altered, where it is still as it was written.
fn put_back_entries(look: &Snapshot, writes: &[PlanWrite], tables: &mut Tables) {
    for write in writes {
        let (AttributePart::Block(block), Ok(step)) = (write.part, write.to_step()) else { continue };
        let Some(switch) = write.switch(look.fabric()) else { continue };
        let Some(lft) = tables.node_mut(switch).lft.as_mut() else { continue };
        for (at, (old, new)) in
            step.old.iter().zip(&step.new).enumerate().filter(|(_, (old, new))| old != new)
        {
            let Some(lid) = Lid::new(u32::from(block) * u32::from(BLOCK_LIDS) + at as u32) else { continue };
            let entry = |byte: u8| (byte != NO_PATH).then_some(PortNum(byte));
            if lft.get(lid) == entry(*new) {
                lft.set(lid, entry(*old));
            }
        }
    }
}

/// Whether paths between terminals cross a link, by the tables of a snapshot. Those to switches may, where they have no other
/// path: management packets need none.
pub fn carries_paths(look: &Snapshot, link: LinkId) -> bool {
    let faults = Faults::new();
    let routes = routes_in_force(look, &look.observation.tables, &faults);
    let ends = end_ports(look, link);
    let fabric = look.fabric();
    let is_terminal = |lid: &Lid| {
        fabric.port_by_lid(*lid).is_some_and(|port| !fabric.node(fabric.port(port).node).is_switch())
    };
    let lids: Vec<Lid> = lids_over(&routes, &ends).into_iter().filter(is_terminal).collect();
    if lids.is_empty() {
        return false;
    }
    let problem = Problem::new(fabric, &faults);
    let senders: Vec<u32> =
        problem.switches().filter(|switch| !problem.graph.terminals_of(*switch).is_empty()).collect();
    lids.iter().any(|lid| senders.iter().any(|from| crosses(&problem, &routes, *from, *lid, &ends)))
}

/// The jobs of which some path crosses a link.
pub fn jobs_over(look: &Snapshot, jobs: &JobMap, link: LinkId) -> Vec<String> {
    let faults = Faults::new();
    let routes = routes_in_force(look, &look.observation.tables, &faults);
    let problem = Problem::new(look.fabric(), &faults);
    let ends = end_ports(look, link);
    let lids = lids_over(&routes, &ends);
    let fabric = look.fabric();
    let switch_of = |port: &PortId| fabric.peer(*port).map(|peer| fabric.port(peer).node.0);
    let is_hit = |ports: &BTreeSet<PortId>| {
        let own =
            ports.iter().filter_map(|port| fabric.port(*port).facts.lid).filter(|lid| lids.contains(lid));
        let from: BTreeSet<u32> = ports.iter().filter_map(switch_of).collect();
        own.into_iter().any(|lid| from.iter().any(|switch| crosses(&problem, &routes, *switch, lid, &ends)))
    };
    jobs.iter().filter(|(_, ports)| is_hit(ports)).map(|(job, _)| job.clone()).collect()
}

/// The switch ports at the ends of a link.
fn end_ports(look: &Snapshot, link: LinkId) -> Vec<(u32, PortNum)> {
    let fabric = look.fabric();
    let link = fabric.link(link);
    let ends = [link.a, link.b].map(|port| fabric.port(port));
    ends.iter()
        .filter(|port| fabric.node(port.node).is_switch())
        .map(|port| (port.node.0, port.number))
        .collect()
}

fn lids_over(routes: &Routes, ends: &[(u32, PortNum)]) -> BTreeSet<Lid> {
    let over = |(switch, port): &(u32, PortNum)| {
        let row = routes.row(*switch).iter().enumerate();
        let port = port.value();
        row.filter(move |(_, entry)| **entry == port)
            .filter_map(|(lid, _)| Lid::new(lid as u32))
            .collect::<Vec<_>>()
    };
    ends.iter().flat_map(over).collect()
}

/// Whether the path from a switch to a LID leaves by one of these ports.
fn crosses(problem: &Problem<'_>, routes: &Routes, from: u32, lid: Lid, ends: &[(u32, PortNum)]) -> bool {
    let mut switch = from;
    for _ in 0..problem.graph.switch_count() {
        let Some(port) = routes.get(switch, lid) else { return false };
        if ends.contains(&(switch, port)) {
            return true;
        }
        let here = problem.fabric.port_of(NodeId(switch), port);
        let Some(next) = here.and_then(|port| problem.fabric.peer(port)) else { return false };
        let next = problem.fabric.port(next).node;
        if !problem.fabric.node(next).is_switch() {
            return false;
        }
        switch = next.0;
    }
    false
}
