//! The command line: arguments in, text or JSON and an exit code out. `operations` compute the answers; this module
//! requests and prints them.

mod answer;
pub mod args;
mod argument_values;
mod column_fit;
pub mod command_entry;
pub mod command_line;
pub mod commands;
mod config;
mod console_options;
mod context;
pub mod docs;
mod event_line;
mod fabric_events;
mod json;
mod json_schema;
mod option_refusals;
pub mod output;
mod paint;
mod progress;
mod read_statistics;
pub mod row_args;
mod rows;
pub mod run;
pub mod schemas;
mod table;
pub mod terminal_info;
