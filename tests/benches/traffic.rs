//! The simulator's traffic: `cargo bench --bench traffic [-- speed|papers|spots]`. `speed` prints packet-hops a second on
//! one core, `papers` the experiments of the dFtree paper (figures 5 to 12) beside the figures there, `spots` its
//! simulation of hot-spots (figure 13) with and without a slow lane.

#![allow(clippy::unwrap_used, reason = "a figure that cannot be taken is none")]
#![allow(clippy::print_stdout, reason = "figures are printed")]

use std::sync::Arc;
use std::time::Instant;

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{Faults, Routes, ServiceLevel, Tables};
use fabdeck_routing::{NoProgress, Problem, Request, find_engine};
use fabdeck_simulator::Share;
use fabdeck_simulator::traffic::{
    LevelSelection, NetworkSetup, TrafficLoad, TrafficPattern, TrafficRun, TrafficSettings,
};

#[path = "../suite/traffic/test_bed.rs"]
mod test_bed;

/// A fabric by name under the routes of an engine.
struct RoutedFabric {
    fabric: fabdeck_fabric::Fabric,
    routes: Arc<Routes>,
}

impl RoutedFabric {
    fn new(name: &str, id: &str) -> Self {
        let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let routes =
            (find_engine(id).unwrap().route)(&problem, &Request::default(), &NoProgress).unwrap().routes;
        Self { routes: Arc::new(routes), fabric }
    }

    fn run(&self, pattern: TrafficPattern, settings: TrafficSettings) -> TrafficRun {
        let given = NetworkSetup {
            fabric: &self.fabric,
            faults: &Faults::default(),
            routes: &self.routes,
            service: &LevelSelection::Routes,
            tables: &Tables::default(),
        };
        TrafficRun::new(given, &TrafficLoad { pattern, settings }).unwrap()
    }
}

/// Processor seconds of this process; where the system does not tell them, those on the wall.
fn spent(begun: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: Vec<f64> = fields.skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    if ticks.is_empty() { begun.elapsed().as_secs_f64() } else { ticks.iter().sum::<f64>() / 100.0 }
}

fn speed() {
    println!("1 ms of simulated time at full load, on one core");
    for (name, id, pattern) in [
        ("switch648", "ftree", TrafficPattern::Uniform),
        ("switch648,speed=HDR", "ftree", TrafficPattern::Uniform),
        ("switch648,speed=HDR", "ftree", TrafficPattern::Permutation),
        ("switch648,speed=HDR", "dfsssp", TrafficPattern::Uniform),
        ("torus,dims=6x6x6,terminals=3,speed=HDR", "dfsssp", TrafficPattern::Uniform),
        ("switch3456", "ftree", TrafficPattern::Uniform),
    ] {
        let mut run = RoutedFabric::new(name, id).run(pattern.clone(), TrafficSettings::default());
        let begun = Instant::now();
        let before = spent(begun);
        run.advance(1_000_000);
        let (cpu, wall) = (spent(begun) - before, begun.elapsed().as_secs_f64());
        let (hops, hosts) = (run.packet_hops() as f64 / 1e6, run.end_counts().len() as f64);
        println!(
            "  {name}, {id}, {} lanes, {pattern:?}: {wall:.2} s, {cpu:.2} s CPU, {hops:.1} million packet-hops, {:.2} \
             million a CPU second, {:.1} Gb/s a host",
            run.lane_hops().len(),
            hops / cpu.max(0.01),
            run.total_mbps() as f64 / 1e3 / hosts,
        );
    }
}

fn papers() {
    println!(
        "dFtree, Gb/s: victim alone, beside the contributors (paper), and with these on a slow lane (paper)"
    );
    let gbps = |mbps: u64| mbps as f64 / 1000.0;
    for experiment in &test_bed::EXPERIMENTS {
        let (alone, (victim, others)) = (experiment.alone(), experiment.congested(false));
        let (free, apart) = experiment.congested(true);
        println!(
            "  {:<3} {:>5.2}  {:>5.2} ({:.1})  {:>5.2} ({:.1});  contributors {others:?}, apart {apart:?}",
            experiment.name,
            gbps(alone),
            gbps(victim),
            experiment.paper.0,
            gbps(free),
            experiment.paper.1
        );
    }
}

fn spots() {
    println!(
        "dFtree figure 13, 648 ports, 5 % for hot-spots: Gb/s a host on one lane, with a slow lane, gain (paper)"
    );
    let ready = RoutedFabric::new("switch648", "ftree");
    for (spots, paper) in [(1, 480.25), (3, 345.32), (9, 169.17)] {
        let rate = |level: Option<ServiceLevel>| {
            let pattern = TrafficPattern::HotSpots { spots, share: Share::percent(5), level };
            let mut run = ready.run(pattern, TrafficSettings::default());
            run.advance(2_000_000);
            run.begin_measuring();
            run.advance(4_000_000);
            run.total_mbps() as f64 / 1e3 / run.end_counts().len() as f64
        };
        let (one, two) = (rate(None), rate(ServiceLevel::new(1)));
        println!("  {spots}: {one:.2}  {two:.2}  {:.0} % ({paper} %)", (two / one - 1.0) * 100.0);
    }
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    for (name, part) in [("speed", speed as fn()), ("papers", papers), ("spots", spots)] {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            part();
        }
    }
}
