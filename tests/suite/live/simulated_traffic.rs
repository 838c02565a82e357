//! Traffic under the live source: ports count what the simulated packets do, at the ratio that was asked for.

use std::time::Duration;

use fabdeck_fabric::counters::{
    HotSpots, LinkProblem, LinkProblemKind, Rates, Thresholds, find_hot_spots, link_problems, rates_of_sweeps,
};
use fabdeck_fabric::observe::{Counter, Observation, Sweep};
use fabdeck_fabric::{Lane, LinkWidth, NodeId, PortId, PortNum, PortState, ServiceLevel, Sl2Vl};
use fabdeck_live::{ExchangePolicy, Keys, LiveOptions, SetTarget, Setter, create_simulator, open};
use fabdeck_mad::access::{AddressedMad, MadAddress, MadPort, NoObserver, Source};
use fabdeck_mad::{Class, Mad, Method, PortCountersExtended, SMP_DATA, SlToVl, attribute};
use fabdeck_simulator::SharedSimulator;
use zerocopy::IntoBytes;

use super::TOPOLOGY;

struct TrafficLab {
    source: Box<dyn Source>,
    look: Observation,
}

impl TrafficLab {
    fn new(text: &str) -> Self {
        let mut source = open(text, &LiveOptions::default()).unwrap();
        let look = source.observe(TOPOLOGY, &mut NoObserver).unwrap();
        Self { source, look }
    }

    fn sweep(&mut self, at: f64) -> Sweep {
        self.source.sweep(&mut self.look, Duration::from_secs_f64(at), &mut NoObserver).unwrap()
    }

    /// What ports did between two moments, in seconds.
    fn rates(&mut self, from: f64, to: f64) -> Rates {
        let (before, after) = (self.sweep(from), self.sweep(to));
        rates_of_sweeps(&self.look.fabric, &before, &after)
    }

    fn verdict(&mut self, from: f64, to: f64) -> HotSpots {
        let rates = self.rates(from, to);
        find_hot_spots(&self.look.fabric, &rates, &Thresholds::default())
    }

    fn name(&self, port: PortId) -> String {
        let port = self.look.fabric.port(port);
        self.look.fabric.node(port.node).facts.description.clone()
    }

    fn behind(&self) -> Option<String> {
        let notes = self.look.notes.iter().find(|note| note.code == "FN-514");
        notes.map(|note| note.text.clone())
    }
}

fn sum(sweep: &Sweep, counter: &Counter) -> u64 {
    sweep.samples.iter().map(|sample| sample.values.get(counter).unwrap_or(0)).sum()
}

/// The mean use of cabled ports, of which half are those of hosts.
fn used(rates: &Rates) -> f64 {
    let used: Vec<f64> = rates.ports.iter().filter_map(|port| port.utilisation()).collect();
    used.iter().sum::<f64>() / used.len() as f64
}

#[test]
fn counters_grow_as_if_the_traffic_ran_in_real_time_at_every_ratio() {
    let mut all = Vec::new();
    for ratio in ["1:2000", "1:20000"] {
        let mut carrier =
            TrafficLab::new(&format!("sim:kary,k=3,n=2,traffic=permutation:load=40%,ratio={ratio}"));
        let rates = carrier.rates(1.0, 3.0);
        all.push(used(&rates));
        // A tree of two levels: each packet crosses its host's cable, and as many between switches or none.
        assert!((0.3..0.45).contains(&used(&rates)), "{ratio}: {}", used(&rates));
        assert_eq!(carrier.behind(), None, "{ratio}");
    }
    assert!((all[0] - all[1]).abs() < 0.02, "{all:?}");
    let mut quiet = TrafficLab::new("sim:kary,k=3,n=2");
    assert_eq!(used(&quiet.rates(1.0, 3.0)), 0.0);
}

#[test]
fn what_is_sent_is_received_and_the_same_run_is_the_same_again() {
    let read = |text: &str| {
        let mut carrier = TrafficLab::new(text);
        [0.0, 0.5, 4.0].map(|at| carrier.sweep(at))
    };
    let text = "sim:torus,dims=3x3,terminals=2,traffic=uniform:load=30%,ratio=1:20000,seed=7";
    let sweeps = read(text);
    assert_eq!(sweeps, read(text));
    assert_ne!(sweeps[2], read(&text.replace("seed=7", "seed=8"))[2]);
    let [sent, received] = [Counter::PortXmitPktsExtended, Counter::PortRcvPktsExtended]
        .map(|counter| sum(&sweeps[2], &counter));
    // Ports are read one after the other, and the packets of the moment are in between.
    assert!(sent > 1_000_000 && sent.abs_diff(received) * 100 < sent, "{sent} {received}");
}

#[test]
fn too_much_traffic_falls_behind_says_so_and_rates_stay_what_they_are() {
    let words = "sim:kary,k=3,n=2,traffic=permutation:load=40%";
    let rates = TrafficLab::new(&format!("{words},ratio=1:20000")).rates(1.0, 3.0);
    let mut late = TrafficLab::new(&format!("{words},ratio=1:1"));
    let seen = late.rates(1.0, 601.0);
    let message = late.behind().unwrap();
    assert!(message.contains("for ratio=1:1;") && used(&seen) > 0.2, "{message}");
    assert!((used(&seen) - used(&rates)).abs() < 0.03, "{} {}", used(&seen), used(&rates));
}

#[test]
fn what_is_no_traffic_is_refused() {
    for (words, code) in [
        ("traffic=storm", "FD-5031"),
        ("traffic=hotspot:share=2", "FD-5031"),
        ("traffic=uniform:load=0%", "FD-5031"),
        ("traffic=uniform:color=red", "FD-5031"),
        ("traffic=hotspot:spots=9", "FD-4413"),
        ("traffic=uniform,ratio=1000", "FD-5031"),
        ("traffic=uniform,ratio=1:0", "FD-5031"),
        ("traffic=flows=/nowhere", "FD-5003"),
    ] {
        let error = open(&format!("sim:kary,k=3,n=2,{words}"), &LiveOptions::default()).err().unwrap();
        assert!(error.to_string().contains(code), "{words}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flows");
    let source = |line: &str| {
        std::fs::write(&file, line).unwrap();
        open(&format!("sim:demo,traffic=flows={}", file.display()), &LiveOptions::default())
    };
    assert!(source("node01 nobody\n").err().unwrap().to_string().contains("nobody"));
    let mut source = source("node01 node02 gbps=50\n").unwrap();
    let mut look = source.observe(TOPOLOGY, &mut NoObserver).unwrap();
    let sweep = source.sweep(&mut look, Duration::from_secs(1), &mut NoObserver).unwrap();
    let busy = |sample: &&fabdeck_fabric::observe::CounterSample| {
        sample.values.get(&Counter::PortXmitPktsExtended) > Some(0)
    };
    assert_eq!(sweep.samples.iter().filter(busy).count(), 2, "a host's port and its neighbour's switch's");
}

#[test]
fn a_cleared_counter_begins_again() {
    let text = "sim:kary,k=2,n=2,traffic=permutation,ratio=1:20000";
    let shared = SharedSimulator::new(create_simulator(text, &LiveOptions::default()).unwrap().0);
    let mut port = super::writable(&shared);
    let local = port.local_port().clone();
    let wait = |seconds: u64| {
        let waited = shared.open_port(None).unwrap().receive(Duration::from_secs(seconds)).unwrap();
        assert!(waited.is_none());
    };
    let mut ask = |method: Method| {
        let mut mad = Mad::performance(method, attribute::PORT_COUNTERS_EXTENDED, local.number.value());
        let block = mad.performance_data_mut::<PortCountersExtended>();
        block.counter_select = 0xFFFF.into();
        let address = MadAddress::for_class(local.lid.unwrap(), Class::PERFORMANCE);
        let answer = super::exchange(&mut port, AddressedMad { mad, address }).unwrap();
        answer.performance_data::<PortCountersExtended>().transmit_data.get()
    };
    wait(2);
    let grown = ask(Method::GET);
    let cleared = ask(Method::SET);
    wait(3);
    let again = ask(Method::GET);
    assert!(grown > 1_000_000 && cleared * 1000 < grown, "{grown} {cleared}");
    assert!(again.abs_diff(grown / 2) * 20 < grown, "a second's after two: {grown} {again}");
}

/// The story of the demo: what looks once sees nothing, and then there is more and more to see.
#[test]
fn the_demo_has_a_hot_spot_that_builds_and_a_cable_that_wears_out() {
    let mut demo = TrafficLab::new("sim:demo");
    let first = demo.sweep(0.0);
    let zero = first.samples.iter().all(|sample| sample.values.iter().all(|(_, value)| value == Some(0)));
    assert!(zero && first.began < Duration::from_millis(500), "{:?}", first.began);
    let early = demo.verdict(0.1, 2.1);
    let late = demo.verdict(60.0, 62.0);
    for verdict in [&early, &late] {
        let hot: Vec<String> = verdict.hot_spots.iter().map(|spot| demo.name(spot.adapter)).collect();
        assert_eq!(hot, ["storage01 mlx5_0"]);
    }
    let held = [&early, &late].map(|verdict| verdict.congested_adapters.len());
    assert!(held[0] >= 3 && held[1] >= held[0] + 5, "{held:?}");
    let writers: Vec<String> = late.congested_adapters.iter().map(|held| demo.name(held.at.port)).collect();
    assert!(writers.iter().any(|name| name.starts_with("login1")), "{writers:?}");
    assert!(writers.iter().any(|name| name.starts_with("node01 ")), "a victim: {writers:?}");
    assert_eq!(demo.behind(), None);

    let rates = demo.rates(70.0, 100.0);
    let all = link_problems(&demo.look.fabric, &rates.with_min_hour(), &Thresholds::default());
    let found: Vec<LinkProblem> =
        all.into_iter().filter(|trouble| trouble.why != LinkProblemKind::Degraded).collect();
    let ends = demo.look.fabric.link(found[0].link);
    assert!(found.iter().all(|trouble| trouble.link == found[0].link), "{found:?}");
    assert!(found.iter().any(|trouble| matches!(trouble.why, LinkProblemKind::Flaps { .. })), "{found:?}");
    assert!([ends.a, ends.b].iter().any(|end| demo.name(*end).starts_with("rack2-leaf")), "{found:?}");
    let fabric = demo.source.observe(TOPOLOGY, &mut NoObserver).unwrap().fabric;
    let width = |port: PortId| {
        let held = demo.look.fabric.port(port);
        let seen = fabric.port_of(NodeId(held.node.0), held.number).unwrap();
        fabric.port(seen).facts.width
    };
    assert_eq!([ends.a, ends.b].map(width), [Some(LinkWidth::X1); 2]);
}

/// A flow on level 1 beside three on level 0 that fill its cables: it is free on a lane of its own, and tables that put
/// both on one lane hold it up from the moment that they are set.
#[test]
fn tables_of_lanes_that_are_set_count_for_the_traffic_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flows");
    let flows = "node1 node6 sl=1\nnode0 node8\nnode4 node8\nnode9 node8\n";
    std::fs::write(&file, flows).unwrap();
    let fabric = "sim:xgft,m=4x3,w=1x1,redundancy=2,speed=QDR";
    let text = format!("{fabric},traffic=flows={},ratio=1:10000", file.display());
    let shared = SharedSimulator::new(create_simulator(&text, &LiveOptions::default()).unwrap().0);
    let plan = shared.with_simulator(|simulator| simulator.fabric().snapshot().clone());
    let mut port = super::writable(&shared);
    let victim = shared.with_simulator(|simulator| simulator.fabric().traffic_end("node1")).unwrap();
    let lid = plan.port(victim).facts.lid.unwrap();
    let count = |port: &mut fabdeck_mad::access::WritePort| {
        let mad = Mad::performance(Method::GET, attribute::PORT_COUNTERS_EXTENDED, 1);
        let address = MadAddress::for_class(lid, Class::PERFORMANCE);
        let answer = super::exchange(port, AddressedMad { mad, address }).unwrap();
        answer.performance_data::<PortCountersExtended>().transmit_data.get()
    };
    let wait = |until: u64| {
        assert!(shared.open_port(None).unwrap().receive(Duration::from_secs(until)).unwrap().is_none());
    };
    // Words a second between two moments.
    let sent = |port: &mut fabdeck_mad::access::WritePort, from: u64, to: u64| {
        wait(from);
        let before = count(port);
        wait(to);
        (count(port) - before) / (to - from)
    };
    let set = |port: &mut fabdeck_mad::access::WritePort, lane_of: fn(u32) -> u32| {
        let mut row = Sl2Vl::default();
        let lane = |level: u32| Lane::new(lane_of(level)).unwrap();
        (0..16).for_each(|level| row.set(ServiceLevel::new(level).unwrap(), lane(level)));
        let mut data = [0; SMP_DATA];
        data[..8].copy_from_slice(SlToVl::from_table(row).as_bytes());
        let mut setter = Setter::new(ExchangePolicy::default(), Keys::default());
        for (id, node) in plan.nodes() {
            let target = SetTarget { route: super::route_to(&plan, id), guid: None };
            let ports = if node.is_switch() { 1..=6 } else { 0..=0 };
            for modifier in ports.clone().flat_map(|from| ports.clone().map(move |to| from << 8 | to)) {
                setter.set_attribute(port, &target, attribute::SL_TO_VL, modifier, &data).unwrap();
            }
        }
    };
    let free = sent(&mut port, 2, 10);
    // Nobody looks for ten seconds, and then tables are set: what was sent until then went by those of before.
    let before = count(&mut port);
    wait(20);
    set(&mut port, |_| 0);
    let unseen = (count(&mut port) - before) / 10;
    assert!(unseen.abs_diff(free) * 20 < free, "{unseen} {free}");
    let held_up = sent(&mut port, 21, 30);
    set(&mut port, |level| level % 8);
    let again = sent(&mut port, 40, 50);
    assert!(free > 500_000_000 && held_up < free / 2, "{free} {held_up}");
    assert!(again.abs_diff(free) * 20 < free, "{free} {again}");
}

/// A story: a cable goes down, the manager routes around it, a node falls silent, and flows begin and end.
#[test]
fn a_story_happens_at_its_times() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("story");
    let story = "host-limit 12.9\n10s flow node1 node2 gbps=10\n20s down leaf0/3\n21s route\n30s silent node2\n\
                 40s answers node2\n50s stop node1 node2\n60s up leaf0/3\n61s width leaf0/3 1x\n";
    std::fs::write(&file, story).unwrap();
    let fabric = "sim:xgft,m=2x3,w=1x1,redundancy=2,speed=DDR";
    let mut seen = TrafficLab::new(&format!("{fabric},ratio=1:10000,story={}", file.display()));
    let [host, leaf] = ["node1 HCA-1", "leaf0"].map(|name| {
        let found = seen.look.fabric.nodes().find(|(_, node)| node.facts.description == name);
        found.unwrap().0
    });
    let port =
        |seen: &TrafficLab, node: NodeId, number| seen.look.fabric.port_of(node, PortNum(number)).unwrap();
    let [host, second, first] = [port(&seen, host, 1), port(&seen, leaf, 4), port(&seen, leaf, 3)];
    let mut used = |from: f64, to: f64| {
        let rates = seen.rates(from, to);
        let of = |port: PortId| {
            rates
                .ports
                .iter()
                .find(|rate| rate.port == port)
                .and_then(|rate| rate.utilisation())
                .unwrap_or(0.0)
        };
        [host, first, second].map(|port| (of(port) * 10.0).round())
    };
    assert_eq!(used(1.0, 9.0), [0.0; 3]);
    // 10 of 16 Gb/s, over the first cable, and when that is down over the second.
    assert_eq!(used(11.0, 19.0), [6.0, 6.0, 0.0]);
    assert_eq!(used(22.0, 29.0), [6.0, 0.0, 6.0]);
    assert_eq!(used(51.0, 59.0), [0.0; 3]);
    used(62.0, 63.0);
    let after = seen.source.observe(TOPOLOGY, &mut NoObserver).unwrap().fabric;
    assert_eq!(after.port(first).facts.width, Some(LinkWidth::X1));

    for (line, code) in [
        ("5s flow node0 nobody", "FD-4401"),
        ("5s down leaf0/99", "FD-4401"),
        ("5s down leaf0[1/9/9]", "FD-4401"),
        ("5s silent nobody", "FD-4401"),
        ("5s stop node0 node1", "FD-5037"),
        ("5s route magic", "FD-5037"),
        ("5s dance", "FD-2303"),
    ] {
        std::fs::write(&file, format!("{line}\n")).unwrap();
        let text = format!("sim:kary,k=3,n=2,story={}", file.display());
        let text = if code == "FD-4401" { text.replace("kary,k=3,n=2", "xgft,m=2x3,w=1x1") } else { text };
        let error = open(&text, &LiveOptions::default()).err().unwrap().to_string();
        assert!(error.contains(code), "{line}: {error}");
    }
    // Port 3 by the label that its switch states, and by its number in brackets.
    for port in ["leaf0[1/2/1]", "leaf0/1/2/1", "leaf0[3]"] {
        std::fs::write(&file, format!("1s down {port}\n")).unwrap();
        let mut seen =
            TrafficLab::new(&format!("{fabric},labels=all,ratio=1:10000,story={}", file.display()));
        let leaf = seen.look.fabric.nodes().find(|(_, node)| node.facts.description == "leaf0").unwrap().0;
        let third = seen.look.fabric.port_of(leaf, PortNum(3)).unwrap();
        seen.rates(0.0, 2.0);
        let after = seen.source.observe(TOPOLOGY, &mut NoObserver).unwrap().fabric;
        assert_eq!(after.port(third).facts.state, Some(PortState::Down), "{port}");
    }
    std::fs::write(&file, "5s flow node0 node1\n").unwrap();
    let text = format!("sim:xgft,m=2x3,w=1x1,traffic=uniform,story={}", file.display());
    let error = open(&text, &LiveOptions::default()).err().unwrap().to_string();
    assert!(error.contains("FD-5037") && error.contains(":1: "), "{error}");
}
