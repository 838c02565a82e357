//! The console as a process: its event loop, the terminal, and the worker threads.

mod app;
pub(crate) mod event_loop;
mod fault_injection;
mod frame_diff;
mod input_thread;
mod job_list;
mod line_meter;
mod new_file;
mod screen_cast;
mod services;
mod session_recorder;
mod session_source;
mod source_thread;
pub(crate) mod terminal;
mod terminal_ground;
pub(crate) mod terminal_writer;
mod themes;
mod throttle;
mod workers;
