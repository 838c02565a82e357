//! The screen Jobs: running jobs, the channels that they load, and the proposal of sar.

mod current_job_source;
pub(crate) mod draw;
pub mod running_jobs;
pub mod screen;
