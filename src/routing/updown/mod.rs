//! What `updn`, `ftree` and `sftree` share: paths that go up, across once at most, and down, with their turns in order.

mod ladders;
mod lengths;
mod order;
mod reach;
mod rows;

pub(super) use order::Order;
pub(super) use rows::fill;
