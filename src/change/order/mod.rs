//! The order of a plan's writes: blocks one after another, and the switches of a block so that as few pairs as possible
//! have no path while some switches have their new entries and others not yet; and what the worst state on the way is.

mod block;
mod constraints;
mod ground;
mod passing;
mod sequence;
mod told;
mod tree;

pub use sequence::{Ordered, in_order};
pub use told::OnTheWay;
