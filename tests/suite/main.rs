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
mod captures;
mod changing;
mod changing_order;
mod codes;
mod commands;
mod console;
mod counters;
mod fabric;
mod generate;
mod histories;
mod incident;
mod lanes;
mod live;
mod mad;
mod picked;
mod reading;
mod readme;
mod readonly;
#[path = "../fuzz/replay.rs"]
mod replay;
mod routing;
mod runbooks;
mod same_bytes;
mod served;
mod sources;
mod tables;
mod topology;
mod traffic;
mod watching;
