//! `sar`: what jobs send is spread as the dissertation's example has it, and every promise of `dfsssp` holds.

use std::sync::Arc;

use fabdeck::analysis::{Effective, Flows, JobLoads};
use fabdeck::fabric::{Fabric, FabricBuilder, Faults, Guid, JobMap, Lid, NodeFacts, NodeKind, PortNum};
use fabdeck::routing::{Problem, Request};

use super::certificate::Dice;
use super::route_as;

const LEAVES: usize = 10;
const HOSTS: usize = 180;

/// How many spines of figure 5.2's tree, with how many cables from each leaf: the dissertation does not say.
const SPINES: [(usize, usize); 2] = [(9, 2), (6, 3)];

/// The tree of figure 5.2 with its three jobs. By the seed everything has other GUIDs and LIDs, so that an engine comes
/// to destinations in another order; 0: as they are counted.
fn island((spines, cables): (usize, usize), seed: u64) -> (Fabric, JobMap) {
    let dice = &mut Dice(seed);
    let mut drawn = |count: usize| {
        let mut all: Vec<u64> = (0..count as u64).collect();
        for last in (1..count).rev().filter(|_| seed > 0) {
            all.swap(last, dice.below(last + 1));
        }
        all
    };
    let (switch_guids, host_guids, lids) = (drawn(LEAVES + spines), drawn(HOSTS), drawn(HOSTS));
    let mut builder = FabricBuilder::new();
    let switches: Vec<_> = (0..LEAVES + spines)
        .map(|at| {
            let facts = NodeFacts::new(NodeKind::Switch, Guid(1 + switch_guids[at]), 36, format!("s{at}"));
            let key = builder.add_node(facts).unwrap();
            builder.port(key, PortNum(0)).lid = Lid::new(1000 + at as u32);
            key
        })
        .collect();
    for leaf in 0..LEAVES {
        for (up, spine) in (0..spines).flat_map(|spine| std::iter::repeat_n(spine, cables)).enumerate() {
            let down = leaf * cables + up % cables;
            let ends = [(leaf, 19 + up), (LEAVES + spine, 1 + down)];
            let [a, b] = ends.map(|(at, port)| (switches[at], PortNum(port as u8)));
            builder.connect(a, b).unwrap();
        }
    }
    for host in 0..HOSTS {
        let guid = Guid(0x1000 + host_guids[host]);
        let facts = NodeFacts::new(NodeKind::ChannelAdapter, guid, 1, format!("{}", host + 1));
        let key = builder.add_node(facts).unwrap();
        builder.port(key, PortNum(1)).lid = Lid::new(1 + lids[host] as u32);
        let leaf = (switches[host / 18], PortNum(1 + (host % 18) as u8));
        builder.connect((key, PortNum(1)), leaf).unwrap();
    }
    let fabric = builder.finish();
    let mut jobs = JobMap::default();
    for (guid, host) in host_guids.iter().zip(1..) {
        let job = match host {
            1..=30 | 91..=120 => "j1",
            31..=60 | 151..=180 => "j2",
            _ => "j3",
        };
        let node = fabric.node_by_guid(Guid(0x1000 + guid)).unwrap();
        jobs.add(job, fabric.port_of(node, PortNum(1)).unwrap());
    }
    (fabric, jobs)
}

fn loads(engine: &str, fabric: &Fabric, jobs: &JobMap, request: &Request) -> Effective {
    let faults = Faults::default();
    let problem = Problem::new(fabric, &faults);
    let routes = route_as(engine, &problem, request).unwrap().routes;
    JobLoads::of(&Flows::new(&problem, &routes), jobs).all
}

#[test]
fn figure_5_2() {
    for shape in SPINES {
        let mut seen: Vec<[Effective; 3]> = Vec::new();
        for seed in 0..30 {
            let (fabric, jobs) = island(shape, seed);
            let request = Request { jobs: Arc::new(jobs.clone()), ..Request::default() };
            seen.push(["sar", "dfsssp", "ftree"].map(|engine| loads(engine, &fabric, &jobs, &request)));
        }
        let median = |engine: usize| {
            let mut max: Vec<u64> = seen.iter().map(|seen| seen[engine].max).collect();
            max.sort_unstable();
            println!("{shape:?}: {max:?}");
            max[max.len() / 2]
        };
        let [_, dfsssp, _] = [0, 1, 2].map(median);
        for seen in &seen {
            assert!(seen[0].max <= 66 && seen[0].max <= dfsssp, "{shape:?}: {seen:?}, dfsssp {dfsssp}");
        }
    }
}
