//! The transition from the tables in force to those of a plan: the order of writes and the states between. Where it
//! is not safe, intermediate routes may help.

use super::comparison::{PathScope, TablesInForce};
use super::whatif::{Proposal, routes_in_force};
use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::judgement::CertificateNames;
use crate::operations::lanes::levels::LevelsInForce;
use crate::system::phase::Phase;
use fabdeck_change::{
    OrderedWrites, PlanWrite, StagedTransition, SurvivingFabric, TransitionReport, order_writes, plan_writes,
};
use fabdeck_fabric::{BLOCK_LIDS, Faults, Lid, NodeId, Routes, Tables};
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify};
use fabdeck_routing::difference::check_transition;
use fabdeck_routing::mixture::{UpdateRank, find_mixture_cycles};
use fabdeck_routing::{Cause, ENGINES, Engine, NoProgress, Problem, Request};

/// Largest number of switches with which every engine may search for intermediate routes; beyond it, that
/// takes too long and only one engine does.
const MAX_QUICK_SWITCHES: usize = 1000;

/// Most entries of all tables with which a preview orders its writes as a plan does; beyond it, that takes longer than the
/// routes themselves.
const MAX_ORDERED_ENTRIES: usize = 500_000;

/// The engine that searches first, and on large fabrics alone: up*/down* routes combine safely with many
/// others.
const FIRST_ENGINE: &str = "updn";

/// Orders the writes, and reports on the transition.
pub(crate) fn plan_transition(
    look: &Snapshot,
    faults: &Faults,
    proposal: &Proposal,
    sent: LevelsInForce<'_>,
    writes: Vec<PlanWrite>,
) -> (Vec<PlanWrite>, TransitionReport) {
    let report = proposal.transition.clone();
    if writes.is_empty() {
        return (writes, report);
    }
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let problem = Problem::new(fabric, faults);
    let old = routes_in_force(look, tables, faults);
    let name = |switch| look.unique_name(NodeId(switch)).into_owned();
    let ordered = Phase::time("order of writes", || {
        order_writes(&problem, (&old, &proposal.routes), proposal.switches, writes, &name)
    });
    // Marked elements may still work, and packets use their old paths until they fail. So the transition
    // covers the whole fabric.
    let none = Faults::default();
    let whole = Problem::new(fabric, &none);
    let held = TablesInForce::new(
        look,
        tables,
        &whole,
        &proposal.routes,
        PathScope { switches: proposal.switches, sent },
    );
    let way = TransitionSearch { look, faults, whole: &whole, held: &held, proposal };
    let (mixed, mixed_cycle) = match report.paths_are_safe() {
        Some(false) => (Some(false), None),
        _ => way.judge_ordered_mixture(&ordered),
    };
    let report = report.with_mixture(mixed, mixed_cycle);
    let staged = (report.safe == Some(false)).then(|| way.find_stages(&problem, &report));
    let OrderedWrites { writes, way, .. } = ordered;
    (writes, TransitionReport { on_the_way: Some(way), staged, ..report })
}

/// Whether packets that meet old and new entries can wait for each other forever, and the credit loop
/// where they can.
pub(crate) fn judge_mixture(
    look: &Snapshot,
    whole: &Problem<'_>,
    held: &TablesInForce,
    routes: &Routes,
    rank: &UpdateRank<'_>,
) -> (Option<bool>, Option<Vec<String>>) {
    let TablesInForce { old, known, together, unread, .. } = held;
    let cycles = find_mixture_cycles(whole, [old, routes], together, Some(rank));
    let names = CertificateNames { look, problem: whole };
    let adaptive = look.observation.adaptive.is_some();
    match cycles.first() {
        None => ((!unread && !adaptive).then_some(true), None),
        Some(_) if !known || adaptive => (None, None),
        Some(cycle) => (Some(false), Some(names.cycle(cycle))),
    }
}

/// The verdict of [`judge_mixture`] in the order that a plan to these routes would write. `None` where no plan can be made, or
/// where finding the order takes long. `problems`: without the marked elements, and whole.
pub(crate) fn judge_mixture_in_plan_order(
    (look, tables): (&Snapshot, &Tables),
    [surviving, whole]: [&Problem<'_>; 2],
    held: &TablesInForce,
    (routes, switches): (&Routes, bool),
) -> Option<(Option<bool>, Option<Vec<String>>)> {
    if whole.graph.switch_count() * whole.destinations().len() > MAX_ORDERED_ENTRIES {
        return None;
    }
    let name = |switch| look.unique_name(NodeId(switch)).into_owned();
    let fabric = SurvivingFabric::new(look.fabric(), surviving.faults, look.manager());
    let writes = plan_writes(&fabric, tables, routes, &|id| name(id.0)).ok()?;
    let old = routes_in_force(look, tables, surviving.faults);
    let ordered = order_writes(surviving, (&old, routes), switches, writes, &name);
    let rank = |switch, lid: Lid| ordered.rank(lid.value() / BLOCK_LIDS, switch);
    Some(judge_mixture(look, whole, held, routes, &rank))
}

struct TransitionSearch<'a> {
    look: &'a Snapshot,
    faults: &'a Faults,
    whole: &'a Problem<'a>,
    held: &'a TablesInForce,
    proposal: &'a Proposal,
}

impl TransitionSearch<'_> {
    fn judge_ordered_mixture(&self, ordered: &OrderedWrites) -> (Option<bool>, Option<Vec<String>>) {
        let rank = |switch, lid: Lid| ordered.rank(lid.value() / BLOCK_LIDS, switch);
        judge_mixture(self.look, self.whole, self.held, &self.proposal.routes, &rank)
    }

    /// Finds routes that are safe in combination with the old ones, and with the new ones.
    fn find_stages(&self, problem: &Problem<'_>, report: &TransitionReport) -> StagedTransition {
        // If the old or the new routes have a credit loop themselves, no intermediate routes are safe with
        // them.
        if report.is_old_loop() || self.proposal.report.deadlock_free == Some(false) {
            return StagedTransition::default();
        }
        let first = ENGINES.iter().filter(|engine| engine.id == FIRST_ENGINE);
        let others = ENGINES
            .iter()
            .filter(|engine| engine.id != FIRST_ENGINE && problem.graph.switch_count() <= MAX_QUICK_SWITCHES);
        let mut asked = Vec::new();
        for engine in first.chain(others) {
            asked.push(engine.id.to_owned());
            if self.is_safe_stage(problem, engine) {
                return StagedTransition { through: Some(engine.id.to_owned()), asked, commands: Vec::new() };
            }
        }
        StagedTransition { through: None, asked, commands: Vec::new() }
    }

    /// Whether a separate plan from these tables to these routes is safe while traffic flows, in its own order of writes.
    fn is_safe_step(&self, tables: &Tables, [from, to]: [&Routes; 2]) -> bool {
        let Self { look, faults, whole, proposal, .. } = self;
        let together = &self.held.together;
        if check_transition(whole, from, to, together).safe != Some(true) {
            return false;
        }
        let problem = Problem::new(look.fabric(), faults);
        let surviving = SurvivingFabric::new(look.fabric(), faults, look.manager());
        let name = |switch| look.unique_name(NodeId(switch)).into_owned();
        let Ok(writes) = plan_writes(&surviving, tables, to, &|id| name(id.0)) else { return false };
        let ordered = order_writes(&problem, (from, to), proposal.switches, writes, &name);
        let rank = |switch, lid: Lid| ordered.rank(lid.value() / BLOCK_LIDS, switch);
        find_mixture_cycles(whole, [from, to], together, Some(&rank)).is_empty()
    }

    fn is_safe_stage(&self, problem: &Problem<'_>, engine: &Engine) -> bool {
        // The request has one lane: a plan writes forwarding tables, and service levels stay.
        let manager = self.look.observation.subnet_manager.as_ref().map(|manager| manager.guid);
        let request = Request { manager, lanes: 1, ..Request::default() };
        let Ok(answer) = (engine.route)(problem, &request, &NoProgress) else { return false };
        let (old, between, new) = (&self.held.old, &answer.routes, &*self.proposal.routes);
        let tables = &self.look.observation.tables;
        if !self.is_safe_step(tables, [old, between]) {
            return false;
        }
        let mut behind = tables.clone();
        for (id, held) in &mut behind.nodes {
            if held.lft.is_some() {
                held.lft = Some(between.lft(id.0));
            }
        }
        if !self.is_safe_step(&behind, [between, new]) {
            return false;
        }
        let scope = RouteScope { switches: self.proposal.switches, lanes: LaneKnowledge::Known };
        let judged = certify(problem, between, &scope, &NoProgress);
        judged.is_ok_and(|judged| judged.lost.total() == judged.lost.by_cause(Cause::CutOff))
    }
}
