//! The screen Lanes: moved flows, flows that would move, and the tables on their paths.

pub mod detail;
pub(crate) mod draw;
mod feature;
pub(crate) mod lane_effect;
pub mod lane_lines;
mod lane_panes;
pub mod lanes_model;
pub(crate) mod move_baseline;
mod move_steps;
pub mod relief_model;
pub(crate) mod screen;
pub mod slow_lanes;
mod waiting_hosts;

pub(crate) use feature::FEATURE;
