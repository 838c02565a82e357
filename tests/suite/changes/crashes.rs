//! kill -9 before and behind everything that a change does: each ends untouched or as something to take back, and taking
//! it back leaves every byte as it was.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fabdeck_change::{ChangePhase, HostNotification, JournalError, Plan, PlanWrite};
use fabdeck_fabric::{ElementId, Fabric, Faults, NodeId, PortNum, Tables};
use fabdeck_mad::access::{AttributePart, DeviceAttribute, DeviceId, NoObserver, ReadOptions, Surveyor};
use fabdeck_simulator::SharedSimulator;
use rayon::prelude::*;

use super::{
    KilledProcess, Stage, actuator, fabric, long, observe_simulator_whole, order_channel, plan_by_engine,
    simulated, spread, with_adapters, with_migration,
};

/// Every node has a block of its own, so that a plan has more than 200 writes. It goes round a link, writes lanes and
/// arbitration of switches and adapters, and takes the link out of service: every kind of write is there.
fn stage() -> (Fabric, SharedSimulator, Plan) {
    let fabric = spread(&fabric("torus,dims=4x4,hosts=16"));
    let simulator = simulated(&fabric);
    let (link, _) = fabric.links().find(|(id, _)| fabric.is_between_switches(*id)).unwrap();
    let mut faults = Faults::new();
    faults.mark(ElementId::Link(link));
    let mut plan = plan_by_engine(&simulator, "updn", &faults);
    let mut reader = actuator(&simulator);
    reader.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
    let switches = fabric.switches().map(|(_, node)| node.guid());
    let parts = [
        AttributePart::Lanes([1, 2]),
        AttributePart::Lanes([3, 1]),
        AttributePart::Arbitration([2, 1]),
        AttributePart::Arbitration([2, 3]),
    ];
    let mut slots: Vec<DeviceAttribute> = switches
        .flat_map(|switch| parts.map(|part| DeviceAttribute { at: DeviceId::Switch(switch), part }))
        .collect();
    let end = |(node, port): (NodeId, PortNum)| DeviceAttribute {
        at: DeviceId::Switch(fabric.node(node).guid()),
        part: AttributePart::Port(port.value()),
    };
    slots.extend(fabric.ends(link).map(end));
    for (slot, old) in slots.iter().zip(reader.read(&slots)) {
        let old = old.unwrap();
        // Lanes that the ports have, in another order; another weight; a port that is disabled.
        let mut new = old.clone();
        match slot.part {
            AttributePart::Lanes(_) => new.rotate_left(1),
            AttributePart::Arbitration(_) => new[1] = new[1].wrapping_add(1),
            _ => new = vec![0],
        }
        assert_ne!(old, new, "{slot}");
        plan.writes.push(PlanWrite::for_switch(slot.at.guid(), slot.part, &old, &new));
    }
    let plan = with_adapters(&simulator, plan, 4);
    let plan = with_migration(&simulator, plan, 3);
    (fabric, simulator, plan)
}

/// Everything that a look tells of switches and ports.
fn read_fabric(simulator: &SharedSimulator) -> (Fabric, Tables) {
    let seen = observe_simulator_whole(simulator);
    assert!(seen.tables.nodes.values().any(|held| !held.sl2vl.is_empty() && !held.arbitration.is_empty()));
    (seen.fabric, seen.tables)
}

/// What became of a run that was killed at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RunEnd {
    /// The moment never came.
    Ended,
    Untouched,
    TakenBack,
    Kept,
}

/// A run on a new simulator of the fabric that is killed at a moment, and the outcome under the next guard. `before` is
/// what was read of the fabric before any run.
fn killed_at(moment: usize, fabric: &Fabric, plan: &Plan, before: &(Fabric, Tables)) -> RunEnd {
    let (share, window_s) = (moment % 3, 0);
    let simulator = simulated(fabric);
    let mut stage = Stage::new(&simulator, plan);
    stage.witness.course().killed_at = Some(moment);
    let (_sender, orders) = order_channel();
    let run = catch_unwind(AssertUnwindSafe(|| stage.apply(window_s, &orders)));
    let Err(payload) = run else { return RunEnd::Ended };
    assert!(payload.is::<KilledProcess>(), "a panic of its own at moment {moment}");
    assert_eq!(stage.witness.course().early, 0, "moment {moment}");
    let left = stage.witness.journal_prefix(share);
    let sets = stage.witness.course().sets.len();
    match stage.take_over(&left, &orders) {
        Err(JournalError::Empty { .. }) => {
            assert_eq!(sets, 0, "moment {moment}: a Set without a journal");
            assert!(read_fabric(&simulator) == *before, "moment {moment}");
            RunEnd::Untouched
        }
        Err(error) => panic!("moment {moment}: {error}"),
        Ok(told) if told.phase == ChangePhase::RolledBack => {
            assert!(read_fabric(&simulator) == *before, "moment {moment}");
            let moved = stage.listeners.lock().unwrap().moved.clone();
            assert!(moved.is_empty(), "moment {moment}: {moved:?}");
            RunEnd::TakenBack
        }
        Ok(told) => {
            assert_eq!(told.phase, ChangePhase::Confirmed, "moment {moment}");
            RunEnd::Kept
        }
    }
}

/// Every moment of an apply, or every n-th, and of the rollback behind it, for its window is over at once.
#[test]
fn every_crash_ends_untouched_or_taken_back() {
    let (fabric, simulator, plan) = stage();
    let before = read_fabric(&simulator);
    assert!(plan.writes.len() >= 200, "{}", plan.writes.len());
    let mut stage = Stage::new(&simulator, &plan);
    let (_sender, orders) = order_channel();
    let told = stage.apply(0, &orders).unwrap();
    assert_eq!((told.phase, told.hosts), (ChangePhase::RolledBack, HostNotification::Recalled));
    let moments = stage.witness.course().moments;
    assert!(moments >= 800, "{moments}");
    let notified_at = stage.witness.course().notified_at.clone();
    assert_eq!(notified_at.len(), 2);
    let stride = if long() { 1 } else { 97 };
    // The first and the last ones are those with the journal.
    let tried: Vec<usize> = (1..=moments)
        .filter(|moment| *moment < 8 || moments - moment < 8 || moment % stride == 0)
        .chain(notified_at.iter().flat_map(|at| at - 3..at + 4))
        .collect();
    let became: Vec<RunEnd> =
        tried.par_iter().map(|moment| killed_at(*moment, &fabric, &plan, &before)).collect();
    let count = |wanted| became.iter().filter(|became| **became == wanted).count();
    println!(
        "said: {} of {moments} moments: {} untouched, {} taken back",
        tried.len(),
        count(RunEnd::Untouched),
        count(RunEnd::TakenBack)
    );
    assert_eq!(count(RunEnd::Ended) + count(RunEnd::Kept), 0);
    assert!(count(RunEnd::Untouched) >= 2 && count(RunEnd::TakenBack) >= 25);
}
