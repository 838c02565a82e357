//! Routing engines against a naive judge, on fabrics small enough to walk every path.

mod again;
pub mod certificate;
mod common;
mod dfsssp;
mod differ;
mod ftree;
mod irregular;
mod lanes;
mod load;
mod minhop;
mod ndr;
mod nue;
mod oracle;
mod partitions;
mod plans;
mod promises;
mod sar;
mod sftree;
mod sketch;
mod sssp;
mod updn;
mod verdicts;

pub use common::{fabric, route, route_as, same_on_two_threads};
