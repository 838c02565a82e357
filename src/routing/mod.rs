//! Routing engines behind a registry: from a fabric with its faults to routes, or a refusal with its reason.

mod balance;
mod descent;
mod dfsssp;
mod engine;
mod lanes;
mod minhop;
mod problem;
mod registry;
mod sssp;

pub use engine::{Answer, Engine, NoPulse, Promise, Pulse, Refusal, Request};
pub use problem::{Destination, Problem};
pub use registry::{ENGINES, engine};
