//! Orders the writes of a plan: the blocks one after another, and the switches within each block. The aim is few pairs
//! without a path while some switches have their new entries and others do not. Reports the worst state.

mod block;
mod constraints;
mod ground;
mod passing;
mod sequence;
mod told;
mod tree;

pub use sequence::{Ordered, in_order};
pub use told::OnTheWay;
