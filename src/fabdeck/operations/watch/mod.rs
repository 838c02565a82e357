//! Verdicts on two readings of all counters, and events that a fabric reported.

pub(crate) mod fabric_events;
pub(crate) mod hot_ports;
pub mod interval_verdict;
