//! The roads on which a change gets to a fabric.

mod direct;
mod road;

pub use direct::Direct;
pub use road::{Driver, Halt, Heed, not_back, verify};
