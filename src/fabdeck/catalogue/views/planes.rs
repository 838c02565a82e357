//! The planes of ports and links, of a fabric with planes (XDR).

use crate::catalogue::value::Value;
use fabdeck_fabric::observe::PortPlanes;

pub const PLANES_ABOUT: &str =
    "planes that are up of those that it has: its width; of a fabric with planes alone";
pub const PLANES_DOWN_ABOUT: &str = "number of its planes that are down; of a fabric with planes alone";

pub fn planes_value(planes: Option<&PortPlanes>) -> Value<'static> {
    planes.map(PortPlanes::words).into()
}

pub fn planes_down_value(planes: Option<&PortPlanes>) -> Value<'static> {
    planes.map(|planes| planes.down.len() as u64).into()
}
