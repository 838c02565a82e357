//! Policies of a watch: what they decide, what they do, and that it all goes back.

// Helpers of tests may fail like tests do; clippy's exception covers only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod applied;
mod bad_days;
mod failed_policies;
mod killed_steps;
mod link_conditions;
mod node_conditions;
mod policy_files;
mod policy_world;
mod served_days;
mod switch;
