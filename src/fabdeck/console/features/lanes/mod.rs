//! The screen Lanes: moved flows, flows that would move, and the tables on their paths.

pub mod detail;
pub(crate) mod draw;
mod feature;
pub mod lane_lines;
pub mod lanes_model;
pub(crate) mod screen;
pub mod slow_lanes;

pub(crate) use feature::FEATURE;
