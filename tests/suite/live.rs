//! Looking at a live fabric: every MAD goes through the simulator, which is the real fabric byte for byte.

mod adaptive_routing;
mod adaptive_tables;
mod administration;
mod agent_flows;
mod altered_answers;
mod compare;
mod fabric_events;
mod faults;
mod groups;
mod hardware_answers;
mod keys;
mod limits;
mod link_health;
mod logged_port;
mod missing_answers;
mod notices;
mod paired_ports;
mod partitions;
mod planes;
mod port_labels;
mod port_states;
mod repeatability;
mod service_levels;
mod set_requests;
mod silent_nodes;
mod simulated_traffic;
mod speeds;
mod sweeps;
mod table_drift;
mod traps;

use std::time::Duration;

use crate::captures::sample_fabric::{BEGUN, Memory, header};
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, FabricDiff, FabricDifference, NodeId, NodeKind, Port, Tables};
use fabdeck_files::capture::Recorder;
use fabdeck_files::capture_format::CaptureReader;
use fabdeck_live::{ExchangePolicy, Keys, read_snapshot};
use fabdeck_mad::Mad;
use fabdeck_mad::access::{AddressedMad, MadPort, PortEvent, WritePort};
use fabdeck_mad::access::{
    NoObserver, ReadObserver, ReadOptions, ReadPort, ReadProgress, Source, SourceError, WriteToken,
};
use fabdeck_simulator::{LineFaults, SharedSimulator, SimulatedFabric, Simulator};

fn fabric(name: &str) -> Fabric {
    generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
}

fn world(fabric: &Fabric) -> SimulatedFabric {
    SimulatedFabric::new(fabric, &Tables::default()).unwrap()
}

fn simulated(fabric: &Fabric, line: LineFaults, seed: u64) -> SharedSimulator {
    SharedSimulator::new(Simulator::new(world(fabric), line, seed))
}

/// What a capture has of a sweep and of a second one, between which something changes.
fn recorded_moments(
    source: &mut impl Source,
    look: &mut Observation,
    change: impl FnOnce(&mut Observation),
) -> Vec<Observation> {
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header());
    let sweep = source.sweep(look, Duration::ZERO, &mut NoObserver).unwrap();
    recorder.record_sweep(BEGUN, look, &sweep).unwrap();
    change(look);
    recorder.record_sweep(BEGUN + 1_000, look, &sweep).unwrap();
    recorder.finish(BEGUN + 2_000).unwrap();
    let bytes = memory.bytes.borrow().clone();
    let mut reader = CaptureReader::open("it", bytes.as_slice()).unwrap();
    let moments = reader.moments().to_vec();
    let moments = moments.into_iter().map(|slot| {
        reader.show_moment(slot).unwrap();
        reader.observation()
    });
    moments.collect()
}

const ALL: ReadOptions = ReadOptions::EVERYTHING;
pub const TOPOLOGY: ReadOptions = ReadOptions {
    tables: false,
    multicast: false,
    lanes: false,
    counters: false,
    adaptive: false,
    partitions: false,
    groups: false,
};

fn look_with(port: &mut dyn MadPort, keys: &Keys, wanted: ReadOptions) -> Result<Observation, SourceError> {
    read_snapshot("sim", port, ExchangePolicy::default(), keys, wanted, &mut NoObserver)
}

fn look_at(port: &mut ReadPort, wanted: ReadOptions) -> Observation {
    look_with(port, &Keys::default(), wanted).unwrap()
}

fn writable(simulator: &SharedSimulator) -> WritePort {
    simulator.open_port(None).unwrap().unlock(&WriteToken::for_simulation()).unwrap()
}

/// One datagram, and its answer within a second.
fn exchange(port: &mut dyn MadPort, parcel: AddressedMad) -> Option<Mad> {
    let patience = ExchangePolicy::default().timeout;
    let until = port.now() + patience;
    port.send(&parcel, patience).unwrap();
    match port.receive(until).unwrap() {
        Some(PortEvent::Mad(parcel)) => Some(parcel.mad),
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
fn plug(simulator: &SharedSimulator, planned: &Fabric, node: NodeId, up: bool) -> usize {
    let cables = planned.ports_of(node).filter(|(_, port)| port.peer.is_some());
    let set = |(_, port): (_, &Port)| {
        simulator.with_simulator(|simulator| simulator.fabric_mut().set_link(node, port.number, up));
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
fn differences(plan: &Fabric, seen: &Fabric) -> Vec<FabricDifference> {
    let said = |change: &FabricDifference| match change {
        FabricDifference::NodeChanged { before, .. } | FabricDifference::PortChanged { before, .. } => {
            before != "unknown"
        }
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
        let simulator = simulated(&fabric, LineFaults::default(), 1);
        let seen = look_at(&mut simulator.open_port(None).unwrap(), ALL);
        let differences = differences(&fabric, &seen.fabric);
        assert!(differences.is_empty(), "{name}: {} such as {:?}", differences.len(), differences.first());
        assert!(!seen.is_partial(), "{name}: {:?}", seen.notes);
        println!("{name}: {:?}", seen.reading.unwrap().phases);
    }
}

#[test]
fn cancel_ends_a_look() {
    struct CancelledWatch;
    impl ReadObserver for CancelledWatch {
        fn report_progress(&mut self, _: ReadProgress) {}
        fn is_cancelled(&self) -> bool {
            true
        }
    }
    let simulator = simulated(&fabric("demo"), LineFaults::default(), 1);
    let mut port = simulator.open_port(None).unwrap();
    let ended = read_snapshot(
        "sim",
        &mut port,
        ExchangePolicy::default(),
        &Keys::default(),
        ALL,
        &mut CancelledWatch,
    );
    assert_eq!(ended.unwrap_err(), SourceError::Cancelled);
}
