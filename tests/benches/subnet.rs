//! Routing at the size of a full subnet, step by step: `cargo bench --bench subnet [-- FABRIC [ENGINE...]]`. Each line
//! is a step with its wall seconds, the processor's seconds over all threads, and the peak memory so far.

use std::fs;
use std::hint::black_box;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use fabdeck_change::{SurvivingFabric, order_writes, plan_writes};
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{BLOCK_LIDS, ElementId, Fabric, Faults, LinkId, Routes, Tables};
use fabdeck_routing::analysis::{MarkedPaths, PathIndex};
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify};
use fabdeck_routing::difference::{RouteDifference, check_transition, compare_routes};
use fabdeck_routing::mixture::find_mixture_cycles;
use fabdeck_routing::{ENGINES, NoProgress, Problem, Request, find_engine, run_engine};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Processor seconds of this process, and its peak memory in MB; 0 where the system does not tell.
fn spent() -> (f64, u64) {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
    (ticks / 100.0, peak.unwrap_or(0u64) / 1024)
}

fn step<T>(title: &str, work: impl FnOnce() -> T) -> Outcome<T> {
    let (begun, (before, _)) = (Instant::now(), spent());
    let done = black_box(work());
    let (wall, (after, peak)) = (begun.elapsed().as_secs_f64(), spent());
    writeln!(io::stdout(), "{title:<44} {wall:>8.3} s {:>7.2} s CPU {peak:>6} MB", after - before)?;
    Ok(done)
}

/// Marks are set and removed one at a time, as an operator at the console does it.
fn marks(fabric: &Fabric, problem: &Problem<'_>, old: &Routes) -> Outcome<()> {
    let routes = Arc::new(old.clone());
    let paths =
        Arc::new(step("index of the tables in force", || PathIndex::new(problem, routes, &NoProgress))??);
    writeln!(io::stdout(), "  {} MB of index", paths.memory_bytes() >> 20)?;
    let mut links = fabric.links().filter(|(id, _)| fabric.is_between_switches(*id)).map(|(id, _)| id);
    let picked: Vec<LinkId> = [0, 7777, 7777].iter().filter_map(|skip| links.nth(*skip)).collect();
    let mut marked = step("marks begin", || MarkedPaths::new(Arc::clone(&paths)))?;
    for link in &picked {
        step("mark one link, lost paths", || marked.mark(fabric, ElementId::Link(*link)))?;
        writeln!(io::stdout(), "  {} pairs lost", marked.path_losses().pairs)?;
    }
    let faults = marked.faults().clone();
    step("the same marks from nothing", || {
        let mut all = MarkedPaths::new(Arc::clone(&paths));
        all.set_marks(fabric, &faults);
        all.path_losses()
    })?;
    if let Some(link) = picked.first() {
        step("take one back, lost paths", || marked.unmark(fabric, ElementId::Link(*link)))?;
    }
    Ok(())
}

/// Engines that can begin from an earlier run do so for one mark more at a time, and give what a full run gives.
fn reroute_marked(fabric: &Fabric) -> Outcome<()> {
    let request = Request::default();
    let mut links = fabric.links().filter(|(id, _)| fabric.is_between_switches(*id)).map(|(id, _)| id);
    let picked: Vec<LinkId> = [0, 7777].iter().filter_map(|skip| links.nth(*skip)).collect();
    for engine in ENGINES.iter().filter(|engine| engine.incremental.is_some()) {
        let mut faults = Faults::default();
        let whole = Problem::new(fabric, &faults);
        let title = format!("{}, with what the next needs", engine.id);
        let mut past = step(&title, || run_engine(engine, &whole, &request, None, &NoProgress))??.past;
        for link in &picked {
            faults.mark(ElementId::Link(*link));
            let problem = Problem::new(fabric, &faults);
            let begun = past.take();
            let found = step("  one mark more", || {
                run_engine(engine, &problem, &request, begun.as_ref(), &NoProgress)
            })??;
            let full = step("  the same in full", || (engine.route)(&problem, &request, &NoProgress))??;
            assert!(*found.routes == full.routes, "a full run gives the same");
            writeln!(io::stdout(), "    {:?}", found.extent)?;
            past = found.past;
        }
    }
    Ok(())
}

/// The writes that lead from routes to others, their order with the worst state on the way, and what mixtures of both
/// depend on.
fn order(problem: &Problem<'_>, [old, new]: [&Routes; 2], scope: &RouteScope) -> Outcome<()> {
    let fabric = problem.fabric;
    let mut tables = Tables::default();
    for (id, _) in fabric.switches() {
        tables.node_mut(id).lft = Some(old.lft(id.0));
    }
    let standing = SurvivingFabric::new(fabric, problem.faults, None);
    let plain = step("  writes", || plan_writes(&standing, &tables, new, &|id| format!("switch {}", id.0)))??;
    let name = |switch| format!("switch {switch}");
    let ordered = step("  their order and the states between", || {
        order_writes(problem, (old, new), scope.switches, plain, &name)
    })?;
    let rank = |switch, lid: fabdeck_fabric::Lid| ordered.rank(lid.value() / BLOCK_LIDS, switch);
    let found = step("  mixtures", || find_mixture_cycles(problem, [old, new], scope, Some(&rank)))?;
    writeln!(
        io::stdout(),
        "  {} writes: {}; {} cycles",
        ordered.writes.len(),
        ordered.way.words(),
        found.len()
    )?;
    Ok(())
}

fn main() -> Outcome<()> {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let name = words.next().unwrap_or_else(|| "full-subnet".to_owned());
    let engines: Vec<String> = words.collect();
    let engines = if engines.is_empty() { vec!["ftree".to_owned(), "sftree".to_owned()] } else { engines };
    let fabric = step("generate", || name.parse::<FabricSpec>().map(|spec| generate(&spec)))???.fabric;
    let none = Faults::default();
    let problem = step("switch graph and destinations", || Problem::new(&fabric, &none))?;
    let route = |id: &str| {
        let found = find_engine(id).ok_or_else(|| format!("no engine {id}"))?;
        Ok::<_, Box<dyn std::error::Error>>((found.route)(&problem, &Request::default(), &NoProgress)?.routes)
    };
    let old = step("minhop, taken as the tables in force", || route("minhop"))??;
    marks(&fabric, &problem, &old)?;
    reroute_marked(&fabric)?;
    for id in engines {
        let new = step(&id, || route(&id))??;
        for switches in [false, true] {
            let scope = RouteScope { switches, lanes: LaneKnowledge::Known };
            let title = if switches { "  certificate, switches too" } else { "  certificate, terminals" };
            step(title, || certify(&problem, &new, &scope, &NoProgress))??;
        }
        let moved = step("  difference", || RouteDifference::between(&problem, &old, &new))?;
        let together = RouteScope { switches: false, lanes: LaneKnowledge::Unknown };
        let found = step("  transition", || check_transition(&problem, &old, &new, &together))?;
        let both = step("  both in one look", || compare_routes(&problem, &old, &new, &together))?;
        assert!(both == (moved, found.clone()), "one look finds the same");
        writeln!(io::stdout(), "  {moved:?}, {} cycles", found.cycles.len())?;
        order(&problem, [&old, &new], &together)?;
    }
    Ok(())
}
