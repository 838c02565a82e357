//! Fabrics by name: the topologies and systems of the papers, made from parameters and a seed, with faults on request;
//! and job histories on them.

mod assemble;
mod catalogue;
mod demo;
mod direct;
mod error;
mod failure_draw;
mod faults;
mod irregular;
mod job_history;
mod limits;
mod plan;
mod production_systems;
mod random;
mod revision;
mod rng;
mod shape;
mod spec;
mod spec_values;
mod systems;
mod trees;
mod wiring;

pub use assemble::{GeneratedFabric, generate};
pub use catalogue::{FabricTemplate, TemplateKey, catalogue, common_keys};
pub use error::GenerateError;
pub use failure_draw::{FailureCounts, FailureDrawError, draw_failures};
pub use job_history::{JobHistory, Workload};
pub use revision::GENERATOR_REVISION;
pub use spec::FabricSpec;
