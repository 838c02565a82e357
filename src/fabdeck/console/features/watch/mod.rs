//! The watch of a fabric: counter sweeps in background tasks, verdicts on them, and their history.

pub(crate) mod change_messages;
pub(crate) mod history;
pub mod sweep;
pub(crate) mod sweep_cycle;
pub(crate) mod threshold_events;
pub(crate) mod verdict;
pub mod watch_state;
pub(crate) mod watch_text;
