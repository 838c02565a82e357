//! Packets on the lanes of `torus2qos`, which change on the way.

use std::sync::Arc;

use fabdeck_fabric::{ElementId, Fabric, Faults, NodeId, PathLanes, PortId, Routes, Tables};
use fabdeck_routing::{Problem, Request};
use fabdeck_simulator::traffic::{
    Flow, LevelSelection, NetworkSetup, TrafficLoad, TrafficPattern, TrafficRun, TrafficSettings,
};

use crate::routing::{fabric, route_as};

fn torus_routes(fabric: &Fabric, faults: &Faults) -> Routes {
    let request = Request::default().with_lanes(Some(4), None);
    route_as("torus2qos", &Problem::new(fabric, faults), &request).unwrap().routes
}

/// Runs packets by the levels of the routes and their SL2VL tables.
fn run(
    fabric: &Fabric,
    faults: &Faults,
    routes: &Routes,
    (pattern, seed): (TrafficPattern, u64),
) -> TrafficRun {
    let tables = match &routes.lanes {
        PathLanes::ByHop { tables, .. } => Tables::clone(tables),
        other => panic!("{other:?}"),
    };
    let setup = NetworkSetup {
        fabric,
        faults,
        routes: &Arc::new(routes.clone()),
        service: &LevelSelection::Routes,
        tables: &tables,
    };
    // Generators as able as links, and buffers for one packet: credit loops fill soon.
    let settings =
        TrafficSettings { seed, switch_limit_mbps: 98_000, buffer: 2100, ..TrafficSettings::default() };
    TrafficRun::new(setup, &TrafficLoad { pattern, settings }).unwrap()
}

/// Every host sends two hops onwards in both dimensions, in the direction of rising coordinates.
fn round_the_rings(fabric: &Fabric, faults: &Faults, side: u32) -> Vec<Flow> {
    let problem = Problem::new(fabric, faults);
    let hosts = |switch: u32| -> Vec<PortId> {
        problem.graph.terminals_of(switch).iter().map(|end| end.port).collect()
    };
    let mut flows = Vec::new();
    for (x, y) in (0..side).flat_map(|x| (0..side).map(move |y| (x, y))) {
        for to in [((x + 2) % side) * side + y, x * side + (y + 2) % side] {
            let ends = hosts(x * side + y).into_iter().zip(hosts(to));
            flows.extend(ends.map(|(from, to)| Flow::new(from, to)));
        }
    }
    flows
}

/// The same routes with every packet on level 0, and so on one lane between switches.
fn on_level_0(routes: &Routes) -> Routes {
    let mut routes = routes.clone();
    if let PathLanes::ByHop { level, .. } = &mut routes.lanes {
        level.fill(0);
    }
    routes
}

#[test]
fn rings_that_stand_still_on_one_lane_go_on_with_the_levels_of_torus2qos() {
    let (fabric, faults) = (fabric("torus,dims=5x5,redundancy=1,terminals=2"), Faults::new());
    let routes = torus_routes(&fabric, &faults);
    let flows = || (TrafficPattern::Flows(round_the_rings(&fabric, &faults, 5)), 1);
    let mut one = run(&fabric, &faults, &on_level_0(&routes), flows());
    one.advance(3_000_000);
    assert!(one.find_deadlock().is_some(), "the rings are full of packets that wait for each other");
    let mut laned = run(&fabric, &faults, &routes, flows());
    laned.advance(1_000_000);
    laned.begin_measuring();
    laned.advance(3_000_000);
    laned.audit().unwrap();
    assert_eq!(laned.find_deadlock(), None);
    let slowest = laned.flow_counts().iter().map(|flow| flow.mbps).min();
    assert!(slowest > Some(500), "every flow goes on: {slowest:?}");
}

/// Packets turn early before a failed switch, and their illegal turns have lanes of their own.
#[test]
fn no_packets_wait_for_each_other_round_a_failed_switch() {
    let (fabric, mut faults) = (fabric("torus,dims=5x5,redundancy=1,terminals=2"), Faults::new());
    faults.mark(ElementId::Node(NodeId(12)));
    let routes = torus_routes(&fabric, &faults);
    assert_eq!(routes.lane_count(), 4);
    for seed in 1..=3 {
        let mut run = run(&fabric, &faults, &routes, (TrafficPattern::Uniform, seed));
        run.advance(3_000_000);
        run.audit().unwrap();
        assert_eq!(run.find_deadlock(), None, "seed {seed}");
    }
}
