//! Lanes for routes of shortest paths, whichever engine made them: every path on one lane, and no cycle of dependencies
//! on any.

mod blocks;
mod channel_line;
mod channel_order;
mod escape_tree;
mod layers;
mod pair_layers;
mod possible_dependencies;
mod spread;

pub(super) use layers::{LaneAssignment, assign_lanes};
pub(super) use pair_layers::{MAX_PAIR_LANES, PairLanes, assign_pair_lanes};
pub(super) use spread::spread_lanes;
