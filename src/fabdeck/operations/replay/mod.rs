//! Moments of a recording, as a watch would have seen them, and events that are derived from it.

pub mod changed_words;
pub mod event_scan;
pub mod event_words;
mod flow_chain;
pub mod moment_comparison;
pub mod replay_frame;
pub mod watch_recording;
