//! `torus2qos`: two- and three-dimensional tori and meshes, with lanes that change on the way (dissertation 3.3.7,
//! OpenSM's torus-2QoS).
//!
//! - [`TorusCoordinates`]: where each switch lies, by the operator's description or from the cabling.
//! - `rings`: which ways round each ring work.
//! - `next_hops`: dimension order with detours round what failed.
//! - `lane_tables`: a service level for each pair of switches, and the SL2VL tables that map it to lanes.

mod cabling;
mod coordinates;
mod discovery;
mod lane_tables;
mod next_hops;
mod rings;
mod seed_search;
mod torus_routes;

pub use coordinates::TorusCoordinates;
pub(super) use torus_routes::{ID, route};

#[cfg(test)]
mod tests;
