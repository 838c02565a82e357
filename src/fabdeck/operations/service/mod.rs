//! The watch service: it sweeps a fabric on a clock of its own and publishes what it knows after each sweep.

pub mod change_attestation;
pub(crate) mod health_page;
pub mod service_store;
pub mod watch_event;
pub mod watch_service;
