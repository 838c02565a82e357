//! Routing engines against a naive judge, on fabrics small enough to walk every path.

pub mod adaptive_fabrics;
pub mod certificate;
mod choices;
mod common;
mod dfsssp;
mod distinct_engines;
mod ftree;
mod incremental;
mod irregular_trees;
mod lanes;
mod load;
mod minhop;
mod ndr;
mod nue;
mod oracle;
mod partitions;
mod plans;
mod promises;
mod random_fabrics;
mod sar;
mod sftree;
mod sssp;
mod torus2qos;
mod updn;
mod verdicts;

pub use common::{fabric, route, route_as, same_on_two_threads};
