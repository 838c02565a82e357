//! Routing engines for InfiniBand fabrics behind a registry: from a fabric with its faults to routes, or a refusal with
//! its reason. The certificate judges routes of any origin; `analysis` tells what failures and jobs do to them.

#![warn(missing_docs)]

pub mod analysis;
pub mod lanes;

pub mod certificate;
pub mod difference;
pub mod mixture;

mod acyclic;
mod again;
mod balance;
mod columns;
mod descent;
mod dfsssp;
mod engine;
mod ftree;
mod heights;
mod lane_layers;
mod load;
mod minhop;
mod nue;
mod problem;
mod ranks;
mod registry;
mod sar;
mod sftree;
mod spread;
mod sssp;
pub mod trees;
mod updn;
mod updown;

pub use again::{Again, AgainFn, Past, Ran, Run, run};
pub use dfsssp::DEGRADED;
pub use engine::{Answer, Engine, LanesBy, NoPulse, Promise, Pulse, Refusal, Request, SUPPOSED_LANES, Uses};
pub use heights::heights;
pub use nue::UPDN_ROUTES;
pub use problem::{Destination, Problem};
pub use registry::{ENGINES, engine};
pub use trees::Cause;
