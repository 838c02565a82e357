//! fabdeck: a terminal console for InfiniBand fabric operations. `docs/architecture.md` has the map.

pub mod app;
pub mod catalogue;
pub mod console;
pub mod operations;
pub mod runbook;
pub mod script;
pub mod system;
