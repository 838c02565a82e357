//! The console's drawing: draws the state of a session and turns terminal events into keys. It decides nothing.

pub mod drawing;
pub mod event_loop;
pub mod features;
pub mod model;
