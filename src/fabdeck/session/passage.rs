//! The transition from the tables in force to those of a plan: the order of writes and the states between. Where it
//! is not safe, intermediate routes may help.

use super::check::Names;
use super::lanes::Sent;
use super::weighed::Held;
use super::whatif::in_force;
use super::{Look, Proposal};
use fabdeck_change::{Ordered, Staged, TransitionReport, Write, in_order};
use fabdeck_fabric::{BLOCK_LIDS, Faults, NodeId, Routes};
use fabdeck_routing::certificate::{LaneKnowledge, Scope, certify};
use fabdeck_routing::difference::transition;
use fabdeck_routing::mixture::mixture;
use fabdeck_routing::{Cause, ENGINES, Engine, NoPulse, Problem, Request};

/// Largest number of switches with which every engine may search for intermediate routes; beyond it, that
/// takes too long and only one engine does.
const QUICK: usize = 1000;

/// The engine that searches first, and on large fabrics alone: up*/down* routes combine safely with many
/// others.
const FIRST: &str = "updn";

/// Orders the writes, and reports on the transition.
pub(super) fn passage(
    look: &Look,
    faults: &Faults,
    proposal: &Proposal,
    sent: Sent<'_>,
    writes: Vec<Write>,
) -> (Vec<Write>, TransitionReport) {
    let told = proposal.transition.clone();
    if writes.is_empty() {
        return (writes, told);
    }
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let problem = Problem::new(fabric, faults);
    let old = in_force(look, tables, faults);
    let name = |switch| look.told_apart(NodeId(switch)).into_owned();
    let ordered = in_order(&problem, (&old, &proposal.routes), proposal.switches, writes, &name);
    // Marked elements may still work, and packets use their old paths until they fail. So the transition
    // covers the whole fabric.
    let none = Faults::default();
    let whole = Problem::new(fabric, &none);
    let held = Held::of((look, tables), &whole, &proposal.routes, (proposal.switches, sent));
    let way = Way { look, whole: &whole, held: &held, proposal };
    let (mixed, mixed_cycle) = match told.safe {
        Some(false) => (Some(false), None),
        _ => way.mixed(&ordered),
    };
    let staged = (told.safe == Some(false)).then(|| way.staged(&problem, &told));
    let Ordered { writes, way, .. } = ordered;
    (writes, TransitionReport { on_the_way: Some(way), mixed, mixed_cycle, staged, ..told })
}

struct Way<'a> {
    look: &'a Look,
    whole: &'a Problem<'a>,
    held: &'a Held,
    proposal: &'a Proposal,
}

impl Way<'_> {
    /// Whether packets that meet old and new entries can wait for each other forever, and the credit loop
    /// where they can.
    fn mixed(&self, ordered: &Ordered) -> (Option<bool>, Option<Vec<String>>) {
        let Held { old, known, together, unread, .. } = self.held;
        let rank = |switch, lid: fabdeck_fabric::Lid| ordered.rank(lid.value() / BLOCK_LIDS, switch);
        let cycles = mixture(self.whole, [old, &self.proposal.routes], together, &rank);
        let names = Names { look: self.look, problem: self.whole };
        let sure = !unread && self.look.observation.adaptive.is_none();
        match cycles.first() {
            None => (sure.then_some(true), None),
            Some(_) if !known || self.look.observation.adaptive.is_some() => (None, None),
            Some(cycle) => {
                let channels = cycle.channels.iter().map(|channel| names.channel(*channel));
                (Some(false), Some(channels.collect()))
            }
        }
    }

    /// Finds routes that are safe in combination with the old ones, and with the new ones.
    fn staged(&self, problem: &Problem<'_>, told: &TransitionReport) -> Staged {
        // If the old or the new routes have a credit loop themselves, no intermediate routes are safe with
        // them.
        if told.is_old() || self.proposal.report.deadlock_free == Some(false) {
            return Staged::default();
        }
        let first = ENGINES.iter().filter(|engine| engine.id == FIRST);
        let others =
            ENGINES.iter().filter(|engine| engine.id != FIRST && problem.graph.switch_count() <= QUICK);
        let mut asked = Vec::new();
        for engine in first.chain(others) {
            asked.push(engine.id.to_owned());
            if self.leads_through(problem, engine) {
                return Staged { through: Some(engine.id.to_owned()), asked, commands: Vec::new() };
            }
        }
        Staged { through: None, asked, commands: Vec::new() }
    }

    fn leads_through(&self, problem: &Problem<'_>, engine: &Engine) -> bool {
        // The request has one lane: a plan writes forwarding tables, and service levels stay.
        let manager = self.look.observation.subnet_manager.as_ref().map(|manager| manager.guid);
        let request = Request { manager, lanes: 1, ..Request::default() };
        let Ok(answer) = (engine.route)(problem, &request, &NoPulse) else { return false };
        let safe = |[from, to]: [&Routes; 2]| {
            transition(self.whole, from, to, &self.held.together).safe == Some(true)
        };
        let (old, between, new) = (&self.held.old, &answer.routes, &*self.proposal.routes);
        if !safe([old, between]) || !safe([between, new]) {
            return false;
        }
        let scope = Scope { switches: self.proposal.switches, lanes: LaneKnowledge::Known };
        let judged = certify(problem, between, &scope, &NoPulse);
        judged.is_ok_and(|judged| judged.lost.total() == judged.lost.by_cause(Cause::CutOff))
    }
}
