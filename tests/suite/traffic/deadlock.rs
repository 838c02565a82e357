//! Deadlock, told from congestion: four flows in the manner of figure 2 of the switch-to-switch fat-tree paper, whose
//! drawing is lost. Two pairs of hosts go up and down, two pairs of switches down and up again, and each needs a cable
//! that the next one holds.
//!
//! ```text
//!        R0 ◄──────────────┐         hosts:    L0 up by M0 and R0, down by M2 to L2;  L2 by M2, R1, M0 to L0
//!     ▲      │             │         switches: R0 down to M2 and up to R1;  R1 down to M0 and up to R0
//!     M0     ▼
//!     ▲      M2
//!     │      │
//!        R1 ◄┘
//! ```

use std::sync::Arc;

use fabdeck_fabric::{Fabric, Faults, Lid, NodeId, PortId, PortNum, Routes, SwitchGraph, Tables};
use fabdeck_routing::Problem;
use fabdeck_simulator::traffic::{
    Flow, LevelSelection, NetworkSetup, TrafficLoad, TrafficPattern, TrafficRun, TrafficSettings,
};

use crate::routing::{fabric, route};

/// The tree with the four switches of the credit loop and the leaves of the two hosts.
struct FourSwitchLoop {
    fabric: Fabric,
    graph: SwitchGraph,
    /// R0, M2, R1, M0, in the order of the credit loop.
    credit_loop: [u32; 4],
    leaves: [u32; 2],
    hosts: [PortId; 2],
}

impl FourSwitchLoop {
    fn new() -> Self {
        let fabric = fabric("kary,k=2,n=3");
        let graph = SwitchGraph::new(&fabric, &Faults::new());
        let near = |switch: u32| -> Vec<u32> {
            graph.channels()[graph.outgoing(switch)].iter().map(|channel| channel.to).collect()
        };
        let is_leaf = |switch: &u32| !graph.terminals_of(*switch).is_empty();
        let leaf = (0..graph.switch_count() as u32).find(is_leaf).unwrap();
        let middle = near(leaf)[0];
        let roots: Vec<u32> = near(middle).into_iter().filter(|switch| !is_leaf(switch)).collect();
        let other = *near(roots[0]).iter().find(|switch| **switch != middle).unwrap();
        let far = near(other).into_iter().find(is_leaf).unwrap();
        let host = |leaf: u32| graph.terminals_of(leaf)[0].port;
        let hosts = [host(leaf), host(far)];
        Self { credit_loop: [roots[0], other, roots[1], middle], leaves: [leaf, far], hosts, graph, fabric }
    }

    fn lid(&self, port: PortId) -> Lid {
        self.fabric.address_of(port).unwrap().0
    }

    fn own(&self, switch: u32) -> PortId {
        self.fabric.port_of(NodeId(switch), PortNum(0)).unwrap()
    }

    fn flows(&self) -> Vec<Flow> {
        let [r0, _, r1, _] = self.credit_loop.map(|switch| self.own(switch));
        let [a, b] = self.hosts;
        vec![Flow::new(a, b), Flow::new(r0, r1), Flow::new(b, a), Flow::new(r1, r0)]
    }

    /// Lays a path: each switch leads on to the next.
    fn lay(&self, routes: &mut Routes, path: &[u32], to: PortId) {
        let lid = self.lid(to);
        for hop in path.windows(2) {
            let leaving = &self.graph.channels()[self.graph.outgoing(hop[0])];
            let port = leaving.iter().find(|channel| channel.to == hop[1]).unwrap().from_port;
            routes.set(hop[0], lid, Some(port));
        }
        let last = *path.last().unwrap();
        let end = self.graph.terminals_of(last).iter().find(|end| end.port == to);
        routes.set(last, lid, Some(end.map_or(PortNum(0), |end| end.switch_port)));
    }

    fn by_hand(&self) -> Routes {
        let mut routes = Routes::empty(self.graph.switch_count(), self.fabric.top_lid());
        let ([r0, m2, r1, m0], [l0, l2]) = (self.credit_loop, self.leaves);
        self.lay(&mut routes, &[l0, m0, r0, m2, l2], self.hosts[1]);
        self.lay(&mut routes, &[r0, m2, r1], self.own(r1));
        self.lay(&mut routes, &[l2, m2, r1, m0, l0], self.hosts[0]);
        self.lay(&mut routes, &[r1, m0, r0], self.own(r0));
        routes
    }

    fn run(&self, routes: Routes, flows: Vec<Flow>) -> TrafficRun {
        // Generators as able as hosts, as in the paper's artificial scenario (7.1.3), and a buffer for one packet, as the
        // multiple LID paper has it (5.1): with more the shares of four flows just fit, and only chance fills the credit loop.
        let settings =
            TrafficSettings { switch_limit_mbps: 98_000, buffer: 2100, ..TrafficSettings::default() };
        let given = NetworkSetup {
            fabric: &self.fabric,
            faults: &Faults::new(),
            routes: &Arc::new(routes),
            service: &LevelSelection::Routes,
            tables: &Tables::default(),
        };
        TrafficRun::new(given, &TrafficLoad { pattern: TrafficPattern::Flows(flows), settings }).unwrap()
    }
}

#[test]
fn four_flows_on_routes_by_hand_stand_still_and_the_credit_loop_is_named() {
    let four = FourSwitchLoop::new();
    let mut run = four.run(four.by_hand(), four.flows());
    run.advance(1_000_000);
    run.audit().unwrap();
    let found = run.find_deadlock().expect("each needs what the next one holds");
    assert_eq!(found.blocked.len(), 4, "{found:?}");
    let node = |port: PortId| four.fabric.port(port).node.0;
    let mut seen: Vec<u32> = found.blocked.iter().map(|held| node(held.to)).collect();
    for (held, next) in found.blocked.iter().zip(found.blocked.iter().cycle().skip(1)) {
        assert_eq!(node(held.to), node(next.from), "each waits for the next: {found:?}");
        assert!(
            four.flows()
                .iter()
                .any(|flow| { held.source == flow.from && held.lid == Some(four.lid(flow.to)) })
        );
    }
    seen.sort_unstable();
    let mut credit_loop = four.credit_loop;
    credit_loop.sort_unstable();
    assert_eq!(seen, credit_loop);
    assert!(found.stuck >= 4);
    let before = run.packet_totals();
    run.begin_measuring();
    run.advance(2_000_000);
    assert_eq!((run.packet_totals(), run.total_mbps()), (before, 0), "nothing moves any more");
    assert!(run.is_finished());
    assert!(!run.run_next_event());
}

#[test]
fn any_three_of_them_are_congestion_and_so_are_all_four_under_sftree() {
    let four = FourSwitchLoop::new();
    for without in 0..4 {
        let mut flows = four.flows();
        flows.remove(without);
        let mut run = four.run(four.by_hand(), flows);
        run.advance(1_000_000);
        assert_eq!(run.find_deadlock(), None, "without flow {without}");
        assert!(run.flow_counts().iter().all(|flow| flow.mbps > 5_000), "{:?}", run.flow_counts());
    }
    let none = Faults::new();
    let problem = Problem::new(&four.fabric, &none);
    let mut run = four.run(route("sftree", &problem).unwrap().routes, four.flows());
    run.advance(1_000_000);
    assert_eq!(run.find_deadlock(), None);
    assert!(run.flow_counts().iter().all(|flow| flow.mbps > 5_000), "{:?}", run.flow_counts());
}

/// A credit loop with room in it is none yet. Buffers have room for four packets, so nearly every one that is asked for has
/// something in it and room as well; and every event is looked at.
#[test]
fn a_credit_loop_is_reported_when_it_is_full_and_not_before() {
    let ring = fabric("torus,dims=6,terminals=2");
    let none = Faults::new();
    let routes = Arc::new(route("minhop", &Problem::new(&ring, &none)).unwrap().routes);
    for seed in 1..=6 {
        let (service, tables) = (LevelSelection::Routes, Tables::default());
        let given = NetworkSetup {
            fabric: &ring,
            faults: &none,
            routes: &routes,
            service: &service,
            tables: &tables,
        };
        let settings = TrafficSettings { seed, buffer: 4 * 2100, ..TrafficSettings::default() };
        let mut run =
            TrafficRun::new(given, &TrafficLoad { pattern: TrafficPattern::Uniform, settings }).unwrap();
        let credit_loop = (0..500_000).find_map(|_| {
            run.run_next_event();
            run.find_deadlock()
        });
        let credit_loop = credit_loop.expect("a ring under full load stands still").blocked;
        let sent = |run: &TrafficRun| -> Vec<u64> {
            let counts = run.port_counts(&ring);
            credit_loop.iter().map(|held| counts[held.from.index()].xmit_packets).collect()
        };
        let then = sent(&run);
        run.advance(run.now_ns() + 1_000_000);
        // The tail of a packet that has its place may still be under way, and is counted when it has passed.
        let more: Vec<u64> = sent(&run).iter().zip(&then).map(|(after, then)| after - then).collect();
        assert!(more.iter().all(|more| *more <= 1), "seed {seed}: {more:?} came into buffers without room");
    }
}

#[test]
fn a_ring_on_shortest_paths_stands_still_and_on_lanes_of_dfsssp_goes_on() {
    let ring = fabric("torus,dims=6,terminals=2");
    let none = Faults::new();
    let problem = Problem::new(&ring, &none);
    let ran = |id: &str| {
        let routes = Arc::new(route(id, &problem).unwrap().routes);
        let (faults, tables) = (Faults::new(), Tables::default());
        let given = NetworkSetup {
            fabric: &ring,
            faults: &faults,
            routes: &routes,
            service: &LevelSelection::Routes,
            tables: &tables,
        };
        let settings = TrafficSettings { buffer: 4500, ..TrafficSettings::default() };
        let mut run =
            TrafficRun::new(given, &TrafficLoad { pattern: TrafficPattern::Uniform, settings }).unwrap();
        // What is called a deadlock the moment it closes stands as it is for good.
        let first = (1..=3_000).find_map(|micros| {
            run.advance(micros * 1_000);
            run.find_deadlock()
        });
        run.advance(3_000_000);
        assert_eq!(first.map(|first| first.blocked), run.find_deadlock().map(|found| found.blocked), "{id}");
        run.audit().unwrap();
        run.begin_measuring();
        run.advance(3_100_000);
        (run.find_deadlock().is_some(), run.total_mbps())
    };
    let (stands, rate) = ran("minhop");
    assert!(stands && rate == 0, "{stands} {rate}");
    let (stands, rate) = ran("dfsssp");
    assert!(!stands && rate > 100_000, "{stands} {rate}");
}

/// With output buffers a credit loop leads through them too; its cables are named once each.
#[test]
fn a_credit_loop_through_output_buffers_is_named_by_its_cables() {
    let ring = fabric("torus,dims=6,terminals=2");
    let faults = Faults::new();
    let routes = Arc::new(route("minhop", &Problem::new(&ring, &faults)).unwrap().routes);
    let given = NetworkSetup {
        fabric: &ring,
        faults: &faults,
        routes: &routes,
        service: &LevelSelection::Routes,
        tables: &Tables::default(),
    };
    let settings = TrafficSettings { buffer: 4500, output_buffer: 1, ..TrafficSettings::default() };
    let mut run =
        TrafficRun::new(given, &TrafficLoad { pattern: TrafficPattern::Uniform, settings }).unwrap();
    run.advance(5_000_000);
    run.audit().unwrap();
    let found = run.find_deadlock().expect("a ring under full load stands still");
    assert_eq!(found.blocked.len(), 6, "{found:?}");
    for held in &found.blocked {
        assert_eq!(ring.peer(held.from), Some(held.to), "{held:?}");
    }
}
