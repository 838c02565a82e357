//! Traffic in the simulator: what to run, and what a run reports.

pub mod traffic_run;
pub mod traffic_study;
