//! Routing engines against a naive judge, on fabrics small enough to walk every path.

pub mod certificate;
mod common;
mod minhop;
mod oracle;

pub use common::{fabric, route, route_as};
