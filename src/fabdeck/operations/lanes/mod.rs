//! Lanes in force, and the moves of flows between fast and slow lanes.

pub mod lane_request;
pub mod levels;
pub mod migrations;
pub(crate) mod rows;
pub mod slow_lanes;
