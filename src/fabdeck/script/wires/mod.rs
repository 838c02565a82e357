//! The real outside: sources, files, generated fabrics and this machine. Each file ties one of them to the command
//! line.

mod adapters;
mod common_keys;
mod files;
mod generated;
mod guards;
mod machine;
mod simulated;
mod sources;

pub use machine::Machine;
