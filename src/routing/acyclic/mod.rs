//! Trees of destinations whose channel dependencies stay free of cycles while the trees change, lane by lane: what is used
//! is counted, and nothing is taken that would close a cycle, whatever the fabric looks like.

mod complete;
pub(super) mod escape;
mod even;
mod forest;
pub(super) mod order;
mod relief;
pub(super) mod tree;

pub(super) use complete::Wanted;
pub(super) use even::{Evened, best_reading, even_out, is_large};
