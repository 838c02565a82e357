//! The busiest channel under each engine: `cargo bench --bench balance [-- [--engines A,B] FABRIC...]`, where a fabric is
//! a name of `fabdeck generate` or an ibsim file. Each line has, by engine, the maximum edge forwarding index over
//! adapters, the pairs that it leaves out, and the milliseconds of its routes; `*` marks a cycle on one lane.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{Fabric, Faults};
use fabdeck_files::ibsim;
use fabdeck_files::text::Input;
use fabdeck_routing::certificate::{LaneKnowledge, PairKind, RouteScope, certify};
use fabdeck_routing::{NoProgress, Problem, Request, find_engine};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const ENGINES: &str = "minhop,updn,ftree,sftree,sssp";

fn fabric(name: &str) -> Outcome<Fabric> {
    if !Path::new(name).is_file() {
        return Ok(generate(&name.parse::<FabricSpec>()?)?.fabric);
    }
    let bytes = fs::read(name)?;
    Ok(ibsim::read(Input::new(name, &bytes))?.fabric.with_fresh_lids(None))
}

fn cell(id: &str, problem: &Problem<'_>) -> Outcome<String> {
    let engine = find_engine(id).ok_or_else(|| format!("no engine {id}"))?;
    let begun = Instant::now();
    let Ok(answer) = (engine.route)(problem, &Request::default(), &NoProgress) else {
        return Ok(format!("{id} -"));
    };
    let milliseconds = begun.elapsed().as_secs_f64() * 1000.0;
    let scope =
        RouteScope { switches: engine.guarantees.deadlock_free_switches, lanes: LaneKnowledge::Known };
    let found = certify(problem, &answer.routes, &scope, &NoProgress)?;
    let cycle = if found.deadlock_free == Some(true) { "" } else { "*" };
    let most = found.edge_forwarding_index.max;
    let lost = found.lost.by_kind(PairKind::Hosts);
    Ok(format!("{id} {most}{cycle} {lost} {milliseconds:.1}"))
}

fn main() -> Outcome<()> {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench").peekable();
    let mut engines = ENGINES.to_owned();
    if words.next_if(|word| word == "--engines").is_some() {
        engines = words.next().unwrap_or_default();
    }
    for name in words {
        let fabric = fabric(&name)?;
        let none = Faults::default();
        let problem = Problem::new(&fabric, &none);
        let cells: Vec<String> = engines.split(',').map(|id| cell(id, &problem)).collect::<Outcome<_>>()?;
        writeln!(io::stdout(), "{name}: {}", cells.join(" | "))?;
    }
    Ok(())
}
