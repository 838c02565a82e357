//! Conservation at every step, and the same run again.

use std::sync::Arc;

use fabdeck_fabric::{ElementId, Fabric, Faults, Routes, ServiceLevel, Tables};
use fabdeck_routing::Problem;
use fabdeck_simulator::Share;
use fabdeck_simulator::traffic::{
    Flow, LevelSelection, NetworkSetup, TrafficError, TrafficLoad, TrafficPattern, TrafficRun,
    TrafficSettings,
};

use crate::routing::{fabric, route};

fn run_on(fabric: &Fabric, faults: &Faults, routes: &Arc<Routes>, load: &TrafficLoad) -> TrafficRun {
    let tables = Tables::default();
    let given = NetworkSetup { fabric, faults, routes, service: &LevelSelection::Routes, tables: &tables };
    TrafficRun::new(given, load).unwrap()
}

fn routed(name: &str, engine: &str) -> (Fabric, Arc<Routes>) {
    let fabric = fabric(name);
    let routes = route(engine, &Problem::new(&fabric, &Faults::new())).unwrap().routes;
    (fabric, Arc::new(routes))
}

fn patterns(fabric: &Fabric) -> Vec<TrafficPattern> {
    let none = Faults::new();
    let problem = Problem::new(fabric, &none);
    let ends = problem.graph.terminals();
    let slow = ServiceLevel::new(1);
    let pairs = ends.iter().zip(ends.iter().skip(1)).take(5);
    let listed = pairs.flat_map(|(a, b)| {
        let paced = Flow { level: slow, mbps: Some(900), ..Flow::new(a.port, b.port) };
        [Flow::new(a.port, b.port), Flow::new(b.port, a.port), paced]
    });
    let spots = |level| TrafficPattern::HotSpots { spots: 2, share: Share::percent(30), level };
    vec![
        TrafficPattern::Flows(listed.collect()),
        TrafficPattern::Uniform,
        spots(None),
        spots(slow),
        TrafficPattern::centric(),
        TrafficPattern::Permutation,
        TrafficPattern::Ring,
        TrafficPattern::Shift { packets: 2, shifts: None },
    ]
}

#[test]
fn packets_and_credits_are_conserved_at_every_step() {
    for (name, engine) in
        [("kary,k=2,n=3", "ftree"), ("torus,dims=3x3,terminals=2", "dfsssp"), ("torus,dims=6", "minhop")]
    {
        let (fabric, routes) = routed(name, engine);
        let mut faults = Faults::new();
        let cable = fabric.links().find(|(id, _)| fabric.is_between_switches(*id)).unwrap().0;
        faults.mark(ElementId::Link(cable));
        for (at, pattern) in patterns(&fabric).into_iter().enumerate() {
            for (faults, load, output_buffer) in
                [(&Faults::new(), 1.0, 0), (&faults, 0.6, 0), (&Faults::new(), 0.9, 1), (&faults, 0.6, 1)]
            {
                let settings = TrafficSettings {
                    buffer: 5000,
                    output_buffer,
                    load,
                    host_limit_mbps: (at % 2 == 1).then_some(30_000),
                    ..TrafficSettings::default()
                };
                let mut run =
                    run_on(&fabric, faults, &routes, &TrafficLoad { pattern: pattern.clone(), settings });
                for step in 0..1500 {
                    run.audit().unwrap_or_else(|what| panic!("{name} {pattern:?}, step {step}: {what}"));
                    if !run.run_next_event() {
                        break;
                    }
                }
                run.advance(run.now_ns() + 50_000);
                run.audit().unwrap();
                let [made, arrived, lost] = run.packet_totals();
                assert!(made > 100 && arrived > 20, "{name} {pattern:?}: {:?}", run.packet_totals());
                assert!(!faults.is_empty() || lost == 0, "{name} {pattern:?}: {lost} lost");
                let counts = run.port_counts(&fabric);
                let gone: u64 = counts.iter().map(|count| count.discards + count.relay_errors).sum();
                assert_eq!(gone, lost, "{name} {pattern:?}: what is lost is counted at some port");
            }
        }
    }
}

#[test]
fn a_seed_gives_the_same_run_and_another_seed_another() {
    let (fabric, routes) = routed("torus,dims=3x3,terminals=2", "dfsssp");
    for pattern in patterns(&fabric).into_iter().skip(1).take(6) {
        let ran = |seed| {
            let settings = TrafficSettings { seed, ..TrafficSettings::default() };
            let mut run =
                run_on(&fabric, &Faults::new(), &routes, &TrafficLoad { pattern: pattern.clone(), settings });
            run.advance(100_000);
            (run.port_counts(&fabric), run.latency(), run.end_counts(), run.lane_hops().to_vec())
        };
        assert_eq!(ran(7), ran(7), "{pattern:?}");
        assert_ne!(ran(7), ran(8), "{pattern:?}");
    }
}

/// Of a pair one message is under way at a time: the flow there is ahead of its answer by one at most.
#[test]
fn each_message_of_ping_pong_waits_for_its_answer() {
    let (fabric, routes) = routed("kary,k=2,n=3", "ftree");
    let arrivals = |packets: u32| {
        let settings = TrafficSettings::default();
        let load = TrafficLoad { pattern: TrafficPattern::PingPong { packets }, settings };
        let mut run = run_on(&fabric, &Faults::new(), &routes, &load);
        for _ in 0..4000 {
            assert!(run.run_next_event(), "packets are under way");
            run.audit().unwrap();
            let [made, arrived, _] = run.packet_totals();
            assert!(made - arrived <= 4 * u64::from(packets), "four pairs: {made}, {arrived}");
        }
        let counts = run.flow_counts();
        assert_eq!(counts.len(), 8);
        for pair in counts.chunks(2) {
            assert_eq!((pair[0].from, pair[0].to), (pair[1].to, pair[1].from));
            let ahead = pair[0].packets.checked_sub(pair[1].packets);
            assert!(pair[1].packets > 0 && ahead.is_some_and(|ahead| ahead <= packets.into()), "{pair:?}");
        }
        run.advance(run.now_ns().max(500_000));
        run.packet_totals()[1]
    };
    // The longer the messages, the less a pair waits for answers.
    assert!(arrivals(1) < arrivals(8));
}

/// Two hosts at one switch, each sending to the other over cables of equal speed: an output buffer adds no time. Packets
/// of a contended output leave the inputs earlier.
#[test]
fn an_output_buffer_frees_the_input_and_costs_no_time() {
    let (fabric, routes) = routed("kary,k=4,n=2", "ftree");
    let ran = |load: f64, output_buffer| {
        let settings = TrafficSettings { load, buffer: 2100, output_buffer, ..TrafficSettings::default() };
        let load = TrafficLoad { pattern: TrafficPattern::Uniform, settings };
        let mut run = run_on(&fabric, &Faults::new(), &routes, &load);
        run.advance(400_000);
        run.audit().unwrap();
        (run.total_mbps(), run.latency().mean)
    };
    let [(_, direct), (_, buffered)] = [0, 1].map(|buffer| ran(0.01, buffer));
    assert!(direct.abs_diff(buffered) * 50 < direct, "{direct} {buffered}");
    let [(direct, _), (buffered, _)] = [0, 1].map(|buffer| ran(1.0, buffer));
    assert!(buffered * 20 > direct * 21, "{buffered} with an output buffer, {direct} without");
}

#[test]
fn time_in_one_piece_or_in_many_is_the_same() {
    let (fabric, routes) = routed("kary,k=3,n=2", "ftree");
    let load = TrafficLoad { pattern: TrafficPattern::Uniform, settings: TrafficSettings::default() };
    let [mut whole, mut pieces] = [(); 2].map(|()| run_on(&fabric, &Faults::new(), &routes, &load));
    whole.advance(60_000);
    for until in (0..=60_000).step_by(37).chain([60_000]) {
        pieces.advance(until);
        assert!(pieces.now_ns() <= until && until - pieces.now_ns() <= 1);
    }
    assert_eq!(whole.port_counts(&fabric), pieces.port_counts(&fabric));
}

#[test]
fn a_shift_exchange_delivers_everything_once_and_ends() {
    for name in ["kary,k=2,n=3", "kary,k=3,n=2"] {
        let (fabric, routes) = routed(name, "ftree");
        let load = TrafficLoad {
            pattern: TrafficPattern::Shift { packets: 3, shifts: None },
            settings: TrafficSettings::default(),
        };
        let mut run = run_on(&fabric, &Faults::new(), &routes, &load);
        while run.run_next_event() {}
        let hosts = run.end_counts().len() as u64;
        let (expected, last_ns) = run.exchange_progress().unwrap();
        assert_eq!((expected, run.packet_totals()), (hosts * (hosts - 1) * 3, [expected, expected, 0]));
        assert!(
            run.end_counts().iter().all(|end| (end.sent, end.taken) == ((hosts - 1) * 3, (hosts - 1) * 3))
        );
        // Not faster than a host's link carries its share.
        assert!(run.is_finished() && last_ns > (hosts - 1) * 3 * 80, "{last_ns}");
    }
}

#[test]
fn a_share_of_packets_is_for_the_hot_spots_and_little_load_arrives_whole() {
    let (fabric, routes) = routed("kary,k=4,n=2", "ftree");
    let settings = TrafficSettings { load: 0.1, ..TrafficSettings::default() };
    let pattern = TrafficPattern::HotSpots { spots: 2, share: Share::percent(25), level: None };
    let mut run = run_on(&fabric, &Faults::new(), &routes, &TrafficLoad { pattern, settings });
    run.advance(200_000);
    run.begin_measuring();
    run.advance(2_200_000);
    let ends = run.end_counts();
    let (sent, taken): (u64, u64) =
        ends.iter().fold((0, 0), |sum, end| (sum.0 + end.sent, sum.1 + end.taken));
    assert!(sent.abs_diff(taken) < 40, "{sent} {taken}");
    let hot = ends[0].taken + ends[8].taken;
    // A quarter of what 14 of 16 hosts send, and an even part of the rest.
    let wanted = sent as f64 * (14.0 / 16.0 * 0.25 + 0.75 * 2.0 / 16.0);
    assert!((hot as f64 - wanted).abs() < 0.08 * wanted, "{hot} {wanted}");
    assert!(run.latency().median < 2_000 && run.latency().packets == taken, "{:?}", run.latency());
    assert!(run.lane_hops().len() == 1 && run.packet_hops() > 3 * sent);
    // The same on a slow lane: what is for hot-spots, and nothing else, goes on it.
    let slow = TrafficPattern::HotSpots { spots: 2, share: Share::percent(25), level: ServiceLevel::new(1) };
    let mut run = run_on(&fabric, &Faults::new(), &routes, &TrafficLoad { pattern: slow, settings });
    run.advance(1_000_000);
    let lanes = run.lane_hops();
    let share = lanes[1] as f64 / (lanes[0] + lanes[1]) as f64;
    assert!((0.17..0.28).contains(&share), "{lanes:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let (fabric, routes) = routed("kary,k=2,n=2", "ftree");
    let tables = Tables::default();
    let faults = Faults::new();
    let given = NetworkSetup {
        fabric: &fabric,
        faults: &faults,
        routes: &routes,
        service: &LevelSelection::Routes,
        tables: &tables,
    };
    let refused = |pattern, settings| TrafficRun::new(given, &TrafficLoad { pattern, settings }).err();
    let spots = TrafficPattern::HotSpots { spots: 3, share: Share::percent(5), level: None };
    let usual = TrafficSettings::default();
    assert!(matches!(refused(spots, usual), Some(TrafficError::ManySpots { spots: 3, hosts: 4 })));
    let switch_port = fabric.ports().find(|(_, port)| port.number.value() == 1).unwrap().0;
    let flow = Flow::new(switch_port, switch_port);
    assert!(matches!(refused(TrafficPattern::Flows(vec![flow]), usual), Some(TrafficError::NoEnd(_))));
    for wrong in [
        TrafficSettings { load: 0.0, ..usual },
        TrafficSettings { load: f64::NAN, ..usual },
        TrafficSettings { payload: 5000, ..usual },
        TrafficSettings { host_limit_mbps: Some(0), ..usual },
        TrafficSettings { output_buffer: 2, ..usual },
    ] {
        assert!(
            matches!(refused(TrafficPattern::Uniform, wrong), Some(TrafficError::Setting { .. })),
            "{wrong:?}"
        );
    }
    let lone = crate::routing::fabric("kary,k=2,n=2,hosts=1");
    let given = NetworkSetup { fabric: &lone, ..given };
    let load = TrafficLoad { pattern: TrafficPattern::Uniform, settings: usual };
    assert!(matches!(TrafficRun::new(given, &load), Err(TrafficError::FewHosts(1))));
}
