//! What dFtree does for flows: the paper's experiments I to IV on its test bed, from counters to flows on the slow lane and back.

use std::time::Duration;

use super::credit_loop::{CreditLoopLab, ProposedMoves, SweptPair, on_one_lane};
use super::lid;
use crate::traffic::test_bed::{EXPERIMENTS, Experiment, TestBed, limited};
use fabdeck::operations::lanes::levels::LevelsInForce;
use fabdeck::operations::plans::plan_origin::PlanOrigin;
use fabdeck::operations::plans::proposal_plan::{make_plan, settle_proposal};
use fabdeck::operations::preview::whatif::ProposalOptions;
use fabdeck_change::{ChangePhase, ChangeState, GuardRequest, HostNotification, Plan};
use fabdeck_fabric::{Faults, PortId, PortNum, Routes};
use fabdeck_routing::{NoProgress, Request, find_engine};
use fabdeck_simulator::traffic::{Flow, TrafficLoad, TrafficPattern};
use fabdeck_simulator::{CarriedTraffic, SimulatedFabric, StoryChange, StoryStep, TimeRatio};

/// Seconds: contributors begin and end, and a cable of experiment II fails in between.
const BEGIN: u64 = 10;
const FAILS: u64 = 30;
const END: u64 = 60;

/// The test bed with its packets under way: the victim alone at first.
fn bed(experiment: &Experiment, agents: bool) -> CreditLoopLab {
    let stage = TestBed::new(experiment.per_leaf, experiment.trunk, false);
    let mut world = SimulatedFabric::new(
        &stage.fabric,
        &on_one_lane(&stage.fabric, &ways_to_all(&stage, experiment.per_leaf)),
    )
    .unwrap();
    if agents {
        world.add_agents();
    }
    let (from, to) = experiment.victim;
    let mut flows = vec![stage.flow(from, to)];
    let mut scenes = Vec::new();
    let scene = |at, change| StoryStep { at: Duration::from_secs(at), change };
    for (flow, (from, to)) in (1..).zip(experiment.contributors) {
        flows.push(Flow { mbps: Some(0), ..stage.flow(from, to) });
        scenes.push(scene(BEGIN, StoryChange::FlowRate { flow, mbps: u32::MAX }));
        scenes.push(scene(END, StoryChange::FlowRate { flow, mbps: 0 }));
    }
    if experiment.name == "II" {
        let leaf = stage.fabric.port(stage.fabric.peer(stage.host(1)).unwrap()).node;
        let at = (leaf.0, experiment.per_leaf + 2);
        scenes.push(scene(FAILS, StoryChange::Link { at, up: false }));
    }
    scenes.sort_by_key(|scene| scene.at);
    let load = TrafficLoad { pattern: TrafficPattern::Flows(flows), settings: limited() };
    world
        .start_traffic(CarriedTraffic { load, ratio: TimeRatio::DEFAULT, begins: Duration::ZERO, scenes })
        .unwrap();
    CreditLoopLab::of(world)
}

/// The paper's tables, with ways to switches: who asks them what they count needs these.
fn ways_to_all(stage: &TestBed, per_leaf: u8) -> Routes {
    let mut routes = Routes::clone(&stage.routes);
    let root = stage.fabric.switch_count() as u32 - 1;
    for (to, _) in stage.fabric.switches() {
        let own = stage.fabric.port_of(to, PortNum(0)).and_then(|port| stage.fabric.port(port).facts.lid);
        for (at, _) in stage.fabric.switches() {
            let port = match (at == to, at.0 == root) {
                (true, _) => 0,
                (_, true) => 2 * to.0 as u8 + 1,
                _ => per_leaf + 1,
            };
            routes.set(at.0, own.unwrap(), Some(PortNum(port)));
        }
    }
    routes
}

fn confirm() -> GuardRequest {
    GuardRequest::Confirm { user: "bob".into() }
}

fn roll_back() -> GuardRequest {
    GuardRequest::RollBack { user: "bob".into(), anyway: false }
}

fn host(seen: &SweptPair, number: u8) -> PortId {
    seen.look.fabric().port_by_lid(lid(number.into())).unwrap()
}

/// Mb/s of the victim, as its end counts it, and of the contributors: each of these hosts has one flow.
fn carried(experiment: &Experiment, seen: &SweptPair) -> (f64, Vec<f64>) {
    let sent = experiment.contributors.iter().map(|(from, _)| seen.mbps(host(seen, *from)));
    (seen.taken_mbps(host(seen, experiment.victim.1)), sent.collect())
}

/// The levels of the victim's flow and of the contributors'.
fn levels(circle: &CreditLoopLab, experiment: &Experiment) -> (u8, Vec<u8>) {
    let level = |(from, to): (u8, u8)| circle.level(lid(from.into()), lid(to.into()));
    (level(experiment.victim), experiment.contributors.map(level).to_vec())
}

fn assert_all_hosts_followed(told: &ChangeState) {
    assert_eq!(
        (told.phase, told.hosts, told.silent.len()),
        (ChangePhase::Confirmed, HostNotification::Notified, 0),
        "{told:?}"
    );
}

/// Tables of another engine for the fabric as it is.
fn rerouted(circle: &CreditLoopLab, id: &str) -> Plan {
    let (_, look) = circle.look();
    let (faults, engine, tables) = (Faults::new(), find_engine(id).unwrap(), &look.observation.tables);
    let request = Request::default();
    let proposal = fabdeck::operations::preview::whatif::propose(
        &look,
        tables,
        &faults,
        engine,
        ProposalOptions::for_terminals(&request),
        &NoProgress,
    )
    .unwrap();
    let proposal = settle_proposal(&look, &faults, proposal, LevelsInForce::Unknown, &NoProgress).unwrap();
    let plan = make_plan(&look, &faults, engine.id, &proposal, LevelsInForce::Unknown, PlanOrigin::default())
        .unwrap();
    Plan::read(&plan.text().unwrap()).unwrap()
}

/// From the victim alone to contributors that are named; Mb/s of the victim alone, and with them.
fn congested(circle: &CreditLoopLab, experiment: &Experiment) -> (f64, (f64, Vec<f64>), Plan) {
    let mut seen = circle.watch(2.0, 3.0);
    let (alone, _) = carried(experiment, &seen);
    assert!(!circle.propose(&mut seen).moves.has_moves(), "{}: nobody is held up yet", experiment.name);
    let mut seen = circle.watch(BEGIN as f64 + 1.0, 3.0);
    let ProposedMoves { moves, plan, state } = circle.propose(&mut seen);
    let hot = host(&seen, experiment.contributors[0].1);
    assert_eq!(moves.spots.iter().map(|spot| spot.adapter).collect::<Vec<_>>(), [hot], "{}", experiment.name);
    let joins = &moves.spots[0].joins;
    let contributes = |(from, _): &(u8, u8)| joins.contains(&host(&seen, *from));
    assert!(experiment.contributors.iter().all(contributes), "{}: {joins:?}", experiment.name);
    let plan = plan.unwrap();
    assert!(!plan.writes.is_empty() && state.differing_tables().count() == plan.writes.len());
    (alone, carried(experiment, &seen), plan)
}

#[test]
fn victims_have_their_share_back_and_flows_return_when_the_hot_spot_has_cooled() {
    for experiment in &EXPERIMENTS {
        let mut circle = bed(experiment, true);
        let (alone, (mut held, mut before), plan) = congested(&circle, experiment);
        let told = circle.apply(&plan, confirm(), || ());
        assert_all_hosts_followed(&told);
        let (at, heard) = circle.told.unwrap();
        assert!(heard - at < Duration::from_millis(200), "{}: {:?}", experiment.name, heard - at);
        println!("  hosts say that they followed {:?} after they were told", heard - at);
        assert_eq!(levels(&circle, experiment), (0, vec![1; 3]), "{}", experiment.name);
        let mut seen = circle.watch_settled();
        if experiment.name == "II" {
            // Only on the other cable the victim stands behind a contributor: that is measured where nothing has moved.
            (held, before) = after_the_fault(&mut bed(experiment, true), experiment);
            after_the_fault(&mut circle, experiment);
            seen = circle.watch_settled();
        }
        let (victim, after) = carried(experiment, &seen);
        println!(
            "{}: alone {alone:.0}, held up {held:.0}, apart {victim:.0}; {before:.0?} {after:.0?}",
            experiment.name
        );
        let (paper_held, paper) = (experiment.paper.0 / 12.9, experiment.paper.1 / 12.9);
        assert!((held / alone - paper_held).abs() < 0.25 * paper_held, "{}: {held}", experiment.name);
        assert!(victim / alone > 0.75 * paper, "{}: {victim}", experiment.name);
        let sum = |all: &[f64]| all.iter().sum::<f64>();
        assert!(sum(&after) > 0.98 * sum(&before), "{}: {before:?} {after:?}", experiment.name);
        has_cooled(&mut circle, experiment);
    }
}

/// The cable fails, and fabdeck's tables lead around it; what flows carry then.
fn after_the_fault(circle: &mut CreditLoopLab, experiment: &Experiment) -> (f64, Vec<f64>) {
    circle.pass(Duration::from_secs(FAILS + 1));
    let plan = rerouted(circle, "updn");
    assert!(!plan.writes.is_empty());
    assert_eq!(circle.apply(&plan, confirm(), || ()).phase, ChangePhase::Confirmed);
    let mut seen = circle.watch_settled();
    let state = circle.propose(&mut seen).state;
    let (tables, differing) = (state.tables.len(), state.differing_tables().count());
    // New ways have no slow lane yet, and that is told.
    assert!(differing > 0 && (differing < tables || circle.in_force.is_empty()), "{differing} of {tables}");
    println!(
        "  after the fault: {} writes; of {tables} tables on the ways {differing} differ",
        plan.writes.len()
    );
    carried(experiment, &seen)
}

/// Contributors end, and their flows are back on the fast lane.
fn has_cooled(circle: &mut CreditLoopLab, experiment: &Experiment) {
    let mut seen = circle.watch(END as f64 + 1.0, 2.0);
    let plan = circle.propose(&mut seen).plan.unwrap();
    assert!(plan.writes.is_empty(), "{}: lanes stay", experiment.name);
    assert_all_hosts_followed(&circle.apply(&plan, confirm(), || ()));
    assert_eq!(levels(circle, experiment), (0, vec![0; 3]), "{}", experiment.name);
    let mut seen = circle.watch_settled();
    assert!(!circle.propose(&mut seen).moves.has_moves(), "{}", experiment.name);
}

#[test]
fn what_is_rolled_back_is_as_it_was_byte_for_byte() {
    for experiment in &EXPERIMENTS {
        let mut circle = bed(experiment, true);
        let (_, (held, _), plan) = congested(&circle, experiment);
        let (tables, bytes) = (circle.look().1.observation.tables, circle.lane_tables(&plan));
        let still = CreditLoopLab::over(circle.simulator.clone());
        let told = circle.apply(&plan, roll_back(), || {
            assert_eq!(levels(&still, experiment), (0, vec![1; 3]));
            assert_ne!(still.lane_tables(&plan), bytes);
        });
        assert_eq!((told.phase, told.hosts), (ChangePhase::RolledBack, HostNotification::Recalled));
        assert_eq!(levels(&circle, experiment), (0, vec![0; 3]));
        assert!(circle.lane_tables(&plan) == bytes && circle.look().1.observation.tables == tables);
        if experiment.name != "II" {
            let (again, _) = carried(experiment, &circle.watch_settled());
            assert!((again / held - 1.0).abs() < 0.05, "{}: {held} {again}", experiment.name);
        }
    }
}

/// Tables are written and nobody moves; flows move and their level is on no lane of its own: nothing is won.
#[test]
fn without_agents_or_without_lanes_the_victim_stays_held_up() {
    let experiment = &EXPERIMENTS[0];
    for (agents, lanes) in [(false, true), (true, false)] {
        let mut circle = bed(experiment, agents);
        let (_, (held, _), mut plan) = congested(&circle, experiment);
        if !lanes {
            plan.writes.clear();
            plan = Plan::read(&plan.text().unwrap()).unwrap();
        }
        assert_eq!(circle.apply(&plan, confirm(), || ()).phase, ChangePhase::Confirmed);
        circle.pass(circle.now() + Duration::from_secs(1));
        assert_eq!(levels(&circle, experiment).1, vec![u8::from(agents); 3]);
        let (victim, _) = carried(experiment, &circle.watch_settled());
        assert!((victim / held - 1.0).abs() < 0.05, "agents {agents}, lanes {lanes}: {held} {victim}");
    }
}
