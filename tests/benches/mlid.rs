//! The evaluation of the multiple LID paper (section 5, figures 12, 13 and 15): `cargo bench --bench mlid [-- large | --
//! seeds]`. For `mlid`, `dmodk` (the paper's SLID) and `ftree`: what their tables cost and load, then accepted traffic and
//! latency over a sweep of offered loads, and what the paper says of the first two. `large` adds FT(16,3) of figure 14,
//! with 32 LIDs a port: with the paper's 64 its hosts need more LIDs than a subnet has. `seeds` measures uniform traffic
//! on two lanes at full load over several seeds, because there the two engines are close to each other.

#![allow(clippy::unwrap_used, reason = "a figure that cannot be taken is none")]
#![allow(clippy::print_stdout, reason = "figures are printed")]

use std::time::Instant;

use fabdeck_fabric::Faults;
use fabdeck_routing::analysis::{FlowPaths, PermutationLoads};
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify};
use fabdeck_routing::{NoProgress, Problem, Request, find_engine};
use fabdeck_simulator::traffic::TrafficPattern;

use rayon::prelude::*;

#[path = "../suite/traffic/mlid_paper.rs"]
mod mlid_paper;

use mlid_paper::{PaperFabric, PaperPoint, PaperTimes, paper_fabric};

const TIMES: PaperTimes = PaperTimes { warm_up_ns: 20_000, measured_ns: 100_000 };
const LANES: [u8; 3] = [1, 2, 4];
const ENGINES: [&str; 3] = ["mlid", "dmodk", "ftree"];
/// The offered load at which the paper compares latencies.
const LOW_LOAD: usize = 1;
const SEEDS: u64 = 10;

/// A fabric of table 1: its ports and levels, its name here, and the claim of the paper for uniform traffic.
type PaperRow = (&'static str, &'static str, &'static str);
const FABRICS: [PaperRow; 3] = [
    ("FT(4,4)", "mport,m=4,n=4", ">="),
    ("FT(8,3)", "mport,m=8,n=3", ">="),
    ("FT(32,2)", "mport,m=32,n=2", ">"),
];
const LARGE: PaperRow = ("FT(16,3)", "mport,m=16,n=3,lmc=5", ">");

/// Milliseconds, bytes of the tables of all switches, picked index (least, mean, most), and worst permutation.
fn print_tables(paper_name: &str, name: &str) {
    let (fabric, faults) = (paper_fabric(name), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    for engine in ENGINES {
        let begun = Instant::now();
        let routes =
            (find_engine(engine).unwrap().route)(&problem, &Request::default(), &NoProgress).unwrap().routes;
        let took = begun.elapsed();
        let scope = RouteScope { switches: false, lanes: LaneKnowledge::Known };
        let seen = certify(&problem, &routes, &scope, &NoProgress).unwrap();
        let index = seen.picked_forwarding_index.unwrap_or(seen.edge_forwarding_index);
        let worst = PermutationLoads::worst_permutation(&FlowPaths::new(&problem, &routes));
        println!(
            "  {paper_name:<9} {engine:<6} {:>7.1} ms {:>9} bytes  index {:>4} {:>7.1} {:>4}  worst permutation {}",
            took.as_secs_f64() * 1000.0,
            routes.memory_bytes(),
            index.min,
            index.mean,
            index.max,
            worst.flows
        );
    }
}

/// What the paper reads off a curve.
#[derive(Clone, Copy)]
struct CurveFigures {
    /// The highest accepted traffic over loads.
    highest: f64,
    /// Latencies at a low load and at full load.
    low: u64,
    full: u64,
}

impl CurveFigures {
    fn of(points: &[PaperPoint]) -> Self {
        let highest = points.iter().map(|point| point.accepted).fold(0.0, f64::max);
        Self { highest, low: points[LOW_LOAD].latency_ns, full: points[points.len() - 1].latency_ns }
    }
}

fn holds(sign: bool) -> &'static str {
    if sign { "holds" } else { "differs" }
}

/// The paper's other observations on a fabric: `uniform` and `centric` have `mlid` and `dmodk` by number of lanes.
fn print_observations(paper_name: &str, [uniform, centric]: &[Vec<[CurveFigures; 2]>; 2]) {
    let low = uniform.iter().all(|[mlid, dmodk]| mlid.low <= dmodk.low);
    let full = uniform.iter().all(|[mlid, dmodk]| mlid.full > dmodk.full);
    println!(
        "  {paper_name}: uniform, mlid's latency not above dmodk's at load 0.1: {}; above it at full load: {}",
        holds(low),
        holds(full)
    );
    let ([one, two], latency) = ([centric[0], centric[1]], centric[0].map(|curve| curve.low));
    println!(
        "  {paper_name}: centric, mlid with one lane against dmodk with two: {:.4} {:.4}, above: {}",
        one[0].highest,
        two[1].highest,
        holds(one[0].highest > two[1].highest)
    );
    println!(
        "  {paper_name}: centric, one lane, load 0.1, mlid's latency lower: {} {} ns, {}",
        latency[0],
        latency[1],
        holds(latency[0] < latency[1])
    );
}

fn compare(paper_name: &str, name: &str, uniform_claim: &str) {
    let begun = Instant::now();
    let loads: Vec<f64> = (1..=20).map(|step| f64::from(step) / 20.0).collect();
    let fabrics = ENGINES.map(|engine| PaperFabric::new(name, engine));
    let mut curves = [Vec::new(), Vec::new()];
    let patterns = [(TrafficPattern::Uniform, "uniform"), (TrafficPattern::centric(), "centric")];
    for ((pattern, what), curves) in patterns.into_iter().zip(&mut curves) {
        for lanes in LANES {
            let sweep = |fabric: &PaperFabric| -> Vec<PaperPoint> {
                loads.iter().map(|load| fabric.measure(&pattern, lanes, (*load, 1), TIMES)).collect()
            };
            let found: Vec<CurveFigures> =
                fabrics.par_iter().map(|fabric| CurveFigures::of(&sweep(fabric))).collect();
            let [mlid, dmodk, ftree] = [found[0], found[1], found[2]];
            curves.push([mlid, dmodk]);
            let claim = if what == "uniform" { uniform_claim } else { ">" };
            println!(
                "  {paper_name:<9} {what:<8} {lanes}  {:.4} {:.4} {:.4}  {:.3} {claim:<2}  {} {} {} ns",
                mlid.highest,
                dmodk.highest,
                ftree.highest,
                mlid.highest / dmodk.highest,
                mlid.low,
                dmodk.low,
                ftree.low
            );
        }
    }
    print_observations(paper_name, &curves);
    println!("  {paper_name}: {} loads, {:.0} s", loads.len(), begun.elapsed().as_secs_f64());
}

/// The ratio of `mlid` to `dmodk`, uniform on two lanes at full load: mean over seeds, and its standard error.
fn print_seeds(paper_name: &str, name: &str) {
    let fabrics = ["mlid", "dmodk"].map(|engine| PaperFabric::new(name, engine));
    let accepted = |seed: u64| {
        fabrics
            .each_ref()
            .map(|fabric| fabric.measure(&TrafficPattern::Uniform, 2, (1.0, seed), TIMES).accepted)
    };
    let ratios: Vec<f64> = (1..=SEEDS)
        .into_par_iter()
        .map(|seed| {
            let [mlid, dmodk] = accepted(seed);
            mlid / dmodk
        })
        .collect();
    let count = ratios.len() as f64;
    let mean = ratios.iter().sum::<f64>() / count;
    let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (count - 1.0);
    println!("  {paper_name:<9} {mean:.4}, standard error {:.4}, {SEEDS} seeds", (variance / count).sqrt());
}

fn main() {
    let has = |wanted: &str| std::env::args().any(|word| word == wanted);
    let fabrics = || FABRICS.into_iter().chain(has("large").then_some(LARGE));
    if has("seeds") {
        println!("mlid to dmodk, uniform on 2 lanes at full load, {} us measured", TIMES.measured_ns / 1000);
        return fabrics().for_each(|(paper_name, name, _)| print_seeds(paper_name, name));
    }
    println!("time, tables of all switches, picked edge forwarding index (least, mean, most)");
    fabrics().for_each(|(paper_name, name, _)| print_tables(paper_name, name));
    println!(
        "highest accepted traffic in bytes/ns/host over offered loads of 0.05 to 1.0, {} us measured; latency at 0.1",
        TIMES.measured_ns / 1000
    );
    println!("  fabric    pattern  lanes mlid dmodk ftree  mlid/dmodk  the paper  latency");
    fabrics().for_each(|(paper_name, name, claim)| compare(paper_name, name, claim));
}
