//! The store of a watched fabric: its events, numbered over all runs of the watch, and the ledger of its links.
//!
//! ```text
//! STATE/watch/0x0002c90000000001/
//!   fabric                       which fabric this is
//!   lock                         held by the watch that writes
//!   ledger                       everything up to a batch: ledger, counters, open problems
//!   events-000000000001.log      segments: a line for each batch, the oldest are deleted
//! ```

pub mod cable_places;
pub mod error_counters;
pub mod event_log;
pub(crate) mod event_query;
pub(crate) mod fabric_store;
pub mod ledger_reader;
pub mod store_error;
pub mod stored_batch;
pub mod stored_state;
pub mod watch_event;
pub mod watch_store;
