//! A plan of dFtree on a simulator: what it writes to switches and adapters stands there afterwards, and what was there comes
//! back byte for byte.

use super::window::{applied, confirm_when_applied, send_ask};
use super::{Stage, actuator, fabric, observe_simulator_whole, order_channel};
use crate::lanes::{all_to, flat, hosts, one_turn, planned, tables};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::lanes::levels::LevelsInForce;
use fabdeck_change::{ChangePhase, GuardRequest, Plan};
use fabdeck_fabric::Faults;
use fabdeck_mad::access::{DeviceId, NoObserver, Surveyor};
use fabdeck_routing::{NoProgress, Problem, Request, find_engine};
use fabdeck_simulator::{LineFaults, SharedSimulator, SimulatedFabric, Simulator};

/// A fabric on which all levels are on one lane, and no lane but that has a turn.
fn narrow() -> (SharedSimulator, Plan) {
    let fabric = fabric("kary,k=2,n=3");
    let faults = Faults::new();
    let problem = Problem::new(&fabric, &faults);
    let routes =
        (find_engine("updn").unwrap().route)(&problem, &Request::default(), &NoProgress).unwrap().routes;
    let tables = tables(&fabric, &routes, &mut flat, &mut one_turn);
    let world = SimulatedFabric::new(&fabric, &tables).unwrap();
    let simulator = SharedSimulator::new(Simulator::new(world, LineFaults::default(), 1));
    let look = Snapshot::new("sim", observe_simulator_whole(&simulator), &Default::default());
    let hot = hosts(look.fabric())[3];
    let plan = planned(&look, &all_to(look.fabric(), hot), LevelsInForce::One).unwrap();
    (simulator, plan)
}

#[test]
fn slow_lanes_are_written_and_taken_back_byte_for_byte() {
    let (simulator, plan) = narrow();
    let (switches, adapters) = plan.count_targets();
    assert!(switches > 3 && adapters == 7, "{switches} switches, {adapters} adapters");
    let before = observe_simulator_whole(&simulator);
    let raw = |simulator: &SharedSimulator| {
        let mut hands = actuator(simulator);
        hands.read_fabric(Default::default(), &mut NoObserver).unwrap();
        let slots: Vec<_> = plan.writes.iter().map(|write| write.to_step().unwrap().slot).collect();
        hands.read(&slots).into_iter().map(Result::unwrap).collect::<Vec<_>>()
    };
    let old = raw(&simulator);
    let planned_old: Vec<_> = plan.writes.iter().map(|write| write.to_step().unwrap().old).collect();
    assert_eq!(old, planned_old, "what the plan found is what devices say");
    let (sender, orders) = order_channel();
    let told = std::thread::scope(|scope| {
        let (simulator, plan) = (&simulator, &plan);
        let running = scope.spawn(move || Stage::new(simulator, plan).apply(60, &orders).unwrap());
        applied(&sender);
        let now = observe_simulator_whole(simulator);
        let as_planned = now.tables == plan.tables_after(&before.fabric, &before.tables);
        let manager = now.subnet_manager.as_ref().map(|manager| manager.guid);
        let is_applied = plan.is_applied(&now.fabric, &now.tables, manager);
        // If something is wrong the window is not waited for.
        send_ask(&sender, GuardRequest::RollBack { user: "ada".into(), anyway: false });
        assert!(as_planned && is_applied, "{as_planned} {is_applied}");
        running.join().unwrap()
    });
    assert_eq!(told.phase, ChangePhase::RolledBack);
    assert_eq!(raw(&simulator), old);
    assert_eq!(observe_simulator_whole(&simulator).tables, before.tables);
}

#[test]
fn confirmed_slow_lanes_stay_and_a_second_plan_writes_nothing() {
    let (simulator, plan) = narrow();
    let (sender, orders) = order_channel();
    let confirming = confirm_when_applied(sender);
    let mut stage = Stage::new(&simulator, &plan);
    let told = stage.apply(60, &orders).unwrap();
    drop(orders);
    confirming.join().unwrap();
    assert_eq!(told.phase, ChangePhase::Confirmed);
    assert_eq!(stage.witness.course().sets.len(), plan.writes.len());
    let adapter = |slot: &fabdeck_mad::access::DeviceAttribute| matches!(slot.at, DeviceId::Adapter(_));
    assert!(stage.witness.course().sets.iter().any(|(slot, _)| adapter(slot)));
    let look = Snapshot::new("sim", observe_simulator_whole(&simulator), &Default::default());
    let hot = hosts(look.fabric())[3];
    let again = planned(&look, &all_to(look.fabric(), hot), LevelsInForce::One).unwrap();
    assert!(again.writes.is_empty() && again.migrations == plan.migrations);
}
