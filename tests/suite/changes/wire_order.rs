//! The Sets on the wire are those of the plan, in its order, and a plan that was applied writes nothing more.

use fabdeck_change::{ChangePhase, Plan};
use fabdeck_fabric::{ElementId, Faults};
use rayon::prelude::*;

use super::{
    Stage, fabric, long, observe_simulator_whole, order_channel, plan_by_engine, simulated, with_adapters,
};

const FABRICS: &[&str] =
    &["kary,k=2,n=2", "kary,k=3,n=2", "torus,dims=3x3", "mesh,dims=2x3", "random,switches=6,links=9"];
const ENGINES: &[&str] = &["minhop", "updn", "sssp", "nue", "dfsssp"];

/// A plan by its number: fabric, engine and what failed.
fn drawn(seed: u64) -> Option<(fabdeck_simulator::SharedSimulator, Plan)> {
    let name = FABRICS[seed as usize % FABRICS.len()];
    let name = if name.starts_with("random") { format!("{name},seed={seed}") } else { name.to_owned() };
    let fabric = fabric(&name);
    let mut faults = Faults::new();
    let links: Vec<_> =
        fabric.links().map(|(id, _)| id).filter(|id| fabric.is_between_switches(*id)).collect();
    if !seed.is_multiple_of(3) {
        let link = links[seed as usize * 7 % links.len()];
        faults.mark(ElementId::Link(link));
    }
    let simulator = simulated(&fabric);
    let plan = plan_by_engine(&simulator, ENGINES[seed as usize / 5 % ENGINES.len()], &faults);
    if plan.writes.is_empty() {
        return None;
    }
    // Every other one writes adapters too.
    let plan = if seed.is_multiple_of(2) { with_adapters(&simulator, plan, 2) } else { plan };
    Some((simulator, plan))
}

#[test]
fn the_wire_says_what_the_plan_says() {
    // All of them take minutes; the share is drawn from all kinds.
    let seeds = 0..if long() { 1250u64 } else { 150 };
    let told: Vec<usize> = seeds
        .into_par_iter()
        .filter_map(drawn)
        .map(|(simulator, plan)| {
            let mut stage = Stage::new(&simulator, &plan);
            let (sender, orders) = order_channel();
            let confirming = super::window::confirm_when_applied(sender);
            let told = stage.apply(60, &orders).unwrap();
            confirming.join().unwrap();
            assert_eq!(told.phase, ChangePhase::Confirmed, "{:?}", stage.said);
            let sent: Vec<_> = std::mem::take(&mut stage.witness.course().sets);
            let wanted = plan.writes.iter().map(|write| write.to_step().unwrap());
            let wanted: Vec<_> = wanted.map(|step| (step.slot, step.new)).collect();
            assert_eq!(sent, wanted);
            let look = observe_simulator_whole(&simulator);
            assert!(plan.is_applied(&look.fabric, &look.tables, look.subnet_manager.map(|sm| sm.guid)));
            // What is in place already is not written again.
            let mut again = Stage::new(&simulator, &plan);
            let (_sender, orders) = order_channel();
            again.apply(0, &orders).unwrap();
            assert!(again.witness.course().sets.is_empty());
            sent.len()
        })
        .collect();
    println!("said: {} plans with {} Sets", told.len(), told.iter().sum::<usize>());
    assert!(told.len() >= if long() { 1000 } else { 110 }, "{}", told.len());
}

/// The last write goes first, so that the fabric passes through the states of the way there.
#[test]
fn the_way_back_is_the_way_there_turned_round() {
    let (simulator, plan) = drawn(1).unwrap();
    let mut stage = Stage::new(&simulator, &plan);
    let (_sender, orders) = order_channel();
    assert_eq!(stage.apply(0, &orders).unwrap().phase, ChangePhase::RolledBack);
    let steps: Vec<_> = plan.writes.iter().map(|write| write.to_step().unwrap()).collect();
    let there = steps.iter().map(|step| (step.slot, step.new.clone()));
    let back = steps.iter().rev().map(|step| (step.slot, step.old.clone()));
    assert!(steps.len() > 3);
    assert_eq!(stage.witness.course().sets, there.chain(back).collect::<Vec<_>>());
}
