//! The command line's access to this machine's operating system. Each file connects one kind of thing to the
//! command line: sources, files, generated fabrics, guards.

mod common_keys;
mod descriptors;
mod format_writers;
mod guard_process;
mod local_access;
mod local_adapters;
mod named_fabrics;
mod open_sources;
mod simulator_server;

pub use local_access::LocalSystemAccess;
