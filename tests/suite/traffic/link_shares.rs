//! Who gets what of a link.

use super::test_bed::{HOST_LIMIT, TestBed, limited};
use fabdeck_fabric::{
    Arbitration, Lane, LinkSpeed, NodeId, NodeKind, PortNum, ServiceLevel, Sl2Vl, Tables, VlWeight,
};
use fabdeck_simulator::traffic::{Flow, PortCount, TrafficSettings};

fn lane(lane: u32) -> Lane {
    Lane::new(lane).unwrap()
}

fn level(level: u32) -> ServiceLevel {
    ServiceLevel::new(level).unwrap()
}

/// What a link of so many Mb/s carries of payload.
fn payload(mbps: u64) -> u64 {
    mbps * 2048 / 2074
}

fn about(found: u64, wanted: u64) -> bool {
    found.abs_diff(wanted) * 100 <= wanted
}

#[test]
fn one_flow_fills_its_link_or_what_its_host_can_send() {
    let stage = TestBed::new(2, LinkSpeed::Ddr, false);
    let rate = |settings| stage.rates(vec![stage.flow(2, 3)], settings, &Tables::default())[0];
    assert!(about(rate(TrafficSettings::default()), payload(16_000)));
    assert!(about(rate(limited()), HOST_LIMIT.into()));
    let slow = Flow { mbps: Some(5000), ..stage.flow(2, 3) };
    assert!(about(stage.rates(vec![slow], limited(), &Tables::default())[0], 5000));
}

#[test]
fn two_flows_into_one_sink_share_fairly_and_one_host_serves_its_flows_alike() {
    let stage = TestBed::new(4, LinkSpeed::Qdr, false);
    let rates = |flows: Vec<Flow>| stage.rates(flows, TrafficSettings::default(), &Tables::default());
    let half = payload(16_000) / 2;
    for flows in [[(1, 9), (5, 9)], [(9, 10), (11, 10)], [(1, 9), (1, 7)]] {
        let rates = rates(flows.map(|(from, to)| stage.flow(from, to)).to_vec());
        assert!(rates.iter().all(|rate| about(*rate, half)), "{flows:?}: {rates:?}");
    }
}

/// Two flows over cable 1 of leaf A to other hosts, the second on level 1.
fn two_levels(stage: &TestBed) -> Vec<Flow> {
    vec![stage.flow(1, 5), Flow { level: Some(level(1)), ..stage.flow(2, 7) }]
}

#[test]
fn weights_share_a_cable_between_lanes() {
    // Hosts send 16 Gb/s each over a trunk of 16.
    let stage = TestBed::new(4, LinkSpeed::Ddr, false);
    let even = stage.rates(two_levels(&stage), TrafficSettings::default(), &Tables::default());
    assert!(even.iter().all(|rate| about(*rate, payload(8_000))), "{even:?}");
    let weighted = |arbitration: Arbitration| {
        let mut tables = Tables::default();
        // The first cable behind those of four hosts.
        tables.node_mut(NodeId(0)).arbitration.insert(PortNum(5), arbitration);
        stage.rates(two_levels(&stage), TrafficSettings::default(), &tables)
    };
    let entry = |number, weight| VlWeight { lane: lane(number), weight };
    let low = vec![entry(0, 192), entry(1, 64)];
    let rates = weighted(Arbitration { high_limit: 0, high: Vec::new(), low: low.clone() });
    assert!((27..33).contains(&(rates[0] * 10 / rates[1])), "{rates:?}");
    let rates = weighted(Arbitration { high_limit: 255, high: vec![entry(1, 64)], low });
    assert!(rates[1] > 90 * payload(16_000) / 100 && rates[0] < rates[1] / 10, "{rates:?}");
}

#[test]
fn levels_on_one_lane_block_each_other_and_a_lane_that_is_not_there_takes_nothing() {
    let stage = TestBed::new(4, LinkSpeed::Qdr, false);
    let mut flows = vec![Flow { level: Some(level(1)), ..stage.flow(2, 7) }];
    flows.extend([(1, 9), (5, 9), (10, 9)].map(|(from, to)| stage.flow(from, to)));
    let apart = stage.rates(flows.clone(), limited(), &Tables::default())[0];
    let every_switch = |row: Sl2Vl| {
        let mut tables = Tables::default();
        for (id, _) in stage.fabric.switches() {
            let ports: Vec<PortNum> = stage.fabric.ports_of(id).map(|(_, port)| port.number).collect();
            let all = ports.iter().flat_map(|from| ports.iter().map(|to| ((*from, *to), row)));
            tables.node_mut(id).sl2vl = all.collect();
        }
        tables
    };
    let together = stage.rates(flows.clone(), limited(), &every_switch(Sl2Vl::default()))[0];
    assert!(apart > 12_800 && together < apart / 3, "{apart} {together}");
    let mut nowhere = Sl2Vl::default();
    nowhere.set(level(1), lane(15));
    let tables = every_switch(nowhere);
    let mut run = stage.run(flows, limited(), &tables);
    run.advance(100_000);
    assert_eq!(run.flow_counts()[0].packets, 0);
    let lost: u64 = run.port_counts(&stage.fabric).iter().map(|count| count.relay_errors).sum();
    let [_, _, gone] = run.packet_totals();
    assert!(gone > 70 && lost == gone, "{lost} {gone}");
}

#[test]
fn ports_that_wait_are_those_that_a_hot_spot_holds_up() {
    let stage = TestBed::new(2, LinkSpeed::Ddr, false);
    let counted = |flows: &[(u8, u8)]| {
        let flows = flows.iter().map(|(from, to)| stage.flow(*from, *to)).collect();
        let mut run = stage.run(flows, limited(), &Tables::default());
        run.advance(1_000_000);
        run.port_counts(&stage.fabric)
    };
    let at = |counts: &[PortCount], host: u8| {
        let port = stage.host(host);
        (counts[port.index()], counts[stage.fabric.peer(port).unwrap().index()])
    };
    let free = counted(&[(2, 3)]);
    assert!(free.iter().all(|count| count.waited_ns < 20_000), "{free:?}");
    let hot = counted(&[(2, 3), (1, 5), (3, 5), (6, 5)]);
    // The hot-spot's switch port, its contributors, and the victim.
    for (name, count) in [
        ("remote of 5", at(&hot, 5).1),
        ("1", at(&hot, 1).0),
        ("3", at(&hot, 3).0),
        ("6", at(&hot, 6).0),
        ("2", at(&hot, 2).0),
    ] {
        assert!(count.waited_ns > 100_000, "{name}: {count:?}");
        // 4x DDR: a tick is two byte times of a lane, 4 ns.
        assert!(count.xmit_wait.abs_diff(count.waited_ns / 4) <= 1, "{name}: {count:?}");
    }
    for idle in [at(&hot, 3).1, at(&hot, 4).1, at(&hot, 4).0] {
        assert!(idle.waited_ns < 20_000, "{idle:?}");
    }
    for (port, count) in stage.fabric.ports().map(|(port, _)| (port, hot[port.index()])) {
        assert_eq!(count.xmit_data, count.xmit_packets * 518);
        let peer = stage.fabric.peer(port).map(|peer| hot[peer.index()]);
        let received = peer.map_or(0, |peer| peer.rcv_packets);
        assert_eq!(count.xmit_packets, received, "{port:?}");
    }
    assert_eq!(stage.fabric.count(NodeKind::Switch), 4);
}
