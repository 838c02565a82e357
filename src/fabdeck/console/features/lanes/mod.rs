//! The screen Lanes: moved flows, flows that would move, and the tables on their paths.

pub mod detail;
pub(crate) mod draw;
mod feature;
pub(crate) mod lane_effect;
pub mod lane_lines;
pub mod lanes_model;
mod move_baseline;
pub(crate) mod screen;
pub mod slow_lanes;
mod waiting_hosts;

pub(crate) use feature::FEATURE;
