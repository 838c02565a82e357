//! Trees without a search: switches stand in a line, every path goes towards its front first and away from it after, so
//! that no paths close a cycle, whatever they are; trees are grown in it by what channels carry, and grown again as long
//! as the busiest channel gains.

mod grow;
mod line;
pub(super) mod net;
mod passes;

pub(super) use line::{Line, Turns};
pub(super) use passes::{Spread, Tree};
