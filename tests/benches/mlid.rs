//! The evaluation of the multiple LID paper (section 5, figures 12, 13 and 15): `cargo bench --bench mlid [-- large]`. The
//! highest accepted traffic of `mlid` and of `dmodk` (the paper's SLID) over a sweep of offered loads, their ratio, and
//! what the paper says of the two. `large` adds FT(16,3) of figure 14, with 32 LIDs a port: with the paper's 64 its hosts
//! need more LIDs than a subnet has.

#![allow(clippy::unwrap_used, reason = "a figure that cannot be taken is none")]
#![allow(clippy::print_stdout, reason = "figures are printed")]

use std::time::Instant;

use fabdeck_simulator::traffic::TrafficPattern;

use rayon::prelude::*;

#[path = "../suite/traffic/mlid_paper.rs"]
mod mlid_paper;

use mlid_paper::{PaperFabric, PaperTimes};

const TIMES: PaperTimes = PaperTimes { warm_up_ns: 20_000, measured_ns: 100_000 };
const LANES: [u8; 3] = [1, 2, 4];

/// A fabric of table 1: its ports and levels, its name here, and the claim of the paper for uniform traffic.
const FABRICS: [(&str, &str, &str); 3] = [
    ("FT(4,4)", "mport,m=4,n=4", ">="),
    ("FT(8,3)", "mport,m=8,n=3", ">="),
    ("FT(32,2)", "mport,m=32,n=2", ">"),
];
const LARGE: (&str, &str, &str) = ("FT(16,3)", "mport,m=16,n=3,lmc=5", ">");

fn compare(paper_name: &str, name: &str, uniform_claim: &str) {
    let begun = Instant::now();
    let loads: Vec<f64> = (1..=20).map(|step| f64::from(step) / 20.0).collect();
    let fabrics = ["mlid", "dmodk"].map(|engine| PaperFabric::new(name, engine));
    for (pattern, what) in [(TrafficPattern::Uniform, "uniform"), (TrafficPattern::centric(), "centric")] {
        for lanes in LANES {
            let highest: Vec<f64> =
                fabrics.par_iter().map(|fabric| fabric.highest(&pattern, lanes, &loads, TIMES)).collect();
            let claim = if what == "uniform" { uniform_claim } else { ">" };
            println!(
                "  {paper_name:<9} {what:<8} {lanes}  {:.4}  {:.4}  {:.3}  {claim}",
                highest[0],
                highest[1],
                highest[0] / highest[1]
            );
        }
    }
    println!("  {paper_name}: {} loads, {:.0} s", loads.len(), begun.elapsed().as_secs_f64());
}

fn main() {
    let large = std::env::args().any(|word| word == "large");
    println!(
        "highest accepted traffic in bytes/ns/host over offered loads of 0.05 to 1.0, {} us measured",
        TIMES.measured_ns / 1000
    );
    println!("  fabric    pattern  lanes mlid  dmodk  ratio  the paper");
    for (paper_name, name, claim) in FABRICS.into_iter().chain(large.then_some(LARGE)) {
        compare(paper_name, name, claim);
    }
}
