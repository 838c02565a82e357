//! The screen Lanes: moved flows, flows that would move, and the tables on their paths.

pub(crate) mod draw;
pub(crate) mod screen;
pub mod slow_lanes;
