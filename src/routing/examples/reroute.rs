//! Reroutes a fabric around a failed switch and says what the change costs: the entries and blocks to write, the pairs
//! that move, and whether packets on old and new paths together can deadlock.
//!
//! `cargo run --release --example reroute -- torus,dims=4x4 nue`

#![allow(clippy::print_stdout, reason = "an example prints what it finds")]

use std::error::Error;

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{ElementId, Faults};
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify};
use fabdeck_routing::difference::compare_routes;
use fabdeck_routing::{NoProgress, Problem, Request, find_engine, run_engine};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "torus,dims=4x4".to_owned());
    let id = words.next().unwrap_or_else(|| "nue".to_owned());
    let spec: FabricSpec = name.parse()?;
    let fabric = generate(&spec)?.fabric;
    let engine = find_engine(&id).ok_or_else(|| format!("no engine '{id}'"))?;

    let request = Request::default();
    let (none, mut faults) = (Faults::new(), Faults::new());
    let whole = Problem::new(&fabric, &none);
    let before = run_engine(engine, &whole, &request, None, &NoProgress)?;

    let (switch, node) = fabric.switches().next().ok_or("the fabric has no switch")?;
    faults.mark(ElementId::Node(switch));
    let failed = Problem::new(&fabric, &faults);
    // An engine that can begins from its earlier run; the routes are those of a full run.
    let after = run_engine(engine, &failed, &request, before.past.as_ref(), &NoProgress)?;

    let scope = RouteScope { switches: false, lanes: LaneKnowledge::Known };
    let certificate = certify(&failed, &after.routes, &scope, &NoProgress)?;
    let (difference, transition) = compare_routes(&failed, &before.routes, &after.routes, &scope);
    println!("{name} by {id} without {}", node.facts.description);
    println!("  lost pairs         {}", certificate.lost.total());
    println!("  deadlock-free      {}", certificate.deadlock_free == Some(true));
    println!("  entries to write   {} in {} blocks", difference.entries, difference.blocks);
    println!("  pairs that move    {}", difference.moved_pairs);
    println!("  safe under traffic {}", transition.safe == Some(true));
    Ok(())
}
