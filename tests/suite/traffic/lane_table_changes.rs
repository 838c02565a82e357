//! Tables of lanes and of arbitration that somebody rewrites while packets are under way.

use std::sync::Arc;

use fabdeck_fabric::{
    Arbitration, Fabric, Faults, Lane, LinkSpeed, NodeId, PortNum, Routes, ServiceLevel, Sl2Vl, Tables,
    VlWeight,
};
use fabdeck_routing::Problem;
use fabdeck_simulator::traffic::{
    Flow, LevelSelection, NetworkSetup, TrafficLoad, TrafficPattern, TrafficRun, TrafficSettings,
};

use super::test_bed::{TestBed, limited};
use crate::routing::{fabric, route};

fn level(level: u32) -> Option<ServiceLevel> {
    ServiceLevel::new(level)
}

/// All ports put every level on a lane.
fn all_on(fabric: &Fabric, lane: u32) -> Tables {
    let mut row = Sl2Vl::default();
    (0..16).for_each(|level| row.set(ServiceLevel::new(level).unwrap(), Lane::new(lane).unwrap()));
    let mut tables = Tables::default();
    for (id, node) in fabric.nodes() {
        let ports: Vec<PortNum> = fabric.ports_of(id).map(|(_, port)| port.number).collect();
        let from = if node.is_switch() { ports.clone() } else { vec![PortNum(0)] };
        let all = from.iter().flat_map(|from| ports.iter().map(|to| ((*from, *to), row)));
        tables.node_mut(id).sl2vl = all.collect();
    }
    tables
}

/// Under other tables from now on: Mb/s of each flow.
fn rates(run: &mut TrafficRun, stage: &TestBed, tables: &Tables) -> Vec<u64> {
    run.set_tables(&stage.fabric, &stage.faults, tables);
    run.audit().unwrap();
    for step in 0..3000 {
        run.audit().unwrap_or_else(|what| panic!("step {step}: {what}"));
        run.run_next_event();
    }
    run.advance(run.now_ns() + 200_000);
    run.begin_measuring();
    run.advance(run.now_ns() + 500_000);
    run.audit().unwrap();
    run.flow_counts().iter().map(|flow| flow.mbps).collect()
}

#[test]
fn a_victim_is_free_as_soon_as_tables_put_it_on_another_lane_and_held_up_when_they_do_no_more() {
    let stage = TestBed::new(4, LinkSpeed::Qdr, false);
    let mut flows = vec![Flow { level: level(1), ..stage.flow(2, 7) }];
    flows.extend([(1, 9), (5, 9), (10, 9)].map(|(from, to)| stage.flow(from, to)));
    let together = all_on(&stage.fabric, 0);
    let mut run = stage.run(flows, limited(), &together);
    assert_eq!(run.lane_hops().len(), 1);
    for round in 0..2 {
        let held_up = rates(&mut run, &stage, &together)[0];
        let free = rates(&mut run, &stage, &Tables::default())[0];
        assert!(free > 12_800 && held_up < free / 3, "round {round}: {free} {held_up}");
    }
    assert_eq!(run.lane_hops().len(), 2);
}

#[test]
fn weights_count_from_the_moment_that_they_are_set() {
    let stage = TestBed::new(4, LinkSpeed::Ddr, false);
    let flows = vec![stage.flow(1, 5), Flow { level: level(1), ..stage.flow(2, 7) }];
    let mut run = stage.run(flows, TrafficSettings::default(), &Tables::default());
    let weights = |weights: [u8; 2]| {
        let entry = |(lane, weight)| VlWeight { lane: Lane::new(lane).unwrap(), weight };
        let low = [0, 1].into_iter().zip(weights).map(entry).collect();
        let mut tables = Tables::default();
        let held = Arbitration { high_limit: 0, high: Vec::new(), low };
        tables.node_mut(NodeId(0)).arbitration.insert(PortNum(5), held);
        tables
    };
    for (given, tenths) in [([64, 64], 10), ([192, 64], 30), ([64, 192], 3)] {
        let rates = rates(&mut run, &stage, &weights(given));
        assert!((rates[0] * 10 / rates[1]).abs_diff(tenths) <= 3, "{given:?}: {rates:?}");
    }
    // A lane without weight waits, and goes on when it has some.
    assert_eq!(rates(&mut run, &stage, &weights([64, 0]))[1], 0);
    assert!(rates(&mut run, &stage, &weights([64, 64]))[1] > 5_000);
}

#[test]
fn patterns_over_all_hosts_go_on_over_the_new_lane() {
    let fabric = fabric("kary,k=3,n=2");
    let faults = Faults::new();
    let routes: Arc<Routes> = Arc::new(route("minhop", &Problem::new(&fabric, &faults)).unwrap().routes);
    for pattern in [TrafficPattern::Uniform, TrafficPattern::Shift { packets: 3, shifts: None }] {
        let given = NetworkSetup {
            fabric: &fabric,
            faults: &faults,
            routes: &routes,
            service: &LevelSelection::Routes,
            tables: &Tables::default(),
        };
        let load = TrafficLoad { pattern: pattern.clone(), settings: TrafficSettings::default() };
        let mut run = TrafficRun::new(given, &load).unwrap();
        run.advance(2_000);
        assert_eq!(run.lane_hops().len(), 1);
        run.set_tables(&fabric, &faults, &all_on(&fabric, 5));
        for step in 0..4000 {
            run.audit().unwrap_or_else(|what| panic!("{pattern:?}, step {step}: {what}"));
            run.run_next_event();
        }
        run.advance(200_000);
        run.audit().unwrap();
        let hops = run.lane_hops();
        assert!(hops[5] > 20 * hops[1..5].iter().sum::<u64>().max(1), "{pattern:?}: {hops:?}");
        match run.exchange_progress() {
            Some((expected, _)) => {
                assert_eq!(run.packet_totals(), [expected, expected, 0], "all have arrived")
            }
            None => assert!(run.total_mbps() > 9 * 15_000, "{}", run.total_mbps()),
        }
    }
}
