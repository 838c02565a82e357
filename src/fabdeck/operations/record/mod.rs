//! Recordings of live fabrics: their files, and the running jobs and notes that they hold.

pub mod capture_rewrite;
pub mod job_thread;
pub mod recording;
pub mod recording_output;
pub mod stdin_notes;
