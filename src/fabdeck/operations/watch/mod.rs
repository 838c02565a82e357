//! Verdicts on two readings of all counters, and events that a fabric reported.

pub(crate) mod backlog;
mod counter_rates;
pub(crate) mod counter_watch;
pub mod error_baseline;
pub(crate) mod fabric_events;
pub mod fabric_history;
pub mod history;
pub mod history_clock;
pub mod hot_ports;
pub mod interval_verdict;
pub(crate) mod link_rate;
pub mod port_values;
pub(crate) mod role_words;
pub mod sweep;
pub(crate) mod sweep_clock;
pub(crate) mod sweep_judge;
pub mod sweep_messages;
pub mod threshold_events;
pub(crate) mod verdict_basis;
pub mod wait_column;
pub mod watch_verdict;
