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
pub use spec::FabricSpec;

/// The revision of the generator and of the failures that seeds draw. It rises with every change after which a name or a
/// seed means another fabric, so that stored results of the old one are not mistaken for those of the new one.
pub const GENERATOR_REVISION: u32 = 1;
