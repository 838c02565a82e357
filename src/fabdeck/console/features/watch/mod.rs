//! The watch of a fabric: counter sweeps in background tasks, verdicts on them, and their history.

pub(crate) mod sweep_cycle;
pub mod watch_state;
pub(crate) mod watch_text;
