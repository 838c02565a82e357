//! The console as a process: its event loop, the terminal, and the worker threads.

mod desk;
mod fault;
mod inputs;
mod job_list;
mod keeper;
mod line;
mod paint;
mod plan_file;
mod record;
mod run;
mod terminal;
mod threads;
mod wardrobe;

pub use line::last_words;
pub use run::run;
pub use terminal::restore;
