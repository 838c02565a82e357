//! Routes a fabric with every engine and compares the certificates: lost pairs, credit loops, lanes, the longest path,
//! and the edge forwarding index (EFI), the largest number of paths over one channel.
//!
//! `cargo run --release --example compare_engines -- torus,dims=4x4x3`

#![allow(clippy::print_stdout, reason = "an example prints what it finds")]

use std::error::Error;

use fabdeck_fabric::Faults;
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify};
use fabdeck_routing::{ENGINES, NoProgress, Problem, Request, run_engine};

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "torus,dims=4x4x3".to_owned());
    let spec: FabricSpec = name.parse()?;
    let (fabric, faults) = (generate(&spec)?.fabric, Faults::new());
    let problem = Problem::new(&fabric, &faults);
    let request = Request { lanes: problem.usable_lanes(4), ..Request::default() };
    let scope = RouteScope { switches: false, lanes: LaneKnowledge::Known };

    println!("{name}: {} switches, {} terminals", fabric.switch_count(), problem.graph.terminals().len());
    println!(
        "{:<8} {:>6} {:>12} {:>6} {:>8} {:>8}",
        "ENGINE", "LOST", "CREDIT LOOP", "LANES", "LONGEST", "MAX EFI"
    );
    for engine in ENGINES {
        let answer = match run_engine(engine, &problem, &request, None, &NoProgress) {
            Ok(answer) => answer,
            Err(refusal) => {
                println!("{:<8} {refusal}", engine.id);
                continue;
            }
        };
        let certificate = certify(&problem, &answer.routes, &scope, &NoProgress)?;
        println!(
            "{:<8} {:>6} {:>12} {:>6} {:>8} {:>8}",
            engine.id,
            certificate.lost.total(),
            if certificate.cycles.is_empty() { "none" } else { "yes" },
            certificate.lanes.len(),
            certificate.lengths.longest,
            certificate.edge_forwarding_index.max,
        );
    }
    Ok(())
}
