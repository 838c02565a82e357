//! Lanes in force, and the moves of flows between fast and slow lanes.

pub(crate) mod lane_choice;
pub(crate) mod lane_moves;
pub(crate) mod lane_proposal;
pub mod lane_relief;
pub mod lane_request;
pub(crate) mod lanes_in_force;
pub mod levels;
pub mod migrations;
pub(crate) mod rows;
pub mod slow_lanes;
