//! The implementation of [`Outside`](super::Outside) on this machine. Each file connects one kind of thing to the
//! command line: sources, files, generated fabrics, guards.

mod adapters;
mod common_keys;
mod files;
mod generated;
mod guards;
mod machine;
mod simulated;
mod sources;

pub use machine::Machine;
