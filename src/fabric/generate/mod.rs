//! Fabrics by name: the topologies and systems of the papers, made from parameters and a seed, with faults on request;
//! and job histories on them.

mod assemble;
mod catalogue;
mod demo;
mod direct;
mod error;
mod faults;
mod history;
mod irregular;
mod limits;
mod plan;
mod random;
mod rng;
mod shape;
mod sites;
mod spec;
mod systems;
mod trees;
mod wiring;

pub use assemble::{Generated, generate};
pub use catalogue::{Entry, Key, catalogue, common_keys};
pub use error::GenerateError;
pub use history::{History, Workload};
pub use spec::Spec;
