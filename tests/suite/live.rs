//! Looking at a live fabric: every MAD goes through the simulator, which is the real fabric byte for byte.

use std::time::Duration;

use fabdeck::access::{Progress, ReadPort, SourceError, Unwatched, Wanted, Watch};
use fabdeck::fabric::{Change, Fabric, FabricDiff, NodeId, PortNum, Tables};
use fabdeck::generate::{Spec, generate};
use fabdeck::observe::Observation;
use fabdeck::simulator::{Line, Share, SimulatedPort, Simulator, World};
use fabdeck::source::{Keys, Policy, look};

fn fabric(name: &str) -> Fabric {
    generate(&name.parse::<Spec>().unwrap()).unwrap().fabric
}

fn simulated(fabric: &Fabric, line: Line, seed: u64) -> SimulatedPort {
    SimulatedPort::new(Simulator::new(World::new(fabric, &Tables::default()).unwrap(), line, seed))
}

const ALL: Wanted = Wanted { tables: true, multicast: true, lanes: true, counters: true };

fn look_at(port: &mut ReadPort, wanted: Wanted) -> Observation {
    look("sim", port, Policy::default(), &Keys::default(), wanted, &mut Unwatched).unwrap()
}

/// What a live look tells more than the plan of a fabric does.
fn differences(plan: &Fabric, seen: &Fabric) -> Vec<Change> {
    let said = |change: &Change| match change {
        Change::NodeChanged { before, .. } | Change::PortChanged { before, .. } => before != "unknown",
        _ => true,
    };
    FabricDiff::between(plan, seen).changes.into_iter().filter(said).collect()
}

#[test]
fn a_look_sees_the_fabric_that_is_there() {
    for name in [
        "demo",
        "kary,k=4,n=3",
        "torus,dims=4x4x3",
        "random,switches=40,links=120,aggregation=yes",
        "switch648",
    ] {
        let fabric = fabric(name);
        let simulator = simulated(&fabric, Line::default(), 1);
        let seen = look_at(&mut simulator.open(None).unwrap(), ALL);
        let differences = differences(&fabric, &seen.fabric);
        assert!(differences.is_empty(), "{name}: {} such as {:?}", differences.len(), differences.first());
        assert!(!seen.partial(), "{name}: {:?}", seen.notes);
        println!("{name}: {:?}", seen.reading.unwrap().phases);
    }
}

#[test]
fn cancel_ends_a_look() {
    struct Cancelled;
    impl Watch for Cancelled {
        fn progress(&mut self, _: Progress) {}
        fn cancelled(&self) -> bool {
            true
        }
    }
    let simulator = simulated(&fabric("demo"), Line::default(), 1);
    let mut port = simulator.open(None).unwrap();
    let ended = look("sim", &mut port, Policy::default(), &Keys::default(), ALL, &mut Cancelled);
    assert_eq!(ended.unwrap_err(), SourceError::Cancelled);
}
