//! What every test of an engine begins with.

use fabdeck_fabric::Fabric;
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_routing::{EngineAnswer, EngineRefusal, NoProgress, Problem, Request, find_engine};

pub fn fabric(name: &str) -> Fabric {
    generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
}

pub fn route(id: &str, problem: &Problem<'_>) -> Result<EngineAnswer, EngineRefusal> {
    route_as(id, problem, &Request::default())
}

pub fn route_as(id: &str, problem: &Problem<'_>, request: &Request) -> Result<EngineAnswer, EngineRefusal> {
    (find_engine(id).unwrap().route)(problem, request, &NoProgress)
}

/// The same bytes on one thread and on two.
pub fn same_on_two_threads(id: &str, name: &str) {
    let (fabric, faults) = (fabric(name), fabdeck_fabric::Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| route(id, &problem).unwrap())
    };
    assert_eq!(on(1), on(2), "{id} {name}");
}

/// Whether large fabrics are routed too: they take their time without optimization.
pub fn is_long() -> bool {
    std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1")
}
