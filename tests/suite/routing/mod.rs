//! Routing engines against a naive judge, on fabrics small enough to walk every path.

pub mod certificate;
mod common;
mod dfsssp;
mod minhop;
mod nue;
mod oracle;
mod sssp;

pub use common::{fabric, route, route_as};
