//! `watch`: the service that sweeps a fabric and serves what it knows.

pub(crate) mod command;
mod event_lines;
mod event_outputs;
mod page_service;
mod publication;
mod service_metrics;
