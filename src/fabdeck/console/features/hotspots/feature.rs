//! The drawing of Hot-spots.

use super::draw;
use crate::console::features::feature::Feature;

pub const FEATURE: Feature = Feature { draw: draw::draw, ..Feature::NEW };
