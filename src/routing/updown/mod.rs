//! What `updn`, `ftree` and `sftree` share: paths that go up, across once at most, and down, with their turns in order.

mod lengths;
mod main_paths;
mod rows;
mod updown_order;
mod upward_reach;

pub(super) use rows::fill_tables;
pub(super) use updown_order::UpDownOrder;
