//! The operating system and adapters behind one trait. Each file connects one kind of thing: sources, files, generated
//! fabrics, guards.

pub mod access;
pub mod adapter_row;
pub mod allocator;
mod cabling_plans;
mod common_keys;
mod csv;
pub mod deadline_stream;
mod descriptors;
mod format_writers;
mod guard_process;
pub mod http_client;
pub mod http_server;
pub mod journal_socket;
mod kept_refusals;
pub mod local_access;
mod local_adapters;
mod named_fabrics;
mod open_sources;
pub(crate) mod output_file;
pub mod phase;
pub mod service_manager;
mod simulator_server;
pub mod source_files;
pub mod state_lines;
pub mod stop_flag;
pub mod store_disk;
pub mod thread_priority;
pub mod web_access;
