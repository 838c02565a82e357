//! What changes under traffic: cables that go down and come up, flows that begin and end, links that get slower.

use std::sync::Arc;

use fabdeck_fabric::{Fabric, Faults, PortId, Routes, Tables};
use fabdeck_routing::Problem;
use fabdeck_simulator::traffic::{
    Flow, LevelSelection, NetworkSetup, TrafficLoad, TrafficPattern, TrafficRun, TrafficSettings,
};

use crate::routing::{fabric, route};

fn run_on(fabric: &Fabric, pattern: TrafficPattern, settings: TrafficSettings) -> TrafficRun {
    let faults = Faults::new();
    let routes: Arc<Routes> = Arc::new(route("minhop", &Problem::new(fabric, &faults)).unwrap().routes);
    let tables = Tables::default();
    let given = NetworkSetup {
        fabric,
        faults: &faults,
        routes: &routes,
        service: &LevelSelection::Routes,
        tables: &tables,
    };
    TrafficRun::new(given, &TrafficLoad { pattern, settings }).unwrap()
}

fn hosts_of(fabric: &Fabric) -> Vec<PortId> {
    run_on(fabric, TrafficPattern::Uniform, TrafficSettings::default())
        .end_counts()
        .iter()
        .map(|end| end.port)
        .collect()
}

fn discards(run: &TrafficRun, fabric: &Fabric) -> u64 {
    run.port_counts(fabric).iter().map(|count| count.discards).sum()
}

fn between_switches(fabric: &Fabric) -> Vec<PortId> {
    let cables = fabric.links().filter(|(id, _)| fabric.is_between_switches(*id));
    cables.map(|(_, ends)| ends.a).collect()
}

fn sent(run: &TrafficRun, fabric: &Fabric, port: PortId) -> u64 {
    run.port_counts(fabric)[port.index()].xmit_packets
}

#[test]
fn a_cable_that_goes_down_loses_packets_at_its_ports_and_carries_again_when_it_is_up() {
    let fabric = fabric("torus,dims=3x3,terminals=2");
    for (pattern, buffer, output_buffer) in [
        (TrafficPattern::Uniform, 16_384, 0),
        (TrafficPattern::Ring, 5000, 0),
        (TrafficPattern::Permutation, 5000, 0),
        (TrafficPattern::Uniform, 5000, 1),
        (TrafficPattern::Ring, 5000, 1),
    ] {
        let settings = TrafficSettings { buffer, output_buffer, ..TrafficSettings::default() };
        let mut run = run_on(&fabric, pattern.clone(), settings);
        run.advance(30_000);
        let busy =
            between_switches(&fabric).into_iter().max_by_key(|port| sent(&run, &fabric, *port)).unwrap();
        assert_eq!(discards(&run, &fabric), 0);
        run.set_link(busy, false);
        run.audit().unwrap_or_else(|what| panic!("{pattern:?}, just down: {what}"));
        // The packet that is on the cable arrives, and no other begins.
        let last = sent(&run, &fabric, busy) + 1;
        for step in 0..4000 {
            run.audit().unwrap_or_else(|what| panic!("{pattern:?}, down, step {step}: {what}"));
            assert!(run.run_next_event(), "{pattern:?}: it goes on");
        }
        let counts = run.port_counts(&fabric);
        let lost: u64 = counts.iter().map(|count| count.discards).sum();
        let ends = [busy, fabric.peer(busy).unwrap()];
        let at_cable: u64 = ends.iter().map(|end| counts[end.index()].discards).sum();
        assert!(
            lost > 10 && lost == at_cable && lost == run.packet_totals()[2],
            "{pattern:?}: {lost} {at_cable}"
        );
        assert!(sent(&run, &fabric, busy) <= last, "{pattern:?}");
        run.set_link(busy, true);
        for step in 0..2000 {
            run.audit().unwrap_or_else(|what| panic!("{pattern:?}, up again, step {step}: {what}"));
            assert!(run.run_next_event());
        }
        run.advance(run.now_ns() + 30_000);
        assert_eq!(discards(&run, &fabric), lost, "{pattern:?}: nothing more is lost");
        assert!(sent(&run, &fabric, busy) > last + 20, "{pattern:?}: it carries again");
    }
}

#[test]
fn an_adapter_holds_back_what_it_would_send_over_a_cable_that_is_down() {
    let fabric = fabric("kary,k=3,n=2");
    let mut run = run_on(&fabric, TrafficPattern::Permutation, TrafficSettings::default());
    run.advance(20_000);
    let host = run.end_counts()[0].port;
    let (before, last) = (discards(&run, &fabric), sent(&run, &fabric, host) + 1);
    run.set_link(host, false);
    run.advance(60_000);
    run.audit().unwrap();
    let counts = run.port_counts(&fabric);
    assert!(counts[host.index()].xmit_packets <= last && counts[host.index()].discards == 0);
    // What is for it gets lost at the port of its switch.
    let switch_port = fabric.peer(host).unwrap();
    assert!(before == 0 && counts[switch_port.index()].discards > 30);
    run.set_link(host, true);
    run.advance(100_000);
    run.audit().unwrap();
    assert!(sent(&run, &fabric, host) > last + 30);
}

#[test]
fn flows_begin_and_end_at_their_times() {
    let fabric = fabric("kary,k=3,n=2");
    let hosts = hosts_of(&fabric);
    let flow = |from: usize, to: usize, mbps| Flow { mbps: Some(mbps), ..Flow::new(hosts[from], hosts[to]) };
    let flows = vec![flow(0, 4, 10_000), flow(0, 8, 0), flow(1, 8, 0)];
    let mut run = run_on(&fabric, TrafficPattern::Flows(flows), TrafficSettings::default());
    let mut rates = |act: &dyn Fn(&mut TrafficRun)| -> Vec<u64> {
        act(&mut run);
        run.advance(run.now_ns() + 50_000);
        run.begin_measuring();
        run.advance(run.now_ns() + 400_000);
        run.audit().unwrap();
        run.flow_counts().iter().map(|flow| (flow.mbps + 250) / 500).collect()
    };
    assert_eq!(rates(&|_| {}), [20, 0, 0]);
    assert_eq!(
        rates(&|run| [1, 2].into_iter().for_each(|flow| run.set_flow_rate(flow, 5_000))),
        [20, 10, 10]
    );
    assert_eq!(rates(&|run| run.set_flow_rate(0, 0)), [0, 10, 10]);
    assert_eq!(rates(&|run| run.set_flow_rate(2, 20_000)), [0, 10, 40]);
}

#[test]
fn a_link_that_got_slower_carries_less() {
    let fabric = fabric("kary,k=3,n=2");
    let hosts = hosts_of(&fabric);
    let host = hosts[0];
    // One flow, so that nothing but this link holds it up.
    let mut run =
        run_on(&fabric, TrafficPattern::Flows(vec![Flow::new(host, hosts[4])]), TrafficSettings::default());
    run.advance(50_000);
    let rate = |run: &mut TrafficRun| {
        let before = sent(run, &fabric, host);
        run.advance(run.now_ns() + 200_000);
        run.audit().unwrap();
        sent(run, &fabric, host) - before
    };
    let wide = rate(&mut run);
    run.set_rate(host, 25_000);
    let narrow = rate(&mut run);
    // 2074 bytes at 25 Gb/s take 664 ns.
    assert!(narrow.abs_diff(301) < 5 && wide > narrow + 50, "{wide} {narrow}");
}

#[test]
fn a_flow_that_offers_nothing_sends_not_even_its_first_packet() {
    let fabric = fabric("kary,k=3,n=2");
    let hosts = hosts_of(&fabric);
    let flow = |mbps| Flow { mbps: Some(mbps), ..Flow::new(hosts[0], hosts[4]) };
    let mut run = run_on(&fabric, TrafficPattern::Flows(vec![flow(0)]), TrafficSettings::default());
    run.advance(1_000_000);
    assert_eq!((run.packet_totals(), run.is_finished()), ([0, 0, 0], true));
    run.set_flow_rate(0, 10_000);
    run.advance(1_100_000);
    run.set_flow_rate(0, 0);
    let made = run.packet_totals()[0];
    assert!(made > 50, "{made}");
    run.advance(2_000_000);
    assert_eq!(run.packet_totals(), [made, made, 0], "the one that is made is the last");
    assert!(run.is_finished());
}

#[test]
fn what_came_in_over_a_slower_link_goes_on_no_sooner_than_its_tail_is_there() {
    let fabric = fabric("kary,k=3,n=2");
    let hosts = hosts_of(&fabric);
    let near = hosts.iter().copied().find(|host| {
        let switch = |host: PortId| fabric.port(fabric.peer(host).unwrap()).node;
        *host != hosts[0] && switch(*host) == switch(hosts[0])
    });
    let flow = Flow { mbps: Some(0), ..Flow::new(hosts[0], near.unwrap()) };
    let mut run = run_on(&fabric, TrafficPattern::Flows(vec![flow]), TrafficSettings::default());
    run.set_rate(hosts[0], 25_000);
    run.set_flow_rate(0, 1_000);
    run.advance(1_000_000);
    let took = run.latency();
    // 664 ns over the slow link, the flight over both cables, and once through the switch.
    assert!(took.packets > 50 && took.mean == 664 + 20 + 20 + 100 - 1, "{took:?}");
}
