//! The console: its state as data (`model`), its screens (`features`), keys and results (`event_loop`), and what draws the
//! state (`drawing`). The process that runs it is in `app`.

pub mod drawing;
pub mod event_loop;
pub mod features;
pub mod model;
