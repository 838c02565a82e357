//! The command line's access to this machine's operating system. Each file connects one kind of thing to the
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
