//! Running jobs: their hosts, the channels that they load, and what a proposal gains for them.

pub(crate) mod job_channels;
pub mod job_comparison;
pub(crate) mod job_reading;
pub mod job_request;
pub(crate) mod job_table;
pub(crate) mod job_watch;
pub(crate) mod list_reader;
pub(crate) mod list_source;
pub(crate) mod plan_applier;
pub(crate) mod recorded_jobs;
pub(crate) mod rows;
pub(crate) mod source_jobs;
pub(crate) mod summary;
pub(crate) mod watch_event;
pub(crate) mod watch_mark;
