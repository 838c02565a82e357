//! Lanes for routes of shortest paths, whichever engine made them: every path on one lane, and no cycle of dependencies
//! on any.

mod blocks;
mod dependencies;
mod escape;
mod layers;
mod line;
mod order;

pub(super) use layers::{Layered, layer};
