//! dFtree on large fabrics: `cargo bench --bench lanes [-- spots|cost]`. `spots` is the paper's simulation of hot-spots (figure 13)
//! with everything done by fabdeck: counters swept, a plan made of them and applied, hosts notified. `cost` is what that takes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a figure that cannot be taken is none")]
#![allow(clippy::print_stdout, reason = "figures are printed")]

use std::time::{Duration, Instant};

use fabdeck_change::{ChangePhase, GuardRequest};
use fabdeck_fabric::counters::CongestionRole;
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{Fabric, Faults, Routes};
use fabdeck_routing::{NoProgress, Problem, Request, find_engine};
use fabdeck_simulator::traffic::{TrafficLoad, TrafficPattern, TrafficSettings};
use fabdeck_simulator::{CarriedTraffic, Share, SimulatedFabric, TimeRatio};

#[path = "../suite/lanes/credit_loop.rs"]
#[allow(dead_code, reason = "tests need more of it")]
mod credit_loop;

use credit_loop::{CreditLoopLab, ProposedMoves, SweptPair, on_one_lane};

/// What a QDR adapter in an 8x PCIe 2.0 slot takes in, in Mb/s; its link carries 31.6 Gb/s of payload.
const TAKES_IN: u32 = 26_000;

fn routed(name: &str) -> (Fabric, Routes) {
    let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let routes =
        (find_engine("ftree").unwrap().route)(&problem, &Request::default(), &NoProgress).unwrap().routes;
    (fabric, routes)
}

/// A fabric whose hosts send this share to hot-spots and the rest to anybody.
fn add_hosts_to_hotspot(fabric: &Fabric, routes: &Routes, (spots, share): (u32, u32)) -> CreditLoopLab {
    let mut world = SimulatedFabric::new(fabric, &on_one_lane(fabric, routes)).unwrap();
    world.add_agents();
    let pattern = TrafficPattern::HotSpots { spots, share: Share::percent(share), level: None };
    let settings = TrafficSettings { host_limit_mbps: Some(TAKES_IN), ..TrafficSettings::default() };
    let load = TrafficLoad { pattern, settings };
    let (begins, scenes) = (Duration::ZERO, Vec::new());
    world.start_traffic(CarriedTraffic { load, ratio: TimeRatio::DEFAULT, begins, scenes }).unwrap();
    CreditLoopLab::of(world)
}

/// Payload that an adapter sends in the middle, in Gb/s.
fn mean(seen: &SweptPair) -> f64 {
    let fabric = seen.look.fabric();
    let hosts = fabric.ports().filter(|(_, port)| port.peer.is_some());
    let hosts = hosts.filter(|(_, port)| !fabric.node(port.node).is_switch());
    let sent: Vec<f64> = hosts.map(|(port, _)| seen.mbps(port)).collect();
    sent.iter().sum::<f64>() / sent.len() as f64 / 1e3
}

/// How many hot-spots there are, and how many adapters that wait have each role.
fn verdict(seen: &SweptPair) -> String {
    let verdict = &seen.watched.verdict;
    let count = |wanted: fn(&CongestionRole) -> bool| {
        verdict.congested_adapters.iter().filter(|held| wanted(&held.role)).count()
    };
    format!(
        "{} hot-spots; {} contributors, {} either, {} victims, {} with a fair share",
        verdict.hot_spots.len(),
        count(|role| matches!(role, CongestionRole::Contributor(_))),
        count(|role| *role == CongestionRole::Undecided),
        count(|role| matches!(role, CongestionRole::Victim { .. })),
        count(|role| *role == CongestionRole::FairShare),
    )
}

fn spots() {
    println!("dFtree figure 13, switch648, 5 % for hot-spots, moved by fabdeck: Gb/s a host");
    let (fabric, routes) = routed("switch648");
    for (spots, paper) in [(1, 480.25), (3, 345.32), (9, 169.17)] {
        let mut lab = add_hosts_to_hotspot(&fabric, &routes, (spots, 5));
        let began = Instant::now();
        let mut seen = lab.watch(2.0, 4.0);
        let before = mean(&seen);
        println!(
            "  {spots}: {before:.2} before ({:.0} s); {}",
            began.elapsed().as_secs_f64(),
            verdict(&seen)
        );
        let ProposedMoves { plan, .. } = lab.propose(&mut seen);
        let Some(plan) = plan else { continue };
        let flows: usize = plan.migrations.iter().map(|migration| migration.flows.len()).sum();
        let told = lab.apply(&plan, GuardRequest::Confirm { user: "bench".into() }, || ());
        assert_eq!(told.phase, ChangePhase::Confirmed);
        let (at, heard) = lab.told.unwrap();
        println!(
            "    {} writes, {flows} flows; {} agents silent, the last answer {:.0} ms after the notices",
            plan.writes.len(),
            told.silent.len(),
            (heard - at).as_secs_f64() * 1e3
        );
        let series: Vec<String> = (0..8).map(|_| format!("{:.1}", mean(&lab.watch(0.0, 1.0)))).collect();
        println!("    ms by ms of the traffic: {}", series.join(" "));
        let seen = lab.watch(0.0, 4.0);
        let after = mean(&seen);
        println!(
            "    {after:.2} after, {:.2} times, {:.0} % more (paper: {paper} % more); {}",
            after / before,
            (after / before - 1.0) * 100.0,
            verdict(&seen)
        );
    }
}

fn cost() {
    println!("seconds of the wall");
    for name in ["switch648", "switch3456"] {
        let (fabric, routes) = routed(name);
        let lab = add_hosts_to_hotspot(&fabric, &routes, (1, 5));
        lab.pass(Duration::from_millis(500));
        let timed = |began: Instant| began.elapsed().as_secs_f64();
        let began = Instant::now();
        drop(lab.look());
        let look = timed(began);
        let began = Instant::now();
        let mut seen = lab.watch(0.0, 0.2);
        let swept = timed(began) - look;
        let began = Instant::now();
        let proposed = lab.propose(&mut seen);
        let made = timed(began);
        let writes = proposed.plan.map_or(0, |plan| plan.writes.len());
        println!(
            "  {name}: look with lanes {look:.2}, two sweeps and the verdict with 0.2 ms of packets {swept:.2}, levels, proposal \
             and a plan of {writes} writes {made:.2}; {}",
            verdict(&seen)
        );
    }
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    for (name, part) in [("spots", spots as fn()), ("cost", cost)] {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            part();
        }
    }
}
