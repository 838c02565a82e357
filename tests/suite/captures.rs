//! Captures: what goes in comes out, at any time, from a whole file or a damaged one.

// Helpers of tests may fail like tests do; clippy's exception covers only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod acknowledgements;
mod annotations;
mod anonymization;
mod busy_sweeps;
mod cancelled_rewrites;
mod command_cases;
mod commands;
mod cut;
mod damage;
mod exports;
mod full_disk;
mod golden;
mod hostile_captures;
mod job_lists;
mod killed_recorders;
mod linear_work;
mod messages;
mod notes;
mod properties;
pub mod recorded_jobs;
mod recorded_traps;
mod reference;
mod ring;
mod rotation;
pub mod sample_fabric;
mod size;
