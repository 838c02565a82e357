//! A fabric that is another than the plan is for: refused, with the first difference, and nothing written.

use std::time::Duration;

use fabdeck_change::ChangePhase;
use fabdeck_fabric::{Fabric, Guid, Node, NodeId, NodeKind, PortNum};
use fabdeck_mad::access::{
    Actuator, AddressedMad, AttributePart, Clock, DeviceAttribute, DeviceId, MadAddress, MadPort, NoObserver,
    PortEvent, Surveyor, WriteToken,
};
use fabdeck_mad::{Method, PortInfo, Smp, attribute};
use fabdeck_simulator::SharedSimulator;
use rayon::prelude::*;

use super::{Stage, actuator, fabric, long, observe_simulator, order_channel, plan_by_engine, simulated};

/// Sorts of changes.
const KINDS: u64 = 7;
/// One of them: a switch that was not there when the plan was made.
const NEW_SWITCH: u64 = 6;

fn hosts(fabric: &Fabric) -> Vec<(NodeId, &Node)> {
    fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter).collect()
}

/// All cables of a spine, pulled or plugged in again.
fn unplugged(simulator: &SharedSimulator, fabric: &Fabric, seed: u64, up: bool) {
    let leads_to_hosts = |id| {
        fabric.ports_of(id).any(|(port, _)| {
            fabric.peer(port).is_some_and(|peer| !fabric.node(fabric.port(peer).node).is_switch())
        })
    };
    let spines: Vec<NodeId> = fabric.switches().map(|(id, _)| id).filter(|id| !leads_to_hosts(*id)).collect();
    let spine = spines[seed as usize / KINDS as usize % spines.len()];
    let cabled = fabric.ports_of(spine).filter(|(_, port)| port.peer.is_some());
    cabled.for_each(|(_, port)| {
        simulator.with_simulator(|simulator| simulator.fabric_mut().set_link(spine, port.number, up))
    });
}

/// Gives a host another LID that is free.
fn relid(simulator: &SharedSimulator, host: Guid) -> u16 {
    const FREE: u16 = 0x4001;
    let port = simulator.open_port(Some(&host.to_string())).unwrap();
    let mut port = port.unlock(&WriteToken::for_simulation()).unwrap();
    let mut set = Smp::directed(Method::SET, attribute::PORT_INFO, 1, &[]).unwrap();
    set.data_mut::<PortInfo>().base_lid = FREE.into();
    let parcel = AddressedMad { mad: set.0, address: MadAddress::directed() };
    port.send(&parcel, Duration::from_secs(1)).unwrap();
    let until = port.now() + Duration::from_secs(1);
    assert!(matches!(port.receive(until).unwrap(), Some(PortEvent::Mad(_))));
    FREE
}

/// One unplanned change to a fabric.
fn mutate(simulator: &SharedSimulator, fabric: &Fabric, seed: u64) -> String {
    let switches: Vec<_> = fabric.switches().collect();
    let (id, node) = switches[seed as usize / KINDS as usize % switches.len()];
    match seed % KINDS {
        NEW_SWITCH => {
            unplugged(simulator, fabric, seed, true);
            "a new switch".to_owned()
        }
        4 => {
            let (host, node) = hosts(fabric)[1 + seed as usize / 16 % (hosts(fabric).len() - 1)];
            simulator.with_simulator(|simulator| simulator.fabric_mut().move_manager(host));
            format!("manager {}", node.guid())
        }
        5 => {
            let (_, node) = hosts(fabric)[1 + seed as usize / 16 % (hosts(fabric).len() - 1)];
            let lid = relid(simulator, node.guid());
            format!("LID {lid} of {}", node.guid())
        }
        0 | 1 => {
            let mut other = actuator(simulator);
            other.read_fabric(Default::default(), &mut NoObserver).unwrap();
            let slot = DeviceAttribute { at: DeviceId::Switch(node.guid()), part: AttributePart::Block(0) };
            let mut bytes = other.read(&[slot]).remove(0).unwrap();
            let lids: Vec<usize> = (1..bytes.len()).filter(|lid| bytes[*lid] != 255).collect();
            let lid = lids[seed as usize / 16 % lids.len()];
            bytes[lid] = if bytes[lid] == 1 { 2 } else { 1 };
            other.write(&slot, &bytes).unwrap();
            format!("{} LID {lid}", node.guid())
        }
        2 => {
            let cabled: Vec<PortNum> = fabric
                .ports_of(id)
                .filter(|(_, port)| port.peer.is_some())
                .map(|(_, port)| port.number)
                .collect();
            let port = cabled[seed as usize / 16 % cabled.len()];
            simulator.with_simulator(|simulator| simulator.fabric_mut().set_link(id, port, false));
            format!("{}[{}]", node.guid(), port.value())
        }
        _ => {
            // The first host is the one that is looked from.
            let (host, _) = hosts(fabric)[1 + seed as usize / 16 % (hosts(fabric).len() - 1)];
            simulator.with_simulator(|simulator| simulator.fabric_mut().set_silent(host, true));
            format!("{host:?}")
        }
    }
}

#[test]
fn mutations_are_refused_with_the_first_difference() {
    let fabric = fabric("kary,k=3,n=2");
    let refused: Vec<usize> = (0..if long() { 1000u64 } else { 200 })
        .into_par_iter()
        .map(|seed| {
            let simulator = simulated(&fabric);
            if seed % KINDS == NEW_SWITCH {
                unplugged(&simulator, &fabric, seed, false);
            }
            let plan = plan_by_engine(&simulator, "updn", &Default::default());
            let what = mutate(&simulator, &fabric, seed);
            let mutated = observe_simulator(&simulator).tables;
            let mut stage = Stage::new(&simulator, &plan);
            let (_sender, orders) = order_channel();
            let told = stage.apply(60, &orders).unwrap();
            let why = told.why.unwrap_or_default();
            assert_eq!(told.phase, ChangePhase::Refused, "{seed} {what}");
            assert!(why.contains("FD-5625") && why.contains("0x"), "{seed} {what}: {why}");
            assert!(stage.witness.course().sets.is_empty(), "{seed}");
            assert_eq!(observe_simulator(&simulator).tables, mutated);
            1
        })
        .collect();
    println!("said: {} mutations refused", refused.len());
}
