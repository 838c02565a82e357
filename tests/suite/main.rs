//! Everything that needs no other program: files, fabrics, commands.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod commands;
mod fabric;
mod generate;
mod incident;
mod mad;
mod sources;
mod tables;
mod topology;
