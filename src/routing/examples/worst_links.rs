//! Ranks the links between switches by the pairs of hosts that lose their path when the link fails, until the fabric is
//! rerouted.
//!
//! `cargo run --release --example worst_links -- kary,k=4,n=3`

#![allow(clippy::print_stdout, reason = "an example prints what it finds")]

use std::error::Error;
use std::sync::Arc;

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{ElementId, Faults};
use fabdeck_routing::analysis::{MarkedPaths, PathIndex};
use fabdeck_routing::{NoProgress, Problem, Request, find_engine, run_engine};

/// The number of links to print.
const SHOWN: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "kary,k=4,n=3".to_owned());
    let spec: FabricSpec = name.parse()?;
    let (fabric, faults) = (generate(&spec)?.fabric, Faults::new());
    let problem = Problem::new(&fabric, &faults);
    let minhop = find_engine("minhop").ok_or("the registry has no minhop")?;
    let answer = run_engine(minhop, &problem, &Request::default(), None, &NoProgress)?;
    let paths = Arc::new(PathIndex::new(&problem, answer.routes, &NoProgress)?);

    // A mark costs a look at the ports that it touches, so every link can be tried.
    let mut marked = MarkedPaths::new(paths.clone());
    let mut losses = Vec::new();
    for (link, _) in fabric.links().filter(|(link, _)| fabric.is_between_switches(*link)) {
        marked.mark(&fabric, ElementId::Link(link));
        losses.push((marked.path_losses().pairs, link));
        marked.unmark(&fabric, ElementId::Link(link));
    }
    losses.sort_by_key(|(pairs, link)| (std::cmp::Reverse(*pairs), *link));

    println!("{name}: {} pairs, {} links between switches", paths.pairs(), losses.len());
    for (pairs, link) in losses.iter().take(SHOWN) {
        let [a, b] =
            fabric.ends(*link).map(|(node, port)| format!("{}[{port}]", fabric.node(node).facts.description));
        println!("{pairs:>8} pairs  {a} - {b}");
    }
    let expected = paths.expected(3);
    println!("3 random links take {:.1} pairs on average", expected.mean);
    Ok(())
}
