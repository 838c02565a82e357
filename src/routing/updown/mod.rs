//! What `updn`, `ftree` and `sftree` share: paths that go up, across once at most, and down, with their turns in order.

mod lengths;
mod main_paths;
mod rows;
mod tie_break;
mod updown_order;
mod upward_reach;

pub(super) use lengths::LengthTable;
pub(super) use rows::fill_tables;
pub(super) use tie_break::{TieBreak, TieBreaks};
pub(super) use updown_order::UpDownOrder;
