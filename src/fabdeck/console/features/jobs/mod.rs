//! The screen Jobs: running jobs, the channels that they load, and the proposal of sar.

pub(in crate::console) mod current_job_source;
pub mod detail;
pub(crate) mod draw;
mod draw_panes;
mod feature;
pub mod job_lines;
mod job_strips;
pub mod job_words;
pub mod jobs_model;
mod jobs_panes;
pub mod running_jobs;
pub mod screen;

pub(crate) use feature::FEATURE;
