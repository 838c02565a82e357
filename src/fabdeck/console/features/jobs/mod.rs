//! The screen Jobs: running jobs, the channels that they load, and the proposal of sar.

pub(in crate::console) mod current_job_source;
pub mod detail;
pub(crate) mod draw;
mod feature;
pub mod job_lines;
pub mod job_words;
pub mod jobs_model;
pub mod running_jobs;
pub mod screen;

pub(crate) use feature::FEATURE;
