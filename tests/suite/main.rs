//! Everything that needs no other program: files, fabrics, commands.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![allow(clippy::print_stdout, reason = "a test says what it ran when it fails")]

mod agents;
mod analysis;
mod cabling;
mod captures;
mod changes;
mod codes;
mod commands;
mod console;
mod counters;
mod event_store;
mod fabric;
mod generate;
mod histories;
mod incident;
mod input_forms;
mod jobs_watch;
mod lanes;
mod lid_selection;
mod live;
mod mad;
mod policy;
mod readme;
mod readonly;
#[path = "../fuzz/replay.rs"]
mod replay;
mod reproduction;
mod routing;
mod runbooks;
mod same_bytes;
mod simulator_server;
mod slurm_topology;
mod sources;
mod studies;
mod tables;
mod topology;
mod traffic;
mod write_order;
