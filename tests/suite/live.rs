//! Looking at a live fabric: every MAD goes through the simulator, which is the real fabric byte for byte.

mod adaptive;
mod administration;
mod altered;
mod carried;
mod compare;
mod drifting;
mod faults;
mod following;
mod keys;
mod levels;
mod limits;
mod meddled;
mod notices;
mod repeatable;
mod silent;
mod sweeps;
mod trapped;
mod writing;

use fabdeck_fabric::generate::{Spec, generate};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Change, Fabric, FabricDiff, NodeId, NodeKind, Port, Tables};
use fabdeck_live::{Keys, Policy, look};
use fabdeck_mad::Mad;
use fabdeck_mad::access::{Arrival, MadPort, Parcel, WritePort};
use fabdeck_mad::access::{Progress, ReadPort, SourceError, Unwatched, Wanted, Watch, WriteToken};
use fabdeck_simulator::{Line, SimulatedPort, Simulator, World};

fn fabric(name: &str) -> Fabric {
    generate(&name.parse::<Spec>().unwrap()).unwrap().fabric
}

fn world(fabric: &Fabric) -> World {
    World::new(fabric, &Tables::default()).unwrap()
}

fn simulated(fabric: &Fabric, line: Line, seed: u64) -> SimulatedPort {
    SimulatedPort::new(Simulator::new(world(fabric), line, seed))
}

const ALL: Wanted = Wanted { tables: true, multicast: true, lanes: true, counters: true, adaptive: true };
const TOPOLOGY: Wanted =
    Wanted { tables: false, multicast: false, lanes: false, counters: false, adaptive: false };

fn look_with(port: &mut dyn MadPort, keys: &Keys, wanted: Wanted) -> Result<Observation, SourceError> {
    look("sim", port, Policy::default(), keys, wanted, &mut Unwatched)
}

fn look_at(port: &mut ReadPort, wanted: Wanted) -> Observation {
    look_with(port, &Keys::default(), wanted).unwrap()
}

fn writable(simulator: &SimulatedPort) -> WritePort {
    simulator.open(None).unwrap().unlock(&WriteToken::simulation()).unwrap()
}

/// One datagram, and its answer within a second.
fn exchange(port: &mut dyn MadPort, parcel: Parcel) -> Option<Mad> {
    let patience = Policy::default().timeout;
    let until = port.now() + patience;
    port.send(&parcel, patience).unwrap();
    match port.receive(until).unwrap() {
        Some(Arrival::Mad(parcel)) => Some(parcel.mad),
        _ => None,
    }
}

fn switches(fabric: &Fabric) -> Vec<NodeId> {
    fabric.switches().map(|(id, _)| id).collect()
}

fn hosts(fabric: &Fabric) -> Vec<NodeId> {
    fabric.nodes().filter(|(_, node)| node.facts.kind != NodeKind::Switch).map(|(id, _)| id).collect()
}

/// Pulls all cables of a node, or puts them back: how many they are.
fn plug(simulator: &SimulatedPort, planned: &Fabric, node: NodeId, up: bool) -> usize {
    let cables = planned.ports_of(node).filter(|(_, port)| port.peer.is_some());
    let set = |(_, port): (_, &Port)| {
        simulator.with(|simulator| simulator.world_mut().set_link(node, port.number, up));
    };
    cables.map(set).count()
}

/// The ports that lead from the manager's seat to a node: shortest, found by looking at the plan.
fn route_to(fabric: &Fabric, to: NodeId) -> Vec<u8> {
    let from = hosts(fabric)[0];
    let mut routes = std::collections::BTreeMap::from([(from, Vec::new())]);
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for (_, port) in fabric.ports_of(at).filter(|_| at == from || fabric.node(at).is_switch()) {
            let Some(peer) = port.peer.map(|peer| fabric.port(peer).node) else { continue };
            if !routes.contains_key(&peer) {
                let way = [routes[&at].as_slice(), &[port.number.value()]].concat();
                routes.insert(peer, way);
                queue.push_back(peer);
            }
        }
    }
    routes.remove(&to).unwrap()
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
