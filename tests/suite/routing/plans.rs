//! Plans of every engine over random fabrics with parts that are cut off and switches that are marked as failed: what is
//! written can be read, and says what the proposal says.

use rayon::prelude::*;

use super::certificate::Dice;
use super::random_fabrics::sketch;
use super::{fabric, route};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::lanes::levels::LevelsInForce;
use fabdeck::operations::plans::plan_origin::PlanOrigin;
use fabdeck::operations::plans::proposal_plan::{make_plan, plan_text, settle_proposal};
use fabdeck::operations::preview::whatif::{Proposal, ProposalOptions, propose};
use fabdeck_change::{Plan, SurvivingFabric};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{ElementId, Fabric, Faults, Lid, NodeId, Tables};
use fabdeck_routing::{ENGINES, NoProgress, Problem, Request};

/// A look at a fabric whose tables are those of minhop without any marks.
fn looked(fabric: Fabric) -> Snapshot {
    let mut tables = Tables::default();
    let routes = route("minhop", &Problem::new(&fabric, &Faults::default())).unwrap().routes;
    for (id, _) in fabric.switches() {
        tables.node_mut(id).lft = Some(routes.lft(id.0));
    }
    Snapshot::new("here", Observation { fabric, tables, ..Observation::default() }, &Default::default())
}

/// The proposal of an engine as a plan has it, and the plan's text; `None` where the engine refuses.
fn planned(look: &Snapshot, faults: &Faults, id: &str, lanes: u8) -> Option<(Proposal, String)> {
    let request = Request { lanes, ..Request::default() };
    let engine = fabdeck_routing::find_engine(id).unwrap();
    let tables = &look.observation.tables;
    let proposal =
        propose(look, tables, faults, engine, ProposalOptions::for_terminals(&request), &NoProgress).ok()?;
    let proposal = settle_proposal(look, faults, proposal, LevelsInForce::Unknown, &NoProgress).unwrap();
    let plan = make_plan(look, faults, id, &proposal, LevelsInForce::Unknown, PlanOrigin::default()).unwrap();
    Some((proposal, plan_text(&plan).unwrap_or_else(|error| panic!("{id}: {error}"))))
}

/// What is read back is for what stands and for nothing else, and what it changes is what it writes.
fn consistent(look: &Snapshot, faults: &Faults, proposal: &Proposal, text: &str) {
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let (plan, standing) = (Plan::read(text).unwrap(), SurvivingFabric::new(fabric, faults, None));
    assert_eq!(plan.find_difference(fabric, tables, None), None);
    let impact = |key: &str| plan.impact[key].as_u64().unwrap();
    assert_eq!(impact("changed_blocks"), plan.writes.len() as u64);
    let after = plan.tables_after(fabric, tables);
    for (id, _) in fabric.switches() {
        let wanted =
            if standing.contains(id) { proposal.routes.lft(id.0) } else { tables.lft(id).unwrap().clone() };
        assert_eq!(after.lft(id), Some(&wanted), "{id:?}");
    }
    assert!(plan.is_applied(fabric, &after, None), "{text}");
    let routes = plan.routes(fabric, &after);
    for (from, _) in fabric.switches().filter(|(id, _)| standing.contains(*id)) {
        for lid in (1..=fabric.top_lid().map_or(0, |top| top.value())).filter_map(|lid| Lid::new(lid.into()))
        {
            assert_eq!(routes.lane(from.0, lid), proposal.routes.lane(from.0, lid), "{from:?} {lid}");
        }
    }
}

#[test]
fn whatever_is_cut_off_or_failed_plans_read_back() {
    let told: Vec<(usize, usize)> = (0..150u64)
        .into_par_iter()
        .map(|seed| {
            let (fabric, mut faults) = sketch(seed, seed % 2 == 0).build();
            let dice = &mut Dice(seed ^ 0xC07);
            // The cables of one switch, so that it is cut off and works; and a switch that does not.
            let cut = NodeId(dice.below(fabric.switch_count().max(1)) as u32);
            let at_it = |id: &_| fabric.ends(*id).iter().any(|(node, _)| *node == cut);
            if seed % 3 > 0 {
                let ids = fabric.links().map(|(id, _)| id);
                let cables = ids.filter(|id| fabric.is_between_switches(*id) && at_it(id));
                cables.for_each(|id| _ = faults.mark(ElementId::Link(id)));
            }
            if seed % 4 == 0 && fabric.switch_count() > 0 {
                faults.mark(ElementId::Node(NodeId(dice.below(fabric.switch_count()) as u32)));
            }
            let look = looked(fabric);
            let standing = SurvivingFabric::new(look.fabric(), &faults, None);
            let alone =
                look.fabric().switches().any(|(id, _)| !standing.contains(id) && !faults.is_node_failed(id));
            let mut plans = 0;
            // Those that write SL2VL tables need these in force; `torus2qos.rs` has their plans.
            for engine in ENGINES.iter().filter(|engine| !engine.writes_lane_tables) {
                let Some((proposal, text)) = planned(&look, &faults, engine.id, 1 + seed as u8 % 8) else {
                    continue;
                };
                consistent(&look, &faults, &proposal, &text);
                plans += 1;
            }
            (plans, usize::from(alone))
        })
        .collect();
    let (plans, alone) = told.iter().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    assert!(plans > 400 && alone > 60, "{plans} plans, {alone} fabrics with a part that is cut off");
}

/// What the small part holds is none of a plan's business: its pairs do not move, and a plan is the same whatever stands
/// in its tables.
#[test]
fn a_part_that_is_cut_off_keeps_its_tables() {
    let look = looked(fabric("torus,dims=5"));
    let mut faults = Faults::default();
    let between = |id: &_| {
        let ends = look.fabric().ends(*id).map(|(node, _)| node.0);
        [[0, 1], [1, 0], [2, 3], [3, 2]].contains(&ends)
    };
    let links: Vec<_> = look.fabric().links().map(|(id, _)| id).filter(between).collect();
    assert_eq!(links.len(), 2);
    links.into_iter().for_each(|id| _ = faults.mark(ElementId::Link(id)));
    let (proposal, text) = planned(&look, &faults, "minhop", 1).unwrap();
    let plan = Plan::read(&text).unwrap();
    assert_eq!((plan.fingerprint.tables.len(), proposal.report.by_cause.no_route), (3, 0));
    let mut bare = look.clone();
    for small in [1, 2] {
        bare.observation.tables.node_mut(NodeId(small)).lft = None;
    }
    let (proposal, other) = planned(&bare, &faults, "minhop", 1).unwrap();
    let other = Plan::read(&other).unwrap();
    assert_eq!((&other.writes, &other.fingerprint), (&plan.writes, &plan.fingerprint));
    // Nothing is written there, so nothing reaches anything there.
    assert!(
        proposal.report.by_cause.no_route > 0 && !other.findings.is_empty(),
        "{:?}",
        proposal.report.by_cause
    );
}
