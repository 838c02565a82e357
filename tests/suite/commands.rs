//! Commands: the command line in this process over a fabric made here, and the binary itself.

// Helpers of tests may fail like tests do; clippy's exception covers only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod adaptive_routing;
mod assumed_tables;
pub mod binary;
pub mod command_examples;
mod control_characters;

mod docs;
mod engine_files;
mod golden;
mod health;
mod hotspots;
mod ibdiagnet_folder;
mod jobs;
pub mod json;
mod lanes;
mod metrics;
mod outputs;
mod partition_rows;
mod path_bits;
mod plans;
mod port_labels;
mod prometheus;
mod real_fabrics;
mod report;
pub mod report_pages;
mod rising_counters;
mod rows;
mod service_levels;
mod stderr_messages;
mod stored_events;
mod test_system;
mod tracing;
mod traffic;
mod victims;
mod watch;
pub mod watch_access;
mod watch_days;
mod watch_service_manager;
mod watch_webhook;
mod wire_rows;
