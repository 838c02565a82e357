//! What every test of an engine begins with.

use fabdeck_fabric::Fabric;
use fabdeck_fabric::generate::{Spec, generate};
use fabdeck_routing::{Answer, NoPulse, Problem, Refusal, Request, engine};

pub fn fabric(name: &str) -> Fabric {
    generate(&name.parse::<Spec>().unwrap()).unwrap().fabric
}

pub fn route(id: &str, problem: &Problem<'_>) -> Result<Answer, Refusal> {
    route_as(id, problem, &Request::default())
}

pub fn route_as(id: &str, problem: &Problem<'_>, request: &Request) -> Result<Answer, Refusal> {
    (engine(id).unwrap().route)(problem, request, &NoPulse)
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
