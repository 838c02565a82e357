//! Commands: the command line in this process over a fabric made here, and the binary itself.

// Helpers of tests may fail like tests do; clippy's exception covers only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod adaptive;
mod assumed;
pub mod binary;
mod control_characters;

mod docs;
mod figures;
mod golden;
mod hotspots;
mod jobs;
pub mod json;
mod lanes;
mod metrics;
mod outputs;
mod plans;
mod prometheus;
mod rising;
mod rows;
mod service_levels;
mod talk;
mod tracing;
mod traffic;
mod world;
