//! `dor`: shortest paths in the order of dimensions, as OpenSM's engine of that name.

use std::collections::BTreeMap;

use fabdeck_fabric::{ElementId, Fabric, Faults, NodeId, PortNum};
use fabdeck_routing::certificate::Certificate;
use fabdeck_routing::{DimensionPorts, Problem, Request};

use super::certificate::certificate;
use super::{fabric, is_long, route, route_as, same_on_two_threads};

fn judged(fabric: &Fabric, faults: &Faults) -> Certificate {
    let problem = Problem::new(fabric, faults);
    let seen = certificate(&problem, &route("dor", &problem).unwrap().routes, true);
    assert_eq!((seen.lost.total(), seen.lengths.worst_stretch), (0, 1.0));
    seen
}

/// Marks links by the numbers of their switches.
fn failed(fabric: &Fabric, links: &[[u32; 2]]) -> Faults {
    let problem = Faults::default();
    let problem = Problem::new(fabric, &problem);
    let mut faults = Faults::default();
    for [from, to] in links {
        let graph = &problem.graph;
        let channel = graph.channels().iter().find(|channel| (channel.from, channel.to) == (*from, *to));
        faults.mark(ElementId::Link(channel.unwrap().link));
    }
    faults
}

/// The thirty failed links of the torus 10x10x10 (t10f1).
#[rustfmt::skip]
const TEN: [[u32; 2]; 30] = [
    [1, 2], [40, 140], [132, 142], [140, 240], [180, 190], [217, 227], [311, 312], [442, 452],
    [486, 586], [509, 519], [510, 511], [519, 529], [531, 631], [567, 667], [644, 654], [654, 664],
    [655, 665], [656, 756], [685, 695], [731, 741], [786, 796], [828, 928], [879, 889], [885, 886],
    [894, 895], [895, 805], [919, 929], [922, 22], [966, 976], [984, 84],
];

/// The figures of OpenSM 3.3.23 on the same fabrics and with the same links failed.
#[test]
fn the_busiest_channel_has_as_many_paths_as_with_opensm() {
    let busiest = |name: &str, links: &[[u32; 2]]| {
        let fabric = fabric(&format!("torus,dims={name},terminals=4"));
        judged(&fabric, &failed(&fabric, links)).edge_forwarding_index.max
    };
    assert_eq!(busiest("4x4x4", &[]), 768);
    assert_eq!(busiest("4x4x4", &[[10, 11], [37, 53]]), 1_024);
    assert_eq!(busiest("6x6x6", &[]), 3_456);
    let six = [[40, 46], [75, 81], [107, 143], [109, 145], [123, 129], [130, 136]];
    assert_eq!(busiest("6x6x6", &six), 5_280);
    assert_eq!(busiest("7x7x7", &[]), 4_704);
    let seven = [
        [4, 11],
        [15, 16],
        [31, 32],
        [80, 81],
        [141, 142],
        [157, 158],
        [277, 278],
        [321, 27],
        [338, 339],
        [339, 340],
    ];
    assert_eq!(busiest("7x7x7", &seven), 7_008);
    if is_long() {
        assert_eq!(busiest("10x10x10", &[]), 24_000);
        assert_eq!(busiest("10x10x10", &TEN), 51_664);
    }
}

#[test]
fn meshes_and_hypercubes_have_no_credit_loop() {
    for name in
        ["mesh,dims=5x5", "mesh,dims=4x3x3,redundancy=2", "mesh,dims=2x2x2x2,terminals=2", "torus,dims=3x3x3"]
    {
        assert_eq!(judged(&fabric(name), &Faults::default()).deadlock_free, Some(true), "{name}");
    }
}

#[test]
fn the_credit_loop_of_a_ring_of_five_is_named() {
    for name in ["kautz,d=2,k=3", "dragonfly,a=3,p=1,h=1,g=4"] {
        assert_eq!(judged(&fabric(name), &Faults::default()).deadlock_free, Some(false), "{name}");
    }
    let fabric = fabric("torus,dims=5x5,redundancy=1,terminals=2");
    let seen = judged(&fabric, &Faults::default());
    assert_eq!(seen.deadlock_free, Some(false));
    let cycle = &seen.cycles[0];
    assert_eq!((cycle.channels.len(), cycle.paths.len()), (5, 5), "{cycle:?}");
    // It runs around one ring: all its switches have one coordinate in common.
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let at = cycle.channels.iter().map(|channel| problem.graph.channel(*channel).from);
    let (rows, columns): (Vec<u32>, Vec<u32>) = at.map(|switch| (switch / 5, switch % 5)).unzip();
    let same = |all: &[u32]| all.iter().all(|one| *one == all[0]);
    assert!(same(&rows) != same(&columns), "{cycle:?}");
}

/// The order of dimensions decides the first hop; ports that a line leaves out come behind it.
#[test]
fn dimensions_follow_the_list_of_ports() {
    let (fabric, faults) = (fabric("mesh,dims=3x3"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    // From the corner to the opposite one, whose LID is behind switch 8.
    let (corner, far) = (NodeId(0), problem.destinations_behind(8)[0].lid);
    let ports: Vec<PortNum> =
        problem.graph.channels()[problem.graph.outgoing(0)].iter().map(|channel| channel.from_port).collect();
    assert_eq!(ports.len(), 2);
    let first = |listed: &[PortNum]| {
        let list = DimensionPorts::from([(fabric.node(corner).guid(), listed.to_vec())]);
        let request = Request { dimension_ports: list.into(), ..Request::default() };
        route_as("dor", &problem, &request).unwrap().routes.get(0, far)
    };
    assert_eq!(route("dor", &problem).unwrap().routes.get(0, far), Some(ports[0]));
    assert_eq!(first(&[ports[0], ports[1]]), Some(ports[0]));
    assert_eq!(first(&[ports[1]]), Some(ports[1]));
}

/// All cables to the next switch of the dimension share its LIDs, and no other ones have any.
#[test]
fn parallel_cables_share_the_lids_evenly() {
    let (fabric, faults) = (fabric("torus,dims=5,redundancy=3,terminals=4"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let routes = route("dor", &problem).unwrap().routes;
    for switch in problem.switches() {
        let mut lids: BTreeMap<(u32, PortNum), u32> = BTreeMap::new();
        for channel in &problem.graph.channels()[problem.graph.outgoing(switch)] {
            let taken = |end: &&fabdeck_routing::Destination| {
                !end.is_switch() && routes.get(switch, end.lid) == Some(channel.from_port)
            };
            let count = problem.destinations().iter().filter(taken).count();
            lids.insert((channel.to, channel.from_port), count as u32);
        }
        // Two switches on either side, with four adapters each.
        let mut counts: Vec<u32> = lids.into_values().collect();
        counts.sort_unstable();
        assert_eq!(counts, [2, 2, 3, 3, 3, 3], "switch {switch}");
    }
}

#[test]
fn threads_change_nothing() {
    same_on_two_threads("dor", "torus,dims=5x4x3,redundancy=2,terminals=3,faults=5%");
}
