//! fabdeck: a terminal console for InfiniBand fabric operations. `docs/architecture.md` has the map.

pub mod access;
pub mod agent;
pub mod analysis;
pub mod app;
pub mod capture;
pub mod change;
pub mod console;
pub mod counters;
pub mod fabric;
pub mod files;
pub mod generate;
pub mod jobs;
pub mod lanes;
pub mod mad;
pub mod observe;
pub mod routing;
pub mod runbook;
pub mod script;
pub mod session;
pub mod simulator;
pub mod source;
