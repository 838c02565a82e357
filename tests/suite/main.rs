//! Everything that needs no other program: files, fabrics, commands.

mod commands;
mod fabric;
mod generate;
mod incident;
#[path = "../fuzz/replay.rs"]
mod replay;
mod same_bytes;
mod sources;
mod tables;
mod topology;
