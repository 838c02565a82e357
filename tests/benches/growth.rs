//! How the cost of each phase grows with the number of table entries: `cargo bench --bench growth [-- RUNS]`. Full trees of
//! three ranks, of switches with 28, 36, 44 and 56 ports. Each figure is processor seconds over all threads, the median
//! of the runs; the exponent is the slope of the line through the logarithms.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::{self, Write};
use std::sync::Arc;

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{ElementId, Fabric, Faults};
use fabdeck_routing::analysis::{MarkedPaths, PathIndex};
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify};
use fabdeck_routing::difference::RouteDifference;
use fabdeck_routing::mixture::find_mixture_cycles;
use fabdeck_routing::{EngineRefusal, NoProgress, Problem, Request, find_engine};
use rustix::time::{ClockId, clock_gettime};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Engines whose cost is measured; the first one's routes are those in force.
const ENGINES: [&str; 6] = ["minhop", "ftree", "sftree", "updn", "dmodk", "sssp"];

/// Half of the ports of a switch.
const SIZES: [u32; 4] = [14, 18, 22, 28];

/// The seconds of the phases, in the order in which they come.
#[derive(Default)]
struct PhaseSeconds {
    order: Vec<String>,
    seconds: BTreeMap<String, Vec<f64>>,
}

impl PhaseSeconds {
    fn time<T>(&mut self, phase: &str, work: impl FnOnce() -> T) -> T {
        let spent = || {
            let now = clock_gettime(ClockId::ProcessCPUTime);
            now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
        };
        let before = spent();
        let done = black_box(work());
        let seconds = spent() - before;
        if !self.seconds.contains_key(phase) {
            self.order.push(phase.to_owned());
        }
        self.seconds.entry(phase.to_owned()).or_default().push(seconds);
        done
    }

    fn median(&self, phase: &str) -> f64 {
        let mut all = self.seconds.get(phase).cloned().unwrap_or_default();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or_default()
    }
}

fn measure(fabric: &Fabric, phases: &mut PhaseSeconds) -> Outcome<u64> {
    let none = Faults::default();
    let whole = phases.time("switch graph and destinations", || Problem::new(fabric, &none));
    let link = fabric.links().map(|(id, _)| id).find(|id| fabric.is_between_switches(*id));
    let mut faults = Faults::default();
    faults.mark(ElementId::Link(link.ok_or("no link between switches")?));
    let problem = Problem::new(fabric, &faults);
    let route = |id: &str, problem: &Problem<'_>| -> Result<_, EngineRefusal> {
        let engine = find_engine(id).ok_or(EngineRefusal::Cancelled)?;
        (engine.route)(problem, &Request::default(), &NoProgress).map(|answer| answer.routes)
    };
    let old = Arc::new(phases.time(ENGINES[0], || route(ENGINES[0], &whole))?);
    let paths = phases.time("index of paths", || PathIndex::new(&whole, old.clone(), &NoProgress))?;
    let mut marked = MarkedPaths::new(Arc::new(paths));
    phases.time("a mark, lost paths", || marked.set_marks(fabric, &faults));
    drop(marked);
    let scope = RouteScope { switches: false, lanes: LaneKnowledge::Known };
    for id in &ENGINES[1..] {
        let new = phases.time(id, || route(id, &problem))?;
        if *id == "ftree" {
            phases.time("certificate", || certify(&problem, &new, &scope, &NoProgress))?;
            phases.time("difference", || RouteDifference::between(&problem, &old, &new));
            phases.time("mixtures", || find_mixture_cycles(&whole, [&old, &new], &scope, None));
        }
    }
    Ok(problem.graph.switch_count() as u64 * problem.destinations().len() as u64)
}

/// The slope of the line of least squares through logarithms.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let points: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.max(1e-6).ln())).collect();
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let upper: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let lower: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    upper / lower
}

fn main() -> Outcome<()> {
    let runs = std::env::args().skip(1).find_map(|word| word.parse::<usize>().ok()).unwrap_or(5);
    let mut sizes = Vec::new();
    for half in SIZES {
        let name = format!("xgft,m={half}x{half}x{},w=1x{half}x{half}", 2 * half);
        let fabric = generate(&name.parse::<FabricSpec>()?)?.fabric;
        let (mut phases, mut entries) = (PhaseSeconds::default(), 0);
        for _ in 0..runs {
            entries = measure(&fabric, &mut phases)?;
        }
        writeln!(io::stderr(), "{name}: {entries} entries")?;
        sizes.push((entries as f64, phases));
    }
    let mut out = io::stdout();
    write!(out, "{:<32}", "table entries, millions")?;
    sizes.iter().try_for_each(|(entries, _)| write!(out, "{:>9.1}", entries / 1e6))?;
    writeln!(out, "  exponent")?;
    let order = sizes.first().map(|(_, phases)| phases.order.clone()).unwrap_or_default();
    for phase in order {
        write!(out, "{phase:<32}")?;
        let points: Vec<(f64, f64)> =
            sizes.iter().map(|(entries, phases)| (*entries, phases.median(&phase))).collect();
        points.iter().try_for_each(|(_, seconds)| write!(out, "{seconds:>9.3}"))?;
        writeln!(out, "{:>10.2}", exponent(&points))?;
    }
    Ok(())
}
