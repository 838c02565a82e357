//! What fabdeck knows by name: commands, fields of tables, filters, exit codes, and the words for counts of a fabric.
//! Operations, console and command line share it; nothing here draws, prints or reads.

pub mod danger;
pub mod exit;
pub mod failure;
pub mod field;
pub(crate) mod filter;
pub mod json_type;
pub mod quantity_words;
pub mod query;
pub mod severity;
pub mod shell_words;
pub mod simulated_time;
pub mod snapshot;
pub mod summary;
pub mod unknown_key;
pub mod value;
pub(crate) mod value_json;
pub mod view;
pub mod views;
