//! Shortest paths in hops, balanced per switch, in full or out of a run for other marks.

mod hops;
mod rows;

#[cfg(test)]
pub(super) use hops::hops_to;
pub(super) use hops::{HopCount, hop_matrix};
pub use rows::{route, route_incrementally};
