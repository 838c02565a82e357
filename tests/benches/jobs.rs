//! `sar` over job histories (dissertation 5.3.2): `cargo bench --bench jobs [-- speed|tables|signs|placed|destinations]`. Tables 5.1 and 5.2 with 200 samples
//! each, their signs under other workloads and seeds, the job of 200 hosts of 5.3.2.3, and what the figures take.

#![allow(clippy::unwrap_used, reason = "a figure that cannot be taken is none")]
#![allow(clippy::print_stdout, reason = "figures are printed")]

use std::sync::Arc;
use std::time::Instant;

use fabdeck_fabric::generate::{JobHistory, Workload};
use fabdeck_fabric::{Faults, JobMap};
use fabdeck_routing::analysis::{FlowPaths, JobLoads};
use fabdeck_routing::{LaneDependence, NoProgress, Problem, Request, find_engine};
use rayon::prelude::*;

#[path = "../suite/histories/replay.rs"]
mod replay;

use replay::{
    METRICS, MONTH, OTHERS, Placements, SYSTEMS, WORKLOADS, fabric, gain, means, metric_value, metrics,
    other_signs, replay, route,
};

const SAMPLES: usize = 200;

fn tables() {
    for system in &SYSTEMS {
        let began = Instant::now();
        let samples = replay(system, WORKLOADS[0], 1, SAMPLES);
        let jobs = samples.iter().map(|sample| sample.sar.jobs).sum::<usize>() as f64 / SAMPLES as f64;
        println!(
            "{}, {SAMPLES} samples of a month, {jobs:.1} jobs on several switches each; {:.0} s",
            system.name,
            began.elapsed().as_secs_f64()
        );
        for (metric, title) in METRICS.iter().enumerate() {
            let [sar, others @ ..] = means(&samples, metric);
            println!("  {title}: sar {sar:.2}");
            for (other, name) in OTHERS.iter().enumerate() {
                let gain = gain(&samples, metric, other);
                println!(
                    "    {name:<7} {:>8.2}: better by {:>7.2} / {:>5.1} % in the mean (paper {:>5.1} %), {:>7.2} / {:>5.1} % at most",
                    others[other],
                    gain.mean,
                    gain.mean_percent,
                    system.paper[metric][other],
                    gain.most,
                    gain.most_percent
                );
            }
        }
        let wrong = other_signs(system, &samples);
        println!(
            "  another sign than the paper's beyond 5 %: {}",
            if wrong.is_empty() { "none".into() } else { wrong.join("; ") }
        );
    }
}

/// The mean improvements of each metric, under every workload and several seeds.
fn signs() {
    for (workload, seed) in WORKLOADS.iter().flat_map(|workload| (1..=3).map(move |seed| (*workload, seed))) {
        for system in &SYSTEMS {
            let samples = replay(system, workload, seed, SAMPLES);
            let Workload { single, larger, largest } = workload;
            println!(
                "{}, {single} in hundred on one host, {larger} larger, {largest} at most, seed {seed}:",
                system.name
            );
            for (metric, title) in METRICS.iter().enumerate() {
                let of =
                    |other| format!("{} {:.1}", OTHERS[other], gain(&samples, metric, other).mean_percent);
                println!("  {title:<30} {}", [0, 1, 2].map(of).join("  "));
            }
            let wrong = other_signs(system, &samples);
            println!("  another sign: {}", if wrong.is_empty() { "none".into() } else { wrong.join("; ") });
        }
    }
}

/// (Paths over the busiest channel under another engine, under sar, links under both) of a placement.
type PlacementFigures = (u64, u64, f64, f64);

fn placed() {
    ["updn", "ftree"].into_iter().for_each(placed_beside);
}

fn placed_beside(other: &'static str) {
    let fabric = fabric("tsubame2");
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let beside = route(&problem, other, &JobMap::default());
    let place = |jobs: &JobMap| -> PlacementFigures {
        let (old, new) =
            (metrics(&problem, &beside, jobs), metrics(&problem, &route(&problem, "sar", jobs), jobs));
        (old.max, new.max, old.mean_links, new.mean_links)
    };
    let factor = |placed: &PlacementFigures| placed.0 as f64 / placed.1 as f64;
    let jobs: Vec<JobMap> = Placements::new(&problem, 1).take(1000).collect();
    let mut all: Vec<PlacementFigures> = jobs.par_iter().map(place).collect();
    let hundred = &mut all[..100].to_vec();
    for (title, some) in [("100", hundred), ("1000", &mut all)] {
        some.sort_by(|a, b| factor(a).total_cmp(&factor(b)));
        let (low, middle, high) = (some[0], some[some.len() / 2], some[some.len() - 1]);
        println!("tsubame2, a job of 200 hosts on 15 leaf switches, {title} placements, {other} / sar");
        for (title, one) in [("least", low), ("median", middle), ("most", high)] {
            let (old, new, links, more) = one;
            println!(
                "  {title:<7} {:.2} ({old} / {new} paths over the busiest channel, {links} / {more} links)",
                factor(&one)
            );
        }
        let mean = |of: fn(&PlacementFigures) -> f64| some.iter().map(of).sum::<f64>() / some.len() as f64;
        println!(
            "  means {:.1} / {:.1} paths, {:.1} / {:.1} links",
            mean(|one| one.0 as f64),
            mean(|one| one.1 as f64),
            mean(|one| one.2),
            mean(|one| one.3)
        );
    }
}

/// `sar` in the layers of nue, as `--lanes-by destination` has it, beside nue and `sar` itself.
fn destinations() {
    const SAMPLES: usize = 20;
    for system in &SYSTEMS {
        let fabric = fabric(system.name);
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let moments: Vec<JobMap> =
            JobHistory::new(&fabric, WORKLOADS[0], 1).step_by(MONTH / SAMPLES).take(SAMPLES).collect();
        println!("{}, means of {SAMPLES} samples of a month, at most 8 lanes", system.name);
        for (title, id, lanes_by) in [
            ("nue", "nue", LaneDependence::Pair),
            ("sar by destination", "sar", LaneDependence::Destination),
            ("sar", "sar", LaneDependence::Pair),
        ] {
            let began = Instant::now();
            let route = |jobs: &JobMap| {
                let request = Request { jobs: Arc::new(jobs.clone()), lanes_by, ..Request::default() };
                metrics(
                    &problem,
                    &(find_engine(id).unwrap().route)(&problem, &request, &NoProgress).unwrap().routes,
                    jobs,
                )
            };
            let all: Vec<_> = moments.iter().map(route).collect();
            let mean = |metric| all.iter().map(|one| metric_value(one, metric)).sum::<f64>() / SAMPLES as f64;
            println!(
                "  {title:<20} {:>8.2} paths over the busiest channel, {:>7.2} of a job, {:>5.2} % dark fiber, {:>7.2} links of a job, {:.0} ms each",
                mean(0),
                mean(1),
                mean(2),
                mean(3),
                began.elapsed().as_secs_f64() * 1000.0 / SAMPLES as f64
            );
        }
    }
}

fn speed() {
    let workload = Workload { single: 0, larger: 70, largest: 15 };
    for name in ["tsubame2", "juropa"] {
        let fabric = fabric(name);
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let routes = route(&problem, "ftree", &JobMap::default());
        let flows = FlowPaths::new(&problem, &routes);
        let jobs = JobHistory::new(&fabric, workload, 1).find(|jobs| jobs.iter().count() >= 100).unwrap();
        let milliseconds = |times: u32, run: &dyn Fn()| {
            let began = Instant::now();
            (0..times).for_each(|_| run());
            began.elapsed().as_secs_f64() * 1000.0 / f64::from(times)
        };
        let figures = milliseconds(100, &|| {
            std::hint::black_box(JobLoads::new(&flows, &jobs).metrics());
        });
        let read = milliseconds(10, &|| drop(std::hint::black_box(FlowPaths::new(&problem, &routes))));
        println!(
            "{name}, {} jobs: all figures in {figures:.2} ms, and {read:.2} ms for what they are read from",
            jobs.iter().count()
        );
        for id in ["dfsssp", "sar"] {
            let took = milliseconds(5, &|| drop(std::hint::black_box(route(&problem, id, &jobs))));
            println!("  {id} {took:.0} ms");
        }
        let lanes_by = LaneDependence::Destination;
        let request = Request { jobs: Arc::new(jobs.clone()), lanes_by, ..Request::default() };
        let route = || drop((find_engine("sar").unwrap().route)(&problem, &request, &NoProgress).unwrap());
        println!("  sar by destination {:.0} ms", milliseconds(1, &route));
    }
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wanted = |part: &str| asked.is_empty() || asked.iter().any(|asked| asked == part);
    for (part, run) in [
        ("speed", speed as fn()),
        ("tables", tables),
        ("signs", signs),
        ("placed", placed),
        ("destinations", destinations),
    ] {
        if wanted(part) {
            run();
        }
    }
}
