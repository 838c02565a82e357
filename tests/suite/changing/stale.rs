//! A fabric that is another than the plan is for: refused, with the first difference, and nothing written.

use fabdeck::access::{Actuator, Part, Slot, Surveyor, Unwatched};
use fabdeck::change::Phase;
use fabdeck::fabric::{Fabric, NodeKind, PortNum};
use rayon::prelude::*;

use super::{Stage, actuator, fabric, long, nobody, planned, seen, simulated};

/// One change to a fabric that nobody planned for.
fn mutate(simulator: &fabdeck::simulator::SimulatedPort, fabric: &Fabric, seed: u64) -> String {
    let switches: Vec<_> = fabric.switches().collect();
    let (id, node) = switches[seed as usize / 4 % switches.len()];
    match seed % 4 {
        0 | 1 => {
            let mut other = actuator(simulator);
            other.look(Default::default(), &mut Unwatched).unwrap();
            let slot = Slot { switch: node.guid(), part: Part::Block(0) };
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
            simulator.with(|simulator| simulator.world_mut().set_link(id, port, false));
            format!("{}[{}]", node.guid(), port.value())
        }
        _ => {
            let hosts: Vec<_> = fabric
                .nodes()
                .filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter)
                .map(|(id, _)| id)
                .collect();
            // The first host is the one that is looked from.
            let host = hosts[1 + seed as usize / 16 % (hosts.len() - 1)];
            simulator.with(|simulator| simulator.world_mut().silence(host, true));
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
            let plan = planned(&simulator, "updn", &Default::default());
            let what = mutate(&simulator, &fabric, seed);
            let mutated = seen(&simulator).tables;
            let mut stage = Stage::new(&simulator, &plan);
            let (_sender, orders) = nobody();
            let told = stage.apply(60, &orders).unwrap();
            let why = told.why.unwrap_or_default();
            assert_eq!(told.phase, Phase::Refused, "{seed} {what}");
            assert!(why.contains("FD-5625") && why.contains("0x"), "{seed} {what}: {why}");
            assert!(stage.witness.course().sets.is_empty(), "{seed}");
            assert_eq!(seen(&simulator).tables, mutated);
            1
        })
        .collect();
    println!("said: {} mutations refused", refused.len());
}
