//! Routing engines behind a registry: from a fabric with its faults to routes, or a refusal with its reason.

mod engine;
mod minhop;
mod nue;
mod problem;
mod registry;

pub use engine::{Answer, Engine, NoPulse, Promise, Pulse, Refusal, Request};
pub use problem::{Destination, Problem};
pub use registry::{ENGINES, engine};
