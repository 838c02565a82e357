//! Routing engines against a naive judge, on fabrics small enough to walk every path.

mod minhop;
mod nue;
mod oracle;

use fabdeck::fabric::Fabric;
use fabdeck::generate::{Spec, generate};
use fabdeck::routing::{Answer, NoPulse, Problem, Refusal, Request, engine};

pub fn fabric(name: &str) -> Fabric {
    generate(&name.parse::<Spec>().unwrap()).unwrap().fabric
}

pub fn route(id: &str, problem: &Problem<'_>) -> Result<Answer, Refusal> {
    route_as(id, problem, &Request::default())
}

pub fn route_as(id: &str, problem: &Problem<'_>, request: &Request) -> Result<Answer, Refusal> {
    (engine(id).unwrap().route)(problem, request, &NoPulse)
}
