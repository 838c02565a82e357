//! Ranks the links between switches by the pairs of hosts that lose their path when the link fails, until the fabric is
//! rerouted.
//!
//! `cargo run --release --example worst_links -- kary,k=4,n=3`

#![allow(clippy::print_stdout, reason = "an example prints what it finds")]

use std::error::Error;
use std::sync::Arc;

use fabdeck_fabric::generate::{Spec, generate};
use fabdeck_fabric::{Faults, Resolved};
use fabdeck_routing::analysis::{Marked, Paths};
use fabdeck_routing::{NoPulse, Problem, Request, engine, run};

/// The number of links to print.
const SHOWN: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "kary,k=4,n=3".to_owned());
    let spec: Spec = name.parse()?;
    let (fabric, faults) = (generate(&spec)?.fabric, Faults::new());
    let problem = Problem::new(&fabric, &faults);
    let minhop = engine("minhop").ok_or("the registry has no minhop")?;
    let answer = run(minhop, &problem, &Request::default(), None, &NoPulse)?;
    let paths = Arc::new(Paths::new(&problem, answer.routes, &NoPulse)?);

    // A mark costs a look at the ports that it touches, so every link can be tried.
    let mut marked = Marked::new(paths.clone());
    let mut losses = Vec::new();
    for (link, _) in fabric.links().filter(|(link, _)| fabric.between_switches(*link)) {
        marked.mark(&fabric, Resolved::Link(link));
        losses.push((marked.lost().pairs, link));
        marked.unmark(&fabric, Resolved::Link(link));
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
