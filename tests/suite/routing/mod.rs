//! Routing engines against a naive judge, on fabrics small enough to walk every path.

pub mod adaptive_fabrics;
mod cancelled_runs;
pub mod certificate;
mod choices;
mod common;
mod detour;
mod dfsssp;
mod distinct_engines;
mod dor;
mod ftree;
mod incremental;
mod irregular_trees;
mod lanes;
mod lash;
mod load;
mod minhop;
mod ndr;
mod nue;
mod oracle;
pub(crate) mod partitions;
mod plans;
mod promises;
mod random_fabrics;
mod revision;
mod sar;
mod sftree;
mod sftree_hole;
mod sssp;
mod stored_tables;
mod torus2qos;
mod updn;
mod verdicts;

pub use common::{fabric, is_long, route, route_as, same_on_two_threads};
