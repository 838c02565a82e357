//! The command line: arguments in, text or JSON and an exit code out. What is answered is decided in `session`; here
//! it is only asked for and written.

mod adapters;
mod args;
mod check;
mod config;
mod context;
mod convert;
mod csv;
mod docs;
mod exit;
mod failure;
mod fit;
mod found;
mod generate;
mod identity;
mod json;
mod open;
mod output;
mod overview;
mod paint;
mod progress;
mod reading;
mod rows;
mod run;
mod schemas;
mod shell;
mod show;
mod simulate;
mod sources;
mod stop;
mod table;
mod target;
mod trace;
mod wires;

pub use adapters::{Adapter, AdapterPort};
pub use args::command_line;
pub use docs::{commands_page, exit_codes_page, fields_page};
pub use exit::Exit;
pub use failure::Failure;
pub use found::Found;
pub use open::{CatalogueEntry, CatalogueKey, Outside, Reach, Served, WriteError, Writer, Written};
pub use output::{Terminal, say_notes};
pub use run::run;
pub use schemas::schemas;
pub use stop::Stop;
pub use wires::Machine;
