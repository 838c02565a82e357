//! Captures: what goes in comes out, at any time, from a whole file or a damaged one.

// Helpers of tests may fail like tests do; clippy's exception covers only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod anonymous;
mod bombs;
mod busy;
mod cases;
mod commands;
mod cut;
mod damage;
mod exported;
mod golden;
mod heard;
mod killed;
mod linear;
mod noted;
mod properties;
mod reference;
mod reported;
mod ring;
mod rolled;
mod size;
pub mod stage;
pub mod told_jobs;
mod words;
mod written;
