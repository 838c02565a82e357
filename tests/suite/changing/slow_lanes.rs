//! A plan of dFtree on a simulator: what it writes to switches and adapters stands there afterwards, and what was there comes
//! back byte for byte.

use fabdeck::session::{Look, Sent};
use fabdeck_change::{Ask, Phase, Plan};
use fabdeck_fabric::Faults;
use fabdeck_mad::access::{Device, Surveyor, Unwatched};
use fabdeck_routing::{NoPulse, Problem, Request, engine};
use fabdeck_simulator::{Line, SimulatedPort, Simulator, World};

use super::window::{applied, ask, confirm_when_applied};
use super::{Stage, actuator, fabric, nobody, seen_whole};
use crate::lanes::{all_to, flat, hosts, one_turn, planned, tables};

/// A fabric on which all levels are on one lane, and no lane but that has a turn.
fn narrow() -> (SimulatedPort, Plan) {
    let fabric = fabric("kary,k=2,n=3");
    let faults = Faults::new();
    let problem = Problem::new(&fabric, &faults);
    let routes = (engine("updn").unwrap().route)(&problem, &Request::default(), &NoPulse).unwrap().routes;
    let tables = tables(&fabric, &routes, &mut flat, &mut one_turn);
    let world = World::new(&fabric, &tables).unwrap();
    let simulator = SimulatedPort::new(Simulator::new(world, Line::default(), 1));
    let look = Look::new("sim", seen_whole(&simulator), &Default::default());
    let hot = hosts(look.fabric())[3];
    let plan = planned(&look, &all_to(look.fabric(), hot), Sent::One).unwrap();
    (simulator, plan)
}

#[test]
fn slow_lanes_are_written_and_taken_back_byte_for_byte() {
    let (simulator, plan) = narrow();
    let (switches, adapters) = plan.written();
    assert!(switches > 3 && adapters == 7, "{switches} switches, {adapters} adapters");
    let before = seen_whole(&simulator);
    let raw = |simulator: &SimulatedPort| {
        let mut hands = actuator(simulator);
        hands.look(Default::default(), &mut Unwatched).unwrap();
        let slots: Vec<_> = plan.writes.iter().map(|write| write.step().unwrap().slot).collect();
        hands.read(&slots).into_iter().map(Result::unwrap).collect::<Vec<_>>()
    };
    let old = raw(&simulator);
    let planned_old: Vec<_> = plan.writes.iter().map(|write| write.step().unwrap().old).collect();
    assert_eq!(old, planned_old, "what the plan found is what devices say");
    let (sender, orders) = nobody();
    let told = std::thread::scope(|scope| {
        let (simulator, plan) = (&simulator, &plan);
        let running = scope.spawn(move || Stage::new(simulator, plan).apply(60, &orders).unwrap());
        applied(&sender);
        let now = seen_whole(simulator);
        let as_planned = now.tables == plan.outcome(&before.fabric, &before.tables);
        let manager = now.subnet_manager.as_ref().map(|manager| manager.guid);
        let is_applied = plan.is_applied(&now.fabric, &now.tables, manager);
        // Nobody waits for a window if something is wrong.
        ask(&sender, Ask::RollBack { user: "ada".into(), anyway: false });
        assert!(as_planned && is_applied, "{as_planned} {is_applied}");
        running.join().unwrap()
    });
    assert_eq!(told.phase, Phase::RolledBack);
    assert_eq!(raw(&simulator), old);
    assert_eq!(seen_whole(&simulator).tables, before.tables);
}

#[test]
fn confirmed_slow_lanes_stay_and_a_second_plan_writes_nothing() {
    let (simulator, plan) = narrow();
    let (sender, orders) = nobody();
    let confirming = confirm_when_applied(sender);
    let mut stage = Stage::new(&simulator, &plan);
    let told = stage.apply(60, &orders).unwrap();
    drop(orders);
    confirming.join().unwrap();
    assert_eq!(told.phase, Phase::Confirmed);
    assert_eq!(stage.witness.course().sets.len(), plan.writes.len());
    let adapter = |slot: &fabdeck_mad::access::Slot| matches!(slot.at, Device::Adapter(_));
    assert!(stage.witness.course().sets.iter().any(|(slot, _)| adapter(slot)));
    let look = Look::new("sim", seen_whole(&simulator), &Default::default());
    let hot = hosts(look.fabric())[3];
    let again = planned(&look, &all_to(look.fabric(), hot), Sent::One).unwrap();
    assert!(again.writes.is_empty() && again.migrations == plan.migrations);
}
