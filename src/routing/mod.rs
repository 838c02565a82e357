//! Routing engines behind a registry: from a fabric with its faults to routes, or a refusal with its reason.

mod engine;
mod ftree;
mod minhop;
mod problem;
mod ranks;
mod registry;
mod sftree;
mod updn;
mod updown;

pub use engine::{Answer, Engine, NoPulse, Promise, Pulse, Refusal, Request};
pub use problem::{Destination, Problem};
pub use registry::{ENGINES, engine};
