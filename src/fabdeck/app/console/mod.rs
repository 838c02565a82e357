//! The console as a process: its event loop, the terminal, and the worker threads.

mod app;
mod event_loop;
mod fault_injection;
mod frame_diff;
mod input_thread;
mod job_list;
mod new_file;
mod session_recorder;
mod source_thread;
mod terminal;
mod terminal_writer;
mod themes;
mod workers;

pub use event_loop::run_event_loop;
pub use terminal::restore;
pub use terminal_writer::write_after_exit;
