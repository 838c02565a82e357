//! Every engine of the registry ends when its caller cancels it, and those with long steps look at that within them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fabdeck_fabric::{Fabric, Faults, PathLevelTable};
use fabdeck_routing::{
    ENGINES, Engine, EngineRefusal, NAMED_ENGINES, Problem, Request, RouteProgress, StoredTables, find_engine,
};

use super::{fabric, route};

/// Cancels once it was asked a number of times.
struct LookLimit {
    left: AtomicUsize,
}

impl RouteProgress for LookLimit {
    fn report(&self, _: usize, _: usize) {}

    fn is_cancelled(&self) -> bool {
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err()
    }
}

fn ends_after(looks: usize, engine: &Engine, problem: &Problem<'_>, request: &Request) -> bool {
    let pulse = LookLimit { left: AtomicUsize::new(looks) };
    matches!((engine.route)(problem, request, &pulse), Err(EngineRefusal::Cancelled))
}

/// The tables of another engine, with a level for every path.
fn stored(fabric: &Fabric) -> StoredTables {
    let faults = Faults::default();
    let routes = route("updn", &Problem::new(fabric, &faults)).unwrap().routes;
    let switches = fabric.switches().map(|(id, node)| (node.guid(), routes.lft(id.0))).collect();
    StoredTables { switches, levels: Some(PathLevelTable::default()), ..StoredTables::default() }
}

fn suitable_fabric(engine: &Engine) -> Fabric {
    fabric(if engine.needs.dimensions { "torus,dims=5x5" } else { "gft2,n=4,m=4,r=6,lmc=1" })
}

#[test]
fn a_cancelled_engine_returns_no_routes() {
    for engine in ENGINES.iter().chain(NAMED_ENGINES) {
        let (fabric, faults) = (suitable_fabric(engine), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let request = Request { tables: Some(Arc::new(stored(&fabric))), ..Request::default() };
        assert!((engine.route)(&problem, &request, &fabdeck_routing::NoProgress).is_ok(), "{}", engine.id);
        assert!(ends_after(0, engine, &problem, &request), "{}", engine.id);
    }
}

/// `opt` looks for each leaf and each host, `file` for each switch and each destination.
#[test]
fn long_steps_look_whether_they_are_cancelled() {
    let (fabric, faults) = (fabric("gft2,n=4,m=4,r=6,lmc=1"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let request = Request { tables: Some(Arc::new(stored(&fabric))), ..Request::default() };
    let (leaves, hosts) = (6, 24);
    for (id, looks) in
        [("opt", leaves + 2 * hosts), ("file", fabric.switches().len() + problem.destinations().len())]
    {
        let engine = find_engine(id).unwrap();
        assert!((0..looks).all(|looks| ends_after(looks, engine, &problem, &request)), "{id}");
        assert!(!ends_after(usize::MAX, engine, &problem, &request), "{id}");
    }
}
