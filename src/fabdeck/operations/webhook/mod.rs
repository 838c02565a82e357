//! Events that are posted to a receiver: what waits, and the thread that sends it.

pub mod webhook_queue;
pub mod webhook_sender;
